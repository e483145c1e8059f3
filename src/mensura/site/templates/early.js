(() => {
const page = document.documentElement;
let chosen = null;
try { chosen = localStorage.getItem("theme"); } catch { /* a private window */ }
page.classList.add("js");
if (/[?&]embed\b/.test(location.search)) page.classList.add("embedded");
page.dataset.theme = chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
if (location.protocol !== "file:" && page.dataset.root !== undefined) for (const name of ["serif", "sans"]) {
const font = document.createElement("link");
Object.assign(font, { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "" });
font.href = page.dataset.root + "static/fonts/" + name + ".woff2";
document.head.append(font);
}
})();
