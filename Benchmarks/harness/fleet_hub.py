"""Tests of a hub with ten thousand machines: outages, floods, and kills of the broker and of the hub."""

import random
import signal
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from . import fleet_real
from .broker import Broker
from .context import Context, Goal
from .devices import Devices
from .hub import Hub, Stream
from .statistics import table

_JITTER = 5_000
_FLOOD, _FLOOD_SECONDS = 2_000, 10
_BROKER_KILLS, _HUB_KILLS = 20, 50
_SKEWED, _TEN_YEARS = 100, 315_576_000


def measure(context: Context, program: Path, devices: Path, count: int, sites: int, folder: Path) -> dict:
    """Runs the tests with `count` machines, equally distributed over `sites` sites."""
    options = ("--watch", "--sites", str(sites), "--will-delay", "0", "--jitter", str(_JITTER))
    with Broker(folder) as broker, Hub(program, broker.url, folder / "hub.sqlite") as hub, Devices(devices, count, None, *options) as fleet:
        fleet.settle(60)
        fleet.ask("skew", 0, _SKEWED // 2, _TEN_YEARS)
        fleet.ask("skew", _SKEWED // 2, _SKEWED // 2, -_TEN_YEARS)
        fleet.everybody("connect", 0)
        result: dict = {"connecting": hub.until(lambda: hub.counts()["online"] == count, 120)}
        fleet.settle(60)
        steps = _Steps(context, broker, hub, fleet, sites)
        for step in (steps.change, steps.drop, steps.flood, steps.kill_hub, steps.kill_broker):
            result |= step()
        result |= fleet_real.measure(context.binary, hub, folder)
        return result | {"megabytes": hub.megabytes(), "cpu": hub.cpu()}


class _Steps:
    def __init__(self, context: Context, broker: Broker, hub: Hub, fleet: Devices, sites: int) -> None:
        self.context, self.broker, self.hub, self.fleet, self.sites = context, broker, hub, fleet, sites
        self.count = fleet.count
        #: The number of the last event of each machine.
        self.number = 0

    def _all(self, *words: str) -> None:
        self.fleet.everybody(*words)
        self.number += 1

    def change(self) -> dict:
        """All machines have an outage without losing their connection. Expects that it ends, and one incident for each site."""
        stream, begun = Stream(), datetime.now(timezone.utc)
        self._all("begin", "link")
        changing = self.hub.until(lambda: stream.machines(True) == self.count, 120)
        self._all("end")
        ending = self.hub.until(lambda: stream.machines(False) == self.count, 120)
        starts = [datetime.fromisoformat(item["start"]) for item in self.hub.items("/v1/incidents")]
        wrong = sum(1 for start in starts if abs(start - begun) > timedelta(minutes=2))
        return {
            "changing": changing, "ending": ending, "changeIncidents": stream.incidents() - self.sites,
            "changesLost": self.hub.behind(self.number), "wrongTimes": wrong,
        }

    def drop(self) -> dict:
        """All machines lose their connection, and reconnect within the jitter with the outage that explains it."""
        known = {item["id"] for item in self.hub.items("/v1/incidents")}
        # Outages close to the last incident are merged into it.
        time.sleep(40)
        self.fleet.everybody("drop")
        dropping = self.hub.until(lambda: self.hub.counts()["silent"] == self.count, 120)
        self._all("begin", "route")
        self._all("end")
        self.fleet.everybody("connect", _JITTER)
        self.fleet.settle(300)
        coming = self.hub.until(lambda: self.hub.counts()["online"] == self.count and not any(self.hub.items("/v1/incidents?state=open")), 120)
        verdicts = [item["silence"]["verdict"] for item in self.hub.items("/v1/devices")]
        new = [item for item in self.hub.items("/v1/incidents") if item["id"] not in known]
        return {
            "dropping": dropping, "coming": coming, "dropIncidents": len(new) - self.sites,
            "unexplained": sum(1 for verdict in verdicts if verdict != "outage"),
        }

    def flood(self) -> dict:
        """One machine floods while the others have a change. Measures as `change` does."""
        time.sleep(40)
        stream = Stream()
        self.fleet.ask("flood", 0, _FLOOD, _FLOOD_SECONDS)
        self.fleet.until("event", _FLOOD, 60)
        self.fleet.ask("begin", 1, self.count - 1, "link")
        self.number += 1
        flooding = self.hub.until(lambda: stream.machines(True) >= self.count - 1, 120)
        self.fleet.ask("flood", 0, 0, 0)
        return {"flooding": flooding, "lostByFlood": self.hub.behind(self.number, "device-000000")}

    def kill_hub(self) -> dict:
        """Kills the hub at random times while all machines publish a change."""
        kills = 2 if self.context.quick else _HUB_KILLS
        longest = 0.0
        for turn in range(kills):
            self._turn(turn)
            time.sleep(random.uniform(0, 2))
            self.hub.kill()
            self.hub.start()
            longest = max(longest, self._caught_up())
        return {"hubKills": kills, "hubHealing": longest, "lostByHub": self.hub.behind(self.number, "device-000000")}

    def kill_broker(self) -> dict:
        kills = 2 if self.context.quick else _BROKER_KILLS
        longest = 0.0
        for turn in range(kills):
            self._turn(turn)
            time.sleep(random.uniform(0, 1))
            self.broker.end(signal.SIGKILL)
            self.broker.start()
            self.fleet.settle(120)
            longest = max(longest, self._caught_up())
        standing = self.hub.until(lambda: self.hub.counts()["online"] == self.count, 60)
        return {
            "brokerKills": kills, "brokerHealing": longest, "lostByBroker": self.hub.behind(self.number, "device-000000"),
            "standing": standing,
        }

    def _turn(self, turn: int) -> None:
        self.fleet.ask("end" if turn % 2 == 0 else "begin", 1, self.count - 1, *([] if turn % 2 == 0 else ["link"]))
        self.number += 1

    def _caught_up(self) -> float:
        return self.hub.until(lambda: self.hub.behind(self.number, "device-000000") == 0, 60)


_ROWS = (
    ("all online at the hub, s", "connecting", "{:.1f}"),
    ("a change of each machine: all in the stream, s", "changing", "{:.2f}"),
    ("  all ended, s", "ending", "{:.2f}"),
    ("  incidents more than sites", "changeIncidents", "{}"),
    ("  changes lost", "changesLost", "{}"),
    ("  incidents at a wrong time, because of clocks with an offset of ten years", "wrongTimes", "{}"),
    ("all connections dropped: all silent, s", "dropping", "{:.2f}"),
    ("  incidents more than sites", "dropIncidents", "{}"),
    ("  all online, all incidents ended, s", "coming", "{:.1f}"),
    ("  silences without the outage that explains them", "unexplained", "{}"),
    ("a flood of one machine: all changes of the others received, s", "flooding", "{:.2f}"),
    ("  changes lost", "lostByFlood", "{}"),
    ("a kill of the hub: all events received again, s at most", "hubHealing", "{:.1f}"),
    ("  changes lost", "lostByHub", "{}"),
    ("a kill of the broker: all events received again, s at most", "brokerHealing", "{:.1f}"),
    ("  changes lost", "lostByBroker", "{}"),
    ("  all online again, s", "standing", "{:.1f}"),
    *fleet_real.ROWS,
    ("memory of the hub, MB", "megabytes", "{:.0f}"),
    ("CPU of the hub since its last start, s", "cpu", "{:.1f}"),
)


def report(values: dict, count: int) -> list[str]:
    return table([[f"{count} machines at a hub", ""]] + [[title, form.format(values[key])] for title, key, form in _ROWS if key in values])


def goals(values: dict) -> list[Goal]:
    zeros = ("changeIncidents", "changesLost", "wrongTimes", "dropIncidents", "unexplained", "lostByFlood", "lostByHub", "lostByBroker")
    titles = {key: title.strip() for title, key, _ in _ROWS}
    return [
        Goal("hub: seconds until 10,000 changes are in the stream", values["changing"], 5),
        Goal("hub: seconds until all dropped machines are silent", values["dropping"], 2),
        Goal("hub: delay of other machines by a flood, s", values["flooding"] - values["changing"], 1),
    ] + [Goal(f"hub: {titles[key]}", values[key], 0) for key in zeros] + fleet_real.goals(values)
