"""Compares each subcommand with the tools it replaces: start-up time, memory of long-running commands, and size of the binary."""

import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .context import Context, Goal
from .startup import run
from .statistics import median, microseconds, percentile, table

_ROUNDS = 200
_LISTENS = 50
#: Commands that end at once. Those that the measured program does not have are skipped.
_ONE_SHOTS = ["status 1.1.1.1", "status", "why 1.1.1.1", "list", "wait 1.1.1.1"]
_REFERENCE = "ip route get"


def measure(context: Context) -> dict:
    if not (ip := shutil.which("ip")):
        raise RuntimeError("cannot find `ip`, which is compared with; install iproute2")
    once = {_REFERENCE: [ip, "route", "get", "1.1.1.1"]}
    stay = {"ip monitor": [ip, "monitor"]}
    if nm_online := shutil.which("nm-online"):
        once["nm-online"] = [nm_online, "--quiet", "--timeout=0"]
    if context.binary:
        known = _subcommands(context.binary)
        for line in _ONE_SHOTS:
            if line.split()[0] in known:
                once[f"reachability {line}"] = [str(context.binary), *line.split()]
        stay["reachability watch"] = [str(context.binary), "watch"]
    return {
        "startup": _alternating(once, _run, context.scaled(_ROUNDS)),
        "listening": _alternating(stay, _listening, context.scaled(_LISTENS)),
        "memory": {name: _memory(command) for name, command in stay.items()},
        "strippedBytes": _stripped(context.binary) if context.binary else None,
    }


def _subcommands(binary: Path) -> set[str]:
    text = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z-]+) ", text.partition("SUBCOMMANDS:")[2], re.MULTILINE))


def _alternating(commands: dict[str, list[str]], measure: object, rounds: int) -> dict[str, list[int]]:
    results: dict[str, list[int]] = {name: [] for name in commands}
    order = list(commands)
    for number in range(rounds):
        for name in order if number % 2 else reversed(order):
            results[name].append(measure(commands[name]))
    return results


def _run(command: list[str]) -> int:
    # Without NetworkManager, nm-online fails as fast as it succeeds.
    return run(command, requires_success="nm-online" not in command[0])


def _listening(command: list[str]) -> int:
    """Returns the time from the start to the first line, or for `ip monitor` to the multicast subscription of its socket."""
    before = time.monotonic_ns()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        if "monitor" in command:
            while not _is_subscribed(process.pid):
                pass
        elif not select.select([process.stdout], [], [], 10)[0]:
            raise RuntimeError(f"{' '.join(command)} printed nothing within 10 s")
        return time.monotonic_ns() - before
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _is_subscribed(pid: int) -> bool:
    for line in Path("/proc/net/netlink").read_text().splitlines()[1:]:
        _, _, port, groups, *_ = line.split()
        # The first netlink socket of a process has its PID as port ID.
        if int(port) == pid and int(groups, 16):
            return True
    return False


def _memory(command: list[str]) -> dict[str, int]:
    """Returns RSS and PSS in KiB after two seconds without changes."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        time.sleep(2)
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        return {key: int(re.search(rf"^{key}: +(\d+)", text, re.MULTILINE)[1]) for key in ("Rss", "Pss")}
    finally:
        process.kill()
        process.wait()


def _stripped(binary: Path) -> int | None:
    if not shutil.which("strip"):
        return None
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "stripped")
        subprocess.run(["strip", "--strip-all", "-o", copy, binary], check=True)
        return os.stat(copy).st_size


def summary(results: dict) -> dict:
    times = {
        kind: {name: {"median": median(v), "p90": percentile(v, 0.9)} for name, v in results[kind].items()}
        for kind in ("startup", "listening")
    }
    return {**results, **times}


def report(summary: dict) -> list[str]:
    lines = []
    for kind, title, base in (
        ("startup", "from start to end, us", _REFERENCE),
        ("listening", "from start to first line or subscription, us", "ip monitor"),
    ):
        reference = summary[kind][base]["median"]
        rows = [[title, "median", "p90", f"times {base}"]]
        for name, values in summary[kind].items():
            ratio = f"{values['median'] / reference:.2f}"
            rows.append([name, microseconds(values["median"]), microseconds(values["p90"]), ratio])
        lines += [*table(rows), ""]
    rows = [["memory", "RSS MB", "PSS MB"]]
    rows += [[name, *(f"{v[key] / 1024:.1f}" for key in ("Rss", "Pss"))] for name, v in summary["memory"].items()]
    lines += table(rows)
    if size := summary["strippedBytes"]:
        lines += ["", f"  size of the stripped command: {size / 1e6:.1f} MB"]
    return lines


def goals(summary: dict) -> list[Goal]:
    reference = summary["startup"][_REFERENCE]["median"]
    goals = [
        Goal(f"start-up of {name}, times ip route get", values["median"] / reference, 3.5)
        for name, values in summary["startup"].items()
        if name.startswith("reachability")
    ]
    if watch := summary["memory"].get("reachability watch"):
        goals.append(Goal("memory of watch, RSS MB", watch["Rss"] / 1024, 12))
    if size := summary["strippedBytes"]:
        goals.append(Goal("size of the stripped command, MB", size / 1e6, 20))
    return goals
