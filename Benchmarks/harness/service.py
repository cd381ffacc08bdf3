"""The costs of `reachability serve`: start with a history, idling, responses, and events for a thousand streams."""

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from . import history
from .clients import Clients
from .context import Context, Goal
from .served import PORT, Served
from .statistics import median, percentile, table
from .world import FIRST, World

_HISTORY_MEGABYTES = 50
_IDLE_SECONDS = 20
_WRK_SECONDS = 10
#: Enough changes that the slowest does not determine the 99th percentile.
_CHANGES = 400
_STREAMS = 1_000
#: The number of streams that never read.
_DEAF = 10
_CONNECTIONS = 1_100
_TARGETS = 1_000
#: Idle threads of Dispatch end after 5 s; they belong to the start.
_SETTLING_SECONDS = 7
_WEB = ("--history", "none", "--listen", f"127.0.0.1:{PORT}")


def measure(context: Context) -> dict:
    program = context.binary.parent / "reachability-tools" if context.binary else None
    if not program or not program.exists():
        return {"missing": "make build"}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return {
            "start": _start(context, program, place / "history.sqlite"),
            "rest": _rest(context, program, place / "rest.sqlite"),
            "answers": _answers(context, program),
            "stream": _tell(context, program, 1, 0, context.scaled(_CHANGES)),
            "streams": _tell(
                context, program, context.scaled(_STREAMS) - context.scaled(_DEAF), context.scaled(_DEAF),
                max(1, context.scaled(_CHANGES) // 20),
            ),
            "connections": _connections(context, program),
            "targets": _targets(context, program, place / "serve.toml"),
        }


# MARK: start and rest


def _start(context: Context, program: Path, file: Path) -> dict:
    arguments = ("--history", str(file), *_WEB[2:])
    with Served(program, *arguments) as served:
        empty = served.ready_seconds
    size = history.fill(file, 1_000_000 * context.scaled(_HISTORY_MEGABYTES))
    times = []
    for _ in range(5):
        with Served(program, *arguments) as served:
            times.append(served.ready_seconds)
            if b'"kind":"outage"' not in served.get("/v1/outages?limit=1"):
                raise RuntimeError("the service does not return the outages of its history")
    return {"empty": empty, "full": median(times), "megabytes": size / 1e6}


def _rest(context: Context, program: Path, file: Path) -> dict:
    seconds = _IDLE_SECONDS // 10 if context.quick else _IDLE_SECONDS
    with Served(program, "--history", str(file), *_WEB[2:]) as served:
        time.sleep(_SETTLING_SECONDS)
        sleeps, processor = served.sleeps(), served.cpu()
        time.sleep(seconds)
        return {
            "seconds": seconds,
            "wakeups": served.wakeups(sleeps),
            "microseconds": (served.cpu() - processor) / 1000,
            "megabytes": served.status("VmRSS") / 1024,
            "threads": served.status("Threads"),
        }


# MARK: answers


def _answers(context: Context, program: Path) -> dict:
    if not shutil.which("wrk"):
        return {}
    with Served(program, *_WEB) as served:
        results = {
            f"reachability {path}": _wrk(context, f"http://127.0.0.1:{PORT}{path}", served.pid)
            for path in ("/v1/status", "/metrics")
        }
    if exporter := shutil.which("prometheus-blackbox-exporter"):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write("modules:\n  icmp: {prober: icmp}\n")
            file.flush()
            command = [exporter, "--config.file", file.name, "--web.listen-address", "127.0.0.1:9115"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                time.sleep(2)
                results["blackbox_exporter /metrics"] = _wrk(context, "http://127.0.0.1:9115/metrics", process.pid)
            finally:
                process.kill()
                process.wait()
    return results


def _wrk(context: Context, url: str, process: int) -> dict:
    seconds = 1 if context.quick else _WRK_SECONDS
    command = ["wrk", "-t", "1", "-c", "20", "-d", f"{seconds}s", "--latency", url]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    late, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    failed = re.findall(r"responses: (\d+)|(?:connect|read|write|timeout) (\d+)", text)
    status = Path(f"/proc/{process}/status").read_text()
    return {
        "perSecond": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        "p99": float(late) * {"us": 0.001, "ms": 1, "s": 1000}[unit],
        "failed": sum(int(one or other) for one, other in failed),
        "megabytes": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024,
    }


# MARK: many clients


def _tell(context: Context, program: Path, reading: int, deaf: int, changes: int) -> dict:
    """Measures the time from a change in the kernel to its event in the streams, and the memory of a stream."""
    with Served(program, *_WEB) as served:
        time.sleep(_SETTLING_SECONDS)
        before = served.status("VmRSS")
        with Clients("/v1/stream", reading, deaf) as streams:
            if len(streams.hear(b"event: snapshot")) < reading:
                raise RuntimeError("not all streams started")
            resident = served.status("VmRSS")
            late: list[int] = []
            last: list[int] = []
            for _ in range(max(1, changes // 2)):
                for request, word in ((FIRST.no_default(), b"event: outageBegan"), (FIRST.default(), b"event: outageEnded")):
                    since = _change(context.world, request)
                    times = [moment - since for moment in streams.hear(word, 10)]
                    late += times
                    last += [max(times)] if len(times) == reading else []
                    time.sleep(0.05)
    return {
        "reading": reading,
        "deaf": deaf,
        "missed": reading * 2 * max(1, changes // 2) - len(late),
        "median": median(late) / 1e6,
        "p99": percentile(late, 0.99) / 1e6,
        "allTold": median(last) / 1e6 if last else float("inf"),
        "kilobytesEach": (resident - before) / (reading + deaf),
    }


def _change(world: World, request: bytes) -> int:
    """Makes a change. Returns the clock just before it."""
    before = time.monotonic_ns()
    world.here.do(request)
    return before


def _connections(context: Context, program: Path) -> dict:
    """Measures simultaneous connections that have each sent one request."""
    count = context.scaled(_CONNECTIONS)
    with Served(program, *_WEB) as served:
        time.sleep(_SETTLING_SECONDS)
        before = served.status("VmRSS")
        with Clients("/v1/status", count) as clients:
            answered = len(clients.hear(b"HTTP/1.1 200"))
            resident = served.status("VmRSS")
    return {"count": count, "answered": answered, "kilobytesEach": (resident - before) / count}


# MARK: many targets


def _targets(context: Context, program: Path, file: Path) -> dict:
    """Measures the time from the start until all targets with a route are up. A third of the targets are names that do not resolve."""
    addresses = context.targets(max(6, context.scaled(_TARGETS)))
    hosts = [f"name{number}.invalid" if number % 3 == 2 else host for number, host in enumerate(addresses)]
    targets = [f'[[target]]\nname = "target {number}"\nhost = "{host}"\n' for number, host in enumerate(hosts)]
    file.write_text("schema = 1\n" + "".join(targets))
    reachable = sum(not host.endswith("invalid") for host in hosts)
    with Served(program, "--config", str(file), *_WEB) as served:
        ready = served.ready_seconds
        later = served.until("/v1/status", lambda text: text.count(b'"state":"up"') >= reachable)
        return {"count": len(hosts), "ready": ready, "watched": ready + later, "megabytes": served.status("VmRSS") / 1024}


# MARK: report


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    if "missing" in summary:
        return [f"reachability serve: not measured ({summary['missing']})"]
    start, rest, targets = summary["start"], summary["rest"], summary["targets"]
    rows = [
        ["reachability serve", ""],
        ["start to READY, without a history, ms", f"{1000 * start['empty']:.0f}"],
        [f"start to READY, history of {start['megabytes']:.0f} MB, ms", f"{1000 * start['full']:.0f}"],
        [f"wakeups in {rest['seconds']} s at rest", f"{rest['wakeups']}"],
        [f"CPU in {rest['seconds']} s at rest, us", f"{rest['microseconds']:.0f}"],
        ["RSS at rest, MB", f"{rest['megabytes']:.1f}"],
        ["threads at rest", f"{rest['threads']}"],
        [f"{targets['count']} targets, start to READY, s", f"{targets['ready']:.2f}"],
        [f"{targets['count']} targets, start to all reachable targets up, s", f"{targets['watched']:.2f}"],
        [f"{targets['count']} targets, RSS, MB", f"{targets['megabytes']:.1f}"],
        [f"{summary['connections']['count']} connections, answered", f"{summary['connections']['answered']}"],
        ["memory a connection, kB", f"{summary['connections']['kilobytesEach']:.1f}"],
    ]
    streams = [["change to stream, ms", "median", "p99", "all clients", "missed", "kB a stream"]]
    for values in (summary["stream"], summary["streams"]):
        streams.append([
            f"{values['reading']} that read, {values['deaf']} that do not",
            *(f"{values[key]:.2f}" for key in ("median", "p99", "allTold")), f"{values['missed']}",
            f"{values['kilobytesEach']:.1f}",
        ])
    answers = [["answers, 20 connections", "a second", "p99 ms", "failed", "RSS MB"]]
    for name, values in summary["answers"].items():
        answers.append([
            name, f"{values['perSecond']:.0f}", f"{values['p99']:.2f}", f"{values['failed']}", f"{values['megabytes']:.1f}",
        ])
    if not summary["answers"]:
        answers.append(["not measured: apt-get install wrk", "", "", "", ""])
    return [*table(rows), "", *table(streams), "", *table(answers)]


def goals(summary: dict) -> list[Goal]:
    if "missing" in summary:
        return []
    streams, connections = summary["streams"], summary["connections"]
    goals = [
        Goal("serve, start to READY with a history, ms", 1000 * summary["start"]["full"], 150),
        Goal("serve, wakeups at rest", summary["rest"]["wakeups"], 0),
        Goal("serve, RSS at rest, MB", summary["rest"]["megabytes"], 36),
        Goal("serve, change to stream, p99 ms", summary["stream"]["p99"], 3),
        Goal("serve, change to all streams, ms", streams["allTold"], 50),
        Goal("serve, kB a stream", streams["kilobytesEach"], 24),
        Goal("serve, events that streams missed", summary["stream"]["missed"] + streams["missed"], 0),
        Goal("serve, connections without an answer", connections["count"] - connections["answered"], 0),
        Goal("serve, start to all targets watched, s", summary["targets"]["watched"], 1),
    ]
    answers = summary["answers"]
    if ours := answers.get("reachability /v1/status"):
        goals.append(Goal("serve, us an answer of /v1/status", 1e6 / ours["perSecond"], 125))
        if exporter := answers.get("blackbox_exporter /metrics"):
            goals.append(Goal("blackbox_exporter /metrics, times /v1/status", exporter["perSecond"] / ours["perSecond"], 1))
    return goals
