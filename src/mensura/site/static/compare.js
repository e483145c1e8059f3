// Two to five models or groups of people side by side; the choice stays in the address.
"use strict";
(function () {
  const { state, make, meter, money, number, root, finder } = window.mensura;

  document.addEventListener("DOMContentLoaded", () => {
    const { benchmarks, groups, scores, beats } = window.mensura.compare;
    const known = new Map([...Object.values(window.mensura.models), ...Object.entries(groups).map(([group, one]) => ({ ...one, group }))].map((one) => [one.page, one]));
    const area = document.querySelector("[data-compare]");
    const most = Number(area.dataset.most);
    const message = document.getElementById("compare-message");
    const box = document.getElementById("add-subject");
    const found = document.getElementById("found");
    let note = "";
    // An id may be a word that every object knows, such as "constructor": only what was written counts.
    const own = (held, key) => held !== undefined && Object.hasOwn(held, key) ? held[key] : undefined;

    const chosen = () => {
      const wanted = state.all("with").length ? state.all("with") : area.dataset.compare.split(" ");
      return [...new Set(wanted)].filter((key) => known.has(key)).slice(0, most);
    };
    const choose = (keys) => state.set({ with: keys.length ? keys : ["none"] });

    const entries = [...known.values()].map((one) => finder.entry(one.name, `${one.words || ""} ${one.provider}`, { one }));
    const offered = finder.combo(box, found, add);
    function offer() {
      const typed = finder.split(box.value);
      const hits = finder.find(entries, typed).slice(0, 8).map(({ one }, place) => make("li", { role: "option", id: "found-" + place, "data-key": one.page, "aria-selected": "false", dir: "auto" }, one.name, make("span", { class: "soft small" }, one.provider ? " · " + one.provider : "")));
      found.replaceChildren(...hits.length ? hits : [make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nothing matches.")]);
      offered.show(typed.length > 0);
    }

    function add(key) {
      const keys = chosen();
      note = "";
      if (keys.includes(key)) note = `${known.get(key).name} is already compared.`;
      else if (keys.length >= most) note = `${most} is the most that can be compared: remove one first.`;
      box.value = "";
      offer();
      if (note) render(); else choose([...keys, key]);
    }

    box.addEventListener("input", offer);
    document.getElementById("chosen").addEventListener("click", (event) => {
      const drop = event.target.closest("[data-drop]");
      if (drop) { note = ""; choose(chosen().filter((key) => key !== drop.dataset.drop)); }
    });

    const scoresOf = (one) => one.group !== undefined ? one.scores : Object.fromEntries(Object.entries(own(scores, one.subject) || {}).map(([key, [value, text]]) => [key, { value, text, status: "measured" }]));
    const ranged = (value, digits) => !value ? "–" : `${number(value.value, digits)} (${number(value.low, digits)} to ${number(value.high, digits)})`;

    // Where a score comes from: the row of the model's page, or the people of the benchmark's.
    const whence = (one, test) => one.group !== undefined ? `${root}benchmarks/${encodeURIComponent(benchmarks[test].page)}.html#people` : `${root}models/${encodeURIComponent(one.page)}.html#on-${encodeURIComponent(benchmarks[test].page)}`;

    const table = (heads, lines) => make("table", {}, make("thead", {}, make("tr", {}, heads.map((head, place) => make("th", { scope: "col", class: place ? "n" : null, dir: "auto" }, head)))),
      make("tbody", {}, lines.map(([head, ...cells]) => make("tr", {}, make("th", { scope: "row", dir: "auto" }, head), cells.map((cell) => make("td", { class: "n" }, cell))))));

    // Chance that A is above B: for models from joint draws, for people from the errors of both scores on a shared test.
    function chanceRows(subjects) {
      const lines = [];
      for (const [place, a] of subjects.entries()) for (const b of subjects.slice(place + 1)) {
        if (a.subject && b.subject) {
          const said = window.mensura.chanceAbove("composite", a.subject, b.subject) ?? "–";
          lines.push([`${a.name} above ${b.name}, by IQ`, said, "1,000 joint draws of all scores"]);
        } else if (a.subject || b.subject) {
          const [model, people] = a.subject ? [a, b] : [b, a];
          for (const test of Object.keys(people.scores)) {
            const chance = own(own(own(beats, test), people.group), model.subject);
            if (chance) lines.push([`${model.name} above ${people.group} on ${benchmarks[test] ? benchmarks[test].name : test}`, chance, `${people.scores[test].status}${people.scores[test].n ? ", n = " + people.scores[test].n : ""}`]);
          }
        }
      }
      return lines;
    }

    const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

    function strips(holder, rows, subjects, describe) {
      const width = Math.max(320, Math.min(1040, holder.clientWidth || document.documentElement.clientWidth - 32));
      const narrow = width < 560;
      const left = narrow ? 8 : 220;
      const lane = 14;
      const each = (narrow ? 26 : 12) + lane * subjects.length;
      const top = 24 + 18 * subjects.length;
      const svg = make("svg", { class: "drawn", viewBox: `0 0 ${width} ${top + each * rows.length + 8}`, width, height: top + each * rows.length + 8, role: "group", "aria-label": describe });
      const letters = (text, x, y, more = {}) => make("text", { x, y, dy: ".35em", "font-size": 12, fill: "var(--ink)", ...more }, text);
      const numbered = new Set(subjects.map((one) => one.provider)).size < subjects.length;
      const called = (one, place) => numbered ? `${place + 1}. ${one.name}` : one.name;
      subjects.forEach((one, place) => { svg.append(mark(one, "measured", 14, 14 + 18 * place, one.name), letters(cut(called(one, place), 46), 28, 14 + 18 * place)); });
      rows.forEach((row, line) => {
        const y = top + each * line;
        svg.append(make("line", { x1: 0, x2: width, y1: y, y2: y, stroke: "var(--line)" }));
        const label = cut(row.name, narrow ? 46 : 34);
        svg.append(narrow ? letters(label, left, y + 12, { "font-weight": 600 }) : letters(label, left - 12, y + each / 2, { "text-anchor": "end" }));
        subjects.forEach((one, place) => {
          const value = row.values[place];
          const at = y + (narrow ? 24 : 6) + lane * (place + 0.5);
          if (!value) return;
          if (numbered) svg.append(letters(place + 1, left - 8, at, { fill: "var(--faint)", "font-size": 11 }));
          const x = (v) => left + 8 + (width - left - 96) * Math.min(Math.max((v - row.low) / (row.high - row.low || 1), 0), 1);
          if (value.low !== null && value.low !== undefined) svg.append(make("line", { x1: x(value.low), x2: x(value.high), y1: at, y2: at, stroke: colour(one), "stroke-width": 2 }));
          svg.append(mark(one, value.status, x(value.value), at, `${one.name}, ${row.name}: ${value.text}, ${value.status}`));
          svg.append(letters(value.text, Math.max(x(value.value), value.high ? x(value.high) : 0) + 10, at, { fill: "var(--soft)", "font-size": 11 }));
        });
      });
      holder.replaceChildren(rows.length ? svg : make("p", { class: "soft" }, "Nothing to draw: choose others."));
    }

    function colour(one) {
      if (one.group !== undefined) return "var(--people)";
      const [labs, themes] = window.mensura.labs;
      const place = labs.indexOf(one.provider);
      return themes[state.theme()][place < 0 ? labs.length : place];
    }

    // The maker's shape, as everywhere; where two subjects share a maker, numbers tell their lanes apart.
    function mark(one, status, x, y, label) {
      const [labs, , shapes] = window.mensura.labs;
      const place = labs.indexOf(one.provider);
      const ink = colour(one);
      const full = status === "measured" ? 1 : status === "inherited" ? 0.4 : 0;
      const shape = one.group !== undefined ? "M-3,-6H3V6H-3Z" : shapes[place < 0 ? labs.length : place];
      return make("g", { transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, role: "img", "aria-label": label }, make("path", { d: shape, fill: full ? ink : "var(--paper)", "fill-opacity": full || 1, stroke: ink, "stroke-width": 1.5 }));
    }

    function render() {
      const keys = chosen();
      const subjects = keys.map((key) => known.get(key));
      const asked = state.all("with").filter((key) => known.has(key)).length;
      document.getElementById("chosen").replaceChildren(...subjects.map((one) => make("button", { class: "chip", type: "button", "aria-pressed": "true", "data-drop": one.page, "aria-label": "Remove " + one.name, dir: "auto" }, one.name + " ×")));
      message.textContent = note || (asked > most ? `${asked} were asked for; the first ${most} are compared, the most that can be.` : keys.length < 2 ? "Choose at least two." : "");
      const lines = chanceRows(subjects);
      document.getElementById("chance-table").replaceChildren(lines.length ? table(["", "chance", "from"], lines) : make("p", { class: "soft" }, "No pair with a common measure is chosen."));
      const all = subjects.map(scoresOf);
      const shared = Object.keys(benchmarks).filter((test) => all.filter((one) => Object.hasOwn(one, test)).length > 1);
      strips(document.getElementById("shared-chart"), shared.map((test) => ({ name: benchmarks[test].name, low: benchmarks[test].low, high: benchmarks[test].high, values: all.map((one) => own(one, test) || null) })), subjects, "Scores on shared tests");
      const models = subjects.filter((one) => one.dimensions);
      const names = [...new Map(models.flatMap((one) => one.dimensions.map((part) => [part.key, part.name])))];
      strips(document.getElementById("dims-chart"), names.map(([key, name]) => ({ name, low: 70, high: 160, values: models.map((one) => { const part = one.dimensions.find((dimension) => dimension.key === key); return part && part.iq !== null ? { value: part.iq, low: part.low, high: part.high, text: number(part.iq, 0), status: part.status } : null; }) })), models, "IQ by dimension");
      const led = (one, text, place) => one.subject && text !== "–" ? make("a", { class: "led", href: `${root}models/${encodeURIComponent(one.page)}.html#${place}` }, text) : text;
      const facts = [
        ["Provider", (one) => one.provider || "people"], ["Release", (one) => window.mensura.day(one.released)],
        ["IQ", (one) => led(one, ranged(one.iq, 0), "derivation")],
        ["Evidence: benchmarks measured, inherited, estimated", (one) => one.subject ? [meter(one), ` ${one.measured}, ${one.inherited}, ${one.estimated}`] : "–"],
        ["Capability (stitched scale)", (one) => led(one, ranged(one.capability, 2), "capability")],
        ["List price / 1M I/O", (one) => led(one, money(one.sticker_price), "cost")], ["Effective cost / 1M I/O", (one) => led(one, money(one.effective_cost), "cost")],
      ];
      const said = facts.map(([label, read]) => [label, ...subjects.map(read)]);
      for (const test of shared) said.push([make("a", { href: `${root}benchmarks/${encodeURIComponent(benchmarks[test].page)}.html` }, benchmarks[test].name), ...all.map((one, place) => own(one, test) ? [make("a", { href: whence(subjects[place], test) }, one[test].text), one[test].status === "measured" ? null : ` (${one[test].status})`] : "–")]);
      document.getElementById("compared").classList.add("ready");
      document.getElementById("compare-table").replaceChildren(subjects.length ? table(["", ...subjects.map((one) => one.name)], said) : "");
    }

    state.onChange(render);
    window.addEventListener("resize", () => requestAnimationFrame(render));
    render();
  });
})();
