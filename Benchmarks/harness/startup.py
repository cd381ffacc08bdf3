"""The wall time of a command that ends at once, from start to end."""

import os
import shutil
import time

from .context import Context, Goal
from .statistics import median, microseconds, percentile, table

_PAIRS = 200


def measure(context: Context) -> dict:
    commands = {"lookup-once": [str(context.references / "lookup-once")]}
    if ip := shutil.which("ip"):
        commands["ip route get"] = [ip, "route", "get", "1.1.1.1"]
    if context.binary:
        commands["reachability status"] = [str(context.binary), "status"]
    results: dict = {name: [] for name in commands}
    order = list(commands)
    for number in range(_PAIRS):
        for name in order if number % 2 else reversed(order):
            results[name].append(run(commands[name]))
    return results


def run(command: list[str], requires_success: bool = True) -> int:
    """Runs a command and returns its wall time in nanoseconds. posix_spawn does not copy this process, so it adds little."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    before = time.monotonic_ns()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status = os.waitpid(process, 0)
    elapsed = time.monotonic_ns() - before
    if status and requires_success:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return elapsed


def summary(results: dict) -> dict:
    return {
        name: {"median": median(values), "p90": percentile(values, 0.9)} for name, values in results.items()
    }


def report(summary: dict) -> list[str]:
    base = summary.get("ip route get", summary["lookup-once"])["median"]
    rows = [["start-up of a one-shot, us", "median", "p90", "times ip route get"]]
    for name, values in summary.items():
        rows.append(
            [name, microseconds(values["median"]), microseconds(values["p90"]), f"{values['median'] / base:.2f}"]
        )
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    if not {"reachability status", "ip route get"} <= set(summary):
        return []
    ratio = summary["reachability status"]["median"] / summary["ip route get"]["median"]
    return [Goal("start-up, times ip route get", ratio, 3.5)]
