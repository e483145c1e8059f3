// Marks of every picture: a press takes the nearest within 24 pixels; the arrow keys go from one to the next.
"use strict";
(function () {
  const FINGER = 24; // pixels from the middle of a mark
  const seen = (mark) => mark.getClientRects().length > 0 && !mark.closest(".faded, .away");
  const marksOf = (chart) => [...chart.querySelectorAll("svg [data-subject]")].filter((mark) => mark.hasAttribute("aria-label") && seen(mark));
  const middle = (mark) => {
    const sign = (mark.querySelector(".sign") || mark).getBoundingClientRect();
    return [sign.left + sign.width / 2, sign.top + sign.height / 2];
  };

  function nearest(chart, x, y) {
    let found = null, least = FINGER;
    for (const mark of marksOf(chart)) {
      const [at, level] = middle(mark);
      const away = Math.hypot(at - x, level - y);
      if (away < least) [found, least] = [mark, away];
    }
    return found;
  }

  // Only one mark of a picture is a stop of the tab key; the arrows lead on from it.
  function rove(within) {
    for (const svg of within.querySelectorAll("svg")) {
      const marks = [...svg.querySelectorAll("[data-subject]")];
      const first = marks.filter((mark) => mark.hasAttribute("aria-label") && !mark.closest(".away")).at(svg.classList.contains("bell-chart") ? -1 : 0);
      for (const mark of marks) mark.setAttribute("tabindex", mark === first ? "0" : "-1");
    }
  }

  document.addEventListener("click", (event) => {
    if (!event.isTrusted && event.detail === -1) return;
    const chart = event.target.closest && event.target.closest(".chart");
    if (!chart || event.target.closest("[data-subject]") || event.ctrlKey || event.metaKey) return;
    const mark = nearest(chart, event.clientX, event.clientY);
    if (mark) { event.stopPropagation(); mark.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: -1 })); }
  }, { capture: true });
  document.addEventListener("keydown", (event) => {
    const mark = event.target.closest && event.target.closest(".chart [data-subject]");
    if (!mark) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) { if (event.key === " ") { event.preventDefault(); mark.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); } return; }
    const marks = marksOf(mark.closest(".chart"));
    const way = mark.closest(".bell-chart") ? -step : step; // the leaders are drawn last
    const next = marks[(marks.indexOf(mark) + way + marks.length) % marks.length];
    mark.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
    event.preventDefault();
  });
  // A phone's drawing has the same marks in the same order; their words stand once, in the wide one.
  function name(wide) {
    const [own, named] = [wide.nextElementSibling, wide].map((side) => side.querySelectorAll("svg a, svg [role=img]"));
    own.forEach((mark, place) => { for (const word of ["aria-label", "data-subject", "data-provider"]) if (named[place].hasAttribute(word)) mark.setAttribute(word, named[place].getAttribute(word)); });
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const mark of document.querySelectorAll("svg a[href*='models/']:not([data-subject])")) {
      const page = /models\/([^/]+)\.html$/.exec(mark.getAttribute("href"));
      if (page) mark.dataset.subject = page[1];
    }
    document.querySelectorAll("[data-twin]").forEach(name);
    document.querySelectorAll(".chart").forEach(rove);
  });
  window.mensura.rove = rove;
})();
