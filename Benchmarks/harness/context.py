"""What every measurement is given, and the goals it answers to."""

from dataclasses import dataclass
from pathlib import Path

from .listener import Program, parse_json, parse_notification, parse_path
from .world import World


@dataclass(frozen=True)
class Goal:
    """A number that should not be above its limit."""

    name: str
    value: float
    limit: float

    @property
    def met(self) -> bool:
        return self.value <= self.limit


@dataclass(frozen=True)
class Context:
    world: World
    references: Path
    #: The command line tool, if it has been built.
    binary: Path | None
    rounds: int

    @property
    def receive_print(self) -> Program:
        return Program("receive-print", (str(self.references / "receive-print"),), parse_notification)

    @property
    def lookup_print(self) -> Program:
        return Program("lookup-print", (str(self.references / "lookup-print"), "--paths"), parse_path)

    @property
    def glib_print(self) -> Program:
        return Program("glib-print", (str(self.references / "glib-print"),), parse_path, patience=0.2)

    def watch(self, *arguments: str) -> Program:
        assert self.binary
        return Program("reachability", (str(self.binary), "watch", "--json", *arguments), parse_json)
