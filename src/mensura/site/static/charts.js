// Draws every chart of the page, filters it by provider, and opens a model's card by click or keyboard.
"use strict";
(function () {
  const { state } = window.mensura;
  const THREE_LABS = ["Anthropic", "Google", "OpenAI"];
  const views = new Map();

  function chosenProviders() {
    const chosen = state.get("providers");
    return chosen ? new Set(chosen.split(",")) : null;
  }

  function visible(rows) {
    const chosen = chosenProviders();
    return chosen ? rows.filter((row) => !row.provider || chosen.has(row.provider)) : rows;
  }

  // Small panels fill the width: as many columns as fit, each at least as wide as the chart asks for.
  function fitPanels(spec, width) {
    const panels = spec.usermeta && spec.usermeta.panels;
    if (!panels) return;
    const room = width - panels.frame + panels.gap;
    spec.columns = Math.max(1, Math.floor(room / (panels.least + panels.gap)));
    spec.spec.width = Math.floor(room / spec.columns) - panels.gap;
  }

  function specOf(figure) {
    const spec = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const all = figure.points || (spec.datasets && spec.datasets.points) || [];
    if (spec.datasets && spec.datasets.points) spec.datasets.points = visible(all);
    return { spec, all };
  }

  async function draw(figure) {
    const holder = figure.querySelector(".chart");
    const { spec, all } = specOf(figure);
    fitPanels(spec, holder.clientWidth);
    const least = spec.usermeta && spec.usermeta.min_width;
    if (least && holder.clientWidth < least) {
      holder.classList.add("scroll"); // wider than the screen: the chart scrolls sideways by itself
      holder.tabIndex = 0;
      spec.width = least;
      spec.autosize = { type: "pad" };
    }
    const config = window.mensura.themes[state.theme()];
    const old = views.get(figure);
    if (old) old.result.finalize();
    try {
      // Expressions are interpreted and no style sheet is written into the page: the content security policy allows neither.
      const options = { actions: false, renderer: "svg", config, tooltip: false, ast: true, defaultStyle: false };
      const result = await vegaEmbed(holder, spec, options);
      views.set(figure, { result, all });
      holder.dataset.drawn = "true";
      makeReachable(figure, holder);
      result.view.addResizeListener(() => requestAnimationFrame(() => makeReachable(figure, holder)));
    } catch (fault) {
      holder.textContent = "This chart could not be drawn: " + fault.message;
      console.error(fault);
    }
  }

  // A mark that stands for a model can be reached with the tab and arrow keys and opens its card with Enter or Space.
  function makeReachable(figure, holder) {
    const marks = [];
    for (const mark of holder.querySelectorAll("svg path, svg circle, svg text, svg rect")) {
      const item = mark.__data__;
      const datum = item && item.datum;
      if (!datum || !datum.subject || !window.mensura.models[datum.subject]) continue;
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
      window.mensura.card.open(mark.dataset.subject, mark);
      event.preventDefault();
    }
  }

  function refilter() {
    for (const [figure, { result, all }] of views) {
      if (!all.length) continue;
      result.view.data("points", visible(all)).runAsync().then(() => makeReachable(figure, figure.querySelector(".chart")));
    }
  }

  // Give a chart other rows than those it was built with (the compare page).
  function setPoints(figure, rows) {
    figure.points = rows;
    return views.has(figure) ? draw(figure) : undefined;
  }

  function syncChips() {
    const chosen = chosenProviders();
    for (const chip of document.querySelectorAll("[data-provider]")) {
      chip.setAttribute("aria-pressed", String(chosen !== null && chosen.has(chip.dataset.provider)));
    }
    const labs = document.querySelector("[data-three-labs]");
    if (labs) labs.setAttribute("aria-pressed", String(chosen !== null && [...chosen].sort().join() === THREE_LABS.join()));
    const all = document.querySelector("[data-all-providers]");
    if (all) all.setAttribute("aria-pressed", String(chosen === null));
    for (const row of document.querySelectorAll("tr[data-row-provider]")) {
      row.hidden = chosen !== null && !chosen.has(row.dataset.rowProvider);
    }
  }

  function onChip(event) {
    const chip = event.target.closest(".filter .chip");
    if (!chip) return;
    if (chip.dataset.moreProviders !== undefined) {
      const open = chip.parentElement.classList.toggle("open");
      chip.setAttribute("aria-expanded", String(open));
      chip.hidden = open;
    } else if (chip.dataset.allProviders !== undefined) state.set("providers", null);
    else if (chip.dataset.threeLabs !== undefined) {
      state.set("providers", chip.getAttribute("aria-pressed") === "true" ? null : THREE_LABS.join());
    } else {
      const chosen = chosenProviders() || new Set();
      if (!chosen.delete(chip.dataset.provider)) chosen.add(chip.dataset.provider);
      state.set("providers", [...chosen].sort().join());
    }
  }

  let drawnTheme = null;
  function refresh() {
    syncChips();
    if (drawnTheme !== state.theme()) {
      drawnTheme = state.theme();
      for (const figure of views.keys()) draw(figure);
    } else refilter();
  }

  document.addEventListener("DOMContentLoaded", () => {
    drawnTheme = state.theme();
    syncChips();
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        near.unobserve(entry.target);
        draw(entry.target);
      }
    }, { rootMargin: "600px" });
    document.querySelectorAll("figure[data-chart]").forEach((figure) => near.observe(figure));
    window.addEventListener("beforeprint", () => {
      document.querySelectorAll("figure[data-chart]").forEach((figure) => { if (!views.has(figure)) draw(figure); });
    });
    document.addEventListener("click", onChip);
    document.addEventListener("keydown", onKey);
    state.onChange(refresh);
  });
  window.mensura.charts = { setPoints };
})();
