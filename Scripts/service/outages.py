"""Compares outages as seen by the service and by polls of blackbox_exporter. usage: outages.py PROGRAM [OF EACH LENGTH [cable]]

With "cable" the peer's end is set down, as if a cable was pulled: the kernel reports the loss of the carrier up to a second later.
"""

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


# The kernel reports a carrier change at once if the index of the link differs from that of its peer. A real network card has no peer.
INDEX = "71"


def make_network():
    """Creates a link to a peer in another network namespace, which accepts connections."""
    peer = subprocess.Popen(["unshare", "--net", "sleep", "3600"])
    time.sleep(0.2)
    inside = ["nsenter", "--target", str(peer.pid), "--net"]
    ip("link", "set", "lo", "up")
    link = ["link", "add", "u0", "index", INDEX, "type", "veth"]
    ip(*link, "peer", "name", "p0", "index", INDEX, "netns", str(peer.pid))
    subprocess.run(["tc", "qdisc", "replace", "dev", "u0", "root", "pfifo_fast"], check=True)
    ip("link", "set", "u0", "up")
    ip("address", "add", "192.0.2.7/24", "dev", "u0")
    ip("route", "add", "default", "via", PEER)
    for words in (["link", "set", "p0", "up"], ["address", "add", f"{PEER}/24", "dev", "p0"]):
        subprocess.run([*inside, "ip", *words], check=True)
    code = "import socket\ns = socket.create_server(('', 80))\nwhile True: s.accept()[0].close()"
    server = subprocess.Popen([*inside, sys.executable, "-c", code])
    return [server, peer]


def cut(length, peer):
    """Sets the link down for some seconds: the local end, or with `peer` the end of the peer. Returns the start and the end."""
    if peer:
        inside = ["nsenter", "--target", str(peer.pid), "--net"]
        start = time.time()
        subprocess.run([*inside, "ip", "link", "set", "p0", "down"], check=True)
        time.sleep(length)
        subprocess.run([*inside, "ip", "link", "set", "p0", "up"], check=True)
    else:
        start = time.time()
        ip("link", "set", "u0", "down")
        time.sleep(length)
        ip("link", "set", "u0", "up")
        ip("route", "replace", "default", "via", PEER)
    return start, time.time()


def probe():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    address = f"http://{BLACKBOX}/probe?module=tcp_connect&target={PEER}:80"
    with opener.open(address, timeout=20) as answer:
        return re.search(r"^probe_success (\d)", answer.read().decode(), re.M)[1] == "1"


class Poller(threading.Thread):
    """Polls blackbox_exporter at a fixed interval, as Prometheus does, and records the results."""

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
        """Returns the number of outages in which a poll failed."""
        bad = [moment for moment, good in self.answers if not good]
        # A poll that began within the outage may fail shortly after its end.
        return sum(any(start <= moment <= end + 0.005 for moment in bad) for start, end in outages)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def main(program, count=30, kind="link"):
    children = make_network()
    peer = children[1] if kind == "cable" else None
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
                # The kernel reports losses of a carrier once a second, so short intervals between outages are tested too.
                time.sleep(chance.uniform(0.2, 2) if peer else chance.uniform(2, 4))
                outages[length].append(cut(length, peer))
            time.sleep(2)
            for poller in pollers:
                poller.is_over = True
            found = json.loads(service.get("/v1/outages?limit=1000"))["items"]
            print("| length of outage | made | recorded by the service |", " | ".join(f"found by polls every {pause} s" for pause in PAUSES), "|")
            print("|---|---|---|" + "---|" * len(PAUSES))
            made = sorted(outage for all in outages.values() for outage in all)
            pairs = {}
            for item in found:
                start, end = moment(item["start"]), moment(item["end"])
                doubt = item["uncertaintyMilliseconds"] / 1000
                # If the kernel reports an outage late, the service may record it after its end.
                fitting = [one for one in made if one[0] <= end + 0.001 and start - doubt <= one[1]]
                if fitting:
                    pairs[fitting[-1]] = (end - start, doubt)
            for length in LENGTHS:
                known = [(one[1] - one[0], *pairs[one]) for one in outages[length] if one in pairs]
                booked = [1000 * own for _, own, _ in known]
                sure = sum(true - own <= doubt + 0.01 for true, own, doubt in known)
                print(f"{1000 * length:.0f} ms: recorded as {min(booked):.0f} to {max(booked):.0f} ms,", end=" ")
                print(f"{sure} of {len(known)} within their uncertainty")
                own = len(known)
                cells = [f"{1000 * length:.0f} ms", count, own, *(poller.found(outages[length]) for poller in pollers)]
                print("|", " | ".join(map(str, cells)), "|")
            causes = {(item["attribution"], item["cause"]) for item in found}
            print("attributed to", ", ".join(f"{attribution}.{cause}" for attribution, cause in causes))
        finally:
            service.stop()
            for child in children:
                child.send_signal(signal.SIGTERM)
                child.wait(20)


if __name__ == "__main__":
    main(*sys.argv[1:])
