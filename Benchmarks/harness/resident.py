"""The resources of an idle listener: memory, descriptors, threads and wakeups."""

import time
from contextlib import ExitStack

from .context import Context, Goal
from .listener import Listener, Program
from .statistics import table

_TARGETS = 500
_IDLE_SECONDS = 20
#: Idle threads of Dispatch end after 5 s; they belong to the start.
_SETTLING_SECONDS = 7


def measure(context: Context) -> dict:
    programs = {"lookup-print": context.lookup_print}
    if context.binary:
        targets = [f"198.51.{100 + number // 250}.{number % 250 + 1}" for number in range(_TARGETS)]
        programs["reachability"] = context.watch("--paths")
        programs[f"reachability, {_TARGETS} targets"] = context.watch("--paths", *targets)
    return rest(programs, _IDLE_SECONDS)


def rest(programs: dict[str, Program], seconds: int) -> dict:
    """Returns the resources of the programs, which all run at once, and their wakeups in `seconds` seconds."""
    with ExitStack() as stack:
        listeners = {name: stack.enter_context(Listener(program)) for name, program in programs.items()}
        time.sleep(_SETTLING_SECONDS)
        before = {name: (listener.sleeps(), listener.cpu()) for name, listener in listeners.items()}
        time.sleep(seconds)
        return {name: {"seconds": seconds, **_held(listeners[name], *before[name])} for name in programs}


def _held(listener: Listener, sleeps: dict[str, int], cpu: int) -> dict:
    return {
        "wakeups": listener.wakeups(sleeps),
        "idleMicroseconds": (listener.cpu() - cpu) / 1000,
        "residentKilobytes": listener.status("VmRSS"),
        "proportionalKilobytes": listener.proportional_memory(),
        "descriptors": listener.descriptors(),
        "threads": listener.status("Threads"),
    }


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    return table_of_rest(summary)


def table_of_rest(summary: dict) -> list[str]:
    seconds = next(iter(summary.values()))["seconds"]
    rows = [["at rest", "RSS MB", "PSS MB", "descriptors", "threads", f"wakeups in {seconds} s", "CPU us"]]
    for name, values in summary.items():
        memory = [f"{values[key] / 1024:.1f}" for key in ("residentKilobytes", "proportionalKilobytes")]
        counts = [str(values[key]) for key in ("descriptors", "threads", "wakeups")]
        rows.append([name, *memory, *counts, f"{values['idleMicroseconds']:.0f}"])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    return [
        Goal(f"wakeups at rest, {name}", values["wakeups"], 0)
        for name, values in summary.items()
        if name.startswith("reachability")
    ]
