"""The memory of a request that waits for the network to retry, compared with a suspended task."""

import subprocess
from pathlib import Path

from .context import Context, Goal
from .statistics import table

_PROGRAM = Path(__file__).resolve().parent.parent / "waiting/.build/release/waiting"
_COUNT = 10_000
_LIMIT = 4096


def measure(context: Context) -> dict:
    if not _PROGRAM.exists():
        return {}
    return {kind: _bytes(kind, context.scaled(_COUNT)) for kind in ("bare", "retry")}


def _bytes(kind: str, count: int) -> int:
    output = subprocess.run([_PROGRAM, kind, str(count)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return int(output.split()[1])


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    if not summary:
        return ["memory of waiting requests: not built (swift build -c release --package-path Benchmarks/waiting)"]
    names = {"bare": "a suspended task", "retry": "withRetry, waiting"}
    rows = [["memory of each of many, bytes", "resident"]]
    return table(rows + [[names[kind], str(value)] for kind, value in summary.items()])


def goals(summary: dict) -> list[Goal]:
    return [Goal("memory of a waiting request, bytes", summary["retry"], _LIMIT)] if summary else []
