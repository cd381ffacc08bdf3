"""Network namespaces without names: they exist as long as a descriptor or a process refers to them."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A network namespace, referred to by a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def current(cls) -> "Namespace":
        return cls(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC))

    @classmethod
    def fresh(cls) -> "Namespace":
        """Creates a namespace. The calling thread stays in its own."""
        home = cls.current()
        _call(_libc.unshare(_CLONE_NEWNET))
        new = cls.current()
        home._enter()
        home.close()
        return new

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Moves the calling thread into the namespace during the `with` block; processes started there inherit it."""
        home = Namespace.current()
        self._enter()
        try:
            yield
        finally:
            home._enter()
            home.close()

    def close(self) -> None:
        os.close(self.descriptor)

    def _enter(self) -> None:
        _call(_libc.setns(self.descriptor, _CLONE_NEWNET))


def _call(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
