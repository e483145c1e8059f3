// The first screen: one number or jagged, and the slider through the months. Every place was computed when the page was built.
"use strict";
(function () {
  const { make, load, rove, state, count } = window.mensura;
  const id = (name) => document.getElementById(name);
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const STEP = 220, YEAR = 12, YEARLY = 900; // milliseconds a month; with reduced motion whole years
  let playing = null;

  function html(node, text) { // the deck holds only the tags that the report itself wrote
    const parsed = new DOMParser().parseFromString(text, "text/html");
    node.replaceChildren(...parsed.body.childNodes);
  }

  function words(sentence, deck) {
    const whole = (part, at) => at % 2 ? make("span", { class: "whole" }, part) : part; // no line ends inside GLM-5.2
    id("sentence").replaceChildren(...sentence.split(/((?<!\S)(?=\S{1,18}(?!\S))\S+-\d\S*)/).map(whole));
    html(id("deck"), deck);
  }

  function chances(list) {
    let x = 0;
    id("odds").replaceChildren(...list.map((one) => {
      const size = Math.max(one.share * 3.12, 2);
      const bar = make("rect", { x: x + 1, y: 1, width: Math.max(size - 3, 2), height: 20, rx: 2.5, fill: one.ink, "fill-opacity": one.full ? 1 : 0.22, stroke: one.ink, "stroke-width": 1.5 });
      x += size;
      return bar;
    }));
    id("chances").replaceChildren(...list.map((one) => {
      const line = make("li");
      html(line, one.sign);
      line.append(one.href ? make("a", { href: one.href, dir: "auto" }, one.name) : make("span", {}, one.name), make("b", {}, one.chance));
      return line;
    }));
  }

  // The name of a model that was no leader when the page was built, written as a leader's is.
  function label(drawing, name, iq, [x, anchor, short]) {
    const text = drawing.querySelector(".name").cloneNode(true);
    text.setAttribute("x", x);
    text.style.textAnchor = anchor;
    [text.firstChild.textContent, text.lastChild.textContent] = [`${short || name} `, iq];
    return text;
  }

  function arrange(look, drawing, month) {
    const { models, labels, named } = window.mensura.months;
    const place = drawing.querySelector("desc");
    const [first, row] = [Number(place.dataset.first), Number(place.dataset.row)];
    const marks = drawing.marks || (drawing.marks = new Map([...drawing.querySelectorAll(".model-row")].map((mark) => [mark.dataset.subject, mark])));
    const shown = new Map(month.shown.map((model, order) => [model, order]));
    for (const [model, [subject, name, iq]] of models.entries()) {
      const [order, mark] = [shown.get(model), marks.get(subject)];
      mark.classList.toggle("away", order === undefined);
      mark.classList.toggle("named", order !== undefined && order < named[look]);
      if (order === undefined) continue;
      mark.setAttribute("transform", `translate(${mark.transform.baseVal.getItem(0).matrix.e},${first + row * (month.rows[look][order] + 0.5)})`);
      if (order < named[look] && !mark.querySelector(".name")) mark.append(label(drawing, name, iq, labels[look][model]));
    }
    const dots = drawing.querySelector(".crowd").getAttribute("d").split("M").slice(1);
    drawing.querySelector(".reached").setAttribute("d", month.dark ? "M" + dots.slice(-month.dark).join("M") : "");
    drawing.querySelectorAll(".said").forEach((line, at) => { line.textContent = (look === "narrow" ? month.short_said : month.said)[at >> 1]; });
    drawing.querySelectorAll(".counted").forEach((line) => { line.textContent = `${count(month.shown.length)} AI models`; });
  }

  async function show(at) {
    await load("data/months.js");
    const list = window.mensura.months.months;
    const month = list[at];
    words(month.sentence, month.deck);
    chances(month.chances);
    id("see").textContent = month.see;
    for (const part of id("first").querySelectorAll("[data-look]")) arrange(part.dataset.look, part.querySelector("svg"), month);
    id("month").value = at;
    id("month").setAttribute("aria-valuetext", month.name);
    id("month-said").textContent = month.name;
    id("past").hidden = at === list.length - 1;
  }

  function stop() {
    clearTimeout(playing);
    playing = null;
    id("play").setAttribute("aria-label", "Play through the months");
    id("play").querySelector("path").setAttribute("d", "M3 1.5v13l11-6.5z");
  }

  function play() {
    const slider = id("month");
    const last = Number(slider.max);
    const step = async (at) => {
      await show(at);
      if (at >= last) { stop(); return; }
      if (playing !== null) playing = setTimeout(step, still.matches ? YEARLY : STEP, Math.min(at + (still.matches ? YEAR : 1), last));
    };
    playing = 0;
    id("play").setAttribute("aria-label", "Pause");
    id("play").querySelector("path").setAttribute("d", "M3 1.5h4v13H3zM10 1.5h4v13h-4z");
    step(Number(slider.value) >= last ? 0 : Number(slider.value));
  }

  // The drawings of the jagged view wait in a file of their own; the page keeps their room.
  async function fill() {
    await load("data/jagged.js");
    for (const part of id("jagged").querySelectorAll("[data-look]:not(.filled)")) {
      html(part, window.mensura.jagged[part.dataset.look]);
      part.classList.add("filled");
      rove(part);
    }
  }

  async function pick(subject) {
    const chip = [...document.querySelectorAll(".picks .chip")].find((one) => one.dataset.model === subject) || document.querySelector(".picks .chip[aria-pressed=true]");
    if (!chip) return;
    for (const one of document.querySelectorAll(".picks .chip")) one.setAttribute("aria-pressed", String(one === chip));
    words(chip.dataset.sentence, chip.dataset.deck);
    id("jagged-see").textContent = chip.dataset.see;
    await fill();
    for (const one of document.querySelectorAll("#jagged .strong")) one.classList.toggle("chosen", one.dataset.model === chip.dataset.model);
  }

  function view() {
    const jagged = state.get("view") === "jagged" && id("jagged");
    for (const figure of document.querySelectorAll("[data-view-of]")) figure.hidden = (figure.dataset.viewOf === "jagged") !== Boolean(jagged);
    for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String((button.dataset.view === "jagged") === Boolean(jagged)));
    if (playing !== null) stop();
    if (jagged) pick(state.get("model"));
    else if (opened || Number(id("month").value) !== Number(id("month").max)) show(Number(id("month").value));
    opened = opened || Boolean(jagged);
  }

  let opened = false;
  document.addEventListener("DOMContentLoaded", () => {
    if (!id("first")) return;
    document.querySelector(".views").addEventListener("click", (event) => {
      const button = event.target.closest("[data-view]");
      if (button) state.set({ view: button.dataset.view === "jagged" ? "jagged" : null, model: null });
    });
    if (id("jagged")) document.querySelector(".picks").addEventListener("click", (event) => {
      const chip = event.target.closest(".chip");
      if (chip) state.set({ model: chip.dataset.model }, { replace: true });
    });
    id("month").value = id("month").max; // a reload may have kept another
    id("month").addEventListener("input", () => { if (playing !== null) stop(); show(Number(id("month").value)); });
    id("play").addEventListener("click", () => playing === null ? play() : stop());
    state.onChange(view);
    view();
  });
})();
