// One search box for everything: models, tests, groups of people, makers, pages. The list loads when the box is first used.
"use strict";
(function () {
  const { make, load, root } = window.mensura;
  const MOST = 9, EACH = 3; // hits in all, and of a kind where several kinds have some
  const KINDS = { people: "People", test: "Tests", model: "Makers and models", page: "Pages" };
  const NEAR = { people: "Nearest people", test: "Nearest work" }; // where nobody measured the people asked for
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const split = (text) => fold(text).split(/[^\p{L}\p{N}.]+/u).filter(Boolean);

  // What can be found, by its name and by its other names.
  const entry = (label, others, facts) => ({ weight: 0, ...facts, label, name: fold(label), words: split(label), others: split(others) });

  // Every word typed must begin a word of the name or of its other names; names before other names, early before late.
  function closeness(one, typed) {
    let score = 0;
    for (const word of typed) {
      const own = one.words.findIndex((other) => other.startsWith(word));
      if (own >= 0) score += 100 - own + (one.words[own] === word ? 20 : 0);
      else if (one.others.some((other) => other.startsWith(word))) score += 60;
      else if (one.name.includes(word)) score += 30;
      else return null;
    }
    return score - one.name.length / 50 + one.weight;
  }

  function find(entries, typed) {
    const near = typed.length ? entries.map((one) => [closeness(one, typed), one]).filter(([score]) => score !== null) : [];
    return near.sort((a, b) => b[0] - a[0]).map(([, one]) => one);
  }

  // A box with a list of options: arrows choose, Enter or a press takes, Escape and a press elsewhere close.
  function combo(box, list, take) {
    const options = () => [...list.querySelectorAll("[data-key]")];
    const chosen = () => options().find((one) => one.getAttribute("aria-selected") === "true") || options()[0];
    function choose(chosen) {
      for (const one of options()) one.setAttribute("aria-selected", String(one === chosen));
      if (chosen) { box.setAttribute("aria-activedescendant", chosen.id); chosen.scrollIntoView({ block: "nearest" }); }
      else box.removeAttribute("aria-activedescendant");
    }
    function show(shown) {
      list.hidden = !shown;
      box.setAttribute("aria-expanded", String(shown));
      choose(shown ? options()[0] : null);
    }
    box.addEventListener("keydown", (event) => {
      const all = options(), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { box.value = ""; show(false); }
      if (!all.length || !(step || event.key === "Enter")) return;
      event.preventDefault();
      if (step) choose(all[(all.indexOf(chosen()) + step + all.length) % all.length]);
      else take(chosen().dataset.key);
    });
    list.addEventListener("click", (event) => { const one = event.target.closest("[data-key]"); if (one) take(one.dataset.key); });
    document.addEventListener("click", (event) => { if (!box.parentElement.contains(event.target)) show(false); });
    return { show, chosen };
  }

  // The letters typed, underlined where a word of the name begins with them.
  function marked(label, typed) {
    const begins = typed.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    return label.split(new RegExp(`(?<![\\p{L}\\p{N}])(${begins})`, "iu")).map((part, at) => at % 2 ? make("u", {}, part) : part);
  }

  window.mensura.finder = { split, entry, find, combo };
  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("search");
    if (!box) return;
    const list = document.getElementById("hits");
    const offered = combo(box, list, (href) => { offered.show(false); location.href = root + href; });
    let entries = null;

    async function ready() {
      if (entries) return;
      await load("data/search.js");
      entries = window.mensura.search.map(([label, kind, href, others, weight, state, value]) => entry(label, others, { kind, href, weight, state, value }));
    }

    async function offer() {
      await ready();
      const typed = split(box.value);
      const found = find(entries, typed);
      const nobody = found.find((one) => one.label.startsWith("No study"));
      if (nobody) found.push(...entries.filter((one) => one.kind === "people" && !found.includes(one) && one.others.includes("professor")));
      const plain = nobody ? `${nobody.label}.` : found.length ? "" : `No model, test or study here is called “${box.value.trim()}”.`;
      const kinds = [...new Set(found.map((one) => one.kind))];
      let place = -1;
      const row = (one) => { place += 1; return make("li", { role: "option", id: "hit-" + place, "data-key": one.href, "aria-selected": "false" }, make("span", { class: "hit" }, make("span", { dir: "auto" }, ...marked(one.label, typed)), one.state ? make("small", {}, one.state) : null), make("b", { class: one.kind === "people" ? "warm" : null }, one.value)); };
      const part = (kind) => {
        const all = found.filter((one) => one.kind === kind && one !== nobody);
        if (kind === "people") all.sort((a, b) => (b.weight > 5) - (a.weight > 5));
        const some = all.slice(0, kinds.length > 1 || nobody ? EACH : MOST);
        return some.length ? [make("li", { role: "presentation", class: "kind" }, make("span", {}, nobody && NEAR[kind] || KINDS[kind]), make("span", {}, all.length > some.length ? `${all.length} in all` : "")), ...some.map(row)] : [];
      };
      list.replaceChildren(...(plain ? [make("li", { role: "option", class: "nobody", "aria-disabled": "true", "aria-selected": "false" }, plain, nobody ? make("small", {}, "So nothing here can say whether AI has passed them.") : null)] : []), ...kinds.flatMap(part));
      if (plain) list.append(row({ label: "All results of people", href: "people.html#registry", state: "each with its source", value: "" }), row({ label: nobody ? `Know a study of ${nobody.state}? Send it` : "Know a study? Send it", href: "people.html#send", value: "→" }));
      offered.show(typed.length > 0);
    }

    box.addEventListener("focus", ready);
    box.addEventListener("input", offer);
    box.addEventListener("keydown", (event) => { if (event.key === "Escape") box.blur(); });
    box.form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await offer();
      if (offered.chosen()) offered.chosen().click();
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); box.focus(); }
    });
  });
})();
