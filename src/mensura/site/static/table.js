// Tables that sort by a click on a column's head and filter by a search box; both choices stay in the address.
"use strict";
(function () {
  const { state } = window.mensura;

  const value = (row, column) => {
    const cell = row.cells[column];
    const raw = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(raw);
    return raw === "" || raw === "–" ? null : Number.isNaN(number) ? raw.toLowerCase() : number;
  };

  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const sorted = [...body.rows].sort((a, b) => {
      const x = value(a, column);
      const y = value(b, column);
      if (x === null || y === null) return (x === null) - (y === null);
      return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
    });
    body.append(...sorted);
    [...table.tHead.rows[0].cells].forEach((cell, index) => {
      cell.setAttribute("aria-sort", index === column ? (descending ? "descending" : "ascending") : "none");
    });
  }

  function search(table, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const content = row.textContent.toLowerCase();
      row.classList.toggle("unmatched", !wanted.every((word) => content.includes(word)));
      row.style.display = row.classList.contains("unmatched") ? "none" : "";
      shown += row.style.display === "" ? 1 : 0;
    }
    const count = document.querySelector(`[data-count="${table.id}"]`);
    if (count) count.textContent = shown === 0 ? "Nothing matches." : shown + " rows";
  }

  function restore(table) {
    const order = state.get(table.id + "-sort");
    if (order) sort(table, Number(order.replace("-", "")), order.startsWith("-"));
    const box = document.querySelector(`[data-search="${table.id}"]`);
    if (box) {
      const words = state.get(table.id + "-search") || "";
      if (box.value !== words) box.value = words;
      search(table, words);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table.sortable")) {
      [...table.tHead.rows[0].cells].forEach((cell, column) => {
        const button = document.createElement("button");
        button.append(...cell.childNodes);
        cell.append(button);
        button.addEventListener("click", () => {
          const descending = cell.getAttribute("aria-sort") === (cell.classList.contains("n") ? "none" : "ascending") ||
            (cell.classList.contains("n") && !cell.hasAttribute("aria-sort"));
          state.set(table.id + "-sort", (descending ? "-" : "") + column);
          sort(table, column, descending);
        });
      });
      const box = document.querySelector(`[data-search="${table.id}"]`);
      if (box) box.addEventListener("input", () => { state.set(table.id + "-search", box.value); search(table, box.value); });
      restore(table);
    }
    state.onChange(() => document.querySelectorAll("table.sortable").forEach(restore));
  });
})();
