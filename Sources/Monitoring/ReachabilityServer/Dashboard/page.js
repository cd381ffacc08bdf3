"use strict";
(() => {
  const root = document.documentElement;
  const [banner, live, say] = ["banner", "live", "say"].map((id) => document.getElementById(id));
  const workerPath = document.currentScript.dataset.worker;
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  const forms = {
    clock: new Intl.DateTimeFormat(undefined, clock),
    exact: new Intl.DateTimeFormat(undefined, { ...clock, fractionalSecondDigits: 3 }),
    hour: new Intl.DateTimeFormat(undefined, clock),
    minute: new Intl.DateTimeFormat(undefined, { ...clock, second: undefined }),
    day: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }),
    heading: new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric" }),
  };
  const zone = forms.clock.resolvedOptions().timeZone;
  const isWall = document.body.classList.contains("wall"), loaded = Date.now();
  let sought = "";
  // The time by which the clock of this browser is ahead of the service's, in milliseconds.
  let ahead = Date.now() - Date.parse(root.dataset.now);
  let isLive = false, lostAt = null, busy = false, again = false;
  const served = new Map();

  function length(seconds) {
    const parts = [];
    let rest = Math.max(0, Math.floor(seconds));
    for (const [unit, name] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]]) {
      const isSecond = parts.length > 0;
      if (rest >= unit || (unit === 1 && !isSecond)) parts.push(Math.floor(rest / unit) + "\u00a0" + name);
      rest %= unit;
      if (isSecond) break;
    }
    return parts.join(" ");
  }

  function localize(part) {
    const today = forms.day.format(Date.now() - ahead);
    for (const time of part.querySelectorAll("time[data-form]")) {
      const moment = new Date(time.dateTime), day = forms.day.format(moment);
      const { form } = time.dataset, isDated = (form === "clock" || form === "exact") && day !== today;
      time.textContent = (isDated ? day + ", " : "") + forms[form].format(moment);
      time.title = time.dateTime;
    }
    for (const list of part.querySelectorAll(".incidents")) group(list);
    filter();
  }

  // The page has the days of UTC. This groups the incidents by the days of this time zone.
  function group(list) {
    for (const heading of list.querySelectorAll(".day")) heading.remove();
    let last = "";
    for (const item of [...list.children]) {
      const day = forms.heading.format(new Date(item.querySelector("time").dateTime));
      if (day !== last) item.before(Object.assign(document.createElement("li"), { className: "day", textContent: day }));
      last = day;
    }
  }

  function filter() {
    let heading = null;
    for (const row of document.querySelectorAll(".targets > li")) {
      if (row.matches(".group")) {
        heading = row;
        row.hidden = true;
        continue;
      }
      row.hidden = !row.firstElementChild.nextElementSibling.textContent.toLowerCase().includes(sought);
      if (heading && !row.hidden) heading.hidden = false;
    }
  }

  // Shows the values of a chart at a position from 0 to 1 of its width.
  function inspect(chart, place) {
    const from = Date.parse(chart.dataset.from), at = place * chart.dataset.length;
    let best = null;
    for (const text of chart.dataset.points.split(";")) {
      const point = text.split(",").map((field) => field === "" ? null : Number(field));
      const distance = Math.abs(point[0] + point[1] / 2 - at);
      if (!best || distance < best.distance) best = { distance, point };
    }
    const [start, span, low, median, high, count, failed] = best.point;
    const time = (seconds) => forms.minute.format(from + seconds * 1000);
    const latency = (value) => value < 10000 ? (value / 1000).toFixed(2) + "\u00a0ms"
      : value < 1e6 ? Math.round(value / 1000) + "\u00a0ms" : (value / 1e6).toFixed(1) + "\u00a0s";
    const values = median === null ? "no answer" : `median ${latency(median)}, 5 to 95\u00a0%: ${latency(low)} to ${latency(high)}`;
    chart.querySelector("output").textContent =
      `${forms.day.format(from + start * 1000)}, ${time(start)} to ${time(start + span)}: ${values}, ${failed} of ${count} checks failed`;
    chart.dataset.at = place;
    chart.querySelector(".cursor").setAttribute("d", `M${(start + span / 2) / chart.dataset.length * 720} 0v190`);
  }

  function tick() {
    if (lostAt !== null) return;
    const now = Date.now() - ahead;
    for (const part of document.querySelectorAll("[data-since]"))
      part.textContent = length((now - Date.parse(part.dataset.since)) / 1000);
    live.textContent = (isLive && workerPath ? "live · " : "") + zone + " · " + forms.clock.format(now);
  }

  function lose() {
    if (lostAt !== null) return;
    lostAt = new Date();
    isLive = false;
    root.classList.add("stale");
    live.textContent = "not live";
    live.className = "";
    const moment = forms.clock.format(lostAt);
    banner.textContent = "The service has not answered since " + moment +
      ". This page shows the state at that time. It continues as soon as the service answers.";
    banner.hidden = false;
  }

  function gain() {
    isLive = true;
    live.className = workerPath ? "on" : "";
    if (lostAt === null) return;
    lostAt = null;
    root.classList.remove("stale");
    banner.hidden = true;
  }

  function replace(part, next) {
    const text = next.innerHTML;
    if (served.get(part.dataset.part) === text) return;
    served.set(part.dataset.part, text);
    const controls = "a,button,summary";
    const place = [...part.querySelectorAll(controls)].indexOf(document.activeElement);
    part.className = next.className;
    if (next.dataset.every) part.dataset.every = next.dataset.every;
    part.replaceChildren(...next.childNodes);
    localize(part);
    if (place >= 0) part.querySelectorAll(controls)[place]?.focus({ preventScroll: true });
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(4000) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const version = page.documentElement.dataset.version;
      if (!version) throw new Error("no page");
      // A wall view is loaded again each day, so that it does not grow.
      if (version !== root.dataset.version || isWall && Date.now() - loaded > 864e5) return location.reload();
      // A page may be one second old. Durations must not decrease because of that.
      const next = Date.now() - Date.parse(page.documentElement.dataset.now);
      ahead = Math.abs(next - ahead) < 2000 ? Math.min(next, ahead) : next;
      const said = document.querySelector("[data-say]")?.dataset.say;
      for (const part of document.querySelectorAll("[data-part]")) {
        const next = page.querySelector(`[data-part="${part.dataset.part}"]`);
        if (next) replace(part, next);
      }
      const saying = document.querySelector("[data-say]")?.dataset.say;
      if (saying !== said) say.textContent = saying ?? "";
      document.title = page.title;
      const [icon, nextIcon] = [document, page].map((one) => one.querySelector("link[rel=icon]"));
      if (icon.getAttribute("href") !== nextIcon.getAttribute("href")) icon.href = nextIcon.getAttribute("href");
      if (isLive || lostAt === null) gain();
      tick();
    } catch {
      lose();
      setTimeout(refresh, 2000);
    } finally {
      busy = false;
      if (again) { again = false; setTimeout(refresh, 100); }
    }
  }

  function heard({ data }) {
    if (data.live === false) return lose();
    if (data.live) gain();
    refresh();
  }

  function listen() {
    if (window.SharedWorker) {
      const { port } = new SharedWorker(workerPath);
      port.onmessage = heard;
      addEventListener("pagehide", () => port.postMessage("bye"));
    } else {
      new Worker(workerPath).onmessage = heard;
    }
    setTimeout(() => { if (!isLive) lose(); }, 4000);
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.onclick = async () => {
      try {
        const answer = await fetch(button.dataset.copy, { headers: { Accept: "text/plain" } });
        await navigator.clipboard.writeText(await answer.text());
        say.textContent = button.textContent = "Copied";
      } catch {
        say.textContent = button.textContent = "Copying failed";
      }
    };
  }
  addEventListener("pointermove", (event) => {
    const chart = event.target.closest?.(".chart"), box = chart?.querySelector("svg").getBoundingClientRect();
    if (box) inspect(chart, Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
  });
  addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !event.target.matches(".chart")) return;
    inspect(event.target, Math.min(1, Math.max(0, Number(event.target.dataset.at ?? 1) + step / 120)));
    event.preventDefault();
  });
  const box = document.querySelector(".filter input");
  if (box) {
    box.form.querySelector("button").hidden = true;
    box.oninput = () => { sought = box.value.toLowerCase(); filter(); };
    box.form.onsubmit = (event) => event.preventDefault();
    sought = box.value.toLowerCase();
    // The server sent only the matching targets. From now on all are fetched and filtered here.
    const address = new URL(location);
    if (address.searchParams.has("filter")) {
      address.searchParams.delete("filter");
      history.replaceState(null, "", address);
      setTimeout(refresh);
    }
  }
  for (const part of document.querySelectorAll("[data-part]")) served.set(part.dataset.part, part.innerHTML);
  localize(document);
  tick();
  setInterval(tick, 1000);
  // Periodic refresh: charts advance, new checks appear, and a service that hangs is detected.
  (function renew() {
    const pace = Number(document.querySelector("[data-every]")?.dataset.every ?? 30);
    setTimeout(() => { if (!document.hidden) refresh(); renew(); }, pace * 1000);
  })();
  addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  if (workerPath) listen();
})();
