"""A listener that is stopped while more notifications arrive than its socket buffer holds."""

import os
import signal
import time

from . import netlink
from .context import Context, Goal
from .listener import Listener, Program
from .statistics import table
from .world import changes

_MESSAGES = 40_000
_BATCH = 100
_ROUNDS = 3


def measure(context: Context) -> dict:
    programs = [context.lookup_print]
    if context.binary:
        programs.append(context.watch("--paths"))
    results: dict = {program.name: [] for program in programs}
    for _ in range(_ROUNDS):
        for program in programs:
            results[program.name].append(_run(context, program))
    return results


def _run(context: Context, program: Program) -> dict:
    lost, back = changes()[:2]
    with Listener(program) as listener:
        listener.settle(0.5)
        os.kill(listener.pid, signal.SIGSTOP)
        _flood(context)
        context.world.make(lost)
        _flood(context)
        woken = time.monotonic_ns()
        os.kill(listener.pid, signal.SIGCONT)
        line, _ = listener.answer(lost, woken)
        later = listener.settle(0.5)
        drops = listener.drops()
        made = context.world.make(back)
        restored, _ = listener.answer(back, made)
        return {
            "milliseconds": (line.printed - woken) / 1e6 if line else None,
            "linesAfterwards": later,
            "drops": drops,
            "listensAgain": restored is not None,
        }


def _flood(context: Context) -> None:
    """Sends half of the messages. They concern the default route, so that a filter on destinations cannot drop them."""
    pair = netlink.add_unreachable_default(1000) + netlink.delete_unreachable_default(1000)
    for _ in range(_MESSAGES // 2 // _BATCH):
        context.world.here.send(pair * (_BATCH // 2))
        context.world.here.check(_BATCH)


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    rows = [[f"stopped during {_MESSAGES} messages", "ms to the right line", "lost notifications", "listens again"]]
    for name, runs in summary.items():
        times = ", ".join("never" if run["milliseconds"] is None else f"{run['milliseconds']:.2f}" for run in runs)
        drops = ", ".join(str(run["drops"]) for run in runs)
        rows.append([name, times, drops, "yes" if all(run["listensAgain"] for run in runs) else "NO"])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    runs = summary.get("reachability", [])
    wrong = sum(run["milliseconds"] is None or not run["listensAgain"] for run in runs)
    if not runs:
        return []
    worst = max(float("inf") if run["milliseconds"] is None else run["milliseconds"] for run in runs)
    return [Goal("overruns not recovered from", wrong, 0), Goal("ms to the right line after an overrun", worst, 1)]
