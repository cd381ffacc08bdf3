"""Correctness after 200,000 unrelated route changes without a filter, with relevant changes in between."""

from .context import Context, Goal
from .listener import Listener, Program
from .routes import flood
from .statistics import median, table
from .world import changes

_CHANGES = 200_000
_TARGETS = 4
_ROUNDS = 4
_PARTS = 5


def measure(context: Context) -> dict:
    targets = context.targets(_TARGETS)
    programs = [context.header_loop]
    if context.binary:
        switch = ["--no-filter"] if context.knows("--no-filter") else []
        programs.append(context.watch_many(targets, *switch))
    results: dict = {program.name: [] for program in programs}
    for number in range(_ROUNDS):
        for program in programs:
            results[program.name].append(_run(context, program, ends_lost=number % 2 == 0))
    return results


def _run(context: Context, program: Program, ends_lost: bool) -> dict:
    """Deletes and adds the default route during the changes. At the end it exists or not."""
    lost, back = changes()[:2]
    between = [lost, back, lost] if ends_lost else [lost, back, lost, back]
    with Listener(program) as listener:
        listener.settle(0.5)
        sleeps, cpu = listener.sleeps(), listener.cpu()
        for part in range(_PARTS):
            flood(context.world.here, context.scaled(_CHANGES) // _PARTS)
            if part < len(between):
                context.world.make(between[part])
        listener.settle(1)
        expected = (lost if ends_lost else back).status
        result = {
            "cpu": listener.cpu() - cpu,
            "wakeups": listener.wakeups(sleeps),
            "drops": listener.drops(),
            "wrong": sum(status != expected for status in listener.statuses.values()),
        }
    if ends_lost:
        context.world.make(back)
    return result


def summary(results: dict) -> dict:
    return {
        name: {key: (sum if key == "wrong" else median)([run[key] for run in runs]) for key in runs[0]}
        for name, runs in results.items()
    }


def report(summary: dict) -> list[str]:
    columns = ["wakeups", "CPU ms (times header-loop)", "lost", "wrong in the end"]
    rows = [[f"{_CHANGES} route changes, no filter", *columns]]
    base = summary["header-loop"]["cpu"]
    for name, values in summary.items():
        cpu = f"{values['cpu'] / 1e6:.1f} ({values['cpu'] / base:.2f})"
        wrong = "-" if name == "header-loop" else str(values["wrong"])
        rows.append([name, f"{values['wakeups']:.0f}", cpu, f"{values['drops']:.0f}", wrong])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    if "reachability" not in summary:
        return []
    own = summary["reachability"]
    return [
        Goal("wrong final states after unfiltered route changes", own["wrong"], 0),
        Goal("CPU of unfiltered route changes, times header-loop", own["cpu"] / summary["header-loop"]["cpu"], 2.5),
    ]
