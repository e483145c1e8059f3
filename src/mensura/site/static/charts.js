// Charts are there as drawings; the library that draws them anew loads when one is touched, filtered, or does not fit.
"use strict";
(function () {
  const { state, load } = window.mensura;
  const THREE_LABS = ["Anthropic", "Google", "OpenAI"];
  const READABLE = 0.76; // share of its own size down to which the lettering of a static drawing can be read
  const views = new Map();

  const chosen = () => { const names = state.all("provider"); return names.length ? new Set(names) : null; };

  function visible(rows) {
    const names = chosen();
    return names ? rows.filter((row) => !row.provider || names.has(row.provider)) : rows;
  }

  // Small panels fill the width: as many columns as fit, each at least as wide as the chart asks for.
  function fitPanels(spec, width) {
    const panels = spec.usermeta && spec.usermeta.panels;
    if (!panels) return;
    const room = width - panels.frame + panels.gap;
    spec.columns = Math.max(1, Math.floor(room / (panels.least + panels.gap)));
    spec.spec.width = Math.floor(room / spec.columns) - panels.gap;
  }

  async function library(name) {
    await Promise.all([load("static/vega.js"), load("static/themes.js"), load("data/models.js"), load(`charts/${name}.js`)]);
  }

  // A chart drawn anew may change its height; the place that the address names stays in view until the reader moves on.
  let moved = false;
  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) window.addEventListener(kind, () => { moved = true; }, { passive: true });
  window.addEventListener("hashchange", () => { moved = false; });
  function keepPlace() {
    const place = moved ? null : document.querySelector(":target");
    if (place) place.scrollIntoView();
  }

  async function draw(figure) {
    const holder = figure.querySelector(".chart");
    const name = figure.dataset.chart;
    await library(name);
    const spec = structuredClone(window.mensura.specs[name]);
    const all = (spec.datasets && spec.datasets.points) || [];
    const some = visible(all);
    if (spec.datasets && spec.datasets.points) spec.datasets.points = some;
    say(figure, all, some);
    fitPanels(spec, holder.clientWidth);
    const least = spec.usermeta && spec.usermeta.min_width;
    holder.classList.remove("wide-drawing");
    if (least && holder.clientWidth < least) {
      holder.classList.add("sideways"); // wider than the screen: the chart scrolls sideways by itself
      spec.width = least;
      spec.autosize = { type: "pad" };
    }
    const old = views.get(figure);
    if (old) old.result.finalize();
    try {
      // Expressions are interpreted and no style sheet is written into the page: the content security policy allows neither.
      const config = window.mensura.themes[state.theme()];
      const options = { actions: false, renderer: "svg", config, tooltip: false, logLevel: 1, ast: true, defaultStyle: false };
      const result = await vegaEmbed(holder, spec, options);
      views.set(figure, { result, all });
      holder.dataset.drawn = "true";
      makeReachable(figure, holder);
      keepPlace();
      result.view.addResizeListener(() => requestAnimationFrame(() => makeReachable(figure, holder)));
    } catch (fault) {
      figure.querySelector(".chart-note").textContent = "This chart could not be drawn anew: " + fault.message;
      console.error(fault);
    }
  }

  // A filter never leaves a chart empty without a word.
  function say(figure, all, some) {
    const note = figure.querySelector(".chart-note");
    const names = chosen();
    const models = (rows) => rows.filter((row) => row.provider).length;
    if (!names || !models(all)) note.textContent = "";
    else if (!models(some)) note.textContent = `No model of ${[...names].join(", ")} is in this picture.`;
    else note.textContent = `${models(some)} of ${models(all)} models shown: ${[...names].join(", ")}.`;
  }

  // A mark that stands for a model can be reached with the tab and arrow keys and opens its card with Enter or Space.
  function makeReachable(figure, holder) {
    const marks = [];
    for (const mark of holder.querySelectorAll("svg path, svg circle, svg text, svg rect, svg line")) {
      const item = mark.__data__;
      const datum = item && item.datum;
      if (!datum || !datum.subject || typeof datum.subject !== "string") continue;
      if (!datum.subject.includes(":") && !Object.hasOwn(window.mensura.models, datum.subject)) continue;
      if (mark.closest("[aria-hidden='true']") && mark.tagName !== "text") continue;
      mark.dataset.subject = datum.subject;
      if (mark.tagName === "text") continue;
      mark.setAttribute("tabindex", marks.length ? "-1" : "0");
      mark.setAttribute("role", "button");
      if (!mark.getAttribute("aria-label")) mark.setAttribute("aria-label", datum.name || datum.subject);
      marks.push(mark);
    }
    figure.marks = marks;
  }

  function onKey(event) {
    const mark = event.target.closest && event.target.closest("[data-subject]");
    const figure = mark && mark.closest("figure");
    if (!figure || !figure.marks) return;
    const at = figure.marks.indexOf(mark);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && at >= 0) {
      const next = figure.marks[(at + step + figure.marks.length) % figure.marks.length];
      mark.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      mark.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      event.preventDefault();
    }
  }

  // A finger needs 24 pixels: a press beside a mark counts for the nearest one.
  const FINGER = 14; // pixels from the middle of a mark
  function onPress(event) {
    const holder = event.target.closest && event.target.closest(".chart[data-drawn]");
    if (!holder || event.target.closest("[data-subject]")) return;
    let nearest = null, least = FINGER;
    for (const mark of holder.closest("figure").marks || []) {
      const box = mark.getBoundingClientRect();
      const along = mark.tagName === "line" ? Math.min(Math.max(event.clientX, box.left), box.right) : box.left + box.width / 2;
      const away = Math.hypot(along - event.clientX, box.top + box.height / 2 - event.clientY);
      if (away < least) [nearest, least] = [mark, away];
    }
    if (nearest) nearest.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  }

  function syncChips() {
    const names = chosen();
    for (const chip of document.querySelectorAll(".chip[data-provider]")) chip.setAttribute("aria-pressed", String(names !== null && names.has(chip.dataset.provider)));
    const labs = document.querySelector("[data-three-labs]");
    if (labs) labs.setAttribute("aria-pressed", String(names !== null && [...names].sort().join() === THREE_LABS.join()));
    const all = document.querySelector("[data-all-providers]");
    if (all) all.setAttribute("aria-pressed", String(names === null));
  }

  function onChip(event) {
    const chip = event.target.closest && event.target.closest(".filter .chip");
    if (!chip) return;
    if (chip.dataset.moreProviders !== undefined) {
      const open = chip.parentElement.classList.toggle("open");
      chip.setAttribute("aria-expanded", String(open));
      chip.hidden = open;
    } else if (chip.dataset.allProviders !== undefined) state.set({ provider: null });
    else if (chip.dataset.threeLabs !== undefined) state.set({ provider: chip.getAttribute("aria-pressed") === "true" ? null : THREE_LABS });
    else if (chip.dataset.provider !== undefined) {
      const names = chosen() || new Set();
      if (!names.delete(chip.dataset.provider)) names.add(chip.dataset.provider);
      state.set({ provider: [...names].sort() });
    }
  }

  const waiting = new Set();
  let drawnTheme = null;
  function refresh() {
    syncChips();
    if (drawnTheme !== state.theme()) {
      drawnTheme = state.theme();
      for (const figure of views.keys()) draw(figure);
    } else {
      for (const [figure, { result, all }] of views) {
        const some = visible(all);
        say(figure, all, some);
        if (all.length) result.view.data("points", some).runAsync().then(() => makeReachable(figure, figure.querySelector(".chart")));
      }
    }
    if (chosen()) waiting.forEach((figure) => { near.unobserve(figure); near.observe(figure); }); // asks again who is near
  }

  function tooSmall(chart) {
    const drawn = chart.querySelector("svg");
    return Boolean(drawn) && chart.clientWidth < READABLE * drawn.width.baseVal.value;
  }
  const wanted = (figure) => chosen() !== null || tooSmall(figure.querySelector(".chart"));
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && wanted(entry.target)) start(entry.target);
  }, { rootMargin: "200px" });

  function start(figure) {
    if (!waiting.delete(figure)) return;
    near.unobserve(figure);
    draw(figure);
  }

  document.addEventListener("DOMContentLoaded", () => {
    drawnTheme = state.theme();
    syncChips();
    for (const figure of document.querySelectorAll("figure[data-drawn-by=vega]")) {
      waiting.add(figure);
      near.observe(figure);
      const chart = figure.querySelector(".chart");
      for (const touch of ["pointerenter", "pointerdown", "focusin"]) chart.addEventListener(touch, () => start(figure), { once: true });
    }
    document.addEventListener("click", onChip);
    document.addEventListener("click", onPress);
    document.addEventListener("keydown", onKey);
    state.onChange(refresh);
  });
  window.mensura.charts = { start };
})();
