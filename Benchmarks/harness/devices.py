"""Controls `fleet-devices`: ten thousand simulated machines, and a subscriber that receives their messages."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .broker import PORT


class Devices:
    """A running simulator. Leaving its `with` block kills it without DISCONNECT."""

    def __init__(self, program: Path, count: int, files: Sequence[str] | None = None, *options: str) -> None:
        self.count = count
        command = [str(program), str(PORT), "--count", str(count), *options]
        if files:
            command += ["--tls", *files]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Devices":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, *words: object) -> dict:
        """Sends a command and returns the answer. The commands are listed in fleet-devices.c."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the simulator has ended with {self._process.wait()}")
        return json.loads(line)

    def everybody(self, command: str, *words: object) -> dict:
        answer = self.ask(command, 0, self.count, *words)
        if not answer["done"]:
            raise RuntimeError(f"the simulator does not know {command}")
        return answer

    def settle(self, seconds: int) -> dict:
        """Waits until no device has anything to do. `done` of the answer tells whether that happened in time."""
        return self.ask("settle", seconds)

    def until(self, kind: str, count: int, seconds: float) -> dict:
        """Waits until the watcher has received `count` messages of a kind since the last command."""
        return self.ask("until", kind, count, seconds)
