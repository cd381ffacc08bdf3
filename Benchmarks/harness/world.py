"""The small world in which everything happens: two uplinks, and their far ends in a namespace of their own."""

import time
from dataclasses import dataclass

from . import netlink
from .namespace import Namespace
from .netlink import Sender


#: Nanoseconds that no change takes in the kernel. All namespaces of a machine share one lock (RTNL): a change that took
#: longer had to wait for the work of others, and says nothing about a listener.
_UNDISTURBED = 5_000_000


@dataclass(frozen=True)
class Uplink:
    """A link with one address and a gateway behind it."""

    index: int
    name: str
    peer_index: int
    address: str
    gateway: str

    def default(self, metric: int = 100) -> bytes:
        return netlink.add_default(self.index, self.gateway, metric)

    def no_default(self, metric: int = 100) -> bytes:
        return netlink.delete_default(self.index, self.gateway, metric)


# The ends of a cable have different indexes, so that the kernel treats their carrier changes as urgent. With equal
# ones, as with a real card, a loss may be told up to a second late, to every listener alike.
FIRST = Uplink(10, "up0", 20, "10.1.0.2", "10.1.0.1")
SECOND = Uplink(11, "up1", 21, "10.2.0.2", "10.2.0.1")


@dataclass(frozen=True)
class Change:
    """One change of the world and what a listener is to make of it."""

    name: str
    requests: tuple[bytes, ...]
    at_far_end: bool
    #: The notification that settles it: message type, and for a route its prefix length.
    notification: tuple[int, int]
    #: Status and interface afterwards.
    status: str
    interface: str | None
    #: The address it is about; none if about all there are.
    target: str | None = None


def changes() -> list[Change]:
    """Five kinds, each there and back; one round leaves the world as it was."""
    lost, back = ("notReachable", None), ("reachable", FIRST.name)
    no_route, route = (netlink.DELROUTE, 0), (netlink.NEWROUTE, 0)
    link, no_address = (netlink.NEWLINK, 0), (netlink.DELADDR, 0)
    down, up = netlink.set_link(FIRST.index, False), netlink.set_link(FIRST.index, True)
    far_down, far_up = netlink.set_link(FIRST.peer_index, False), netlink.set_link(FIRST.peer_index, True)
    address = (FIRST.index, FIRST.address, 24)
    return [
        Change("route deleted", (FIRST.no_default(),), False, no_route, *lost),
        Change("route added", (FIRST.default(),), False, route, *back),
        Change("link down", (down,), False, link, *lost),
        Change("link up, route added", (up, FIRST.default()), False, route, *back),
        Change("carrier lost", (far_down,), True, link, *lost),
        Change("carrier back", (far_up,), True, link, *back),
        Change("address deleted", (netlink.delete_address(*address),), False, no_address, *lost),
        Change(
            "address added, route added", (netlink.add_address(*address), FIRST.default()), False, route, *back
        ),
        Change("better metric added", (SECOND.default(50),), False, route, "reachable", SECOND.name),
        Change("better metric deleted", (SECOND.no_default(50),), False, no_route, *back),
    ]


def target_changes(target: str) -> list[Change]:
    """One address loses its way and has it back; nobody else is concerned."""
    lost = netlink.add_unreachable(target)
    back = netlink.delete_unreachable(target)
    return [
        Change("route lost", (lost,), False, (netlink.NEWROUTE, 32), "notReachable", None, target),
        Change("route back", (back,), False, (netlink.DELROUTE, 32), "reachable", FIRST.name, target),
    ]


class World:
    """The current network namespace, which must be a fresh one, furnished."""

    @classmethod
    def another(cls) -> "World":
        """A world apart, in a namespace of its own."""
        namespace = Namespace.fresh()
        with namespace.entered():
            world = cls()
        namespace.close()
        return world

    def __init__(self) -> None:
        self.was_disturbed = False
        _disable_ipv6()
        self.namespace = Namespace.current()
        self.here = Sender()
        far = Namespace.fresh()
        with far.entered():
            _disable_ipv6()
            self.far_end = Sender()

        self.here.do(netlink.set_link(1, True))
        for uplink, peer in (FIRST, "far0"), (SECOND, "far1"):
            self.here.do(netlink.add_veth(uplink.name, uplink.index, peer, uplink.peer_index, far.descriptor))
            self.far_end.do(netlink.set_link(uplink.peer_index, True))
            self.here.do(netlink.set_link(uplink.index, True), netlink.add_address(uplink.index, uplink.address, 24))
        far.close()  # Its sender keeps it.
        self.here.do(FIRST.default())
        time.sleep(1.5)  # Until the kernel's own link watch has come to rest.

    def make(self, change: Change) -> int:
        """Makes the change; the clock just before. Afterwards `was_disturbed` says whether it had to wait."""
        sender = self.far_end if change.at_far_end else self.here
        requests = b"".join(change.requests)
        before = time.monotonic_ns()
        sender.send(requests)
        self.was_disturbed = time.monotonic_ns() - before > _UNDISTURBED
        sender.check(len(change.requests))
        return before

    def close(self) -> None:
        """Ends the world, unless something still runs there."""
        self.here.close()
        self.far_end.close()
        self.namespace.close()


def _disable_ipv6() -> None:
    # Duplicate address detection and router solicitation would ring in the middle of a measurement.
    for name in "all", "default":
        with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as file:
            file.write("1")
