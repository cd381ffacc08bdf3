"""What ten thousand machines of a fleet cost a broker, and how soon everybody has heard of what befalls them."""

import signal
import tempfile
from pathlib import Path

from . import broker as brokers, fleet_hub
from .broker import Broker
from .context import Context, Goal
from .devices import Devices
from .statistics import table

_DEVICES = 10_000
_SITES = 100
#: Seconds that everybody may take to connect over TLS, and the memory of the broker then, in MB.
_CONNECTING = 30
_MEGABYTES = 200
#: Seconds in which everybody's change and everybody's absence are heard of, and by which a flood delays others.
_CHANGES, _DROP, _DELAY = 5, 2, 1
_FLOOD, _FLOOD_SECONDS = 2_000, 10
#: How often the broker is killed; over TLS everybody needs half a minute to be back.
_KILLS = {"plain": 20, "TLS": 3}
#: Milliseconds over which they come back.
_JITTER = 5_000


def measure(context: Context) -> dict:
    program = context.references / "fleet-devices"
    if not brokers.PROGRAM or not program.exists():
        return {"missing": "mosquitto or libssl-dev"}
    count = context.scaled(_DEVICES)
    results = {"devices": count}
    for name, tls in ("plain", False), ("TLS", True):
        with tempfile.TemporaryDirectory() as folder:
            results[name] = _broker(context, program, count, Path(folder), tls)
    hub = context.binary.parent / "reachability-fleet" if context.binary else None
    if hub and hub.exists():
        with tempfile.TemporaryDirectory() as folder:
            results["hub"] = fleet_hub.measure(context, hub, program, count, min(_SITES, max(1, count // 10)), Path(folder))
    return results


def _broker(context: Context, program: Path, count: int, folder: Path, tls: bool) -> dict:
    """All that can be seen without a hub: by who hears everything, as one does."""
    options = ("--watch", "--sites", str(min(_SITES, count)), "--will-delay", "0", "--jitter", str(_JITTER))
    with Broker(folder, tls) as broker, Devices(program, count, broker.files, *options) as devices:
        devices.settle(60)
        empty, idle = broker.status("VmRSS"), broker.cpu()
        devices.everybody("connect", 0)
        connected = devices.settle(300)
        result = {
            "connected": connected["connected"],
            "connecting": connected["seconds"],
            "connectingCPU": broker.cpu() - idle,
            "megabytes": broker.status("VmRSS") / 1024,
            "kilobytesEach": (broker.status("VmRSS") - empty) / count,
        }

        devices.everybody("begin", "link")
        changed = devices.until("event", count, 60)
        result |= {"changes": changed["event"], "changing": changed["seconds"]}
        devices.settle(60)

        devices.everybody("drop")
        dropped = devices.until("offline", count, 60)
        result |= {"wills": dropped["offline"], "dropping": dropped["seconds"]}
        # Everybody has two more events to tell of when it is back.
        devices.everybody("end")
        devices.everybody("begin", "route")
        devices.everybody("connect", _JITTER)
        back = devices.settle(300)
        result |= {"back": back["connected"], "coming": back["seconds"]}

        result |= _flood(devices, count)
        result |= _kill(context, broker, devices, count)
    return result


def _flood(devices: Devices, count: int) -> dict:
    """One sends without a pause; the others have a change in the middle of it, and are heard with a delay."""
    devices.everybody("end")
    quiet = devices.until("event", count, 60)
    devices.settle(60)
    devices.ask("flood", 0, _FLOOD, _FLOOD_SECONDS)
    devices.until("event", _FLOOD, 60)
    devices.ask("begin", 1, count - 1, "link")
    devices.settle(60)
    others = devices.ask("count")
    devices.ask("flood", 0, 0, 0)
    return {"quietDelay": quiet["longest"] / 1e6, "floodDelay": others["longest"] / 1e6, "flooded": others["flooded"]}


def _kill(context: Context, broker: Broker, devices: Devices, count: int) -> dict:
    """The broker is killed again and again, each time while everybody tells of a change."""
    before = devices.ask("count")
    kills = 2 if context.quick else _KILLS["TLS" if broker.files else "plain"]
    times = []
    for number in range(kills):
        devices.everybody("end" if number % 2 == 0 else "begin", *(() if number % 2 == 0 else ("link",)))
        devices.until("event", count // 2, 5)
        broker.end(signal.SIGKILL)
        broker.start()
        devices.ask("mark")
        times.append(devices.settle(120)["seconds"])
    after = devices.ask("count")
    return {
        "kills": kills,
        "healing": max(times),
        "lostByKills": after["missed"] - before["missed"],
        "twiceByKills": after["doubled"] - before["doubled"],
        "backAfterKills": after["connected"],
    }


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    if "missing" in summary:
        return [f"fleet: not measured (needs {summary['missing']})"]
    count = summary["devices"]
    kinds = ("plain", "TLS")
    rows = [[f"{count} machines at one mosquitto", *kinds]]
    for title, key, form in (
        ("all are connected and have told all, s", "connecting", "{:.1f}"),
        ("  the broker's CPU for that, s", "connectingCPU", "{:.1f}"),
        ("  its memory then, MB", "megabytes", "{:.0f}"),
        ("  for each machine, kB", "kilobytesEach", "{:.1f}"),
        ("all changes are heard, s", "changing", "{:.2f}"),
        ("all wills are heard after all have dropped, s", "dropping", "{:.2f}"),
        (f"all are back, who come over {_JITTER / 1000:g} s, s", "coming", "{:.1f}"),
        ("the longest delay of a change, s", "quietDelay", "{:.2f}"),
        (f"  while one floods with {_FLOOD} a second, s", "floodDelay", "{:.2f}"),
        ("all are back after the broker was killed, s at most", "healing", "{:.1f}"),
        ("  events that the broker had taken and lost", "lostByKills", "{}"),
        ("  events that came twice", "twiceByKills", "{}"),
    ):
        rows.append([title, *(form.format(summary[kind][key]) for kind in kinds)])
    lines = table(rows)
    return lines + [""] + fleet_hub.report(summary["hub"], count) if "hub" in summary else lines


def goals(summary: dict) -> list[Goal]:
    if "missing" in summary:
        return []
    count, tls = summary["devices"], summary["TLS"]
    goals = [
        Goal("fleet: seconds until all are connected over TLS", tls["connecting"], _CONNECTING),
        Goal("fleet: memory of the broker with TLS, MB", tls["megabytes"], _MEGABYTES),
    ]
    for kind in "plain", "TLS":
        values = summary[kind]
        missing = 4 * count - sum(values[key] for key in ("connected", "changes", "back", "backAfterKills"))
        goals += [
            Goal(f"fleet, {kind}: machines that are not there, and changes that are not heard", missing, 0),
            Goal(f"fleet, {kind}: seconds until all changes are heard", values["changing"], _CHANGES),
            Goal(f"fleet, {kind}: wills that are not heard", count - values["wills"], 0),
            Goal(f"fleet, {kind}: seconds until all wills are heard", values["dropping"], _DROP),
            Goal(f"fleet, {kind}: seconds by which a flood delays others", max(0, values["floodDelay"] - values["quietDelay"]), _DELAY),
        ]
    return goals + (fleet_hub.goals(summary["hub"]) if "hub" in summary else [])
