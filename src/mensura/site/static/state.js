// What the reader has chosen lives in the address after '#', so that a link keeps it; theme also in local storage.
"use strict";
(function () {
  const listeners = [];

  function read() {
    return new URLSearchParams(location.hash.replace(/^#/, ""));
  }

  function get(key) {
    return read().get(key);
  }

  function set(key, value) {
    const state = read();
    if (value === null || value === "") state.delete(key);
    else state.set(key, value);
    const hash = state.toString();
    if (hash === location.hash.replace(/^#/, "")) return;
    const top = window.scrollY;
    location.replace(hash ? "#" + hash : "#");
    window.scrollTo(0, top);
  }

  function onChange(listener) {
    listeners.push(listener);
  }

  window.addEventListener("hashchange", () => listeners.forEach((listener) => listener()));

  const stored = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function theme() {
    return get("theme") || stored || (system.matches ? "dark" : "light");
  }

  function applyTheme() {
    document.documentElement.dataset.theme = theme();
    const button = document.getElementById("theme");
    if (button) button.textContent = theme() === "dark" ? "Light" : "Dark";
  }

  function toggleTheme() {
    const next = theme() === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", next); } catch { /* private window: the address still keeps it */ }
    set("theme", next);
  }

  applyTheme();
  onChange(applyTheme);
  document.addEventListener("DOMContentLoaded", () => {
    applyTheme();
    const button = document.getElementById("theme");
    if (button) button.addEventListener("click", toggleTheme);
  });

  // Links between pages carry the choices along.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-keep]");
    if (link) link.href = link.getAttribute("href").split("#")[0] + location.hash;
  });

  window.mensura = { root: document.currentScript.dataset.root, state: { get, set, onChange, theme } };
})();
