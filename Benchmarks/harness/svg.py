"""Line plots as SVG with logarithmic axes that may start at zero, for light and dark backgrounds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 24, 78, 56
_COLOURS = ("#3b82c4", "#d9822b", "#2a9d6f", "#a06cc9")
_STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #3d444d }
    .title { font-size: 15px; font-weight: 600 }
    .grid { stroke: #3d444d; stroke-opacity: .18 }
    .axis { stroke: #3d444d; stroke-opacity: .7 }
    .line { fill: none; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
      text { fill: #c9d1d9 }
      .grid, .axis { stroke: #c9d1d9 }
    }
"""


@dataclass(frozen=True)
class Plot:
    """A plot of some series over the same values of x."""

    name: str
    title: str
    x_label: str
    y_label: str
    #: The points of each series by its name. A series whose name ends with "p99" is dashed, in the colour of the previous one.
    series: dict[str, list[tuple[float, float]]]

    def svg(self) -> str:
        x = _Axis([p for points in self.series.values() for p, _ in points], _LEFT + 12, _WIDTH - _RIGHT - 12)
        y = _Axis([p for points in self.series.values() for _, p in points], _HEIGHT - _BOTTOM, _TOP, rounded=True)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style>",
            _text(_LEFT, 24, self.title, "title"),
            *self._frame(x, y),
            *self._lines(x, y),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _frame(self, x: "_Axis", y: "_Axis") -> Iterable[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        for tick in y.ticks:
            yield f'<path class="grid" d="M{_LEFT} {y.at(tick):.1f}H{right}"/>'
            yield _text(_LEFT - 8, y.at(tick) + 4, short(tick), anchor="end")
        for tick in sorted(set(x.values)):
            yield f'<path class="axis" d="M{x.at(tick):.1f} {bottom}v5"/>'
            yield _text(x.at(tick), bottom + 20, short(tick), anchor="middle")
        yield f'<path class="axis" d="M{_LEFT} {bottom}H{right}"/>'
        yield _text((_LEFT + right) / 2, _HEIGHT - 12, self.x_label, anchor="middle")
        middle = (_TOP + bottom) / 2
        yield f'<g transform="translate(18 {middle}) rotate(-90)">{_text(0, 0, self.y_label, anchor="middle")}</g>'

    def _lines(self, x: "_Axis", y: "_Axis") -> Iterable[str]:
        colour, legend = -1, float(_LEFT)
        for name, points in self.series.items():
            dashed = name.endswith("p99")
            colour += 0 if dashed and colour >= 0 else 1
            paint = _COLOURS[colour % len(_COLOURS)]
            stroke = f'stroke="{paint}"' + (' stroke-dasharray="5 4"' if dashed else "")
            path = "L".join(f"{x.at(p):.1f} {y.at(q):.1f}" for p, q in points)
            yield f'<path class="line" {stroke} d="M{path}"/>'
            yield from (f'<circle cx="{x.at(p):.1f}" cy="{y.at(q):.1f}" r="3.5" fill="{paint}"/>' for p, q in points)
            yield f'<path class="line" {stroke} d="M{legend} 49h24"/>'
            yield _text(legend + 30, 53, name)
            legend += 54 + 7.2 * len(name)


class _Axis:
    """A logarithmic scale. Zero, if among the values, is placed before the smallest other value."""

    def __init__(self, values: Sequence[float], start: float, end: float, rounded: bool = False) -> None:
        self.values = values
        positive = [value for value in values if value > 0] or [1]
        low, high = min(positive), max(positive)
        self.ticks: list[float] = []
        if rounded:
            steps = [base * 10.0**power for power in range(-6, 13) for base in (1, 2, 5)]
            low = max(step for step in steps if step <= low)
            high = min(step for step in steps if step >= high)
            self.ticks = [step for step in steps if low <= step <= high]
            if len(self.ticks) > 8:
                self.ticks = [step for step in self.ticks if math.isclose(math.log10(step) % 1, 0, abs_tol=1e-9)]
        self._low, self._span = math.log10(low), max(math.log10(high) - math.log10(low), 1e-9)
        self._start, self._end = start, end
        self._zero = 0 in values
        if self._zero and rounded:
            self.ticks.insert(0, 0)

    def at(self, value: float) -> float:
        room = 0.12 if self._zero else 0
        share = room + (1 - room) * (math.log10(value) - self._low) / self._span if value > 0 else 0
        return self._start + share * (self._end - self._start)


def short(value: float) -> str:
    for size, letter in (1e6, "M"), (1e3, "k"):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'
