"""A web server with a small file, and a large file of zeros that it sends from an offset, at a limited rate, and counts."""

import os
import re
import socket
import struct
import threading
import time

_PIECE = 1 << 20
_SMALL = b'{"id":1,"name":"Ada","mail":"ada@example.org","roles":["reader","writer"]}'
#: A constant of socket(7) that Python's module does not have.
_SO_MAX_PACING_RATE = 47
#: The offset of tcpi_bytes_acked in struct tcp_info. It includes the SYN of this end.
_BYTES_ACKED = 120


class FileServer:
    """Serves `/small` and `/large` and accepts any body, in threads, in the network namespace in which it was created."""

    def __init__(self, address: str, size: int = 0, pace: int = 0) -> None:
        """`size` is that of the large file in bytes, `pace` the rate in bytes per second; 0 means no limit."""
        self.size, self._pace = size, pace
        self._file = os.memfd_create("large")
        os.truncate(self._file, size)
        self._lock = threading.Lock()
        self._acknowledged = 0
        #: The transfers in progress: connection, and the bytes acknowledged on it before the first byte of the file.
        self._open: dict[int, tuple[socket.socket, int]] = {}
        #: The offset and the time of each request for the large file.
        self.requests: list[tuple[int, int]] = []
        self._listener = socket.create_server((address, 0), backlog=64)
        self.url = "http://{}:{}".format(*self._listener.getsockname())
        threading.Thread(target=self._accept, daemon=True).start()

    def acknowledged(self) -> int:
        """Returns the number of bytes of the file that clients have acknowledged, including those transferred twice."""
        with self._lock:
            return self._acknowledged + sum(max(0, _acknowledged(one) - before) for one, before in self._open.values())

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        os.close(self._file)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._pace:
            connection.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, self._pace)
        buffer = bytearray(1 << 18)
        with connection:
            rest = b""
            while request := self._head(connection, rest):
                head, rest = request
                try:
                    rest = self._answer(connection, head, rest, buffer)
                except OSError:
                    return

    @staticmethod
    def _head(connection: socket.socket, text: bytes) -> tuple[str, bytes] | None:
        while b"\r\n\r\n" not in text:
            try:
                part = connection.recv(1 << 16)
            except OSError:
                return None
            if not part:
                return None
            text += part
        head, _, rest = text.partition(b"\r\n\r\n")
        return head.decode("latin-1"), rest

    def _answer(self, connection: socket.socket, head: str, rest: bytes, buffer: bytearray) -> bytes:
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])}
        length = int(fields.get("content-length", 0))
        if fields.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        taken = min(length, len(rest))
        length, rest = length - taken, rest[taken:]
        while length:
            count = connection.recv_into(buffer, min(length, len(buffer)))
            if not count:
                raise ConnectionError
            length -= count
        if head.split(" ")[1].startswith("/large"):
            self._send_large(connection, fields.get("range", ""))
        else:
            text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
            connection.sendall(text.format(len(_SMALL)).encode() + _SMALL)
        return rest

    def _send_large(self, connection: socket.socket, asked: str) -> None:
        match = re.fullmatch(r"bytes=(\d+)-", asked)
        start = int(match[1]) if match else 0
        self.requests.append((start, time.monotonic_ns()))
        fields = 'ETag: "one"\r\nAccept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\n'
        if start >= self.size > 0:
            text = f"HTTP/1.1 416 Range Not Satisfiable\r\n{fields}Content-Range: bytes */{self.size}\r\nContent-Length: 0\r\n\r\n"
            return connection.sendall(text.encode())
        if match:
            fields += f"Content-Range: bytes {start}-{self.size - 1}/{self.size}\r\n"
        status = "206 Partial Content" if match else "200 OK"
        text = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {self.size - start}\r\n\r\n".encode()
        before = _acknowledged(connection) + len(text)
        with self._lock:
            self._open[id(connection)] = connection, before
        try:
            connection.sendall(text)
            place = start
            while place < self.size:
                place += os.sendfile(connection.fileno(), self._file, place, min(_PIECE, self.size - place))
            while _acknowledged(connection) - before < self.size - start and _is_open(connection):
                time.sleep(0.001)
        finally:
            with self._lock:
                del self._open[id(connection)]
                self._acknowledged += max(0, _acknowledged(connection) - before)


def _acknowledged(connection: socket.socket) -> int:
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return struct.unpack_from("Q", information, _BYTES_ACKED)[0]


def _is_open(connection: socket.socket) -> bool:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] in (1, 8)
