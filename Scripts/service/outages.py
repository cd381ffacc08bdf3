"""The same outages, seen by the service and by polls of blackbox_exporter. usage: outages.py PROGRAM [OF EACH LENGTH]"""

import datetime
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from lab import Service, ip

BLACKBOX = "127.0.0.1:9115"
PEER = "192.0.2.1"
LENGTHS = (4, 0.4, 0.04)
PAUSES = (1, 5, 60)


def make_network():
    """A link to a peer in a namespace of its own, which takes connections."""
    peer = subprocess.Popen(["unshare", "--net", "sleep", "3600"])
    time.sleep(0.2)
    inside = ["nsenter", "--target", str(peer.pid), "--net"]
    ip("link", "set", "lo", "up")
    ip("link", "add", "u0", "type", "veth", "peer", "name", "p0")
    ip("link", "set", "p0", "netns", str(peer.pid))
    ip("link", "set", "u0", "up")
    ip("address", "add", "192.0.2.7/24", "dev", "u0")
    ip("route", "add", "default", "via", PEER)
    for words in (["link", "set", "p0", "up"], ["address", "add", f"{PEER}/24", "dev", "p0"]):
        subprocess.run([*inside, "ip", *words], check=True)
    code = "import socket\ns = socket.create_server(('', 80))\nwhile True: s.accept()[0].close()"
    server = subprocess.Popen([*inside, sys.executable, "-c", code])
    return [server, peer]


def probe():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    address = f"http://{BLACKBOX}/probe?module=tcp_connect&target={PEER}:80"
    with opener.open(address, timeout=20) as answer:
        return re.search(r"^probe_success (\d)", answer.read().decode(), re.M)[1] == "1"


class Poller(threading.Thread):
    """Asks blackbox_exporter in the same pauses, as Prometheus does, and counts what it makes of that."""

    def __init__(self, pause):
        super().__init__(daemon=True)
        self.pause, self.is_over, self.answers = pause, False, []

    def run(self):
        begin = time.monotonic()
        while not self.is_over:
            self.answers.append((time.time(), probe()))
            rest = -(time.monotonic() - begin) % self.pause
            time.sleep(rest)

    def found(self, outages):
        """The outages in which a poll failed."""
        bad = [moment for moment, good in self.answers if not good]
        # One that began within the outage may fail a moment after its end.
        return sum(any(start <= moment <= end + 0.005 for moment in bad) for start, end in outages)


def main(program, count=30):
    children = make_network()
    service = Service(program)
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write("modules: {tcp_connect: {prober: tcp, timeout: 1s}}\n")
        file.flush()
        command = ["prometheus-blackbox-exporter", f"--config.file={file.name}", f"--web.listen-address={BLACKBOX}"]
        blackbox = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        children.insert(0, blackbox)
        try:
            time.sleep(1)
            assert probe(), "the peer does not answer"
            pollers = [Poller(pause) for pause in PAUSES]
            for poller in pollers:
                poller.start()
            chance = random.Random(18)
            lengths = list(LENGTHS) * int(count)
            chance.shuffle(lengths)
            outages = {length: [] for length in LENGTHS}
            for length in lengths:
                time.sleep(chance.uniform(2, 4))
                start = time.time()
                ip("link", "set", "u0", "down")
                time.sleep(length)
                ip("link", "set", "u0", "up")
                ip("route", "replace", "default", "via", PEER)
                outages[length].append((start, time.time()))
            time.sleep(2)
            for poller in pollers:
                poller.is_over = True
            found = json.loads(service.get("/v1/outages?limit=1000"))["items"]
            print("| outages of | made | the service |", " | ".join(f"a poll every {pause} s" for pause in PAUSES), "|")
            print("|---|---|---|" + "---|" * len(PAUSES))
            begins = [datetime.datetime.fromisoformat(item["start"].replace("Z", "+00:00")).timestamp() for item in found]
            for length in LENGTHS:
                own = sum(any(start - 0.001 <= begin <= end for begin in begins) for start, end in outages[length])
                cells = [f"{1000 * length:.0f} ms", count, own, *(poller.found(outages[length]) for poller in pollers)]
                print("|", " | ".join(map(str, cells)), "|")
            causes = {(item["attribution"], item["cause"]) for item in found}
            print("as", ", ".join(f"{attribution}.{cause}" for attribution, cause in causes))
        finally:
            service.stop()
            for child in children:
                child.send_signal(signal.SIGTERM)
                child.wait(20)


if __name__ == "__main__":
    main(*sys.argv[1:])
