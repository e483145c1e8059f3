// The card of a model: Summary, IQ, Cost. Opens on click or keyboard; closes on outside click, scroll or Escape.
"use strict";
(function () {
  const TABS = ["Summary", "IQ", "Cost"];
  let card = null;
  let opener = null;

  const text = (value) => { const node = document.createElement("span"); node.textContent = value; return node.innerHTML; };
  const number = (value, digits) => value === null || value === undefined ? "–" : Number(value).toFixed(digits);
  const money = (value) => value === null || value === undefined ? "–" : "$" + Number(value).toPrecision(3).replace(/\.0+$/, "");
  const times = (value) => value === null || value === undefined ? "–" : Number(value).toPrecision(2) + "×";
  const interval = (value) => !value || value.low === null || value.low === undefined ? "" : ` <span class="interval">${number(value.low, 0)}–${number(value.high, 0)}</span>`;
  const styled = (value, estimated) => estimated ? `<span class="estimated">${value}</span>` : value;

  function rows(pairs) {
    return "<dl>" + pairs.map(([label, value]) => `<dt>${text(label)}</dt><dd>${value}</dd>`).join("") + "</dl>";
  }

  function summary(model) {
    return rows([
      ["IQ", model.iq ? number(model.iq.value, 0) + interval(model.iq) : "not enough evidence"],
      ["Emotional reasoning (EQ)", number(model.eq, 0)],
      ["Effective cost / 1M I/O", money(model.effective_cost)],
      ["Task efficiency", times(model.task_efficiency)],
      ["Release date", text(model.released)],
    ]) + (model.iq ? `<p class="small soft">${text(model.iq.note)}</p>` : "");
  }

  function iq(model) {
    if (!model.dimensions || !model.dimensions.length) return "<p>No dimension could be scored.</p>";
    return "<dl>" + model.dimensions.map((dimension) => {
      const value = dimension.iq === null ? "–" : styled(number(dimension.iq, 0), dimension.status !== "measured") + interval(dimension);
      const nested = dimension.benchmarks.map(([name, score, iq, status]) =>
        `<dt>${text(name)}</dt><dd>${score === null ? "" : text(score) + " → "}${styled(number(iq, 0), status !== "measured")}</dd>`).join("");
      return `<dt>${text(dimension.name)}</dt><dd>${value}</dd><dl class="nested">${nested}</dl>`;
    }).join("") + "</dl><p class='small soft'><em>Slanted</em>: estimated, not measured.</p>";
  }

  function cost(model) {
    return rows([
      ["Input / 1M tokens", money(model.input_price)],
      ["Output / 1M tokens", money(model.output_price)],
      ["Sticker price / 1M I/O", money(model.sticker_price)],
      ["Task efficiency", times(model.task_efficiency)],
      ["Effective cost / 1M I/O", money(model.effective_cost)],
    ]);
  }

  function show(tab, model) {
    card.querySelectorAll("[role=tab]").forEach((node) => {
      const on = node.dataset.tab === tab;
      node.setAttribute("aria-selected", String(on));
      node.tabIndex = on ? 0 : -1;
    });
    card.querySelector(".panel").innerHTML = { Summary: summary, IQ: iq, Cost: cost }[tab](model);
    card.querySelector(".panel").setAttribute("aria-labelledby", "card-tab-" + tab);
  }

  function place(anchor) {
    const box = anchor.getBoundingClientRect();
    const width = card.offsetWidth;
    const left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), document.documentElement.clientWidth - width - 8);
    const below = box.bottom + 10;
    const fits = below + card.offsetHeight < window.innerHeight || box.top < card.offsetHeight + 16;
    card.style.left = left + window.scrollX + "px";
    card.style.top = (fits ? below : box.top - card.offsetHeight - 10) + window.scrollY + "px";
  }

  function open(subject, anchor) {
    close(false);
    const model = window.mensura.models[subject];
    if (!model) return;
    opener = anchor;
    card = document.createElement("div");
    card.className = "card";
    card.setAttribute("role", "dialog");
    card.setAttribute("aria-label", model.name);
    const tabs = TABS.map((tab) => `<button role="tab" id="card-tab-${tab}" data-tab="${tab}" aria-controls="card-panel">${tab}</button>`).join("");
    card.innerHTML = `<h2>${text(model.name)}</h2><button class="close" aria-label="Close">×</button><div class="soft small">${text(model.provider)} · <a href="${window.mensura.root}models/${encodeURIComponent(model.page)}.html">everything known</a></div><div role="tablist" aria-label="About this model">${tabs}</div><div class="panel" id="card-panel" role="tabpanel" tabindex="0"></div>`;
    document.body.append(card);
    show("Summary", model);
    place(anchor);
    card.querySelector(".close").addEventListener("click", () => close(true));
    card.querySelectorAll("[role=tab]").forEach((tab, index, all) => {
      tab.addEventListener("click", () => show(tab.dataset.tab, model));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = all[(index + step + all.length) % all.length];
        show(next.dataset.tab, model);
        next.focus();
      });
    });
    card.querySelector("[role=tab]").focus({ preventScroll: true });
  }

  function close(refocus) {
    if (!card) return;
    card.remove();
    card = null;
    if (refocus && opener && opener.isConnected) opener.focus({ preventScroll: true });
    opener = null;
  }

  document.addEventListener("click", (event) => {
    const mark = event.target.closest && event.target.closest("[data-subject]");
    if (mark) { open(mark.dataset.subject, mark); return; }
    if (card && !card.contains(event.target)) close(false);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(true); });
  window.addEventListener("scroll", (event) => { if (card && event.target === document) close(false); }, { passive: true, capture: true });
  window.mensura.card = { open, close };
})();
