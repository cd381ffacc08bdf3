"""`reachability serve` as it runs: from its start to READY, what it answers and what it costs."""

import http.client
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .listener import Line, Listener, Program

PORT = 9672


class Served(Listener):
    """A running service, which listens at the loopback. Leaving its `with` block ends it in order."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        name = f"{self._folder.name}/notify"
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify.bind(name)
        self._notify.settimeout(60)
        os.environ["NOTIFY_SOCKET"] = name
        begun = time.monotonic()
        try:
            command = (str(program), "serve", "--socket", "none", *arguments)
            super().__init__(Program("reachability serve", command, lambda text, read: Line(read, read)))
        finally:
            del os.environ["NOTIFY_SOCKET"]
        try:
            while b"READY=1" not in self._notify.recv(4096):
                pass
        except TimeoutError:
            self._process.kill()
            raise
        #: From the start of the process.
        self.ready_seconds = time.monotonic() - begun
        self._notify.settimeout(None)
        threading.Thread(target=self._read_on, daemon=True).start()

    def _read_on(self) -> None:
        """Takes what else is told, as a service manager does: few messages find room."""
        while self._notify.recv(4096):
            pass

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(60)
        finally:
            super().__exit__()
            # Wakes the thread that reads.
            self._notify.shutdown(socket.SHUT_RDWR)
            self._notify.close()
            self._folder.cleanup()

    def get(self, path: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
        return body

    def until(self, path: str, holds: Callable[[bytes], bool], seconds: float = 60) -> float:
        """Asks until the answer is such; how many seconds that took."""
        begun = time.monotonic()
        while not holds(self.get(path)):
            if time.monotonic() - begun > seconds:
                raise RuntimeError(f"{path} is not as it should be after {seconds} s")
            time.sleep(0.01)
        return time.monotonic() - begun
