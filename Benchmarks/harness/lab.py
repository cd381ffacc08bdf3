"""A client with three uplinks to one router, which has all target addresses and echoes datagrams.

    client up0 10.1.0.2 fd01::2 - r0 10.1.0.1 fd01::1 router
           up1 10.2.0.2 fd02::2 - r1 10.2.0.1 fd02::1
           up2 10.3.0.2 fd03::2 - r2 10.3.0.1 fd03::1
"""

import os
import subprocess
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import groupby

from .echo import Echo
from .namespace import Namespace
from .netlink import Sender

UPLINKS = range(3)
#: The watched addresses; some are close together.
TARGETS = [
    *(f"203.0.113.{number}" for number in (1, 2, 3, 17, 33, 130, 200)),
    *(f"198.51.100.{number}" for number in (1, 65, 66, 129, 254)),
    *(f"192.0.2.{number}" for number in (7, 8, 100)),
    *(f"198.18.{number}.1" for number in (0, 1, 2, 64, 128, 255)),
    *(f"2001:db8:{net:x}::{number}" for net in (0, 1, 2, 0x8000) for number in (1, 2)),
    *(f"2001:4000::{number}" for number in (1, 2)),
]
#: The addresses that stand for the internet, as in the library.
AT_LARGE = (
    ["1.1.1.1", "8.8.8.8", "9.9.9.9", "64.6.64.6", "192.5.5.241", "193.0.14.129", "199.7.83.42", "202.12.27.33"],
    ["2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a10:50c0::ad1:ff", "2400:3200::1"],
)


def gateway(uplink: int, family: int) -> str:
    return f"10.{uplink + 1}.0.1" if family == 4 else f"fd0{uplink + 1}::1"


def address(uplink: int, family: int) -> str:
    return f"10.{uplink + 1}.0.2" if family == 4 else f"fd0{uplink + 1}::2"


def hardware(uplink: int, end: int) -> str:
    return f"02:00:00:00:0{uplink + 1}:0{end}"


class Lab:
    """The client is the current network namespace, which must be new."""

    def __init__(self) -> None:
        self._router = Namespace.fresh()
        settings = ["ipv4.conf.{}.rp_filter=0", "ipv6.conf.{}.accept_dad=0", "ipv6.conf.{}.accept_ra=0"]
        _sysctl(settings)
        with self._router.entered():
            _sysctl([*settings, "ipv6.conf.{}.keep_addr_on_down=1"])
        path = f"/proc/{os.getpid()}/fd/{self._router.descriptor}"
        self.client(
            "link set lo up",
            *(
                f"link add up{n} index {10 + n} address {hardware(n, 2)} type veth"
                f" peer name r{n} index {20 + n} address {hardware(n, 1)} netns {path}"
                for n in UPLINKS
            ),
            check=True,
        )
        world = [*TARGETS, *AT_LARGE[0], *AT_LARGE[1]]
        own = [f"addr add {each}/{128 if ':' in each else 32} dev lo" for each in world]
        for n in UPLINKS:
            own += [f"addr add {gateway(n, 4)}/24 dev r{n}", f"addr add {gateway(n, 6)}/64 dev r{n} nodad"]
        self.router("link set lo up", *own, check=True)
        for n in UPLINKS:
            self.set_carrier(n, True)
        self.client(*restoration(), check=False)
        with self._router.entered():
            self._echo = Echo(f"r{n}" for n in UPLINKS)
        self.sender = Sender()

    def client(self, *commands: str, check: bool = False) -> None:
        """Runs commands of `ip` in one batch. Commands that fail are skipped."""
        _ip(commands, check)

    def router(self, *commands: str, check: bool = False) -> None:
        with self._router.entered():
            _ip(commands, check)

    def set_carrier(self, uplink: int, on: bool) -> None:
        """Sets the router's end up or down. After setting it up, restores the routes and neighbours that the kernel deleted."""
        if not on:
            return self.router(f"link set r{uplink} down")
        # Answers to an address of another uplink leave over the link on which the datagram came.
        self.router(
            f"link set r{uplink} up",
            f"route replace fd00::/8 dev r{uplink} metric {2000 + uplink}",
            *(
                f"neigh replace {address(other, family)} lladdr {hardware(uplink, 2)} dev r{uplink} nud permanent"
                for other in UPLINKS
                for family in (4, 6)
            ),
        )

    def state(self) -> str:
        """Returns the links, addresses, rules, routes and neighbours of both ends, for the analysis of a wrong result."""
        commands = ["-br link", "-br addr", *(f"-{family} {what}" for family in (4, 6)
                                              for what in ("rule", "route show table all", "neigh"))]
        lines = []
        for end in "client", "router":
            with self._router.entered() if end == "router" else nullcontext():
                for command in commands:
                    lines += [f"{end}: ip {command}", subprocess.run(
                        ["ip", *command.split()], capture_output=True, text=True, check=False
                    ).stdout.rstrip()]
        return "\n".join(lines)

    def close(self) -> None:
        self._echo.stop()
        self.sender.close()
        self._router.close()


def restoration() -> list[str]:
    """Returns the commands that restore the client, except for carriers."""
    commands = []
    for family in 4, 6:
        # `flush` of rules would delete the rule for the local table.
        commands += [f"-{family} rule del pref {preference}" for preference in range(100, 106) for _ in range(3)]
        commands += [f"-{family} route flush table {table} proto boot" for table in ("main", 100)]
    for n in UPLINKS:
        commands += [
            f"link set up{n} up",
            f"addr replace {address(n, 4)}/24 dev up{n}",
            f"addr replace {address(n, 6)}/64 dev up{n} nodad",
        ]
    for n in UPLINKS:
        commands += [
            f"-{family} route replace default via {gateway(n, family)} dev up{n} onlink metric {100 + n}"
            for family in (4, 6)
        ]
    return commands


def _ip(commands: Iterable[str], check: bool) -> None:
    """Runs batches of commands. The address family is an option of the whole process, so each batch has one family."""
    force = [] if check else ["-force"]
    for family, batch in groupby(commands, lambda command: command[:2] if command.startswith("-") else None):
        lines = "".join(f"{command.removeprefix(family or '').strip()}\n" for command in batch)
        subprocess.run(
            ["ip", *([family] if family else []), *force, "-batch", "-"],
            input=lines.encode(),
            stdout=subprocess.DEVNULL,
            stderr=None if check else subprocess.DEVNULL,
            check=check,
        )


def _sysctl(settings: Iterable[str]) -> None:
    for setting in settings:
        for which in "all", "default":
            name, value = setting.format(which).split("=")
            with open(f"/proc/sys/net/{name.replace('.', '/')}", "w") as file:
                file.write(value)
