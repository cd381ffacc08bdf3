"""Evaluations of all targets after a change of a link: the kernel must be asked about each target."""

import time

from . import netlink
from .listener import Listener
from .world import SECOND, World, changes

_LOOKS = 5


def looks(world: World, listener: Listener) -> dict:
    """Measures the CPU time of an evaluation of all targets, after a change of a link that none of them uses: no line is printed."""
    down, up = netlink.set_link(SECOND.index, False), netlink.set_link(SECOND.index, True)
    first, later, wall = [], [], []
    for _ in range(_LOOKS):
        made = time.monotonic_ns()
        cpu = listener.cpu()
        world.here.do(down)
        used, last = listener.look(cpu)
        first.append(used)
        wall.append(last - made)
        listener.settle(0.5)
        later.append(listener.cpu() - cpu)
        world.here.do(up)
        listener.settle(1)
    return {"cpu": first, "cpuWithLaterLooks": later, "wall": wall}


def all_told(world: World, listener: Listener, count: int) -> list[int | None]:
    """Returns the times from the loss of the link that all targets use to the line about the last of them."""
    times = []
    for _ in range(_LOOKS):
        for change in changes()[2:4]:
            made = world.make(change)
            line = listener.answer_of_all(change, made, count)
            if change.status != "reachable":
                times.append(line.printed - made if line else None)
            listener.settle(0.5)
    return times
