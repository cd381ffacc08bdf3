"""Random changes in a lab, made from a small set of routes, rules, addresses and links."""

import random
import time
from collections.abc import Callable

from . import netlink
from .lab import UPLINKS, Lab, address, gateway, restoration
from .routes import flood

#: Networks that contain targets, and networks that do not.
_COVERING = {
    4: ["default", "0.0.0.0/1", "128.0.0.0/1", "192.0.0.0/8", "198.18.0.0/15", "198.18.0.0/17", "203.0.113.0/24",
        "203.0.113.0/27", "203.0.113.2/32", "198.51.100.64/26", "192.0.2.0/25", "8.0.0.0/7", "198.18.1.0/24"],
    6: ["default", "::/1", "2000::/3", "2001:db8::/32", "2001:db8:1::/48", "2001:db8::/33", "2001:db8:2::2/128",
        "2001:4000::/64"],
}
_APART = {4: [f"172.20.{n}.0/24" for n in range(12)], 6: [f"3fff:{n:x}::/32" for n in range(12)]}
_METRICS = (10, 50, 100, 101, 102, 200)
_REFUSALS = ("unreachable", "prohibit", "blackhole")
#: Changes that break everything are rarer than routes; otherwise nothing would be reachable most of the time.
_WEIGHTS = {"route": 10, "rule": 3, "address": 2, "link": 2, "carrier": 2, "flood": 2, "flaps": 1}


class Trouble:
    """Makes random series of changes, determined by a seed."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab = lab
        self._random = random.Random(seed)
        self._batch: list[str] = []
        self._family = 4  # The address family of all commands of a batch: each family needs a separate process.
        #: The commands of the last series.
        self.history: list[str] = []

    def storm(self) -> None:
        self.history = []
        makers: dict[str, Callable[[], None]] = {name: getattr(self, f"_{name}") for name in _WEIGHTS}
        for _ in range(self._random.randint(1, 40)):
            name = self._random.choices(list(makers), weights=list(_WEIGHTS.values()))[0]
            makers[name]()
            if self._random.random() < 0.3:
                self._flush()
                self._family = self._random.choice((4, 6))
            if self._random.random() < 0.05:
                time.sleep(self._random.uniform(0, 0.3))
        if self._random.random() < 0.35:
            self._batch += restoration()
            self._flush()
            for uplink in UPLINKS:
                self._set_carrier(uplink, True)
        self._flush()

    def _flush(self) -> None:
        """Runs the collected commands as one batch."""
        if self._batch:
            self.history += self._batch
            self._lab.client(*self._batch)
            self._batch = []

    def _set_carrier(self, uplink: int, on: bool) -> None:
        self._flush()
        self.history.append(f"carrier of up{uplink} {'on' if on else 'off'}")
        self._lab.set_carrier(uplink, on)

    # MARK: kinds of changes

    def _prefix(self, family: int) -> str:
        choice = self._random.choice
        return choice(_COVERING[family] if self._random.random() < 0.7 else _APART[family])

    def _route(self) -> None:
        choice, family, uplink = self._random.choice, self._family, self._random.choice(UPLINKS)
        table = "table 100 " if self._random.random() < 0.2 else ""
        destination = f"{self._prefix(family)} {table}metric {choice(_METRICS)}"
        verb = choice(("add", "replace", "del", "del"))
        if verb == "del":
            self._batch.append(f"-{family} route del {destination}")
        elif self._random.random() < 0.15:
            self._batch.append(f"-{family} route {verb} {choice(_REFUSALS)} {destination}")
        else:
            self._batch.append(
                f"-{family} route {verb} {destination} via {gateway(uplink, family)} dev up{uplink} onlink"
            )

    def _rule(self) -> None:
        choice, family = self._random.choice, self._family
        preference = choice(range(100, 106))
        selectors = [f"to {self._prefix(family)}".replace("default", "0/0" if family == 4 else "::/0"), "fwmark 7"]
        if family == 4:
            selectors.append(f"from {address(choice(UPLINKS), 4)}")
        if self._random.random() < 0.6:
            self._batch.append(f"-{family} rule del pref {preference}")
        else:
            action = choice((*_REFUSALS, "lookup 100", "lookup 100", "lookup main"))
            self._batch.append(f"-{family} rule add pref {preference} {choice(selectors)} {action}")

    def _address(self) -> None:
        uplink, family = self._random.choice(UPLINKS), self._family
        own = f"{address(uplink, family)}/{24 if family == 4 else 64} dev up{uplink}"
        verb = self._random.choice(("del", "replace", "replace"))
        self._batch.append(f"-{family} addr {verb} {own}" + (" nodad" if family == 6 and verb == "replace" else ""))

    def _link(self) -> None:
        state = self._random.choice(("up", "up", "down"))
        self._batch.append(f"-{self._family} link set up{self._random.choice(UPLINKS)} {state}")

    def _carrier(self) -> None:
        self._set_carrier(self._random.choice(UPLINKS), self._random.random() < 0.6)

    def _flaps(self) -> None:
        uplink, count = self._random.choice(UPLINKS), self._random.randint(2, 15)
        if self._random.random() < 0.5:
            self._batch += [f"-{self._family} link set up{uplink} {state}" for state in ("down", "up")] * count
            return
        for number in range(count):
            self._set_carrier(uplink, number % 2 == 1)

    def _flood(self) -> None:
        """Makes thousands of changes: of unrelated routes, or of a default route that is never preferred."""
        self._flush()
        count = self._random.choice((500, 5000, 20_000))
        if self._random.random() < 0.6:
            self.history.append(f"flood of {count}")
            flood(self._lab.sender, count)
            return
        self.history.append(f"flood of {count // 10} default routes")
        pair = netlink.add_unreachable_default(9999) + netlink.delete_unreachable_default(9999)
        for _ in range(count // 1000):
            self._lab.sender.send(pair * 50)
            self._lab.sender.check(100)
