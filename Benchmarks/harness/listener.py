"""A program that prints a line per change, and what it costs."""

import json
import os
import select
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .world import Change


@dataclass(frozen=True)
class Line:
    """What one printed line says."""

    printed: int
    read: int
    notification: tuple[int, int] | None = None
    status: str | None = None
    interface: str | None = None

    def tells(self, change: Change, since: int) -> bool:
        """Whether this line is the answer to the change made at `since`."""
        if self.printed < since:
            return False
        if self.notification is not None:
            return self.notification == change.notification
        same_interface = self.interface in (change.interface, "-") or change.interface is None
        return self.status == change.status and same_interface


def parse_notification(text: str, read: int) -> Line:
    printed, kind, prefix = (int(word) for word in text.split())
    return Line(printed, read, notification=(kind, prefix))


def parse_path(text: str, read: int) -> Line:
    printed, status, interface, _, _ = text.split()
    return Line(int(printed), read, status=status, interface=interface)


def parse_json(text: str, read: int) -> Line:
    fields = json.loads(text)
    return Line(fields["monotonicNanoseconds"], read, status=fields["status"], interface=fields["interface"])


@dataclass(frozen=True)
class Program:
    """How to start a listener and how to read it."""

    name: str
    command: tuple[str, ...]
    parse: Callable[[str, int], Line]
    #: Seconds after which a change counts as missed.
    patience: float = 3


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
        self._lines: list[Line] = []
        self.pid = self._process.pid

    def __enter__(self) -> "Listener":
        if self.next(10) is None:
            raise RuntimeError(f"{self.program.name} printed nothing within 10 s")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def next(self, seconds: float) -> Line | None:
        """The next line, or nothing in time."""
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
        return self._lines.pop(0)

    def answer(self, change: Change, since: int) -> tuple[Line | None, int]:
        """The line that tells the change, and how many others came before it."""
        others = 0
        end = time.monotonic() + self.program.patience
        while line := self.next(max(0, end - time.monotonic())):
            if line.tells(change, since):
                return line, others
            others += 1
        return None, others

    def settle(self, seconds: float) -> int:
        """Waits, and counts what is still printed."""
        count = 0
        end = time.monotonic() + seconds
        while self.next(max(0, end - time.monotonic())):
            count += 1
        return count

    # MARK: what it costs

    def cpu(self) -> int:
        """Nanoseconds of CPU used by all its threads, ended ones too: clock_getcpuclockid(3) in one line."""
        return time.clock_gettime_ns((~self.pid << 3) | 2)

    def status(self, field: str) -> int:
        """A number of /proc/PID/status."""
        for line in self._file("status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key == field:
                return int(value.split()[0])
        raise KeyError(field)

    def proportional_memory(self) -> int:
        """Kilobytes, with shared pages divided among those who share them."""
        text = self._file("smaps_rollup").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("Pss:")).split()[1])

    def descriptors(self) -> int:
        return len(list(self._file("fd").iterdir()))

    def sleeps(self) -> dict[str, int]:
        """How often each of its threads went to sleep of its own accord, and so had to be woken."""
        counts = {}
        for task in self._file("task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches"):
                    counts[task.name] = int(line.split()[1])
        return counts

    def drops(self) -> int:
        """Notifications that its netlink sockets have lost."""
        links = (os.readlink(entry) for entry in self._file("fd").iterdir())
        inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
        rows = (line.split() for line in self._file("net/netlink").read_text().splitlines()[1:])
        return sum(int(row[8]) for row in rows if row[9] in inodes)

    def _file(self, name: str) -> Path:
        return Path(f"/proc/{self.pid}/{name}")
