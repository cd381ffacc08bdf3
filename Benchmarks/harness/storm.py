"""The cost of 200,000 route changes that concern no target.

A socket filter runs in the process that makes the change, so the CPU time of that process is measured too.
"""

import time
from collections import defaultdict

from .context import Context, Goal
from .listener import Listener, Program
from .routes import flood
from .statistics import median, table

_CHANGES = 200_000
_TARGETS = 4
_MANY = 10_000
_ROUNDS = 3
#: A CPU time below this counts as zero, so that two idle programs are equal.
_RESOLUTION = 1_000_000


def measure(context: Context) -> dict:
    few, many = context.targets(_TARGETS), context.targets(context.scaled(_MANY))
    programs = {"nobody": None, "filtered-listen": context.filtered_listen(few)}
    if context.binary:
        programs[f"reachability, {_TARGETS} targets"] = context.watch_many(few)
        programs["reachability, at large"] = context.watch()
        programs[f"reachability, {len(many)} targets"] = context.watch_many(many)
    results: dict = {name: [] for name in programs}
    for _ in range(_ROUNDS):
        for name, program in programs.items():
            results[name].append(_run(context, program))
    return results


def _run(context: Context, program: Program | None) -> dict:
    if program is None:
        return {"sender": _send(context)}
    with Listener(program) as listener:
        listener.settle(0.5)
        sleeps, cpu = listener.sleeps(), listener.cpu()
        sender = _send(context)
        lines = listener.settle(0.5)
        return {
            "wakeups": listener.wakeups(sleeps),
            "cpu": listener.cpu() - cpu,
            "sender": sender,
            "drops": listener.drops(),
            "lines": lines,
        }


def _send(context: Context) -> float:
    """Returns the CPU nanoseconds of the sending process for each change."""
    changes = context.scaled(_CHANGES)
    before = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
    flood(context.world.here, changes)
    return (time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - before) / changes


def summary(results: dict) -> dict:
    statistic = defaultdict(lambda: median, wakeups=max, drops=max, lines=max)
    return {
        name: {key: statistic[key]([run[key] for run in runs]) for key in runs[0]} for name, runs in results.items()
    }


def report(summary: dict) -> list[str]:
    rows = [[f"{_CHANGES} unrelated route changes", "wakeups", "CPU ms", "lost", "lines", "sender's CPU, us/change"]]
    for name, values in summary.items():
        own = ["-"] * 4
        if "cpu" in values:
            counts = [str(values[key]) for key in ("wakeups", "drops", "lines")]
            own = [counts[0], f"{values['cpu'] / 1e6:.1f}", *counts[1:]]
        rows.append([name, *own, f"{values['sender'] / 1000:.2f}"])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    goals = []
    for name, values in summary.items():
        if not name.startswith("reachability"):
            continue
        ratio = max(values["cpu"], _RESOLUTION) / max(summary["filtered-listen"]["cpu"], _RESOLUTION)
        goals += [
            Goal(f"wakeups by unrelated route changes, {name}", values["wakeups"], 0),
            Goal(f"CPU of unrelated route changes, {name}, times filtered-listen", ratio, 2),
            Goal(f"notifications lost, {name}", values["drops"], 0),
        ]
    return goals
