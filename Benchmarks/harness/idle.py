"""The wakeups in a minute without changes: there should be none."""

from .context import Context, Goal
from .resident import rest, table_of_rest

_SECONDS = 60


def measure(context: Context) -> dict:
    targets = context.targets(context.scaled(10_000))
    programs = {f"lookup-many, {len(targets)} targets": context.lookup_many(targets)}
    if context.binary:
        programs["reachability"] = context.watch()
        programs["reachability, 1 target"] = context.watch_many(targets[:1])
        programs[f"reachability, {len(targets)} targets"] = context.watch_many(targets)
    return rest(programs, _SECONDS // 10 if context.quick else _SECONDS)


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    return table_of_rest(summary)


def goals(summary: dict) -> list[Goal]:
    # The targets are addresses, and no address or route has a lifetime, so no timer is needed.
    return [
        Goal(f"wakeups in {values['seconds']} s, {name}", values["wakeups"], 0)
        for name, values in summary.items()
        if name.startswith("reachability")
    ]
