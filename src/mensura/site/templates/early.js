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
// What needs scripts anyway: the box that finds, and the button of the theme.
customElements.define("find-box", class extends HTMLElement {
connectedCallback() {
this.innerHTML = `<form class="find" role="search" action="${page.dataset.root}models/index.html"><svg viewBox="0 0 18 18" aria-hidden="true"><circle cx="7.5" cy="7.5" r="5.5" fill="none" stroke="currentColor" stroke-width="1.7"/><path d="M11.7 11.7 16.5 16.5" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></svg><label class="sr" for="search">Find a model, a test, a group of people or a page</label><input type="search" id="search" name="find" role="combobox" aria-expanded="false" aria-controls="hits" aria-autocomplete="list" autocomplete="off" placeholder="Find a model, a test, a group"><kbd aria-hidden="true">/</kbd><ul class="hits" id="hits" role="listbox" aria-label="Found" hidden></ul></form>
<button class="round" id="theme" type="button" aria-label="Dark"><svg viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="7.5" fill="none" stroke="currentColor" stroke-width="1.7"/><path d="M9 1.5v15a7.5 7.5 0 0 0 0-15z" fill="currentColor"/></svg></button>`;
}
});
})();
