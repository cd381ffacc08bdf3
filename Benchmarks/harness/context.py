"""The parameters of all measurements, and the goals."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address
from pathlib import Path

from .listener import Program, parse_counts, parse_json, parse_notification, parse_path, parse_target
from .world import World


@dataclass(frozen=True)
class Goal:
    """A number that must not exceed its limit."""

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
    #: The command, if it has been built.
    binary: Path | None
    rounds: int
    #: Small counts, only to check that everything runs. The goals mean nothing then.
    quick: bool = False

    def scaled(self, number: int) -> int:
        """Returns a hundredth of a count in a quick run, otherwise the count."""
        return max(1, number // 100) if self.quick else number

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

    # MARK: many targets

    @staticmethod
    def targets(count: int) -> list[str]:
        """Returns addresses of the range reserved for benchmarks (RFC 2544), spaced by 13."""
        base = int(IPv4Address("198.18.0.1"))
        return [str(IPv4Address(base + 13 * number)) for number in range(count)]

    def lookup_many(self, addresses: Sequence[str], *arguments: str) -> Program:
        command = (str(self.references / "lookup-many"), *arguments, *self._named(addresses, True))
        return Program("lookup-many", command, parse_target, beginning=len(addresses))

    def filtered_listen(self, addresses: Sequence[str]) -> Program:
        return Program("filtered-listen", (str(self.references / "filtered-listen"), *addresses), parse_counts)

    @property
    def header_loop(self) -> Program:
        return Program("header-loop", (str(self.references / "header-loop"),), parse_counts)

    def watch_many(self, addresses: Sequence[str], *arguments: str) -> Program:
        assert self.binary
        named = self._named(addresses, self.knows("--file"))
        command = (str(self.binary), "watch", "--json", *arguments, *named)
        return Program("reachability", command, parse_json, beginning=len(addresses))

    def knows(self, option: str) -> bool:
        """Returns whether `watch` of the measured program has this option."""
        return option in self._help

    @cached_property
    def _help(self) -> str:
        return subprocess.run([self.binary, "watch", "--help-hidden"], capture_output=True, text=True, check=True).stdout

    def _named(self, addresses: Sequence[str], by_file: bool) -> tuple[str, ...]:
        if not by_file or len(addresses) == 1:
            return tuple(addresses)
        file = self.references / f"hosts-{len(addresses)}.txt"
        file.write_text("".join(f"{address}\n" for address in addresses))
        return ("--file", str(file))
