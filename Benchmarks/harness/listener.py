"""A program that prints a line for each change, and its costs."""

import json
import os
import select
import subprocess
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .world import Change


@dataclass(frozen=True)
class Line:
    """The contents of a printed line."""

    printed: int
    read: int
    notification: tuple[int, int] | None = None
    #: Received messages, relevant messages, overruns.
    counts: tuple[int, int, int] | None = None
    status: str | None = None
    interface: str | None = None
    target: str | None = None

    def tells(self, change: Change, since: int) -> bool:
        """Returns whether this line reports the change made at `since`."""
        if self.printed < since:
            return False
        if self.notification is not None:
            return self.notification == change.notification
        if change.target is not None and self.target != change.target:
            return False
        same_interface = self.interface in (change.interface, "-") or change.interface is None
        return self.status == change.status and same_interface


def parse_notification(text: str, read: int) -> Line:
    printed, kind, prefix = (int(word) for word in text.split())
    return Line(printed, read, notification=(kind, prefix))


def parse_path(text: str, read: int) -> Line:
    printed, status, interface, _, _ = text.split()
    return Line(int(printed), read, status=status, interface=interface)


def parse_target(text: str, read: int) -> Line:
    printed, status, interface, target = text.split()
    return Line(int(printed), read, status=status, interface=interface, target=target)


def parse_counts(text: str, read: int) -> Line:
    printed, received, relevant, overruns = (int(word) for word in text.split())
    return Line(printed, read, counts=(received, relevant, overruns))


def parse_json(text: str, read: int) -> Line:
    fields = json.loads(text)
    return Line(
        fields["monotonicNanoseconds"],
        read,
        status=fields["status"],
        interface=fields["interface"],
        target=fields["target"],
    )


@dataclass(frozen=True)
class Program:
    """The command of a listener and the parser of its lines."""

    name: str
    command: tuple[str, ...]
    parse: Callable[[str, int], Line]
    #: The seconds after which a change counts as missed.
    patience: float = 3
    #: The number of lines of the initial state.
    beginning: int = 1


class Listener:
    """A running program. Leaving its `with` block ends it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._process = subprocess.Popen(program.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert self._process.stdout
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._output, False)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._rest = b""
        self._lines: deque[Line] = deque()
        self.pid = self._process.pid
        #: The last status of each target, read by any method.
        self.statuses: dict[str | None, str | None] = {}
        #: The last line of each target.
        self.latest: dict[str | None, Line] = {}

    def __enter__(self) -> "Listener":
        for number in range(self.program.beginning):
            if self.next(10) is None:
                self.__exit__()
                raise RuntimeError(f"{self.program.name} printed {number} lines, and no more within 10 s")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def next(self, seconds: float) -> Line | None:
        """Returns the next line, or None after the timeout."""
        end = time.monotonic() + seconds
        while not self._lines:
            left = end - time.monotonic()
            if not self._poll.poll(max(0, left) * 1000):
                return None
            read = time.monotonic_ns()
            data = os.read(self._output, 65536)
            if not data:
                raise RuntimeError(f"{self.program.name} ended with {self._process.wait()}")
            *whole, self._rest = (self._rest + data).split(b"\n")
            self._lines += [self.program.parse(text.decode(), read) for text in whole]
        line = self._lines.popleft()
        self.statuses[line.target] = line.status
        self.latest[line.target] = line
        return line

    def answer(self, change: Change, since: int) -> tuple[Line | None, int]:
        """Returns the line that reports the change, and the number of other lines before it."""
        others = 0
        end = time.monotonic() + self.program.patience
        while line := self.next(max(0, end - time.monotonic())):
            if line.tells(change, since):
                return line, others
            others += 1
        return None, others

    def settle(self, seconds: float) -> int:
        """Waits, and returns the number of lines printed meanwhile."""
        count = 0
        end = time.monotonic() + seconds
        while self.next(max(0, end - time.monotonic())):
            count += 1
        return count

    def answer_of_all(self, change: Change, since: int, count: int) -> Line | None:
        """Returns the line that completes the reports about `count` targets, or None after the timeout."""
        told = set()
        end = time.monotonic() + 10 * self.program.patience
        while line := self.next(max(0, end - time.monotonic())):
            if line.tells(change, since):
                told.add(line.target)
            if len(told) == count:
                return line
        return None

    # MARK: costs

    def cpu(self) -> int:
        """Returns the CPU time of all threads, including ended ones, in nanoseconds. The clock ID is that of clock_getcpuclockid(3)."""
        return time.clock_gettime_ns((~self.pid << 3) | 2)

    def look(self, before: int, rest: float = 0.05, limit: float = 10) -> tuple[int, int]:
        """Waits until no CPU time is used for `rest` seconds.

        Returns the CPU nanoseconds above `before`, and the CLOCK_MONOTONIC of the last use.
        """
        used = before
        last, end = time.monotonic_ns(), time.monotonic() + limit
        while time.monotonic_ns() - last < rest * 1e9 and time.monotonic() < end:
            now = self.cpu()
            if now != used:
                used, last = now, time.monotonic_ns()
            time.sleep(0.001)
        return used - before, last

    def status(self, field: str) -> int:
        """Returns a number of /proc/PID/status."""
        for line in self._file("status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key == field:
                return int(value.split()[0])
        raise KeyError(field)

    def proportional_memory(self) -> int:
        """Returns the PSS in KiB: shared pages are divided among the processes that map them."""
        text = self._file("smaps_rollup").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("Pss:")).split()[1])

    def descriptors(self) -> int:
        return len(list(self._file("fd").iterdir()))

    def sleeps(self) -> dict[str, int]:
        """Returns the voluntary context switches of each thread; each is followed by a wakeup."""
        counts = {}
        for task in self._file("task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches"):
                    counts[task.name] = int(line.split()[1])
        return counts

    def wakeups(self, since: dict[str, int]) -> int:
        """Returns the number of wakeups of all threads since an earlier result of `sleeps()`."""
        return sum(count - since.get(thread, 0) for thread, count in self.sleeps().items())

    def drops(self) -> int:
        """Returns the number of notifications that its netlink sockets have dropped."""
        links = (os.readlink(entry) for entry in self._file("fd").iterdir())
        inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
        rows = (line.split() for line in self._file("net/netlink").read_text().splitlines()[1:])
        return sum(int(row[8]) for row in rows if row[9] in inodes)

    def _file(self, name: str) -> Path:
        return Path(f"/proc/{self.pid}/{name}")
