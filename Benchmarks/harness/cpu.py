"""The CPU time of all threads of a listener for each change."""

import time

from .context import Context, Goal
from .listener import Listener, Program
from .statistics import median, microseconds, table
from .world import changes

# Back to back, the next change follows as soon as the last is printed, and the caches stay warm. Spaced, each change wakes the process up
# and includes its later work (a second evaluation, the end of idle threads).
_PACES = {"back to back": (0.0, changes()[:2] * 250), "spaced by 50 ms": (0.05, changes() * 5)}
_ROUNDS = 3


def measure(context: Context) -> dict:
    programs = [context.receive_print, context.lookup_print]
    if context.binary:
        programs.append(context.watch("--paths"))
    results: dict = {pace: {program.name: [] for program in programs} for pace in _PACES}
    for _ in range(_ROUNDS):
        for pace in _PACES:
            for program in programs:
                results[pace][program.name].append(_run(context, program, *_PACES[pace]))
    return results


def _run(context: Context, program: Program, pause: float, sequence: list) -> float:
    with Listener(program) as listener:
        listener.settle(0.3)
        before = listener.cpu()
        for change in sequence:
            made = context.world.make(change)
            listener.answer(change, made)
            if pause:
                listener.settle(pause)
        listener.settle(0.2)
        return (listener.cpu() - before) / len(sequence)


def summary(results: dict) -> dict:
    return {pace: {name: median(values) for name, values in by_name.items()} for pace, by_name in results.items()}


def report(summary: dict) -> list[str]:
    names = list(next(iter(summary.values())))
    rows = [["CPU per change, us (times lookup-print)", *names]]
    for pace, by_name in summary.items():
        base = by_name["lookup-print"]
        rows.append([pace] + [f"{microseconds(by_name[name])} ({by_name[name] / base:.2f})" for name in names])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    return [
        Goal(f"CPU per change {pace}, times lookup-print", by_name["reachability"] / by_name["lookup-print"], 3.0)
        for pace, by_name in summary.items()
        if "reachability" in by_name
    ]
