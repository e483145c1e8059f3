// Saves each answer at once, keeps it in this browser while there is no connection, counts the time in view.
"use strict";
(function () {
  for (const link of document.querySelectorAll("a[data-whole]")) link.textContent = link.href; // to copy to another device
  const form = document.getElementById("item");
  const place = form || document.getElementById("finish");
  if (!place) return;
  const own = form && new FormData(form).get("item"); // the item of this page
  const shelf = "mensura-exam:" + place.dataset.person;
  const note = document.getElementById("saved");
  const RETRY = 3000, PATIENCE = 8000; // milliseconds until what failed is sent again, and until a request has failed
  let seconds = 0, since = document.hidden ? null : performance.now(), left = 0, sending = null;

  // Changes that the server has not confirmed, by item; this browser keeps them when the page closes.
  const read = () => { try { return JSON.parse(localStorage.getItem(shelf)) || {}; } catch { return {}; } };
  const waiting = read();
  function write(all) {
    try { Object.keys(all).length ? localStorage.setItem(shelf, JSON.stringify(all)) : localStorage.removeItem(shelf); } catch { /* this page keeps them */ }
  }
  function keep(item, change) {
    waiting[item] = change;
    write({ ...read(), [item]: change });
  }
  function drop(item, change) {
    if (waiting[item] === change) delete waiting[item];
    const all = read();
    if (all[item] && all[item].body === change.body) { delete all[item]; write(all); }
  }
  const pending = () => Object.keys(waiting).length > 0;
  const say = (text) => { if (note.textContent !== text) note.textContent = text; };
  const now = () => performance.timeOrigin + performance.now(); // goes on evenly when somebody sets the clock

  function inView() { return seconds + (since === null ? 0 : (performance.now() - since) / 1000); }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { seconds = inView(); since = null; left += 1; } else since = performance.now();
  });

  // The answer in the form. `version` is the one that the server said is stored. `made`: when the person changed it here.
  const content = () => new URLSearchParams(new FormData(form)).toString();
  let version = form && Number(form.dataset.version), shown = form && content(), made = null;
  function fill(fields) {
    const values = new URLSearchParams(fields);
    for (const field of form.elements) {
      if (field.name === "text") field.value = values.get("text") || "";
      else if (field.type === "radio" || field.type === "checkbox") field.checked = values.getAll(field.name).includes(field.value);
    }
    shown = content();
  }
  function take() {
    if (content() !== shown) made = now();
    if (made === null) return;
    shown = content();
    const body = new URLSearchParams(shown);
    body.set("seconds", inView().toFixed(2)); body.set("left", left);
    keep(own, { body: body.toString(), after: version, made });
    say("Saving…");
  }

  // Send everything that waits; true when nothing failed.
  async function send() {
    for (const [item, change] of Object.entries(waiting)) {
      const body = new URLSearchParams(change.body);
      if (change.after !== undefined) body.set("after", change.after);
      body.set("waited", Math.max(0, now() - change.made) / 1000);
      const stop = new AbortController(), late = setTimeout(() => stop.abort(), PATIENCE);
      let answer, reply;
      try {
        answer = await fetch("/answer", { method: "POST", body, signal: stop.signal, headers: { "accept": "application/json" } });
        reply = await answer.json().catch(() => ({}));
      } catch { answer = null; } finally { clearTimeout(late); }
      if (!answer || answer.status >= 500) { say("No connection. Your answers wait in this page and are sent when it is back."); return false; }
      if ("stored" in reply) {
        if (own === item) version = reply.stored;
        if (waiting[item] && (reply.saved || !reply.newer)) waiting[item].after = reply.stored;
        if (!reply.saved && !reply.newer) continue; // the change is the last one that the person made: send it again
      }
      drop(item, change);
      if (reply.newer && own === item && !waiting[item]) { fill(reply.fields); made = null; }
      if (reply.newer) say("This answer was changed later on another page or device. The later answer counts.");
      else if (!answer.ok) say(reply.said || "This answer was not accepted.");
      else if (!pending()) say(reply.late ? "Saved, but after the time limit." : "Saved.");
    }
    return true;
  }
  async function flush() {
    if (!sending) sending = send().finally(() => { sending = null; });
    return sending;
  }
  // Send until nothing waits: at once what came meanwhile, after a pause what failed.
  async function until() {
    while (pending()) {
      if (!(await flush())) await new Promise((done) => setTimeout(done, RETRY));
    }
  }

  if (form) {
    if (waiting[own]) { fill(waiting[own].body); made = waiting[own].made; }
    let typing = null;
    form.addEventListener("change", () => { take(); flush(); });
    form.addEventListener("input", () => { take(); clearTimeout(typing); typing = setTimeout(flush, 800); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const go = (event.submitter && event.submitter.value) || "next";
      const at = Number(form.dataset.at);
      take();
      await until();
      location.assign(go === "back" ? "/sit?n=" + (at - 1) : go === "next" && at < Number(form.dataset.n) ? "/sit?n=" + (at + 1) : "/review");
    });
  } else {
    place.addEventListener("submit", async (event) => {
      if (!pending()) return;
      event.preventDefault();
      await until();
      place.submit();
    });
  }
  window.addEventListener("online", flush);
  setInterval(() => { if (pending()) flush(); }, RETRY);
  if (pending()) flush();

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
