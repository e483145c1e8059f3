// Every score, with only the rows in view in the page: sorting thousands takes milliseconds, scrolling stays smooth.
"use strict";
(function () {
  const { state, make, day, count, root } = window.mensura;
  const AROUND = 8; // rows drawn above and below those in view

  document.addEventListener("DOMContentLoaded", () => {
    const { models, tests, sources, rows } = window.mensura.scores;
    const holder = document.getElementById("explorer");
    const body = holder.querySelector("tbody");
    const form = document.getElementById("score-filters");
    const heads = [...holder.querySelectorAll("th")];
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    // rank every text once, so that a sort compares numbers
    const order = (texts) => { const sorted = [...new Set(texts)].sort(compare); const place = new Map(sorted.map((text, index) => [text, index])); return texts.map((text) => place.get(text)); };
    const columns = [
      order(rows.map((row) => models[row[0]][0])), order(rows.map((row) => models[row[0]][2])), order(rows.map((row) => tests[row[1]][0])),
      rows.map((row) => row[2]), rows.map((row) => 1 - row[4]), order(rows.map((row) => (sources[row[5]] || [row[5]])[0])), order(rows.map((row) => row[6] || "")),
    ];
    const searched = rows.map((row) => `${models[row[0]][0]} ${models[row[0]][2]} ${tests[row[1]][0]} ${row[5]} ${(sources[row[5]] || [""])[0]}`.toLowerCase());
    let shown = [];
    let height = 40;

    function line(index) {
      const row = rows[index];
      const [model, modelPage, provider] = models[row[0]];
      const [test, testPage] = tests[row[1]];
      const [source, link] = sources[row[5]] || [row[5], null];
      return make("tr", {},
        make("td", {}, make("a", { href: `${root}models/${encodeURIComponent(modelPage)}.html`, dir: "auto" }, model)), make("td", { dir: "auto" }, provider),
        make("td", {}, make("a", { href: `${root}benchmarks/${encodeURIComponent(testPage)}.html`, dir: "auto" }, test)), make("td", { class: "n" }, row[3]),
        make("td", {}, row[4] ? "primary" : "second source"), make("td", {}, link ? make("a", { href: link }, source) : source), make("td", { class: "date" }, day(row[6])));
    }

    const gap = (rows) => { const cell = make("td", { colspan: "7", class: "gap", "aria-hidden": "true" }); cell.style.height = rows * height + "px"; return make("tr", { class: "gap-row" }, cell); };

    function draw() {
      const first = Math.max(0, Math.floor(holder.scrollTop / height) - AROUND);
      const last = Math.min(shown.length, Math.ceil((holder.scrollTop + holder.clientHeight) / height) + AROUND);
      body.replaceChildren(gap(first), ...shown.slice(first, last).map(line), gap(shown.length - last));
      const drawn = body.rows[1];
      if (drawn && drawn.offsetHeight && Math.abs(drawn.offsetHeight - height) > 1 && !drawn.classList.contains("gap-row")) { height = drawn.offsetHeight; }
    }

    function choose() {
      const words = (state.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
      const [provider, use, source, since] = ["provider", "use", "source", "since"].map((key) => state.get(key) || "");
      const [open, reasoning] = ["open", "reasoning"].map((key) => state.get(key) === "1");
      const sort = state.get("sort") || "0";
      const column = columns[Number(sort.replace("-", ""))] || columns[0];
      const way = sort.startsWith("-") ? -1 : 1;
      const began = performance.now();
      shown = [];
      for (let index = 0; index < rows.length; index++) {
        const row = rows[index];
        const model = models[row[0]];
        if (provider && model[2] !== provider || use && String(row[4]) !== use || source && row[5] !== source || since && !(model[3] >= since) || open && !model[4] || reasoning && !model[5]) continue;
        if (words.every((word) => searched[index].includes(word))) shown.push(index);
      }
      shown.sort((a, b) => way * (column[a] - column[b]) || a - b);
      holder.dataset.took = (performance.now() - began).toFixed(1);
      for (const head of heads) head.setAttribute("aria-sort", head.firstElementChild.dataset.sort === sort.replace("-", "") ? (way < 0 ? "descending" : "ascending") : "none");
      document.getElementById("score-count").textContent = shown.length === 0 ? `Nothing matches; ${count(rows.length)} scores are hidden by the filter.` : shown.length === rows.length ? `${count(rows.length)} scores` : `${count(shown.length)} of ${count(rows.length)} scores`;
      state.fill(form);
      holder.scrollTop = 0;
      draw();
    }

    state.bind(form);
    for (const head of heads) {
      head.firstElementChild.addEventListener("click", () => {
        const key = head.firstElementChild.dataset.sort;
        const was = head.getAttribute("aria-sort");
        state.set({ sort: (was === "ascending" || was === "none" && key === "3" ? "-" : "") + key });
      });
    }
    let frame = 0;
    holder.addEventListener("scroll", () => { if (!frame) frame = requestAnimationFrame(() => { frame = 0; draw(); }); }, { passive: true });
    state.onChange(choose);
    choose();
  });
})();
