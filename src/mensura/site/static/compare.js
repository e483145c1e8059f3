// Two to five models or groups of people side by side; the choice stays in the address.
"use strict";
(function () {
  const { state } = window.mensura;
  const MOST = 5;

  const known = () => Object.fromEntries([...Object.values(window.mensura.models), ...Object.values(window.mensura.groups)].map((one) => [one.page, one]));
  const chosen = () => (state.get("compare") || document.querySelector("[data-compare]").dataset.compare)
    .split(",").filter((key) => key in known()).slice(0, MOST);
  const choose = (keys) => state.set("compare", keys.join(","));
  const escape = (value) => String(value).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

  const number = (value, digits) => value === null || value === undefined ? "–" : Number(value).toFixed(digits);
  const ranged = (value, digits) => !value ? "–" : number(value.value, digits) +
    (value.low === null || value.low === undefined ? "" : ` <span class="interval">${number(value.low, digits)} to ${number(value.high, digits)}</span>`);
  const money = (value) => value === null || value === undefined ? "–" : "$" + Number(value).toPrecision(3);

  const FACTS = [
    ["Provider", (one) => escape(one.provider || "people")],
    ["Release", (one) => escape(one.released || "–")],
    ["Composite IQ", (one) => ranged(one.iq, 0)],
    ["Capability (stitched scale)", (one) => ranged(one.capability, 2)],
    ["Emotional reasoning (EQ)", (one) => number(one.eq, 0)],
    ["Sticker price / 1M I/O", (one) => money(one.sticker_price)],
    ["Effective cost / 1M I/O", (one) => money(one.effective_cost)],
  ];

  function benchmarkScores(one) {
    const scores = new Map((one.scores || []).map(([name, score]) => [name, [score, "measured"]]));
    for (const dimension of one.dimensions || []) {
      for (const [name, score] of dimension.benchmarks) if (score !== null) scores.set(name, [score, "measured"]);
    }
    return scores;
  }

  function table(subjects) {
    const rows = FACTS.map(([label, read]) => `<tr><th scope="row">${label}</th>${subjects.map((one) => `<td class="n">${read(one)}</td>`).join("")}</tr>`);
    const scores = subjects.map(benchmarkScores);
    const names = [...new Set(scores.flatMap((one) => [...one.keys()]))].sort((a, b) =>
      scores.filter((one) => one.has(b)).length - scores.filter((one) => one.has(a)).length || a.localeCompare(b));
    for (const name of names) {
      if (scores.filter((one) => one.has(name)).length < 2) continue;
      rows.push(`<tr><th scope="row">${escape(name)}</th>${scores.map((one) => `<td class="n">${one.has(name) ? escape(one.get(name)[0]) : "–"}</td>`).join("")}</tr>`);
    }
    const heads = subjects.map((one) => `<th scope="col" class="n">${escape(one.name)}</th>`).join("");
    return `<table><thead><tr><th scope="col"></th>${heads}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }

  function points(keys) {
    return keys.flatMap((key) => (known()[key].dimensions || []).filter((dimension) => dimension.iq !== null).map((dimension) => ({
      subject: known()[key].subject, name: known()[key].name, provider: known()[key].provider, dimension: dimension.name,
      value: dimension.iq, low: dimension.low, high: dimension.high, status: dimension.status,
    })));
  }

  function render() {
    const keys = chosen();
    const list = document.getElementById("chosen");
    list.innerHTML = keys.map((key) => `<button class="chip" type="button" aria-pressed="true" data-drop="${escape(key)}" aria-label="Remove ${escape(known()[key].name)}">${escape(known()[key].name)} ×</button>`).join("");
    const message = document.getElementById("compare-message");
    message.textContent = keys.length < 2 ? "Choose at least two." : keys.length === MOST ? "Five is the most that can be compared." : "";
    document.getElementById("compare-table").innerHTML = keys.length ? table(keys.map((key) => known()[key])) : "";
    window.mensura.charts.setPoints(document.querySelector("figure[data-chart]"), points(keys));
  }

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("add-subject");
    const keyOf = Object.fromEntries(Object.entries(known()).map(([key, one]) => [one.name, key]));
    box.addEventListener("change", () => {
      const key = keyOf[box.value];
      if (!key) return;
      const keys = chosen();
      if (!keys.includes(key) && keys.length < MOST) choose([...keys, key]);
      box.value = "";
    });
    document.getElementById("chosen").addEventListener("click", (event) => {
      const drop = event.target.closest("[data-drop]");
      if (drop) choose(chosen().filter((key) => key !== drop.dataset.drop));
    });
    state.onChange(render);
    render();
  });
})();
