"""Tests real reachability: whether a datagram is answered."""

import ctypes
import os
import select
import signal
import socket
import time
from collections.abc import Iterable

_PORT = 4747
_IPV6_RECVPKTINFO, _IPV6_PKTINFO, _IP_PKTINFO = 49, 50, 8
_PR_SET_PDEATHSIG = 1


class Echo:
    """A process that sends datagrams back from their destination address over the interface on which they came."""

    def __init__(self, links: Iterable[str]) -> None:
        sockets = [_listen(family, link) for link in links for family in (socket.AF_INET, socket.AF_INET6)]
        self._process = os.fork()
        if self._process == 0:
            try:
                ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
                _serve(sockets)
            finally:
                os._exit(1)
        for each in sockets:
            each.close()

    def stop(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)


def _listen(family: int, link: str) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_DGRAM)
    # Sockets are bound to interfaces, because IPV6_PKTINFO with a source address does not fix the interface.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode())
    if family == socket.AF_INET:
        listener.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)
    else:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVPKTINFO, 1)
    listener.bind(("", _PORT))
    return listener


def _serve(sockets: list[socket.socket]) -> None:
    while True:
        for each in select.select(sockets, [], [])[0]:
            data, ancillary, _, sender = each.recvmsg(64, 256)
            # Routers do not forward packets with a link-local source address (RFC 4291, 2.5.6).
            if sender[0].startswith("fe80:"):
                continue
            (level, kind, information), *_ = ancillary
            if kind == _IP_PKTINFO:  # Interface index, source address, destination address.
                information = information[:4] + information[8:12] + bytes(4)
            try:
                each.sendmsg([data], [(level, kind, information)], 0, sender)
            except OSError:
                pass  # The interface is down: no answer.


def answering(addresses: Iterable[str], silence: float = 0.4) -> set[str]:
    """Returns the addresses that answer within `silence` seconds."""
    pending: dict[socket.socket, str] = {}
    answered = set()
    for address in addresses:
        probe = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        probe.setblocking(False)
        try:
            probe.connect((address, _PORT))
            pending[probe] = address
        except OSError:
            probe.close()
    end = time.monotonic() + silence
    while pending and time.monotonic() < end:
        for probe in list(pending):
            try:
                probe.send(b"echo")
            except OSError:
                del pending[probe]
                probe.close()
        again = min(end, time.monotonic() + 0.1)
        while pending and (left := again - time.monotonic()) > 0:
            for probe in select.select(list(pending), [], [], left)[0]:
                try:
                    probe.recv(64)
                    answered.add(pending[probe])
                except OSError:
                    pass  # An ICMP error caused by this or an earlier packet.
                del pending[probe]
                probe.close()
    for probe in pending:
        probe.close()
    return answered
