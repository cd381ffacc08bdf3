"""The cost of checking each of many hosts, compared with a C program, fping and prometheus-blackbox-exporter."""

import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address
from pathlib import Path

from .context import Context, Goal
from .namespace import Namespace
from .statistics import median, table

_COUNT = 10_000
_ROUNDS = 3
_NETWORK = "10.77.0.0/16"
_FIRST = IPv4Address("10.77.0.1")
#: The kinds of probes: argument of the reference: URL of a target, module of the exporter.
_KINDS = {
    "echo": ("icmp://{}", "icmp"),
    "connect": ("tcp://{}:80", "tcp"),
    "request": ("http://{}/", "http"),
}
#: The limits: CPU time of a probe in microseconds, and as a multiple of the C program.
_LIMITS = {"echo": (40, 2), "connect": (100, 2), "request": (200, 3)}
_MODULES = """
modules:
  icmp: {prober: icmp, timeout: 5s}
  tcp: {prober: tcp, timeout: 5s}
  http: {prober: http, timeout: 5s, http: {valid_status_codes: [204], preferred_ip_protocol: ip4}}
"""


def measure(context: Context) -> dict:
    program = context.binary.parent / "reachability-tools" if context.binary else None
    if not program or not program.exists():
        return {"missing": "make build"}
    count = context.scaled(_COUNT)
    far = Namespace.fresh()
    try:
        _furnish(far)
        with far.entered():
            server = subprocess.Popen([context.references / "answer-many"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdout and server.stdout.readline() == b"ready\n"
        try:
            return {"count": count, "kinds": {kind: _turns(context, program, kind, count) for kind in _KINDS}}
        finally:
            server.communicate()
    finally:
        # Closing the namespace also deletes the link.
        far.close()


def _furnish(far: Namespace) -> None:
    """Connects a machine that has all addresses of the network."""
    with far.entered():
        holder = subprocess.Popen(["sleep", "infinity"])
    try:
        _ip("link", "add", "bench0", "type", "veth", "peer", "name", "bench1", "netns", str(holder.pid))
    finally:
        holder.kill()
        holder.wait()
    _ip("addr", "add", "10.76.0.1/24", "dev", "bench0")
    _ip("link", "set", "bench0", "up")
    Path("/proc/sys/net/ipv4/ping_group_range").write_text("0 2147483647")
    with far.entered():
        _ip("link", "set", "lo", "up")
        _ip("link", "set", "bench1", "up")
        _ip("addr", "add", "10.76.0.2/24", "dev", "bench1")
        _ip("route", "add", "local", _NETWORK, "dev", "lo")
        for name, value in ("icmp_msgs_per_sec", "1000000"), ("icmp_ratelimit", "0"):
            Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
    _ip("route", "add", _NETWORK, "via", "10.76.0.2")
    time.sleep(1)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _turns(context: Context, program: Path, kind: str, count: int) -> dict:
    addresses = [str(_FIRST + number) for number in range(count)]
    url, module = _KINDS[kind]
    programs = {
        "C": lambda: _run([str(context.references / "probe-many"), kind, str(_FIRST), str(count)], _number),
        "reachability": lambda: _check(program, [url.format(address) for address in addresses]),
    }
    if kind == "echo" and shutil.which("fping"):
        programs["fping"] = lambda: _run(["fping", "-q", "-s", "-r", "0", "-i", "0"], _alive, "\n".join(addresses))
    if exporter := shutil.which("prometheus-blackbox-exporter"):
        programs["blackbox_exporter"] = lambda: _export(exporter, module, addresses)
    results: dict = {name: [] for name in programs}
    for number in range(_ROUNDS):
        for name in programs if number % 2 else reversed(programs):
            results[name].append(programs[name]())
    return results


def _run(command: list[str], answered, text: str = "") -> dict:
    """Runs a command to its end. Returns the cost of each probe, and the number of answers."""
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as printed:
        given.write(text)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=printed, stderr=subprocess.STDOUT)
        resident = 0
        # ru_maxrss of wait4(2) includes the memory of the process that forked, so VmHWM is read instead.
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            resident = max(resident, _resident(process.pid))
            time.sleep(0.005)
        process.returncode, usage = 0, ended[2]
        wall = time.monotonic() - begun
        printed.seek(0)
        found = answered(printed.read())
    count = found.pop("of", None) or found["answered"]
    return {
        **found,
        "seconds": wall,
        "microseconds": 1e6 * (usage.ru_utime + usage.ru_stime) / max(1, count),
        "megabytes": resident / 1024,
    }


def _resident(process: int) -> int:
    """Returns the maximum resident size in KiB; 0 for a process that has ended."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def _number(text: str) -> dict:
    return {"answered": int(text or 0)}


def _alive(text: str) -> dict:
    return {"answered": next((int(line.split()[0]) for line in text.splitlines() if line.endswith(" alive")), 0)}


def _check(program: Path, targets: list[str]) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(targets))
        file.flush()
        command = [str(program), "check", "--file", file.name, "--rate", "1000000", "--json", "--timeout", "5s"]
        return _run(command, lambda text: _verdicts(text, len(targets)))


def _verdicts(text: str, count: int) -> dict:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    trips = sorted(
        probe["roundTripMicroseconds"]
        for line in lines
        for probe in line.get("probes", [])
        if probe.get("roundTripMicroseconds") is not None
    )
    found = {"answered": sum(line["place"] == "works" for line in lines), "of": count}
    if trips:
        found |= {"tripMedian": trips[len(trips) // 2], "trip99": trips[len(trips) * 99 // 100]}
    return found


def _export(exporter: str, module: str, addresses: list[str]) -> dict:
    """Requests a probe of each host from the exporter, over 32 connections at a time."""
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(_MODULES)
        file.flush()
        command = [exporter, "--config.file", file.name, "--web.listen-address", "127.0.0.1:9115"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _await_port()
            begun = time.monotonic()

            def ask(share: list[str]) -> int:
                connection, good = http.client.HTTPConnection("127.0.0.1", 9115), 0
                for address in share:
                    target = f"http://{address}/" if module == "http" else f"{address}:80" if module == "tcp" else address
                    connection.request("GET", f"/probe?module={module}&target={target}")
                    good += b"probe_success 1" in connection.getresponse().read()
                return good

            with ThreadPoolExecutor(32) as pool:
                answered = sum(pool.map(ask, (addresses[start::32] for start in range(32))))
            wall = time.monotonic() - begun
            resident = _resident(process.pid)
        finally:
            process.terminate()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
    return {
        "answered": answered,
        "seconds": wall,
        "microseconds": 1e6 * (usage.ru_utime + usage.ru_stime) / len(addresses),
        "megabytes": resident / 1024,
    }


def _await_port() -> None:
    for _ in range(500):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", 9115)
            connection.request("GET", "/-/healthy")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.01)
    raise RuntimeError("prometheus-blackbox-exporter does not listen")


def summary(results: dict) -> dict:
    if "missing" in results:
        return results
    kinds = {
        kind: {
            name: {key: median([turn[key] for turn in turns if key in turn]) for key in turns[0]}
            for name, turns in programs.items()
        }
        for kind, programs in results["kinds"].items()
    }
    return {"count": results["count"], "kinds": kinds}


def report(summary: dict) -> list[str]:
    if "missing" in summary:
        return [f"checks of many hosts: not measured ({summary['missing']})"]
    rows = [[f"{summary['count']} hosts", "program", "answered", "CPU us each", "times C", "seconds", "MB"]]
    for kind, programs in summary["kinds"].items():
        for name, values in programs.items():
            rows.append([
                kind, name, f"{values['answered']:.0f}", f"{values['microseconds']:.1f}",
                f"{values['microseconds'] / programs['C']['microseconds']:.1f}",
                f"{values['seconds']:.2f}", f"{values['megabytes']:.1f}",
            ])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    if "missing" in summary:
        return []
    goals = []
    for kind, programs in summary["kinds"].items():
        ours, (limit, ratio) = programs["reachability"], _LIMITS[kind]
        goals += [
            Goal(f"{kind}, CPU us each", ours["microseconds"], limit),
            Goal(f"{kind}, times C", ours["microseconds"] / programs["C"]["microseconds"], ratio),
            Goal(f"{kind}, MB", ours["megabytes"], 40),
            Goal(f"{kind}, hosts without an answer", summary["count"] - ours["answered"], 0),
        ]
    return goals
