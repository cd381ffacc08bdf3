"""All targets at once: after a change of a link, nothing can be known of any of them without asking."""

import time

from . import netlink
from .listener import Listener
from .world import SECOND, World, changes

_LOOKS = 5


def looks(world: World, listener: Listener) -> dict:
    """CPU of one look at all targets, after a change of a link that none of them uses: nothing is to be printed."""
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
    """From the loss of the link that all use to the line of the last of them."""
    times = []
    for _ in range(_LOOKS):
        for change in changes()[2:4]:
            made = world.make(change)
            line = listener.answer_of_all(change, made, count)
            if change.status != "reachable":
                times.append(line.printed - made if line else None)
            listener.settle(0.5)
    return times
