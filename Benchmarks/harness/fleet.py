"""The load of ten thousand machines on a broker, and the time until all subscribers have received their messages."""

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
#: The limits over TLS: seconds until all machines are connected, and the broker's memory then in MB.
_CONNECTING = 30
_MEGABYTES = 200
#: The limits in seconds: until a change of all machines is received, until all wills are received, and the delay by a flood.
_CHANGES, _DROP, _DELAY = 5, 2, 1
_FLOOD, _FLOOD_SECONDS = 2_000, 10
#: How often the broker is killed. Over TLS it takes half a minute until all machines are connected again.
_KILLS = {"plain": 20, "TLS": 3}
#: The machines reconnect within this time, in milliseconds.
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
    """Runs the measurements that need no hub, with a subscriber to all topics."""
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
        # Each machine has two more events when it reconnects.
        devices.everybody("end")
        devices.everybody("begin", "route")
        devices.everybody("connect", _JITTER)
        back = devices.settle(300)
        result |= {"back": back["connected"], "coming": back["seconds"]}

        result |= _flood(devices, count)
        result |= _kill(context, broker, devices, count)
    return result


def _flood(devices: Devices, count: int) -> dict:
    """One device floods the broker. Meanwhile the others have a change; returns its delay."""
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
    """Kills the broker repeatedly, each time while all machines publish a change."""
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
        ("all connected, all states published, s", "connecting", "{:.1f}"),
        ("  CPU of the broker meanwhile, s", "connectingCPU", "{:.1f}"),
        ("  memory of the broker, MB", "megabytes", "{:.0f}"),
        ("  memory for each machine, kB", "kilobytesEach", "{:.1f}"),
        ("all changes received, s", "changing", "{:.2f}"),
        ("all wills received after all connections dropped, s", "dropping", "{:.2f}"),
        (f"all reconnected, distributed over {_JITTER / 1000:g} s, s", "coming", "{:.1f}"),
        ("longest delay of a change, s", "quietDelay", "{:.2f}"),
        (f"  during a flood of {_FLOOD} messages/s, s", "floodDelay", "{:.2f}"),
        ("all reconnected after a kill of the broker, s at most", "healing", "{:.1f}"),
        ("  events that the broker acknowledged and lost", "lostByKills", "{}"),
        ("  duplicate events", "twiceByKills", "{}"),
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
            Goal(f"fleet, {kind}: missing machines and changes", missing, 0),
            Goal(f"fleet, {kind}: seconds until all changes are received", values["changing"], _CHANGES),
            Goal(f"fleet, {kind}: missing wills", count - values["wills"], 0),
            Goal(f"fleet, {kind}: seconds until all wills are received", values["dropping"], _DROP),
            Goal(f"fleet, {kind}: delay of other machines by a flood, s", max(0, values["floodDelay"] - values["quietDelay"]), _DELAY),
        ]
    return goals + (fleet_hub.goals(summary["hub"]) if "hub" in summary else [])
