"""Many route changes in networks without targets."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from . import netlink
from .netlink import Sender
from .world import World

#: 16.0.0.0: no address above it is used by a measurement.
_FIRST = 16 << 24
_PER_SEND = 500


def fill(world: World, count: int, there: int = 0) -> None:
    """Adds permanent routes until there are `count`."""
    for first in range(there, count, _PER_SEND):
        number = min(_PER_SEND, count - first)
        world.here.send(netlink.blackholes(netlink.NEWROUTE, _FIRST + (first << 8), number))
    world.here.check_silence()


def there_and_back(count: int) -> bytes:
    """Makes `count` changes: adds routes and deletes them again."""
    half = count // 2
    return netlink.blackholes(netlink.NEWROUTE, _FIRST, half) + netlink.blackholes(netlink.DELROUTE, _FIRST, half)


def flood(sender: Sender, count: int) -> None:
    """Makes `count` changes as fast as the kernel accepts them."""
    number = min(count, _PER_SEND)
    requests = there_and_back(number)
    for _ in range(count // number):
        sender.send(requests)
    sender.check_silence()


@contextmanager
def paced(world: World, rate: int) -> Iterator[None]:
    """Makes `rate` changes per second in a separate process, in batches every 5 ms, during the `with` block. A rate of 0 makes none."""
    if not rate:
        yield
        return
    process = os.fork()
    if process == 0:
        try:
            _keep_pace(world, rate)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _keep_pace(world: World, rate: int) -> None:
    parent = os.getppid()
    with world.namespace.entered():
        sender = Sender()
    requests = there_and_back(max(2, rate // 200))
    started = time.monotonic()
    turn = 0
    while os.getppid() == parent:
        sender.send(requests)
        turn += 1
        time.sleep(max(0, started + turn / 200 - time.monotonic()))
