"""A hub with its broker: one real machine, which had an outage and is silent now, and some that only publish states."""

import json
import os
import socket
import subprocess
import tempfile
import time

from lab import get, lose_link, regain_link, wait


def publish(messages):
    """Publishes messages of machines as MQTT 3.1.1 defines it (3.1, 3.3 and 3.14)."""
    def text(words):
        return len(words).to_bytes(2, "big") + words.encode()

    def packet(kind, body=b""):
        length, rest = b"", len(body)
        while not length or rest:
            rest, low = divmod(rest, 128)
            length += bytes([low | (128 if rest else 0)])
        return bytes([kind]) + length + body

    with socket.create_connection(("127.0.0.1", 1883)) as connection:
        connection.sendall(packet(0x10, text("MQTT") + bytes([4, 2, 0, 60]) + text("")))
        assert connection.recv(4) == b"\x20\x02\x00\x00"
        for topic, message in messages:
            connection.sendall(packet(0x30, text(f"reach/v1/{topic}") + json.dumps(message).encode()))
        connection.sendall(packet(0xE0))


def state(standing, **more):
    """Returns a message for the topic `state`: from a machine, or for `offline` from the broker."""
    said = {"schema": 1, "session": "a", "state": standing}
    if standing == "offline":
        return said
    return {**said, "boot": "one", "wall": time.time_ns() // 1_000_000, "refresh": 900, "ackedSeq": None,
            "boottimeNs": time.clock_gettime_ns(time.CLOCK_BOOTTIME), **more}


class Hub:
    """A running `reachability fleet hub`. Sites: north, where two machines are silent, one of them real; south; west."""

    address = "127.0.0.1:9673"

    def __init__(self, program):
        self.program, self.running = program, []
        self.directory = tempfile.TemporaryDirectory()
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.kill()
            process.wait()
        self.directory.cleanup()

    def begin(self):
        with open(self.file("mosquitto.conf"), "w") as file:
            file.write("listener 1883 127.0.0.1\nallow_anonymous true\nuser root\nlog_type error\n")
        self.start("mosquitto", "-c", self.file("mosquitto.conf"))
        token = subprocess.check_output([self.program, "serve", "token", "--name", "ops", "--scope", "admin"], text=True)
        self.token, table = token.split("\n", 1)
        with open(self.file("hub.toml"), "w") as file:
            file.write("schema = 1\n" + table)
        self.start(self.program, "fleet", "hub", "--broker", "mqtt://127.0.0.1", "--socket", "none", "--listen",
                   self.address, "--config", self.file("hub.toml"), "--history", self.file("hub.sqlite"))
        wait(self.is_ready)
        self.use_real_machine()
        publish([
            *((f"north/door-{number}/state", state("online", path="reachable")) for number in range(2, 21)),
            ("north/door-2/state", state("offline")),
            ("south/pump-1/state", state("online")),
            ("south/pump-2/state", state("sleeping")),
            ("south/pump-3/state", state("leaving", reason="\u202eupdate\n")),
            ("west/gate/state", state("online")),
            ("west/gate/event", {"no": "event"}),
        ])
        wait(lambda: len(self.items("/v1/devices?limit=1000")) == 24)
        wait(lambda: self.items("/v1/devices?site=west")[0]["refused"] == 1)

    def use_real_machine(self):
        """Starts a machine that loses its network and gets it back, and kills its agent."""
        service = self.file("service.sock")
        self.start(self.program, "serve", "--listen", "none", "--socket", service, "--history", "none")
        wait(lambda: os.path.exists(service))
        agent = self.start(self.program, "fleet", "agent", "--broker", "mqtt://127.0.0.1", "--site", "north", "--device",
                           "door-1", "--socket", service, "--state", "none", "--will-delay", "0s", "--jitter", "0s")
        wait(lambda: [item["standing"] for item in self.items("/v1/devices")] == ["online"])
        lose_link()
        wait(lambda: len(self.items("/v1/incidents?state=open")) == 1)
        regain_link()
        wait(lambda: not self.items("/v1/incidents?state=open"))
        agent.kill()
        wait(lambda: len(self.items("/v1/devices?unexplained=true")) == 1)

    def is_ready(self):
        try:
            return json.loads(get(self.address, "/readyz"))["ready"]
        except OSError:
            return False

    def items(self, path):
        return json.loads(get(self.address, path))["items"]

    def file(self, name):
        return os.path.join(self.directory.name, name)

    def start(self, *command):
        self.running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        return self.running[-1]
