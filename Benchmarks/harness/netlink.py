"""Route netlink requests as bytes, and the socket that sends them.

Changes are not made by spawning `ip`, because the start of a process takes longer than what is measured.
"""

import os
import socket
import struct

NEWLINK, NEWADDR, DELADDR, NEWROUTE, DELROUTE = 16, 20, 21, 24, 25

_REQUEST, _ACK, _REPLACE, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x100, 0x200, 0x400
_IFF_UP = 0x1
_MAIN_TABLE, _PROTOCOL_STATIC, _SCOPE_UNIVERSE, _UNICAST, _UNREACHABLE = 254, 4, 0, 1, 7


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("IHHII", len(body) + 16, kind, flags | _REQUEST | _ACK, 0, 0) + body


def set_link(index: int, up: bool) -> bytes:
    return _message(NEWLINK, 0, struct.pack("BxHiII", 0, 0, index, _IFF_UP if up else 0, _IFF_UP))


def add_veth(name: str, index: int, peer: str, peer_index: int, peer_namespace: int) -> bytes:
    """Creates a veth pair; `peer_namespace` is a file descriptor."""
    IFNAME, LINKINFO, NET_NS_FD, INFO_KIND, INFO_DATA, VETH_PEER = 3, 18, 28, 1, 2, 1
    header = struct.pack("BxHiII", 0, 0, index, 0, 0)
    peer_header = struct.pack("BxHiII", 0, 0, peer_index, 0, 0)
    far_end = (
        peer_header
        + _attribute(IFNAME, peer.encode() + b"\0")
        + _attribute(NET_NS_FD, struct.pack("I", peer_namespace))
    )
    info = _attribute(INFO_KIND, b"veth") + _attribute(INFO_DATA, _attribute(VETH_PEER, far_end))
    body = header + _attribute(IFNAME, name.encode() + b"\0") + _attribute(LINKINFO, info)
    return _message(NEWLINK, _CREATE | _EXCLUSIVE, body)


def _address(kind: int, flags: int, index: int, address: str, prefix: int) -> bytes:
    ADDRESS, LOCAL = 1, 2
    value = socket.inet_aton(address)
    body = struct.pack("BBBBi", socket.AF_INET, prefix, 0, _SCOPE_UNIVERSE, index)
    return _message(kind, flags, body + _attribute(LOCAL, value) + _attribute(ADDRESS, value))


def add_address(index: int, address: str, prefix: int) -> bytes:
    return _address(NEWADDR, _CREATE | _EXCLUSIVE, index, address, prefix)


def delete_address(index: int, address: str, prefix: int) -> bytes:
    return _address(DELADDR, 0, index, address, prefix)


def _route(
    kind: int, flags: int, route_type: int, metric: int, attributes: bytes = b"", destination: str | None = None
) -> bytes:
    """Builds a request for an IPv4 route to one address, or for a default route."""
    DESTINATION, PRIORITY = 1, 6
    length = 32 if destination else 0
    body = struct.pack(
        "BBBBBBBBI", socket.AF_INET, length, 0, 0, _MAIN_TABLE, _PROTOCOL_STATIC, _SCOPE_UNIVERSE, route_type, 0
    )
    if destination:
        body += _attribute(DESTINATION, socket.inet_aton(destination))
    return _message(kind, flags, body + _attribute(PRIORITY, struct.pack("I", metric)) + attributes)


def _via(index: int, gateway: str) -> bytes:
    OIF, GATEWAY = 4, 5
    return _attribute(OIF, struct.pack("i", index)) + _attribute(GATEWAY, socket.inet_aton(gateway))


def add_default(index: int, gateway: str, metric: int) -> bytes:
    return _route(NEWROUTE, _CREATE | _EXCLUSIVE, _UNICAST, metric, _via(index, gateway))


def delete_default(index: int, gateway: str, metric: int) -> bytes:
    return _route(DELROUTE, 0, _UNICAST, metric, _via(index, gateway))


def add_unreachable_default(metric: int) -> bytes:
    return _route(NEWROUTE, _CREATE | _EXCLUSIVE, _UNREACHABLE, metric)


def delete_unreachable_default(metric: int) -> bytes:
    return _route(DELROUTE, 0, _UNREACHABLE, metric)


def add_unreachable(destination: str) -> bytes:
    return _route(NEWROUTE, _CREATE | _EXCLUSIVE, _UNREACHABLE, 0, destination=destination)


def delete_unreachable(destination: str) -> bytes:
    return _route(DELROUTE, 0, _UNREACHABLE, 0, destination=destination)


def blackholes(kind: int, first: int, count: int) -> bytes:
    """Builds requests that add or delete `count` consecutive /24 routes from address `first` on. Without acknowledgements, for speed."""
    DESTINATION, BLACKHOLE = 1, 6
    flags = _REQUEST | (_CREATE if kind == NEWROUTE else 0)
    head = struct.pack("IHHII", 36, kind, flags, 0, 0) + struct.pack(
        "BBBBBBBBI", socket.AF_INET, 24, 0, 0, _MAIN_TABLE, _PROTOCOL_STATIC, _SCOPE_UNIVERSE, BLACKHOLE, 0
    ) + struct.pack("HH", 8, DESTINATION)
    return b"".join(head + (first + (number << 8)).to_bytes(4, "big") for number in range(count))


class Sender:
    """A socket in the network namespace in which it was created."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))

    def send(self, requests: bytes) -> None:
        """Sends requests, which the kernel executes before this returns. Call `check` afterwards."""
        self._socket.send(requests)

    def check(self, count: int) -> None:
        """Reads `count` acknowledgements, and raises the first error."""
        for _ in range(count):
            answer = self._socket.recv(65536)
            error = -struct.unpack_from("i", answer, 16)[0]
            if error:
                raise OSError(error, f"netlink: {os.strerror(error)}")

    def check_silence(self) -> None:
        """Raises the first error of requests without acknowledgements."""
        try:
            answer = self._socket.recv(65536, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        error = -struct.unpack_from("i", answer, 16)[0]
        raise OSError(error, f"netlink: {os.strerror(error)}")

    def close(self) -> None:
        self._socket.close()

    def do(self, *requests: bytes) -> None:
        for request in requests:
            self.send(request)
            self.check(1)
