import LinuxSupport
import NIOHTTP1

/// A file that pages use. Its address has the hash of its content, so browsers keep it for good.
package struct Asset: Sendable {
    let path: String
    let type: String
    let body: [UInt8]

    private init(_ name: String, _ ending: String, type: String, _ text: String) {
        body = Array(text.utf8)
        // FNV-1a.
        let hash = body.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        path = "/assets/\(name)-\(String(hash, radix: 36)).\(ending)"
        self.type = type
    }

    static let style = Asset("style", "css", type: "text/css; charset=utf-8", styleText)
    static let page = Asset("page", "js", type: "text/javascript; charset=utf-8", pageText)
    static let worker = Asset("stream", "js", type: "text/javascript; charset=utf-8", workerText)
    static let goodIcon = Asset("good", "svg", type: "image/svg+xml", icon("#2f9e77", "M9 16.6l5 5 9.6-10.4"))
    static let badIcon = Asset("bad", "svg", type: "image/svg+xml", icon("#cf3d3d", "M16 8v10M16 23.4v.4"))

    static let all = [style, page, worker, goodIcon, badIcon]

    /// Another whenever one of them is: a page that is open and has others is loaded anew.
    static let version = all.map { $0.path.split(at: "-").last.map { String($0.prefix(6)) } ?? "" }.joined()

    /// One of them.
    ///
    /// - Throws: ``Problem`` where there is none of that name.
    package static func answer(_ name: String, _ request: WebRequest) throws(Problem) -> WebAnswer {
        guard let asset = all.first(where: { $0.path == "/assets/\(name)" }) else {
            throw Problem(
                .notFound,
                "there is no file \"\(name.printable)\"; the page that named it is of another version"
            )
        }
        var answer = WebAnswer(type: asset.type, asset.body)
        answer.headers.append(("Cache-Control", "public, max-age=31536000, immutable"))
        answer.headers += Layout.policy
        return answer.tagged(for: request)
    }

    private static func icon(_ colour: String, _ path: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="\(colour)"/>\
        <path d="\(path)" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>
        """
    }
}

extension Asset {
    /// Keeps a page alive: writes moments in the reader's time zone, counts lengths on, and fetches the page anew when something
    /// happened. What it shows is always made by the server.
    static let pageText = #"""
        "use strict";
        (() => {
          const root = document.documentElement;
          const [banner, live, say] = ["banner", "live", "say"].map((id) => document.getElementById(id));
          const workerPath = document.currentScript.dataset.worker;
          const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
          const forms = {
            clock: new Intl.DateTimeFormat(undefined, clock),
            exact: new Intl.DateTimeFormat(undefined, { ...clock, fractionalSecondDigits: 3 }),
            day: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }),
          };
          // How far the clock of this browser is ahead of the service's.
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
              time.textContent = (day === today ? "" : day + ", ") + forms[time.dataset.form].format(moment);
              time.title = time.dateTime;
            }
          }

          function tick() {
            if (lostAt !== null) return;
            const now = Date.now() - ahead;
            for (const part of document.querySelectorAll("[data-since]"))
              part.textContent = length((now - Date.parse(part.dataset.since)) / 1000);
            live.textContent = (isLive ? "live, " : "") + forms.clock.format(now);
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
              ". What is shown is how it was then; it goes on as soon as the service answers.";
            banner.hidden = false;
          }

          function gain() {
            isLive = true;
            live.className = "on";
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
              if (version !== root.dataset.version) return location.reload();
              // A page may be a second old; lengths do not go back for that.
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
                say.textContent = button.textContent = "Could not be copied";
              }
            };
          }
          for (const part of document.querySelectorAll("[data-part]")) served.set(part.dataset.part, part.innerHTML);
          localize(document);
          tick();
          setInterval(tick, 1000);
          // Pictures move on, checks are made, and a service that hangs shows.
          (function renew() {
            const pace = Number(document.querySelector("[data-every]")?.dataset.every ?? 30);
            setTimeout(() => { if (!document.hidden) refresh(); renew(); }, pace * 1000);
          })();
          addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
          addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
          listen();
        })();
        """#
}

extension Asset {
    /// Listens to the stream once for all tabs of a browser. Where workers cannot be shared, each tab has one of its own.
    static let workerText = #"""
        "use strict";
        const names = ["snapshot", "gap", "intervalClosed", "intervalOpened", "intervalRefined", "outageBegan",
          "outageRefined", "outageEnded", "explained", "noted", "actorFound",
          "maintenancePlanned", "maintenanceCancelled", "clockStepped", "resumed",
          "device", "disputed", "incidentOpened", "incidentRefined", "incidentReopened", "incidentClosed"];
        const ports = new Set();
        let source = null, last = "", live = null;

        function tell(message) {
          for (const port of ports) port.postMessage(message);
        }

        function set(value) {
          if (live === value) return;
          live = value;
          tell({ live });
        }

        function open() {
          source = new EventSource("/v1/stream" + (last ? "?after=" + encodeURIComponent(last) : ""));
          source.onopen = () => set(true);
          source.onerror = () => {
            set(false);
            // The browser tries again by itself, but not after an answer it did not expect.
            if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
          };
          for (const name of names) {
            source.addEventListener(name, (event) => {
              last = event.lastEventId;
              set(true);
              // Tabs look anyway when the stream begins.
              if (name !== "snapshot") tell({ event: name });
            });
          }
        }

        function join(port) {
          ports.add(port);
          port.onmessage = (event) => { if (event.data === "bye") ports.delete(port); };
          if (live !== null) port.postMessage({ live });
          if (!source) open();
        }

        if ("onconnect" in self) self.onconnect = (event) => join(event.ports[0]);
        else join(self);
        """#
}
