// Three models for a task, a budget, a speed and a licence, with reasons and with how sure it is.
"use strict";
(function () {
  const { state, make, meter, money, number, root } = window.mensura;

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("pick");
    const models = Object.values(window.mensura.models);
    const whole = (value) => number(value, 0);

    // What a model is worth for a task: its IQ there, with interval, whether its own scores stand behind it, and whether
    // enough is known to rank it: over all tasks the one ranking says so.
    function worth(model, task) {
      if (!task) {
        const own = model.well_measured;
        return model.iq && { ...model.iq, own, known: model.rank !== null, said: own ? `own scores in ${model.own_dimensions} of 7 dimensions` : `most tests are estimated, ${model.measured} measured`, layer: "composite" };
      }
      const part = model.dimensions.find((one) => one.key === task);
      return part && part.iq !== null ? { value: part.iq, low: part.low, high: part.high, own: part.counts[0] >= 2, known: part.counts[0] >= 2, said: `${part.counts[0]} of ${part.counts[0] + part.counts[1] + part.counts[2]} benchmarks of ${part.name} measured`, layer: task } : null;
    }

    function render() {
      state.fill(form);
      const task = state.get("task") || "";
      const budget = state.get("budget") ? Number(state.get("budget")) : null;
      const speed = state.get("speed") ? Number(state.get("speed")) : null;
      const cost = (model) => model.sticker_price; // one basis for all
      let unpriced = 0, untimed = 0;
      const able = models.map((model) => ({ model, worth: worth(model, task) })).filter(({ model, worth: found }) => {
        if (!found || (state.get("open") === "1" && !model.open_weights)) return false;
        if (budget !== null && cost(model) === null) { unpriced++; return false; }
        if (speed !== null && model.response_time === null) { untimed++; return false; }
        return (budget === null || cost(model) <= budget) && (speed === null || model.response_time <= speed);
      }).sort((a, b) => b.worth.known - a.worth.known || b.worth.value - a.worth.value);
      const left = [unpriced ? `${unpriced} without a price` : "", untimed ? `${untimed} without a response time` : ""].filter(Boolean).join(" and ");
      document.getElementById("pick-said").textContent = able.length ? `${able.length} models qualify${left ? `; left out: ${left}` : ""}.` : `No model qualifies${left ? `; left out: ${left}` : ""}. Spend more, wait longer, or drop a condition.`;
      document.getElementById("picked").replaceChildren(...able.slice(0, 3).map(({ model, worth: found }, place) => {
        const next = able[place + 1];
        const chance = next && found.layer === next.worth.layer ? window.mensura.chanceAbove(found.layer, model.subject, next.model.subject) : null;
        const reasons = [
          `IQ ${whole(found.value)}${task ? " there" : ""}, 90% ${whole(found.low)} to ${whole(found.high)}`,
          task && !found.own ? `estimated: ${found.said}` : found.said,
          cost(model) === null ? "no price known" : `${money(cost(model))} per 1M tokens in + out (list price)${model.effective_cost === null ? "" : `; effective cost ${money(model.effective_cost)}, our estimate`}`,
          model.response_time === null ? "response time not known" : `answers in ${whole(model.response_time)} s (median)`,
          model.open_weights ? "open weights" : null,
          chance ? `chance of being above ${next.model.name}: ${chance}` : null,
        ].filter(Boolean);
        return make("article", { class: "fact" }, make("h2", {}, `${place + 1}. `, make("a", { href: `${root}models/${encodeURIComponent(model.page)}.html`, dir: "auto" }, model.name)), make("p", { class: "soft small", dir: "auto" }, model.provider), make("p", {}, meter(model), make("span", { class: "meter-words", "aria-hidden": "true" }, `${model.measured} of ${model.measured + model.inherited + model.estimated}`)), make("ul", {}, reasons.map((reason) => make("li", {}, reason))));
      }));
    }

    state.bind(form);
    state.onChange(render);
    render();
  });
})();
