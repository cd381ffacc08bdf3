"""Percentiles, ratios, and a plain-text table."""

import math
import statistics
from collections.abc import Iterable, Sequence

median = statistics.median


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Formats rows as lines: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
        for row in rows
    ]


def microseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1000:.0f}"
