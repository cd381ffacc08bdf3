"""Compares 10,000 targets with one: latency at rest and during route changes, an evaluation of all targets, memory.

The route to one target is deleted and added. The other changes are of unrelated routes, at a constant rate.
"""

import random
from collections import defaultdict

from . import looks
from .context import Context, Goal
from .listener import Listener
from .routes import paced
from .statistics import geometric_mean, median, microseconds, percentile, table
from .world import World, target_changes

_TARGETS = 10_000
_STORM = 20_000
_ROUNDS = 4
_KINDS = ("route lost", "route back")


def measure(context: Context) -> dict:
    many = context.scaled(_TARGETS)
    results: dict = {"targets": many, "latency": {}, "evaluation": {}, "allTold": {}, "residentKilobytes": {}}
    for count in 1, many:
        for rate in 0, _STORM:
            results["latency"][f"{_targets(count)}, {_pace(rate)}"] = latencies(context, count, rate)

    addresses = context.targets(many)
    programs = {
        "batched lookups": context.lookup_many(addresses, "--plain"),
        "lookup-many": context.lookup_many(addresses),
    }
    if context.binary:
        programs["reachability"] = context.watch_many(addresses)
    for name, program in programs.items():
        with Listener(program) as listener:
            listener.settle(1)
            results["residentKilobytes"][name] = listener.status("VmRSS")
            results["evaluation"][name] = looks.looks(context.world, listener)
            results["allTold"][name] = looks.all_told(context.world, listener, many)
    if context.binary:
        with Listener(context.watch_many(addresses[:1])) as listener:
            listener.settle(1)
            results["residentKilobytes"]["reachability, one target"] = listener.status("VmRSS")
    return results


def _targets(count: int) -> str:
    return "1 target" if count == 1 else f"{count} targets"


def _pace(rate: int) -> str:
    return f"{rate} messages/s" if rate else "idle"


# MARK: latency


def latencies(context: Context, count: int, rate: int) -> dict:
    """Returns the nanoseconds from the change to its line, for each program and kind of change."""
    addresses = context.targets(count)
    programs = [context.lookup_many(addresses)]
    if context.binary:
        programs.append(context.watch_many(addresses))
    results: dict = {
        program.name: {"kinds": defaultdict(list), "missed": 0, "unexpected": 0, "disturbed": 0} for program in programs
    }
    for _ in range(_ROUNDS):
        for program in programs:
            with Listener(program) as listener, paced(context.world, rate):
                listener.settle(0.5)
                for _ in range(max(1, context.rounds * 10 // _ROUNDS)):
                    _there_and_back(context.world, listener, random.choice(addresses), results[program.name])
    return results


def _there_and_back(world: World, listener: Listener, address: str, result: dict) -> None:
    for change in target_changes(address):
        # Irregular intervals, so that the changes do not align with timers of a listener.
        result["unexpected"] += listener.settle(random.uniform(0.015, 0.025))
        made = world.make(change)
        line, others = listener.answer(change, made)
        result["unexpected"] += others
        if not line:
            result["missed"] += 1
        elif world.was_disturbed:
            result["disturbed"] += 1
        else:
            result["kinds"][change.name].append(line.printed - made)


# MARK: results


def summary(results: dict) -> dict:
    return {
        "targets": results["targets"],
        "latency": {case: latency_summary(programs) for case, programs in results["latency"].items()},
        "evaluation": {
            name: {key: median(values) for key, values in times.items()}
            for name, times in results["evaluation"].items()
        },
        "allTold": {name: None if None in times else median(times) for name, times in results["allTold"].items()},
        "residentKilobytes": results["residentKilobytes"],
    }


def latency_summary(programs: dict) -> dict:
    output = {}
    for name, result in programs.items():
        kinds = {
            kind: {"median": median(values), "p99": percentile(values, 0.99), "count": len(values)}
            for kind, values in result["kinds"].items()
        }
        output[name] = {"kinds": kinds, **{key: value for key, value in result.items() if key != "kinds"}}
    base = output["lookup-many"]["kinds"]
    for name, values in output.items():
        kinds = [kind for kind in _KINDS if kind in base and kind in values["kinds"]]
        for key in "median", "p99":
            ratios = [values["kinds"][kind][key] / base[kind][key] for kind in kinds]
            values[f"ratioOf{key.capitalize()}"] = geometric_mean(ratios) if ratios else None
    return output


def report(summary: dict) -> list[str]:
    names = list(next(iter(summary["latency"].values())))
    rows = [["change -> printed line, us: median / p99", *names, "ratios", "missed", "unexpected", "disturbed"]]
    for case, programs in summary["latency"].items():
        own = programs[names[-1]]
        for kind in _KINDS:
            cells = [programs[name]["kinds"].get(kind) for name in names]
            times = [f"{microseconds(c['median'])} / {microseconds(c['p99'])}" if c else "missed" for c in cells]
            rows.append([f"{case}: {kind}", *times, "", "", "", ""])
        counts = [str(own[key]) for key in ("missed", "unexpected", "disturbed")]
        rows[-1][-4:] = [_ratios(own), *counts]
    count = summary["targets"]
    columns = ["CPU (times batched lookups)", "with later evaluations", "wall", "all printed", "RSS MB"]
    looked = [[f"an evaluation of {count} targets, ms", *columns]]
    base = summary["evaluation"]["batched lookups"]["cpu"]
    for name, values in summary["evaluation"].items():
        told = summary["allTold"][name]
        looked.append(
            [
                name,
                f"{values['cpu'] / 1e6:.1f} ({values['cpu'] / base:.2f})",
                f"{values['cpuWithLaterLooks'] / 1e6:.1f}",
                f"{values['wall'] / 1e6:.1f}",
                f"{told / 1e6:.1f}" if told else "never",
                f"{summary['residentKilobytes'][name] / 1024:.1f}",
            ]
        )
    if one := summary["residentKilobytes"].get("reachability, one target"):
        looked.append(["reachability, one target", "", "", "", "", f"{one / 1024:.1f}"])
    return [*table(rows), "", *table(looked)]


def _ratios(own: dict) -> str:
    return " / ".join(f"{own[key]:.2f}" if own[key] else "-" for key in ("ratioOfMedian", "ratioOfP99"))


def goals(summary: dict) -> list[Goal]:
    if "reachability" not in summary["evaluation"]:
        return []
    goals = []
    for case, programs in summary["latency"].items():
        own = programs["reachability"]
        for key, name, limit in ("ratioOfMedian", "median", 2), ("ratioOfP99", "p99", 3):
            goals.append(Goal(f"latency, {case}, {name}, times lookup-many", own[key] or float("inf"), limit))
        goals.append(Goal(f"latency, {case}, changes missed", own["missed"], 0))
    look, memory = summary["evaluation"], summary["residentKilobytes"]
    count, told = summary["targets"], summary["allTold"]["reachability"]
    more = (memory["reachability"] - memory["reachability, one target"]) / 1024
    return [
        *goals,
        Goal(f"CPU of an evaluation of {count} targets, times batched lookups",
             look["reachability"]["cpu"] / look["batched lookups"]["cpu"], 2),
        Goal(f"{count} lost targets printed, ms", told / 1e6 if told else float("inf"), 100),
        Goal(f"memory of {count} targets above one, MB", more, 10),
    ]
