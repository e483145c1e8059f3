// The live converter: rate ↔ rarity ↔ percentile ↔ IQ ↔ level, the formulas of the ruler.
"use strict";
(function () {
  const { state } = window.mensura;
  const PEOPLE = 8.2e9; // alive (United Nations, mid-2025, rounded)

  // Φ by the complementary error function: the continued fraction in the tails, the series in the middle.
  function erfc(x) {
    const z = Math.abs(x);
    if (z < 2.5) {
      let term = z, sum = z;
      for (let k = 1; k < 80; k++) { term *= -z * z / k; sum += term / (2 * k + 1); }
      const result = 1 - 2 / Math.sqrt(Math.PI) * sum;
      return x >= 0 ? result : 2 - result;
    }
    let fraction = 0;
    for (let k = 60; k > 0; k--) fraction = k / 2 / (z + fraction);
    const result = Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction);
    return x >= 0 ? result : 2 - result;
  }
  const above = (z) => erfc(z / Math.SQRT2) / 2; // share of people above z standard deviations

  function zAbove(rate) { // inverse of `above` by bisection; 100 halvings reach the last digit
    let low = -9, high = 38;
    for (let k = 0; k < 100; k++) { const middle = (low + high) / 2; if (above(middle) > rate) low = middle; else high = middle; }
    return (low + high) / 2;
  }

  const OFFSETS = { adele: 0.5, calibrated: 0 }; // the level at which everybody succeeds

  function lineOf(form) { // a calibrated dimension has its own line; the common scale follows base and convention
    const option = form.elements.dimension.selectedOptions[0];
    const common = option.value === "";
    for (const name of ["base", "convention"]) form.elements[name].disabled = !common;
    if (!common) return { slope: Number(option.dataset.slope), intercept: Number(option.dataset.intercept) };
    const base = Number(form.elements.base.value.replace(",", "."));
    const slope = base > 1 ? Math.log10(base) : NaN;
    if (Number.isNaN(slope)) form.elements.base.setAttribute("aria-invalid", "true");
    else form.elements.base.removeAttribute("aria-invalid");
    return { slope, intercept: 0.5 - slope * OFFSETS[form.elements.convention.value] };
  }

  const toRate = {
    rate: (x) => x / 100,
    one_in: (x) => 1 / x,
    percentile: (x) => 1 - x / 100,
    iq: (x) => above((x - 100) / 15),
    level: (x, line) => 10 ** (0.5 - (line.slope * x + line.intercept)),
  };
  const fromRate = {
    rate: (p) => 100 * p,
    one_in: (p) => 1 / p,
    percentile: (p) => 100 * (1 - p),
    iq: (p) => 100 + 15 * zAbove(p),
    level: (p, line) => (0.5 - Math.log10(p) - line.intercept) / line.slope,
  };
  const show = (x) => Number.isFinite(x) ? Number(x.toPrecision(5)).toString() : "";

  function convert(form, unit) {
    const input = form.elements[unit];
    const line = lineOf(form);
    const rate = input.value.trim() === "" ? NaN : toRate[unit](Number(input.value.replace(",", ".")), line);
    const valid = rate > 0 && rate < 1;
    for (const name of Object.keys(toRate)) form.elements[name].removeAttribute("aria-invalid");
    const words = form.querySelector("output");
    if (!valid) {
      input.setAttribute("aria-invalid", "true");
      words.textContent = "Out of range: a rate lies between 0 and 100 percent of people, both excluded.";
      return;
    }
    for (const name of Object.keys(toRate)) if (name !== unit) form.elements[name].value = show(fromRate[name](rate, line));
    const rare = 1 / rate > PEOPLE ? "rarer than 1 in all people alive" : `1 in ${show(1 / rate)}`;
    words.textContent = `${show(100 * rate)}% of people succeed: ${rare}, IQ-equivalent ${show(fromRate.iq(rate))}.`;
    const scale = ["dimension", "base", "convention"].map((name) => form.elements[name].value);
    state.set({ convert: [unit, input.value, ...scale].join(":") }, { replace: true });
  }

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector("form.converter");
    if (!form) return;
    form.addEventListener("submit", (event) => event.preventDefault());
    let last = "rate";
    for (const name of Object.keys(toRate)) form.elements[name].addEventListener("input", () => { last = name; convert(form, name); });
    for (const name of ["dimension", "base", "convention"]) {
      form.elements[name].addEventListener("input", () => convert(form, last === "level" ? "level" : "rate"));
    }
    const [unit, value, dimension, base, convention] = (state.get("convert") || "rate:3.8:").split(":");
    if (dimension) form.elements.dimension.value = dimension;
    if (base) form.elements.base.value = base;
    if (convention in OFFSETS) form.elements.convention.value = convention;
    if (toRate[unit]) { form.elements[unit].value = value; convert(form, unit); }
  });
})();
