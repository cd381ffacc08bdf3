"""The network of the measurements: two uplinks, whose peers are in a separate namespace."""

import time
from dataclasses import dataclass

from . import netlink
from .namespace import Namespace
from .netlink import Sender


#: The time limit of a change in the kernel, in nanoseconds. All namespaces share one lock (RTNL): a change that takes longer waited for
#: work of others, and its measurement is not used.
_UNDISTURBED = 5_000_000


@dataclass(frozen=True)
class Uplink:
    """A link with an address and a gateway at its peer."""

    index: int
    name: str
    peer_index: int
    address: str
    gateway: str

    def default(self, metric: int = 100) -> bytes:
        return netlink.add_default(self.index, self.gateway, metric)

    def no_default(self, metric: int = 100) -> bytes:
        return netlink.delete_default(self.index, self.gateway, metric)


# The two ends of a veth link have different indexes, so that the kernel reports carrier changes at once. With equal indexes, as with a real
# network card, it may report a loss up to a second later, to all listeners.
FIRST = Uplink(10, "up0", 20, "10.1.0.2", "10.1.0.1")
SECOND = Uplink(11, "up1", 21, "10.2.0.2", "10.2.0.1")


@dataclass(frozen=True)
class Change:
    """A change, and the result that a listener must report."""

    name: str
    requests: tuple[bytes, ...]
    at_far_end: bool
    #: The notification that completes the change: message type, and for a route its prefix length.
    notification: tuple[int, int]
    #: The status and the interface afterwards.
    status: str
    interface: str | None
    #: The address that the change concerns; None if it concerns all.
    target: str | None = None


def changes() -> list[Change]:
    """Returns five kinds of changes, each with its reversal; a round restores the initial state."""
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
    """Returns the changes that delete and add the route to one address; no other address is concerned."""
    lost = netlink.add_unreachable(target)
    back = netlink.delete_unreachable(target)
    return [
        Change("route lost", (lost,), False, (netlink.NEWROUTE, 32), "notReachable", None, target),
        Change("route back", (back,), False, (netlink.DELROUTE, 32), "reachable", FIRST.name, target),
    ]


class World:
    """The current network namespace, which must be new, with its links and routes."""

    @classmethod
    def another(cls) -> "World":
        """Creates a separate network in a new namespace."""
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
        far.close()  # Its sender refers to it.
        self.here.do(FIRST.default())
        time.sleep(1.5)  # Waits until the link watch of the kernel is idle.

    def make(self, change: Change) -> int:
        """Makes a change. Returns the clock just before it; `was_disturbed` then tells whether it waited for the lock."""
        sender = self.far_end if change.at_far_end else self.here
        requests = b"".join(change.requests)
        before = time.monotonic_ns()
        sender.send(requests)
        self.was_disturbed = time.monotonic_ns() - before > _UNDISTURBED
        sender.check(len(change.requests))
        return before

    def close(self) -> None:
        """Closes the namespaces. They exist until the last process in them ends."""
        self.here.close()
        self.far_end.close()
        self.namespace.close()


def _disable_ipv6() -> None:
    # Duplicate address detection and router solicitations would send notifications during a measurement.
    for name in "all", "default":
        with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as file:
            file.write("1")
