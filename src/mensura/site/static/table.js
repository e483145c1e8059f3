// Tables that sort by a click on a column's head, filter by a form, and rank only models measured, or with estimates.
// All choices stay in the address.
"use strict";
(function () {
  const { state, count } = window.mensura;

  const value = (row, column) => {
    const cell = row.cells[column];
    const raw = cell.dataset.value ?? cell.textContent.trim();
    const number = cell.className === "date" ? Date.parse(raw) : Number(raw);
    return raw === "" || raw === "–" ? null : Number.isNaN(number) ? raw.toLowerCase() : number;
  };

  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const keyed = [...body.rows].filter((row) => row.cells.length > column).map((row) => [value(row, column), row]);
    keyed.sort(([x], [y]) => {
      if (x === null || y === null) return (x === null) - (y === null);
      return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
    });
    body.append(...keyed.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((cell, index) => {
      cell.setAttribute("aria-sort", index === column ? (descending ? "descending" : "ascending") : "none");
    });
  }

  const formOf = (table) => document.querySelector(`form.filters[data-for="${table.id}"]`);

  function matches(row, form) {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const content = row.textContent.toLowerCase();
    if (!words.every((word) => content.includes(word))) return false;
    for (const key of ["provider", "status"]) {
      const wanted = form.elements[key] && form.elements[key].value;
      if (wanted && row.dataset[key] !== wanted) return false;
    }
    const since = form.elements.since && form.elements.since.value;
    if (since && !(row.dataset.released >= since)) return false;
    for (const key of ["open", "reasoning", "well"]) if (form.elements[key] && form.elements[key].checked && row.dataset[key] !== "1") return false;
    return true;
  }

  // Ranks count within the filter: the first of those shown is 1.
  function rerank(table) {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden && row.dataset.rank !== "");
    rows.sort((a, b) => Number(a.dataset.rank) - Number(b.dataset.rank));
    for (const row of table.tBodies[0].rows) { const cell = row.querySelector(".rank"); cell.textContent = "–"; cell.dataset.value = ""; }
    rows.forEach((row, place) => { const cell = row.querySelector(".rank"); cell.textContent = String(place + 1); cell.dataset.value = String(place + 1); });
  }

  function apply(table) {
    const form = formOf(table);
    if (form) {
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !matches(row, form);
        shown += row.hidden ? 0 : 1;
      }
      const total = table.tBodies[0].rows.length;
      const note = document.querySelector(`[data-count="${table.id}"]`);
      if (note) note.textContent = shown === 0 ? `Nothing matches; ${count(total)} are hidden by the filter.` : `${shown === total ? "" : count(shown) + " of "}${count(total)} ${table.id}`;
    }
    if (table.dataset.ranked !== undefined) rerank(table);
    const order = state.get(table.id + "-sort");
    if (order) sort(table, Number(order.replace("-", "")), order.startsWith("-"));
    else if (table.dataset.ranked !== undefined) sort(table, 0, false);
  }

  const forms = () => document.querySelectorAll("form.filters[data-for]");

  function refresh() {
    forms().forEach(state.fill);
    document.querySelectorAll("table.sortable").forEach(apply);
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table.sortable")) {
      [...table.tHead.rows[0].cells].forEach((cell, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...cell.childNodes);
        cell.append(button);
        button.addEventListener("click", () => {
          const was = cell.getAttribute("aria-sort");
          const descending = was === "ascending" ? true : was === "descending" ? false : cell.classList.contains("n") && button.textContent !== "rank";
          state.set({ [table.id + "-sort"]: (descending ? "-" : "") + column });
        });
      });
    }
    forms().forEach(state.bind);
    state.onChange(refresh);
    refresh();
  });
})();
