// What the reader has chosen lives in the address after '?', so that a link keeps it and Back undoes it; places after '#'.
"use strict";
(function () {
  const page = document.documentElement;
  const listeners = [];
  const loading = new Map();
  const stamp = new URL(document.currentScript.src).search; // on the live site: the edition this page belongs to
  page.classList.add("js");

  const read = () => new URLSearchParams(location.search);
  const get = (key) => read().get(key);
  const all = (key) => read().getAll(key);

  // Values: text, a list, or nothing to remove the key. Typing replaces the entry of the history, choosing adds one.
  function set(changes, { replace = false } = {}) {
    const state = read();
    for (const [key, value] of Object.entries(changes)) {
      state.delete(key);
      for (const one of Array.isArray(value) ? value : [value]) if (one || one === 0) state.append(key, one);
    }
    const query = state.toString();
    if (query === read().toString()) return;
    history[replace ? "replaceState" : "pushState"](null, "", location.pathname + (query ? "?" + query : "") + location.hash);
    tell();
  }

  // Give the fields of a form the values of the address, touching those alone that differ, so that the cursor stays.
  function fill(form) {
    for (const field of form.elements) {
      const value = field.name && (get(field.name) || "");
      if (field.type === "checkbox") field.checked = value === "1";
      else if (field.name && field.value !== value && (field.type !== "number" || field !== document.activeElement)) field.value = value;
    }
  }

  function bind(form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", ({ target }) => set({ [target.name]: target.type === "checkbox" ? target.checked && "1" : target.value }, { replace: ["search", "number"].includes(target.type) }));
  }

  const onChange = (listener) => listeners.push(listener);
  const tell = () => listeners.forEach((listener) => listener());
  window.addEventListener("popstate", tell);

  // A script of the report, loaded once, when something needs it.
  function load(path) {
    if (!loading.has(path)) {
      loading.set(path, new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = page.dataset.root + path + stamp;
        script.onload = () => done();
        script.onerror = () => fail(new Error(path + " could not be loaded"));
        document.head.append(script);
      }));
    }
    return loading.get(path);
  }

  // Elements from plain values: nothing a name holds is ever read as markup.
  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "line", "path", "rect", "circle", "text", "title"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }

  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  const theme = () => chosen || (system.matches ? "dark" : "light");

  function applyTheme() {
    page.dataset.theme = theme();
    const button = document.getElementById("theme");
    if (button) button.setAttribute("aria-label", theme() === "dark" ? "Light" : "Dark");
  }

  // Where a server's policy forbids the sheet that stands in a page, its file takes over.
  if (!getComputedStyle(page).getPropertyValue("--ink")) document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: page.dataset.root + "static/style.css" }));

  applyTheme();
  system.addEventListener("change", () => { applyTheme(); tell(); });
  document.addEventListener("DOMContentLoaded", () => {
    applyTheme();
    document.getElementById("theme").addEventListener("click", () => {
      chosen = theme() === "dark" ? "light" : "dark";
      try { localStorage.setItem("theme", chosen); } catch { /* private window: until the page is left */ }
      applyTheme();
      tell();
    });
    // Menus close when something else is pressed.
    document.addEventListener("click", (event) => {
      for (const open of document.querySelectorAll("details.more[open], details.menu[open], details.prov[open]")) if (!open.contains(event.target)) open.open = false;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") for (const open of document.querySelectorAll("details.more[open], details.menu[open], details.prov[open]")) open.open = false;
    });
  });

  // Links between pages carry the chosen providers along.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest(".nav a, .menu a");
    if (!link) return;
    const kept = new URLSearchParams(all("provider").map((one) => ["provider", one])).toString();
    link.href = link.getAttribute("href").split("?")[0] + (kept ? "?" + kept : "");
  });

  // Dollars as the pages write them: cents below 100, three digits below 1. The browser's own way takes 80 ms on a phone.
  function money(value) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    const places = size > 0 && size < 100 ? Math.max(2, 2 - Math.floor(Math.log10(size))) : 0;
    const [whole, cents = ""] = size.toFixed(places).split(".");
    const kept = cents.replace(/0+$/, "");
    return (value < 0 ? "−" : "") + "$" + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (kept ? "." + kept.padEnd(2, "0") : "");
  }

  // Dates and counts as the pages write them.
  const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
  const day = (text) => text ? `${Number(text.slice(8)) || ""} ${MONTHS[Number(text.slice(5, 7)) - 1] || ""} ${text.slice(0, 4)}`.trim() : "–";
  const count = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

  const number = (value, digits) => value === null || value === undefined ? "–" : Number(value).toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");

  window.mensura = { state: { get, all, set, fill, bind, onChange, theme }, load, make, money, number, day, count, root: page.dataset.root };
})();
