"""Many simultaneous clients of a service: streams, of which some never read, and idle connections."""

import resource
import selectors
import socket
import time

from .served import PORT


class Clients:
    """Connections that have each sent a request for a path. Leaving its `with` block closes them."""

    def __init__(self, path: str, reading: int, deaf: int = 0) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self._request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        self._selector = selectors.DefaultSelector()
        self._deaf = [self._ask() for _ in range(deaf)]
        self._sockets = [self._ask() for _ in range(reading)]
        #: The last bytes of each connection, because a word may be split between two reads.
        self._tails: dict[socket.socket, bytes] = {}
        for client in self._sockets:
            client.setblocking(False)
            self._selector.register(client, selectors.EVENT_READ)

    def _ask(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", PORT), timeout=60)
        client.sendall(self._request)
        return client

    def __enter__(self) -> "Clients":
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._sockets + self._deaf:
            client.close()
        self._selector.close()

    def hear(self, word: bytes, seconds: float = 60) -> list[int]:
        """Returns the times (CLOCK_MONOTONIC, ns) at which the reading clients received a word; leaves out those that did not."""
        times: dict[socket.socket, int] = {}
        end = time.monotonic() + seconds
        while len(times) < len(self._sockets) and (left := end - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                data = key.fileobj.recv(1 << 18)
                if not data:
                    self._selector.unregister(key.fileobj)
                    continue
                text = self._tails.get(key.fileobj, b"") + data
                if word in text:
                    times.setdefault(key.fileobj, time.monotonic_ns())
                    text = b""
                self._tails[key.fileobj] = text[1 - len(word):]
        return list(times.values())
