"""A few real machines in network namespaces, beside the simulated ones, with real outages: link down, and packets dropped by nftables."""

import os
import shutil
import subprocess
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from .broker import PORT
from .context import Goal
from .hub import Hub
from .namespace import Namespace

NFT = shutil.which("nft") or shutil.which("/usr/sbin/nft")
#: Seconds without a link.
_AWAY = 3
#: Two machines whose link is set down, each at its own site, and two of one site whose packets are dropped.
_LINKED, _DROPPED = (("real-a", "cable-a"), ("real-b", "cable-b")), (("real-c", "wall-a"), ("real-c", "wall-b"))


class Machine:
    """A service and its agent, connected to the broker by a veth link. Leaving its `with` block ends both."""

    def __init__(self, number: int, place: tuple[str, str], command: Path, folder: Path) -> None:
        self.site, self.name = place
        self.port, self._gateway = f"real{number}", f"10.99.{number}.1"
        self._namespace = Namespace.fresh()
        end = f"/proc/{os.getpid()}/fd/{self._namespace.descriptor}"
        _run("ip", "link", "add", self.port, "type", "veth", "peer", "name", "m0", "netns", end)
        _run("ip", "addr", "add", f"{self._gateway}/24", "dev", self.port)
        _run("ip", "link", "set", self.port, "up")
        socket = folder / f"{self.name}.sock"
        with self._namespace.entered():
            _run("ip", "link", "set", "lo", "up")
            _run("ip", "addr", "add", f"10.99.{number}.2/24", "dev", "m0")
            self._connect()
            self._programs = [
                _start(command, "serve", "--listen", "none", "--socket", socket, "--history", "none"),
                _start(
                    command, "fleet", "agent", "--broker", f"mqtt://{self._gateway}:{PORT}", "--site", self.site, "--device", self.name,
                    "--socket", socket, "--state", "none", "--jitter", "100ms", "--will-delay", "0s",
                ),
            ]

    def lose_link(self, seconds: float) -> float:
        """Sets the link down. Returns the upper limit of the outage in seconds."""
        with self._namespace.entered():
            begun = time.monotonic()
            _run("ip", "link", "set", "m0", "down")
            time.sleep(seconds)
            self._connect()
            return time.monotonic() - begun

    def _connect(self) -> None:
        _run("ip", "link", "set", "m0", "up")
        _run("ip", "route", "add", "default", "via", self._gateway)

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._programs:
            program.kill()
            program.wait()
        self._namespace.close()


def measure(command: Path, hub: Hub, folder: Path) -> dict:
    if not NFT:
        return {}
    with ExitStack() as stack:
        machines = [stack.enter_context(Machine(n, place, command, folder)) for n, place in enumerate(_LINKED + _DROPPED)]
        hub.until(lambda: all(_standing(hub, each) == "online" for each in machines), 60)
        return _links(hub, machines[:2]) | _drops(hub, machines[2:])


def _links(hub: Hub, machines: list[Machine]) -> dict:
    errors = []
    for each in machines:
        longest = each.lose_link(_AWAY)
        hub.until(lambda each=each: any(item["end"] for item in _incidents(hub, each)), 60)
        errors += [_seconds(item) - longest for item in _incidents(hub, each) if item["cause"] in ("link", "route", "address")]
    return {"links": len(errors), "linkError": max((abs(error) for error in errors), default=float("inf"))}


def _drops(hub: Hub, machines: list[Machine]) -> dict:
    names = ", ".join(f'"{each.port}"' for each in machines)
    _run(NFT, f"table inet wall {{ chain input {{ type filter hook input priority 0; iifname {{ {names} }} drop; }}; }}")
    silent = hub.until(lambda: all(_standing(hub, each) == "silent" for each in machines), 180)
    _run(NFT, "delete table inet wall")
    hub.until(lambda: all(item["end"] for item in _incidents(hub, machines[0])), 120)
    incidents = _incidents(hub, machines[0])
    explained = [item for item in incidents if item["attribution"] == "upstream" and item["deviceCount"] == 2 and not item["isUnexplained"]]
    return {"dropSilent": silent, "drops": len(incidents), "dropsExplained": len(explained)}


def _incidents(hub: Hub, machine: Machine) -> list[dict]:
    return list(hub.items(f"/v1/incidents?site={machine.site}"))


def _standing(hub: Hub, machine: Machine) -> str:
    return next((item["standing"] for item in hub.items(f"/v1/devices?device={machine.name}")), "unknown")


def _seconds(incident: dict) -> float:
    return (datetime.fromisoformat(incident["end"]) - datetime.fromisoformat(incident["start"])).total_seconds()


def _start(*words: object) -> subprocess.Popen:
    return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _run(*words: str | None) -> None:
    subprocess.run([word for word in words if word], check=True)


ROWS = (
    ("two real machines without a link for 3 s: incidents with a local cause", "links", "{}"),
    ("  error of their length, s at most", "linkError", "{:.2f}"),
    ("two real machines of a site behind drop rules: silent after, s", "dropSilent", "{:.0f}"),
    ("  incidents", "drops", "{}"),
    ("  of these explained as upstream", "dropsExplained", "{}"),
)


def goals(values: dict) -> list[Goal]:
    if "links" not in values:
        return []
    return [
        Goal("hub: missing outages of real machines without a link", 2 - values["links"], 0),
        Goal("hub: error of their length, s", values["linkError"], 1),
        Goal("hub: incidents of one site behind drop rules", values["drops"], 1),
        Goal("hub: of these not explained", values["drops"] - values["dropsExplained"], 0),
    ]
