// One search box for everything: models, tests, groups of people, makers, pages. The list loads when the box is first used.
"use strict";
(function () {
  const { make, load, root } = window.mensura;
  const MOST = 9, EACH = 3; // hits in all, and of a kind where several kinds have some
  const KINDS = { people: "People", test: "Tests", model: "Makers and models", page: "Pages" };
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

  // The letters typed, underlined where a word of the name begins with them.
  function marked(label, typed) {
    const begins = typed.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    return label.split(new RegExp(`(?<![\\p{L}\\p{N}])(${begins})`, "iu")).map((part, at) => at % 2 ? make("u", {}, part) : part);
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
      entries = window.mensura.search.map(([name, kind, href, others, weight, state, value]) => ({ label: name, kind, href, weight, state, value, name: fold(name), words: fold(name).split(/[^\p{L}\p{N}.]+/u).filter(Boolean), others: fold(others).split(/[^\p{L}\p{N}.]+/u).filter(Boolean) }));
    }

    async function offer() {
      await ready();
      const typed = fold(box.value.trim()).split(/[^\p{L}\p{N}.]+/u).filter(Boolean);
      const found = typed.length ? entries.map((one) => [closeness(one, typed), one]).filter(([near]) => near !== null).sort((a, b) => b[0] - a[0]).map(([, one]) => one) : [];
      const nobody = found.find((one) => one.label.startsWith("No study"));
      if (nobody) found.push(...entries.filter((one) => one.kind === "people" && !found.includes(one) && one.others.includes("professor")));
      const kinds = [...new Set(found.map((one) => one.kind))];
      const shown = kinds.map((kind) => [kind, found.filter((one) => one.kind === kind && one !== nobody).sort((a, b) => kind === "people" ? (b.weight > 5) - (a.weight > 5) : 0)]).map(([kind, all]) => [kind, all, all.slice(0, kinds.length > 1 || nobody ? EACH : MOST)]);
      let place = -1;
      const row = (one) => { place += 1; return make("li", { role: "option", id: "hit-" + place, "data-href": one.href, "aria-selected": String(place === 0) }, make("span", { class: "hit" }, make("span", { dir: "auto" }, ...marked(one.label, typed)), one.state ? make("small", {}, one.state) : null), make("b", { class: one.kind === "people" ? "warm" : null }, one.value)); };
      const head = (kind, all, some) => make("li", { role: "presentation", class: "kind" }, make("span", {}, nobody && kind === "people" ? "Nearest people" : KINDS[kind]), make("span", {}, all.length > some.length ? `${all.length} in all` : ""));
      list.replaceChildren(...(nobody ? [make("li", { role: "option", class: "nobody", "aria-disabled": "true", "aria-selected": "false" }, nobody.label + ".")] : []), ...shown.flatMap(([kind, all, some]) => some.length ? [head(kind, all, some), ...some.map(row)] : []));
      if (typed.length && !found.length) list.replaceChildren(make("li", { role: "option", class: "nobody", "aria-disabled": "true", "aria-selected": "false" }, `No model, test or study here is called “${box.value.trim()}”.`));
      if (typed.length && (nobody || !found.length)) list.append(row({ label: "All results of people", href: "people.html#registry", kind: "page", state: "each with its source", value: "" }));
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
