"""A running `reachability serve`: time to READY, responses and costs."""

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
    """A running service that listens at the loopback address. Leaving its `with` block ends it with SIGTERM."""

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
        #: Since the start of the process.
        self.ready_seconds = time.monotonic() - begun
        self._notify.settimeout(None)
        threading.Thread(target=self._read_on, daemon=True).start()

    def _read_on(self) -> None:
        """Reads further notifications, as a service manager does, because the socket buffer holds only a few."""
        while self._notify.recv(4096):
            pass

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(60)
        finally:
            super().__exit__()
            # Wakes the reading thread up.
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
        """Requests a path until a condition is true. Returns the seconds that it took."""
        begun = time.monotonic()
        while not holds(self.get(path)):
            if time.monotonic() - begun > seconds:
                raise RuntimeError(f"{path} is not as it should be after {seconds} s")
            time.sleep(0.01)
        return time.monotonic() - begun
