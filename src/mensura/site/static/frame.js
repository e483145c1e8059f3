// What a reader can do with a picture: PNG, embedding, full screen.
"use strict";
(function () {
  const { make, root } = window.mensura;

  const shownSvg = (figure) => [...figure.querySelectorAll(".chart svg")].find((svg) => svg.getBoundingClientRect().width > 0);

  // The drawing as a file: the theme's colours written out, the page's ground behind it.
  function standalone(svg) {
    const box = svg.getBoundingClientRect();
    const copy = svg.cloneNode(true);
    const style = getComputedStyle(document.documentElement);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    if (!copy.getAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const [, , width, height] = copy.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const text = new XMLSerializer().serializeToString(copy).replace(/var\((--v-[0-9a-f]{6})\)/g, (whole, name) => style.getPropertyValue(name).trim() || whole);
    return { text, width, height, ground: getComputedStyle(document.body).backgroundColor };
  }

  function save(blob, name) {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function png(figure) {
    const svg = shownSvg(figure);
    if (!svg) return;
    const { text, width, height, ground } = standalone(svg);
    const image = new Image();
    image.onload = () => {
      const canvas = make("canvas", { width: 2 * width, height: 2 * height });
      const pen = canvas.getContext("2d");
      pen.fillStyle = ground;
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, figure.dataset.chart + ".png"), "image/png");
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }

  function embed(figure) {
    const old = figure.querySelector(".embed");
    if (old) { old.remove(); return; }
    const address = new URL(root + "charts/" + figure.dataset.chart + ".html?embed", location.href).href;
    const code = `<iframe src="${address}" width="100%" height="640" loading="lazy" title="${(figure.querySelector(".finding") || document.querySelector("h1")).textContent.replace(/["<>&]/g, "")}"></iframe>`;
    const box = make("textarea", { class: "embed", readonly: true, rows: "3", "aria-label": "Code to embed this picture" });
    box.value = code;
    figure.querySelector(".tools").after(box);
    box.focus();
    box.select();
  }

  document.addEventListener("click", (event) => {
    const tool = event.target.closest && event.target.closest("[data-tool]");
    const figure = tool && tool.closest("figure");
    if (!figure) return;
    if (tool.dataset.tool === "png") png(figure);
    else if (tool.dataset.tool === "embed") embed(figure);
    else if (document.fullscreenElement) document.exitFullscreen();
    else if (figure.requestFullscreen) figure.requestFullscreen();
  });
})();
