// Providers chosen for the charts of a page: marks of the others fade away; nothing is drawn anew and nothing moves.
"use strict";
(function () {
  const { state } = window.mensura;
  const THREE_LABS = ["Anthropic", "Google", "OpenAI"];
  const chosen = () => { const names = state.all("provider"); return names.length ? new Set(names) : null; };

  // A filter never leaves a chart empty without a word.
  function show(figure, names) {
    const marks = [...figure.querySelectorAll(".chart [data-provider]")];
    for (const mark of marks) mark.classList.toggle("faded", names !== null && !names.has(mark.dataset.provider));
    const subjects = (list) => new Set(list.map((mark) => mark.dataset.subject)).size;
    const note = figure.querySelector(".chart-note");
    const left = subjects(marks.filter((mark) => !mark.classList.contains("faded")));
    if (!names || !marks.length) note.textContent = "";
    else note.textContent = left ? `${left} of ${subjects(marks)} models shown: ${[...names].join(", ")}.` : `No model of ${[...names].join(", ")} is in this picture.`;
  }

  function refresh() {
    const names = chosen();
    for (const chip of document.querySelectorAll(".chip[data-provider]")) chip.setAttribute("aria-pressed", String(names !== null && names.has(chip.dataset.provider)));
    const labs = document.querySelector("[data-three-labs]");
    if (labs) labs.setAttribute("aria-pressed", String(names !== null && [...names].sort().join() === THREE_LABS.join()));
    const all = document.querySelector("[data-all-providers]");
    if (all) all.setAttribute("aria-pressed", String(names === null));
    for (const figure of document.querySelectorAll("figure.frame")) if (figure.querySelector(".chart-note")) show(figure, names);
  }

  // The dots of one kind of work are strong, those of the others pale.
  function strengthen(button) {
    for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(one === button));
    for (const dots of document.querySelectorAll(".tasks")) dots.style.strokeOpacity = dots.classList.contains(button.dataset.kind) ? 1 : 0.45;
    for (const note of document.querySelectorAll("text.kind")) note.textContent = `one dot each; strong: ${button.dataset.kind}`;
  }

  document.addEventListener("click", (event) => {
    if (event.target.dataset && event.target.dataset.kind) strengthen(event.target);
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
  });
  document.addEventListener("DOMContentLoaded", () => { state.onChange(refresh); refresh(); });
})();
