// What a reader can do with a picture: PNG, embedding, full screen.
"use strict";
(function () {
  const { make, root } = window.mensura;

  const shownSvg = (figure) => [...figure.querySelectorAll(".chart svg")].find((svg) => svg.getBoundingClientRect().width > 0);

  const LOOK = ["fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "paint-order", "text-anchor", "font-size", "font-weight", "font-style"];

  // The drawing as a file: looks and the theme's colours written out, the page's ground behind it.
  function standalone(svg) {
    const box = svg.getBoundingClientRect();
    const copy = svg.cloneNode(true);
    const looks = [svg, ...svg.querySelectorAll("[data-s]")].map((one) => getComputedStyle(one));
    [copy, ...copy.querySelectorAll("[data-s]")].forEach((one, place) => {
      for (const name of LOOK) one.setAttribute(name, looks[place].getPropertyValue(name));
      one.removeAttribute("data-s");
    });
    for (const use of copy.querySelectorAll("use")) { // the shapes of the page do not leave it
      const sign = document.querySelector(use.getAttribute("href")).cloneNode();
      for (const { name, value } of use.attributes) sign.setAttribute(name, value);
      sign.setAttribute("transform", `translate(${use.getAttribute("x") || 0},${use.getAttribute("y") || 0})`);
      for (const name of ["id", "href", "x", "y"]) sign.removeAttribute(name);
      use.replaceWith(sign);
    }
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

  // A picture that leaves the page takes along its finding, what is drawn, doubt, source, day, licence and address.
  const MARGIN = 36;
  const pen = document.createElement("canvas").getContext("2d");
  function wrap(text, room, font) {
    pen.font = font;
    const lines = [];
    for (const word of text.split(/\s+/)) {
      const longer = lines.length ? lines.at(-1) + " " + word : word;
      if (lines.length && pen.measureText(longer).width <= room) lines[lines.length - 1] = longer; else lines.push(word);
    }
    return lines;
  }

  function framed(figure, svg) {
    const { text, width, height, ground } = standalone(svg);
    const said = (selector) => (figure.querySelector(selector) || { textContent: "" }).textContent.trim();
    const voice = [...figure.querySelectorAll(".voice dd")].map((one) => one.textContent.trim());
    const finding = said(".finding") || document.querySelector("h1").textContent.trim();
    const address = document.documentElement.dataset.address || (location.protocol === "file:" ? "" : location.href.split("#")[0]);
    const room = Math.max(width, 640);
    const ink = getComputedStyle(document.body).color;
    const parts = [];
    let y = MARGIN;
    const write = (words, size, weight) => { for (const line of wrap(words, room, `${weight} ${size}px Arial`)) { y += size * 1.35; parts.push(make("text", { x: MARGIN, y, "font-size": size, "font-weight": weight, fill: ink }, line)); } };
    write(finding, 24, 600);
    write(voice[0] || "", 14.5, 400);
    const top = y + 16;
    y = top + height + 10;
    parts.push(make("line", { x1: MARGIN, x2: MARGIN + room, y1: y, y2: y, stroke: ink, "stroke-width": 2 }));
    y += 6;
    write("Doubt: " + (voice[2] || ""), 12.5, 400);
    write("Source: " + (said(".source span") || "scores of the evidence, each credited to its source on the data page"), 12.5, 400);
    write(`Evidence of ${document.documentElement.dataset.evidence}. Picture: ${figure.dataset.licence || "CC BY 4.0"}, credit Mensura${address ? ", " + address : ""}`, 12.5, 400);
    const size = { width: room + 2 * MARGIN, height: y + MARGIN };
    const sheet = make("svg", { xmlns: "http://www.w3.org/2000/svg", ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": "Helvetica, Arial, sans-serif" }, make("rect", { width: "100%", height: "100%", fill: ground }), ...parts);
    const inner = text.replace("<svg", `<svg x="${MARGIN}" y="${top}"`);
    return { text: new XMLSerializer().serializeToString(sheet).replace(/<\/svg>$/, inner + "</svg>"), ...size };
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
    const { text, width, height } = framed(figure, svg);
    const image = new Image();
    image.onload = () => {
      const canvas = make("canvas", { width: 2 * width, height: 2 * height });
      const pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, figure.dataset.chart + ".png"), "image/png");
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }

  function embed(figure) {
    const old = figure.querySelector(".embed");
    if (old) { old.remove(); return; }
    // One line, no script, its size known before it loads: the framed picture, which leads to its page.
    const address = new URL(root + "charts/" + figure.dataset.chart, document.documentElement.dataset.address || location.href).href;
    const [width, height] = (figure.dataset.size || "1100 800").split(" ").map((one) => Math.round(Number(one)));
    const words = (figure.querySelector(".finding") || document.querySelector("h1")).textContent.replace(/["<>&]/g, "");
    const code = `<a href="${address}.html"><img src="${address}.svg" width="${width}" height="${height}" style="max-width:100%;height:auto" alt="${words}"></a>`;
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
    else if (tool.dataset.tool === "svg") save(new Blob([framed(figure, shownSvg(figure)).text], { type: "image/svg+xml" }), figure.dataset.chart + ".svg");
    else if (tool.dataset.tool === "embed") embed(figure);
    else if (document.fullscreenElement) document.exitFullscreen();
    else if (figure.requestFullscreen) figure.requestFullscreen();
  });
})();
