"""Compares a million routes with none, in two networks in turns: the costs of a listener must not depend on the number."""

import random
from collections import defaultdict

from . import startup
from .context import Context, Goal
from .listener import Listener, Program
from .routes import fill
from .statistics import geometric_mean, median, microseconds, percentile, table
from .world import World, changes

_ROUTES = 1_000_000
_STARTS = 100
_ROUNDS = 4
#: Without the changes for which the kernel itself walks the whole table: a link set down, an address deleted.
_CHANGES = [change for change in changes() if "route" == change.name.split()[0] or "metric" in change.name]


def measure(context: Context) -> dict:
    full = World.another()
    count = context.scaled(_ROUTES)
    fill(full, count)
    try:
        return {"routes": count, **compare(context, {"none": context.world, "many": full})}
    finally:
        full.close()


def compare(context: Context, worlds: dict[str, World]) -> dict:
    programs = {"lookup-print": context.lookup_print}
    commands = {"lookup-print": [str(context.references / "lookup-once")]}
    if context.binary:
        programs["reachability"] = context.watch("--paths")
        commands["reachability"] = [str(context.binary), "status"]

    results: dict = {program: {world: nothing() for world in worlds} for program in programs}
    for number in range(context.scaled(_STARTS)):
        for name, command in commands.items():
            for world in list(worlds) if number % 2 else reversed(worlds):
                with worlds[world].namespace.entered():
                    results[name][world]["start"].append(startup.run(command))
    for _ in range(_ROUNDS):
        for name, program in programs.items():
            for world in worlds:
                listen(worlds[world], program, max(1, context.rounds * 2 // _ROUNDS), results[name][world])
    return results


def nothing() -> dict:
    """Returns an empty result."""
    return {"start": [], "kinds": defaultdict(list), "kilobytes": [], "missed": 0}


def listen(world: World, program: Program, rounds: int, result: dict) -> None:
    """Adds to the result what one listener measures in `rounds` rounds of changes."""
    with world.namespace.entered():
        listener = Listener(program)
    with listener:
        listener.settle(0.5)
        for _ in range(rounds):
            for change in _CHANGES:
                listener.settle(random.uniform(0.04, 0.06))
                made = world.make(change)
                line, _ = listener.answer(change, made)
                if not line:
                    result["missed"] += 1
                elif not world.was_disturbed:
                    result["kinds"][change.name].append(line.printed - made)
        result["kilobytes"].append(listener.status("VmRSS"))


def summary(results: dict) -> dict:
    output: dict = {"routes": results["routes"]}
    for name, worlds in results.items():
        if name == "routes":
            continue
        output[name] = {
            world: {
                "start": median(values["start"]),
                "kilobytes": median(values["kilobytes"]),
                "latency": geometric_mean(median(times) for times in values["kinds"].values()),
                "latencyP90": geometric_mean(percentile(times, 0.9) for times in values["kinds"].values()),
                "missed": values["missed"],
            }
            for world, values in worlds.items()
        }
    return output


def report(summary: dict) -> list[str]:
    rows = [[f"{summary['routes']} routes (none)", "first answer, us", "RSS MB", "latency, us", "p90", "missed"]]
    for name, worlds in summary.items():
        if name == "routes":
            continue
        none, many = worlds["none"], worlds["many"]
        cells = [f"{microseconds(many[key])} ({microseconds(none[key])})" for key in ("start", "latency", "latencyP90")]
        cells.insert(1, f"{many['kilobytes'] / 1024:.1f} ({none['kilobytes'] / 1024:.1f})")
        rows.append([name, *cells, str(none["missed"] + many["missed"])])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    if "reachability" not in summary:
        return []
    none, many = summary["reachability"]["none"], summary["reachability"]["many"]
    titles = {"start": "first answer", "kilobytes": "memory", "latency": "latency"}
    return [
        Goal(f"{title} with {summary['routes']} routes, times none", many[key] / none[key], 1.1)
        for key, title in titles.items()
    ]
