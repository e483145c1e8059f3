// The card of a model: Summary, IQ, Cost; of people: test, number, measured or judged, source. Opens on click or keyboard; closes on outside click, scroll or Escape.
// On a phone it is a sheet at the bottom with its own scroll.
"use strict";
(function () {
  const { make, load, money, number, root, day } = window.mensura;
  const TABS = ["Summary", "IQ", "Cost"];
  const MARKS = { measured: "●", inherited: "◐", estimated: "○" };
  let card = null;
  let opener = null;

  const times = (value) => value === null || value === undefined ? "–" : Number(value).toPrecision(2) + "×";
  const ranged = (value, digits = 0) => !value ? ["–"] : [number(value.value, digits), value.low === null || value.low === undefined ? null : make("span", { class: "interval" }, ` ${number(value.low, digits)} to ${number(value.high, digits)}`)];
  const rows = (pairs) => make("dl", {}, pairs.flatMap(([label, value]) => [make("dt", {}, label), make("dd", {}, value)]));

  function meter(model) {
    const whole = model.measured + model.inherited + model.estimated || 1;
    const share = (count) => `${100 * count / whole}%`;
    return make("svg", { class: "meter", role: "img", "aria-label": `${model.measured} of ${whole} measured, ${model.inherited} inherited, ${model.estimated} estimated` },
      make("rect", { width: share(model.measured), height: "100%" }), make("rect", { class: "m2", x: share(model.measured), width: share(model.inherited), height: "100%" }));
  }

  // One block per test, in its groups: full measured, half inherited, hollow estimated.
  function blocks(model) {
    const parts = [];
    let x = 0;
    for (const one of model.dimensions) {
      for (const [, , , status] of one.benchmarks) {
        const full = status === "measured" ? 1 : status === "predecessor" ? 0.4 : 0;
        parts.push(make("rect", { x: x + 0.75, y: 1, width: 7, height: 12, rx: 1.5, fill: "var(--ink)", "fill-opacity": full, stroke: "var(--ink)", "stroke-width": 1.2 }));
        x += 9;
      }
      x += 6;
    }
    return make("svg", { class: "blocks", viewBox: `0 0 ${Math.max(x, 1)} 14`, preserveAspectRatio: "xMinYMid meet", role: "img", "aria-label": `${model.measured} of ${model.measured + model.inherited + model.estimated} measured, ${model.inherited} inherited, ${model.estimated} estimated` }, parts);
  }
  const of = (text) => make("span", { class: "of" }, " " + text);
  const whole = (model) => model.measured + model.inherited + model.estimated;

  const summary = (model) => make("div", {},
    make("div", { class: "big" }, make("b", {}, model.iq ? number(model.iq.value, 0) : "–"), make("div", {},
      make("span", {}, model.iq ? `IQ, 90%: ${number(model.iq.low, 0)} to ${number(model.iq.high, 0)}` : "IQ: too little is measured to estimate the rest"),
      model.rarity ? make("span", { class: "warm" }, `reached by ${model.rarity}`) : null)),
    rows([
      ["Emotional reasoning (EQ)", model.eq === null ? "–" : [number(model.eq, 0), of("a side test")]],
      ["Effective cost", model.effective_cost === null ? ["not known", of(`list price ${money(model.sticker_price)} per 1M in + out`)] : [money(model.effective_cost), of("per 1M in + out")]],
      ["Task efficiency", model.task_efficiency === null ? "–" : [times(model.task_efficiency), of("1 is typical")]],
      ["Release date", day(model.released)],
      ["Evidence", [`${model.measured} of ${whole(model)} tests measured`, model.lowered ? of(`IQ ${number(model.lowered, 1)} lower: its maker chose some scores`) : null]],
    ]),
    model.dimensions.length ? blocks(model) : null,
    make("p", { class: "small soft" }, model.iq ? `One block per test, in its seven groups.${model.p_first === null ? "" : ` Chance of being first: ${model.p_first < 0.01 ? "under 1%" : Math.round(100 * model.p_first) + "%"}.`}` : ""),
    make("p", { class: "ends" }, make("a", { href: root + "models/" + encodeURIComponent(model.page) + ".html" }, "Model page"), make("a", { href: root + "compare.html?with=" + encodeURIComponent(model.page) }, "Compare")));

  const iq = (model) => !model.dimensions.length ? make("p", {}, "No dimension could be scored.") : make("div", {},
    make("dl", {}, model.dimensions.flatMap((one) => [
      make("dt", {}, `${MARKS[one.status]} ${one.name}`), make("dd", {}, ranged({ value: one.iq, low: one.low, high: one.high })),
      make("dl", { class: "nested" }, one.benchmarks.flatMap(([name, score, value, status]) => [
        make("dt", {}, `${status === "measured" ? "●" : status === "predecessor" ? "◐" : "○"} ${name}`),
        make("dd", {}, `${score === null ? "" : score + " → "}${number(value, 0)}`)])),
    ])),
    !model.eq_parts.length ? null : make("dl", {}, make("dt", {}, "Emotional reasoning (EQ), no part of the IQ"), make("dd", {}, number(model.eq, 0)),
      make("dl", { class: "nested" }, model.eq_parts.flatMap(([name, value]) => [make("dt", {}, `${value === null ? "○" : "●"} ${name}`), make("dd", {}, number(value, 0))]))),
    make("p", { class: "small soft" }, "● measured ◐ inherited ○ estimated"));

  const cost = (model) => rows([
    ["Input / 1M tokens", money(model.input_price)],
    ["Output / 1M tokens", money(model.output_price)],
    ["Sticker price / 1M I/O", money(model.sticker_price)],
    ["Task efficiency", times(model.task_efficiency)],
    ["Effective cost / 1M I/O", money(model.effective_cost)],
    ["Response time, median", model.response_time === null ? "–" : number(model.response_time, 0) + " s"],
  ]);

  function show(tab, model) {
    card.querySelectorAll("[role=tab]").forEach((node) => {
      const on = node.dataset.tab === tab;
      node.setAttribute("aria-selected", String(on));
      node.tabIndex = on ? 0 : -1;
    });
    card.querySelector(".panel").replaceChildren({ Summary: summary, IQ: iq, Cost: cost }[tab](model));
    card.querySelector(".panel").setAttribute("aria-labelledby", "card-tab-" + tab);
  }

  function place(anchor) {
    if (window.matchMedia("(max-width: 44.99rem)").matches) return; // the style sheet makes it a sheet
    const box = anchor.getBoundingClientRect();
    const width = card.offsetWidth;
    const left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), document.documentElement.clientWidth - width - 8);
    const below = box.bottom + 10;
    const fits = below + card.offsetHeight < window.innerHeight || box.top < card.offsetHeight + 16;
    card.style.left = left + window.scrollX + "px";
    card.style.top = (fits ? below : box.top - card.offsetHeight - 10) + window.scrollY + "px";
  }

  // Show a card of these parts beside its mark.
  function raise(name, anchor, ...parts) {
    close(false);
    opener = anchor;
    const shut = make("button", { class: "close", type: "button", "aria-label": "Close" }, "×");
    card = make("div", { class: "card", role: "dialog", "aria-label": name }, make("h2", { dir: "auto" }, name), shut, ...parts);
    document.body.append(card);
    shut.addEventListener("click", () => close(true));
    return shut;
  }

  async function openPeople(subject, anchor) {
    await load("data/people.js");
    const people = Object.hasOwn(window.mensura.people, subject) ? window.mensura.people[subject] : null;
    if (!people) return;
    const leads = (text, href) => !href ? text : /^https?:/.test(href) ? make("a", { href }, text) : make("a", { href: root + href }, text);
    const shut = raise(people.name, anchor,
      make("div", { class: "soft small" }, "people · ", make("a", { href: root + people.page }, "where they stand")),
      make("div", { class: "panel", tabindex: "0", role: "region", "aria-label": "About these people" },
        make("dl", { class: "wordy" }, people.lines.flatMap(([label, text, href]) => [make("dt", {}, label), make("dd", { dir: "auto" }, leads(text, href))]))));
    place(anchor);
    shut.focus({ preventScroll: true });
  }

  async function open(subject, anchor) {
    await load("data/models.js");
    const model = Object.hasOwn(window.mensura.models, subject) ? window.mensura.models[subject] : null;
    if (!model) return;
    const tabs = TABS.map((tab) => make("button", { role: "tab", type: "button", id: "card-tab-" + tab, "data-tab": tab, "aria-controls": "card-panel" }, tab));
    raise(model.name, anchor,
      make("div", { class: "soft small" }, model.provider),
      make("div", { role: "tablist", "aria-label": "About this model" }, tabs),
      make("div", { class: "panel", id: "card-panel", role: "tabpanel", tabindex: "0" }));
    show("Summary", model);
    place(anchor);
    tabs.forEach((tab, index, all) => {
      tab.addEventListener("click", () => show(tab.dataset.tab, model));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = all[(index + step + all.length) % all.length];
        show(next.dataset.tab, model);
        next.focus();
      });
    });
    tabs[0].focus({ preventScroll: true });
  }

  function close(refocus) {
    if (!card) return;
    card.remove();
    card = null;
    if (refocus && opener && opener.isConnected) opener.focus({ preventScroll: true });
    opener = null;
  }

  // Marks are links, so that they lead somewhere without a script; here they open the card.
  document.addEventListener("click", (event) => {
    const mark = event.target.closest && event.target.closest("[data-subject]");
    if (mark && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const subject = mark.dataset.subject;
      if (subject.startsWith("people:")) openPeople(subject, mark);
      else if (subject.startsWith("benchmark:")) location.href = root + "benchmarks/" + encodeURIComponent(subject.slice(10)) + ".html";
      else open(subject, mark);
      return;
    }
    if (card && !card.contains(event.target)) close(false);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(true); });
  window.addEventListener("scroll", (event) => {
    if (card && event.target === document && !window.matchMedia("(max-width: 44.99rem)").matches) close(false);
  }, { passive: true, capture: true });
  window.mensura.card = { open, close };
  window.mensura.meter = meter;
})();
