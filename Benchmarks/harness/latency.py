"""The time from a change to the line that reports it.

One listener runs at a time, in alternate rounds: running together they would compete for the processors.
"""

import random
import time
from collections import defaultdict
from collections.abc import Callable

from .context import Context, Goal
from .listener import Listener, Program
from .statistics import geometric_mean, median, microseconds, percentile, table
from .world import changes

_REPEATS = 3
_KINDS = [change.name for change in changes()]


def measure(context: Context, with_glib: bool = False) -> dict:
    programs = [context.receive_print, context.lookup_print]
    if with_glib:
        programs.append(context.glib_print)
    if context.binary:
        programs.append(context.watch("--paths"))

    results = {program.name: {"printed": [], "read": [], "missed": 0, "unexpected": 0} for program in programs}
    for round_number in range(context.rounds):
        turn = round_number % len(programs)
        for program in programs[turn:] + programs[:turn]:
            _run(context, program, results[program.name])
    return results


def _run(context: Context, program: Program, result: dict) -> None:
    """Runs one round of one listener. Times are stored by round and kind."""
    printed: dict[str, list[int]] = defaultdict(list)
    read: dict[str, list[int]] = defaultdict(list)
    with Listener(program) as listener:
        time.sleep(0.2)
        for _ in range(_REPEATS):
            for change in changes():
                # Irregular intervals, so that the changes do not align with timers of a listener.
                result["unexpected"] += listener.settle(random.uniform(0.04, 0.06))
                made = context.world.make(change)
                line, others = listener.answer(change, made)
                result["unexpected"] += others
                if line:
                    printed[change.name].append(line.printed - made)
                    read[change.name].append(line.read - made)
                else:
                    result["missed"] += 1
        result["unexpected"] += listener.settle(0.05)
    result["printed"].append(printed)
    result["read"].append(read)


def _all(result: dict, clock: str, kind: str) -> list[int]:
    return [value for by_kind in result[clock] for value in by_kind.get(kind, [])]


def _ratio(results: dict, name: str, clock: str, statistic: Callable) -> float:
    """Returns the geometric mean over the kinds that both programs reported."""
    return geometric_mean(
        statistic(own) / statistic(floor)
        for kind in _KINDS
        if (own := _all(results[name], clock, kind)) and (floor := _all(results["receive-print"], clock, kind))
    )


def _ratio_of_round(results: dict, name: str, number: int) -> float:
    own, floor = (results[each]["printed"][number] for each in (name, "receive-print"))
    return geometric_mean(median(own[kind]) / median(floor[kind]) for kind in _KINDS if kind in own and kind in floor)


def _p90(values: list[int]) -> float:
    return percentile(values, 0.9)


def summary(results: dict) -> dict:
    """Returns the results as plain numbers: nanoseconds and ratios."""
    output = {}
    for name, result in results.items():
        rounds = [_ratio_of_round(results, name, number) for number in range(len(result["printed"]))]
        output[name] = {
            "kinds": {
                kind: {"median": median(values), "p90": _p90(values), "count": len(values)}
                for kind in _KINDS
                if (values := _all(result, "printed", kind))
            },
            "ratioOfMedians": _ratio(results, name, "printed", median),
            "ratioOfP90": _ratio(results, name, "printed", _p90),
            "ratioOfMediansAtReader": _ratio(results, name, "read", median),
            "ratioByRound": {"p25": percentile(rounds, 0.25), "p75": percentile(rounds, 0.75)},
            "missed": result["missed"],
            "unexpected": result["unexpected"],
        }
    return output


def report(summary: dict) -> list[str]:
    floor = summary["receive-print"]
    names = list(summary)
    header = ["change -> printed line, us: median / p90", names[0]]
    rows = [header + [title for name in names[1:] for title in (name, "ratio")]]
    for kind in _KINDS:
        row = [kind]
        for name in names:
            cell = summary[name]["kinds"].get(kind)
            row.append(f"{microseconds(cell['median'])} / {microseconds(cell['p90'])}" if cell else "missed")
            if name != "receive-print":
                row.append(f"{cell['median'] / floor['kinds'][kind]['median']:.2f}" if cell else "-")
        rows.append(row)
    for label, key in (
        ("geometric mean of the ratios of medians", "ratioOfMedians"),
        ("  the same of p90", "ratioOfP90"),
        ("  the same when the reader has the line", "ratioOfMediansAtReader"),
    ):
        rows.append([label, ""] + [text for name in names[1:] for text in ("", f"{summary[name][key]:.2f}")])
    rows.append(
        ["  quartiles over the rounds", ""]
        + [text for name in names[1:] for text in ("", "{p25:.2f}-{p75:.2f}".format(**summary[name]["ratioByRound"]))]
    )
    rows.append(
        ["changes missed / unexpected lines", ""]
        + [text for name in names[1:] for text in (f"{summary[name]['missed']} / {summary[name]['unexpected']}", "")]
    )
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    if "reachability" not in summary:
        return []
    own = summary["reachability"]
    return [
        Goal("latency by the line's own time, times receive-print", own["ratioOfMedians"], 2.0),
        Goal("latency by the reader's clock, times receive-print", own["ratioOfMediansAtReader"], 2.0),
        Goal("latency, changes missed", own["missed"], 0),
    ]
