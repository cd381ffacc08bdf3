"""Latency, CPU time and memory with more routes, targets and messages: plots, and their numbers."""

import time
from collections.abc import Iterator
from pathlib import Path

from . import looks, million, scale
from .context import Context
from .listener import Listener, Program
from .routes import fill, paced
from .statistics import geometric_mean, median, percentile
from .svg import Plot, short
from .world import World

_ROUTES = (0, 1_000, 10_000, 100_000, 1_000_000)
_TARGETS = (1, 10, 100, 1_000, 10_000)
_RATES = (0, 1_000, 5_000, 20_000)
_SECONDS = 3
_BEGIN, _END = "<!-- figures: Benchmarks/run --plots -->", "<!-- end of figures -->"

#: The points of each series by its name.
_Series = dict[str, list[tuple[float, float]]]


def write(context: Context, directory: Path) -> Iterator[str]:
    """Writes the plots one by one, and inserts their numbers into the page beside the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    plots = []
    for name, title, x_label, y_label, series in _measure(context):
        # The measured program comes first, so that it has the same colour in all plots.
        ordered = dict(sorted(series.items(), key=lambda item: not item[0].startswith("reachability")))
        plot = Plot(name, title, x_label, y_label, ordered)
        file = directory / f"{plot.name}.svg"
        file.write_text(plot.svg())
        plots.append(plot)
        yield str(file)
    page = directory.with_suffix(".md")
    text = page.read_text() if page.exists() else f"{_BEGIN}\n{_END}\n"
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    figures = "\n\n".join(_figure(plot, directory.name) for plot in plots)
    page.write_text(f"{before}{_BEGIN}\n\n{figures}\n\n{_END}{after}")
    yield str(page)


def _figure(plot: Plot, directory: str) -> str:
    """Returns the picture and its numbers as a table."""
    xs = sorted({x for points in plot.series.values() for x, _ in points})
    lines = [
        f"![{plot.title}]({directory}/{plot.name}.svg)",
        "",
        " | ".join([f"| {plot.y_label}", *map(short, xs)]) + " |",
        "|---|" + "---:|" * len(xs),
    ]
    for name, points in plot.series.items():
        values = dict(points)
        lines.append(" | ".join([f"| {name}", *(_number(values[x]) if x in values else "-" for x in xs)]) + " |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _measure(context: Context) -> Iterator[tuple[str, str, str, str, _Series]]:
    series = _by_routes(context)
    yield ("latency-by-routes", "Time from a change of the default route to its line", "routes", "median, µs", series)
    latency, look, memory = _by_targets(context)
    yield ("latency-by-targets", "Time from a change of one target's route to its line", "targets", "µs", latency)
    yield ("look-by-targets", "CPU of an evaluation of all targets, after a change of a link", "targets", "ms", look)
    yield ("memory-by-targets", "Resident memory", "targets", "MB", memory)
    latency, cpu = _by_rate(context)
    title = "Time from a change of one target's route to its line, while other routes change"
    yield ("latency-by-rate", title, "messages per second", "µs", latency)
    yield ("cpu-by-rate", "CPU while other routes change", "messages per second", "ms per second", cpu)


# MARK: sweeps


def _by_routes(context: Context) -> _Series:
    programs = [context.lookup_print] + ([context.watch("--paths")] if context.binary else [])
    series: _Series = {program.name: [] for program in programs}
    world = World.another()
    there = 0
    for routes in _ROUTES:
        count = context.scaled(routes) if routes else 0
        fill(world, count, there)
        there = count
        for program in programs:
            result = million.nothing()
            million.listen(world, program, context.rounds, result)
            latency = geometric_mean(median(times) for times in result["kinds"].values())
            series[program.name].append((routes, latency / 1000))
    world.close()
    return series


def _by_targets(context: Context) -> tuple[_Series, _Series, _Series]:
    latency: _Series = {}
    look: _Series = {}
    memory: _Series = {}
    for targets in _TARGETS:
        count = context.scaled(targets)
        _add_latencies(latency, targets, scale.latencies(context, count, 0))
        addresses = context.targets(count)
        programs = {
            "batched lookups": context.lookup_many(addresses, "--plain"),
            "lookup-many": context.lookup_many(addresses),
        }
        if context.binary:
            programs["reachability"] = context.watch_many(addresses)
        for name, program in programs.items():
            with Listener(program) as listener:
                listener.settle(1)
                cpu = median(looks.looks(context.world, listener)["cpu"])
                look.setdefault(name, []).append((targets, cpu / 1e6))
                if name != "batched lookups":
                    memory.setdefault(name, []).append((targets, listener.status("VmRSS") / 1024))
    return latency, look, memory


def _by_rate(context: Context) -> tuple[_Series, _Series]:
    latency: _Series = {}
    cpu: _Series = {}
    targets = context.targets(4)
    programs = {"header-loop": context.header_loop, "filtered-listen": context.filtered_listen(targets)}
    if context.binary:
        programs["reachability"] = context.watch_many(targets)
        if context.knows("--no-filter"):
            programs["reachability --no-filter"] = context.watch_many(targets, "--no-filter")
    for rate in _RATES:
        _add_latencies(latency, rate, scale.latencies(context, 1, rate))
        for name, program in programs.items():
            cpu.setdefault(name, []).append((rate, _cpu_at(context, program, rate)))
    return latency, cpu


def _add_latencies(series: _Series, x: float, programs: dict) -> None:
    for name, result in programs.items():
        kinds = [times for times in result["kinds"].values() if times]
        if not kinds:
            continue
        for label, value in (name, median), (f"{name}, p99", lambda times: percentile(times, 0.99)):
            series.setdefault(label, []).append((x, geometric_mean(value(times) for times in kinds) / 1000))


def _cpu_at(context: Context, program: Program, rate: int) -> float:
    """Returns milliseconds of CPU time per second, rounded to hundredths."""
    with Listener(program) as listener, paced(context.world, rate):
        listener.settle(0.5)
        before, started = listener.cpu(), time.monotonic()
        listener.settle(_SECONDS)
        used = (listener.cpu() - before) / 1e6 / (time.monotonic() - started)
        return round(used, 2)
