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
  source = new EventSource(new URL("../v1/stream", location) + (last ? "?after=" + encodeURIComponent(last) : ""));
  source.onopen = () => set(true);
  source.onerror = () => {
    set(false);
    // The browser reconnects automatically, except after an answer that is not an event stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
  };
  for (const name of names) {
    source.addEventListener(name, (event) => {
      last = event.lastEventId;
      set(true);
      // For a snapshot no message is needed, because tabs refresh when the stream begins.
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
