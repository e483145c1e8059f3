// One search box for everything: models, tests, groups of people, makers, pages. The list loads when the box is first used.
"use strict";
(function () {
  const { make, load, root } = window.mensura;
  const MOST = 9;
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  // Every word typed must begin a word of the name or of its other names; names before other names, early before late.
  function closeness(entry, typed) {
    let score = 0;
    for (const word of typed) {
      const own = entry.words.findIndex((one) => one.startsWith(word));
      if (own >= 0) score += 100 - own + (entry.words[own] === word ? 20 : 0);
      else if (entry.others.some((one) => one.startsWith(word))) score += 60;
      else if (entry.name.includes(word)) score += 30;
      else return null;
    }
    return score - entry.name.length / 50 + entry.weight;
  }

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("search");
    if (!box) return;
    const list = document.getElementById("hits");
    const form = box.form;
    let entries = null;

    async function ready() {
      if (entries) return;
      await load("data/search.js");
      entries = window.mensura.search.map(([name, kind, href, others, weight]) => ({ label: name, kind, href, weight, name: fold(name), words: fold(name).split(/[^\p{L}\p{N}.]+/u).filter(Boolean), others: fold(others).split(/[^\p{L}\p{N}.]+/u).filter(Boolean) }));
    }

    async function offer() {
      await ready();
      const typed = fold(box.value.trim()).split(/[^\p{L}\p{N}.]+/u).filter(Boolean);
      const found = typed.length ? entries.map((one) => [closeness(one, typed), one]).filter(([near]) => near !== null).sort((a, b) => b[0] - a[0]).slice(0, MOST) : [];
      list.replaceChildren(...found.map(([, one], place) => make("li", { role: "option", id: "hit-" + place, "data-href": one.href, "aria-selected": String(place === 0) }, make("span", { dir: "auto" }, one.label), make("span", { class: "kind" }, one.kind))));
      if (typed.length && !found.length) list.replaceChildren(make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, `No model, test or study here is called “${box.value.trim()}”.`), make("li", { role: "option", id: "hit-0", "data-href": "people.html", "aria-selected": "true" }, make("span", {}, "All people who were measured"), make("span", { class: "kind" }, "page")));
      list.hidden = !typed.length;
      box.setAttribute("aria-expanded", String(!list.hidden));
      point();
    }

    const options = () => [...list.querySelectorAll("[data-href]")];
    function point() {
      const at = options().find((one) => one.getAttribute("aria-selected") === "true");
      if (at) { box.setAttribute("aria-activedescendant", at.id); at.scrollIntoView({ block: "nearest" }); }
      else box.removeAttribute("aria-activedescendant");
    }
    const close = () => { list.hidden = true; box.setAttribute("aria-expanded", "false"); };
    const go = (option) => { close(); location.href = root + option.dataset.href; };

    box.addEventListener("focus", ready);
    box.addEventListener("input", offer);
    box.addEventListener("keydown", (event) => {
      const all = options();
      const at = all.findIndex((one) => one.getAttribute("aria-selected") === "true");
      if (event.key === "Escape") { box.value = ""; close(); box.blur(); }
      else if (["ArrowDown", "ArrowUp"].includes(event.key) && all.length) {
        event.preventDefault();
        const next = (at + (event.key === "ArrowDown" ? 1 : -1) + all.length) % all.length;
        all.forEach((one, place) => one.setAttribute("aria-selected", String(place === next)));
        point();
      }
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await offer();
      const all = options();
      const chosen = all.find((one) => one.getAttribute("aria-selected") === "true") || all[0];
      if (chosen) go(chosen);
    });
    list.addEventListener("click", (event) => { const one = event.target.closest("[data-href]"); if (one) go(one); });
    document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); box.focus(); }
    });
  });
})();
