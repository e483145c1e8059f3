// Saves each answer at once, keeps it in this browser while there is no connection, counts the time in view.
"use strict";
(function () {
  for (const link of document.querySelectorAll("a[data-whole]")) link.textContent = link.href; // to copy to another device
  const form = document.getElementById("item");
  const place = form || document.getElementById("finish");
  if (!place) return;
  const shelf = "mensura-exam:" + place.dataset.person;
  const note = document.getElementById("saved");
  const RETRY = 3000, PATIENCE = 8000; // milliseconds until what failed is sent again, and until a request has failed
  let seconds = 0, since = document.hidden ? null : performance.now(), left = 0, sending = null;

  const waiting = () => { try { return JSON.parse(localStorage.getItem(shelf)) || {}; } catch { return {}; } };
  function keep(all) {
    try { Object.keys(all).length ? localStorage.setItem(shelf, JSON.stringify(all)) : localStorage.removeItem(shelf); } catch { memory = all; }
  }
  let memory = {};
  const queued = () => ({ ...memory, ...waiting() });
  function drop(item, edit) {
    const all = waiting();
    if (all[item] && all[item].edit === edit) { delete all[item]; keep(all); }
    if (memory[item] && memory[item].edit === edit) delete memory[item];
  }
  const say = (text) => { if (note.textContent !== text) note.textContent = text; };

  function inView() { return seconds + (since === null ? 0 : (performance.now() - since) / 1000); }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { seconds = inView(); since = null; left += 1; } else since = performance.now();
  });

  // One answer as the form has it now; a later one has a larger number.
  function take() {
    const body = new URLSearchParams(new FormData(form));
    const edit = Math.max(Date.now(), Number(body.get("edit")));
    body.set("edit", edit); body.set("seconds", inView().toFixed(2)); body.set("left", left); body.delete("go");
    const all = waiting();
    all[body.get("item")] = memory[body.get("item")] = { edit, body: body.toString() };
    keep(all);
  }

  // Send everything that waits; true when nothing is left.
  async function send() {
    for (const [item, { edit, body }] of Object.entries(queued())) {
      const stop = new AbortController(), late = setTimeout(() => stop.abort(), PATIENCE);
      let answer, told;
      try {
        answer = await fetch("/answer", { method: "POST", body, signal: stop.signal, headers: { "accept": "application/json", "content-type": "application/x-www-form-urlencoded" } });
        told = await answer.json().catch(() => ({}));
      } catch { answer = null; } finally { clearTimeout(late); }
      if (!answer || answer.status >= 500) { say("No connection. Your answers wait in this page and are sent when it is back."); return false; }
      drop(item, edit);
      say(answer.ok ? (told.late ? "Saved, but after the time limit." : "Saved.") : (told.said || "This answer was not accepted."));
    }
    return true;
  }
  async function flush() {
    if (!sending) sending = send().finally(() => { sending = null; });
    return sending;
  }
  // Send until nothing waits: at once what came meanwhile, after a pause what failed.
  async function until() {
    do {
      if (!(await flush())) await new Promise((done) => setTimeout(done, RETRY));
    } while (Object.keys(queued()).length);
  }

  if (form) {
    let typing = null;
    form.addEventListener("change", () => { take(); flush(); });
    form.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { take(); flush(); }, 800); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      clearTimeout(typing);
      const go = (event.submitter && event.submitter.value) || "next";
      const [at, n] = document.getElementById("place").textContent.match(/\d+/g).map(Number);
      take();
      await until();
      location.assign(go === "back" ? "/sit?n=" + (at - 1) : go === "next" && at < n ? "/sit?n=" + (at + 1) : "/review");
    });
  } else {
    place.addEventListener("submit", async (event) => {
      if (!Object.keys(queued()).length) return;
      event.preventDefault();
      await until();
      place.submit();
    });
  }
  window.addEventListener("online", flush);
  setInterval(() => { if (Object.keys(queued()).length) flush(); }, RETRY);
  if (Object.keys(queued()).length) flush();

  const clock = document.getElementById("clock");
  if (clock) {
    const end = performance.now() + 1000 * Number(clock.dataset.left);
    const shown = document.getElementById("time-left");
    const tick = setInterval(() => {
      const rest = Math.max(0, Math.round((end - performance.now()) / 1000));
      shown.textContent = Math.floor(rest / 60) + ":" + String(rest % 60).padStart(2, "0");
      if (rest === 300 || rest === 60) say("Time left: " + rest / 60 + (rest === 60 ? " minute." : " minutes."));
      if (rest === 0) {
        clearInterval(tick);
        say("The time for this question is over.");
        if (Number(clock.dataset.left) > 0) form.requestSubmit(document.getElementById("next"));
      }
    }, 1000);
  }
})();
