// Saves each change at once and keeps it in this browser until the server has confirmed it; counts the time in view.
"use strict";
(function () {
  for (const link of document.querySelectorAll("[data-whole]")) link.textContent = location.origin + link.dataset.whole; // to copy to another device
  const SHELF = "mensura-exam:", leave = document.getElementById("leave");
  if ("fresh" in document.body.dataset) { // a shared device keeps nothing of the last person
    try { Object.keys(localStorage).filter((key) => key.startsWith(SHELF)).forEach((key) => localStorage.removeItem(key)); } catch { /* nothing is kept */ }
  }
  const texts = JSON.parse(document.getElementById("texts").textContent); // in the language of the taker
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const form = document.getElementById("item");
  const place = form || document.getElementById("finish");
  if (!place) return;
  const at = form && Number(form.dataset.at);
  const own = form && new FormData(form).get("item"); // the item of this page
  const shelf = SHELF + place.dataset.person;
  const note = document.getElementById("saved");
  const PATIENCE = 8000, PAUSE = 1000, LONGEST = 30000; // milliseconds until a request has failed; first and longest pause
  const TEMPORARY = [408, 425, 429], TOO_LATE = 410;
  let seconds = 0, since = document.hidden ? null : performance.now(), left = 0, stay = false;

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
  const pending = () => Object.values(waiting).some((change) => !change.refused);
  const say = (text) => { if (note.textContent !== text) note.textContent = text; };
  // The server's time, in seconds, as far as it is known: no clock of this device counts. `lead` is never too large,
  // because what the server states is a little old when it comes; so the largest is the best.
  let lead = -Infinity;
  const learn = (stated, came) => { if (stated > 0) lead = Math.max(lead, stated - came / 1000); };
  const now = () => performance.now() / 1000 + lead;
  const [visit] = performance.getEntriesByType("navigation");
  learn(Number(place.dataset.now), visit ? visit.responseStart : performance.now());

  function inView() { return seconds + (since === null ? 0 : (performance.now() - since) / 1000); }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { seconds = inView(); since = null; left += 1; flush(); } else since = performance.now();
  });

  // The answer in the form. `version` is the stored one, by the server's word. `made`: when the person changed it here.
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
  function take(leaving) {
    const changed = content() !== shown;
    if (changed) made = now();
    else if (!leaving || made === null) return;
    const again = !changed && !waiting[own]; // only the seconds are new
    shown = content();
    const body = new URLSearchParams(shown);
    body.set("seconds", inView().toFixed(2)); body.set("left", left);
    keep(own, { body: body.toString(), after: version, made, at, again });
    say(texts.saving);
  }

  // Send everything that waits, once; true when nothing failed. Only the server's own word ends a change: it is saved,
  // overtaken by a later one, or refused for good. After anything else it is sent again.
  async function send() {
    for (const [item, change] of Object.entries(waiting)) {
      if (change.refused || waiting[item] !== change) continue;
      const body = new URLSearchParams(change.body);
      if (change.after !== undefined) body.set("after", change.after);
      body.set("made", change.made);
      const stop = new AbortController(), late = setTimeout(() => stop.abort(), PATIENCE);
      let answer = null, reply = {};
      try {
        answer = await fetch("/answer", { method: "POST", body, signal: stop.signal, keepalive: document.hidden, headers: { "accept": "application/json" } });
        reply = Object(await answer.json());
        learn(reply.now, performance.now());
      } catch { /* no connection, or not the server's word */ } finally { clearTimeout(late); }
      const status = answer ? answer.status : 0, here = item === own;
      const saved = status === 200 && reply.saved === true && reply.stored >= 0;
      const behind = status === 409 && reply.stored >= 0;
      const refused = status >= 400 && status < 500 && reply.saved === false && !TEMPORARY.includes(status);
      if (!saved && !refused) {
        earliest = performance.now() + (answer ? 1000 * secondsAfter(answer.headers) : 0);
        say(answer ? texts.busy : texts.offline);
        return false;
      }
      if (here && (saved || behind)) version = reply.stored;
      if ((saved || behind) && !reply.newer && waiting[item]) waiting[item].after = reply.stored;
      if (behind && !reply.newer) continue; // the person made this change last: send it again
      if (saved || behind || change.again || status === TOO_LATE) drop(item, change);
      else change.refused = true; // it stays, and the next page tries again
      if (saved && !pending()) say(reply.late ? texts.saved_late : texts.saved);
      if (saved || (waiting[item] && waiting[item] !== change)) continue;
      if (here) made = null;
      if (here && behind) fill(reply.fields);
      if (change.again) continue;
      stay = here;
      const why = behind ? texts.changed_later : filled(texts.not_saved, { why: reply.message });
      say(here ? why : filled(texts.at_question, { at: change.at, why }));
    }
    return true;
  }
  function secondsAfter(headers) {
    const after = headers.get("retry-after");
    return Math.min(600, Math.max(0, Number(after) || (Date.parse(after) - Date.parse(headers.get("date"))) / 1000 || 0));
  }

  // Send until nothing waits: at once what came meanwhile, after a longer and longer pause what failed.
  let running = null, wake = () => {}, earliest = 0;
  async function run() {
    for (let failures = 0; pending();) {
      failures = (await send()) ? 0 : failures + 1;
      if (!failures) continue;
      const pause = Math.min(LONGEST, PAUSE * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
      await new Promise((done) => { wake = done; setTimeout(done, Math.max(pause, earliest - performance.now())); });
    }
  }
  function flush() {
    if (performance.now() >= earliest) wake();
    running = running || run().finally(() => { running = null; });
    return running;
  }

  const slider = form && form.querySelector("[data-slider]"); // a scale to drag beside the number that is sent
  if (slider) {
    const range = slider.querySelector("input"), number = form.elements.text;
    slider.hidden = false;
    if (number.value) range.value = number.value;
    range.addEventListener("input", () => { number.value = range.value; number.dispatchEvent(new Event("input", { bubbles: true })); });
    number.addEventListener("input", () => { if (number.value) range.value = number.value; });
  }
  if (form) {
    if (waiting[own]) { fill(waiting[own].body); made = waiting[own].made; }
    let typing = null;
    form.addEventListener("change", () => { take(); flush(); });
    form.addEventListener("input", () => { take(); clearTimeout(typing); typing = setTimeout(flush, 800); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const go = (event.submitter && event.submitter.value) || "next";
      stay = false;
      take(true);
      await flush();
      if (stay) return; // not saved: the person reads why, and may press again
      location.assign(go === "back" ? "/sit?n=" + (at - 1) : go === "next" && at < Number(form.dataset.n) ? "/sit?n=" + (at + 1) : "/review");
    });
  } else {
    place.addEventListener("submit", async (event) => {
      if (!pending()) return;
      event.preventDefault();
      await flush();
      place.submit();
    });
  }
  if (leave) leave.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form) take(true);
    await flush();
    leave.submit();
  });
  window.addEventListener("online", flush);
  flush();

  const clock = document.getElementById("clock");
  if (clock) {
    const end = performance.now() + 1000 * Number(clock.dataset.left);
    const shown = document.getElementById("time-left");
    const tick = setInterval(() => {
      const rest = Math.max(0, Math.round((end - performance.now()) / 1000));
      shown.textContent = Math.floor(rest / 60) + ":" + String(rest % 60).padStart(2, "0");
      if (rest === 300 || rest === 60) say(rest === 60 ? texts.one_minute : texts.five_minutes);
      if (rest === 0) {
        clearInterval(tick);
        say(texts.question_over);
        if (Number(clock.dataset.left) > 0) form.requestSubmit(document.getElementById("next"));
      }
    }, 1000);
  }
})();
