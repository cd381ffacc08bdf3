"""Makes the pictures of README.md and docs/service: a history of 90 days, and outages of now. usage: pictures.py PROGRAM DIRECTORY"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lab import Service, get, ip, launch, lose_route, picture, regain_link, wait
from playwright.sync_api import sync_playwright
from seed import TARGETS, seed

ROOT = f"http://{Service.address}"
TOKEN = "rt_402rOYHumYHa_sCyoFA-E0ZRV8ltgi0nR_Ri5soegGY"
CONFIGURATION = """schema = 1
[[access.tokens]]
name = "anna"
scope = "admin"
sha256 = "1f280fa8ba26b55d213069fde14a3348c2d38b728780002fadb76c997b14b354"
[status-page]
title = "Example Ltd"
note-prefix = "Public:"
targets = ["website", "mail"]
groups = [{ name = "Shop", targets = ["shop", "api"] }]
""" + "".join(
    f'[[target]]\nname = "{name}"\nhost = "{address}"\nchecks = [{{ http = "/", expect = 200 }}]\n'
    for name, (address, _) in TARGETS.items()
)


class Handler(BaseHTTPRequestHandler):
    """The web servers of all targets. After SIGUSR1 the shop answers 503."""

    failing = False

    def do_GET(self):
        address = self.connection.getsockname()[0]
        # A check takes about 3 ms longer.
        time.sleep((next(latency for own, latency in TARGETS.values() if own == address) - 3) / 1000)
        self.send_response(503 if Handler.failing and address == TARGETS["shop"][0] else 200)
        self.end_headers()

    def log_message(self, *_):
        pass


def make_network():
    """Creates a link to a peer in another network namespace, which has the addresses of all targets. Returns the peer."""
    socket.sethostname("gate-7")
    peer = subprocess.Popen(["unshare", "--net", sys.executable, __file__])
    wait(lambda: os.readlink(f"/proc/{peer.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
    ip("link", "set", "lo", "up")
    ip("link", "add", "u0", "type", "veth", "peer", "name", "p0", "netns", str(peer.pid))
    ip("address", "add", "192.0.2.7/24", "dev", "u0")
    inside(peer, "link", "set", "lo", "up")
    for address in ["192.0.2.1/24"] + [address + "/32" for address, _ in TARGETS.values()]:
        inside(peer, "address", "add", address, "dev", "p0")
    inside(peer, "link", "set", "p0", "up")
    regain_link()
    wait(lambda: b"state UP" in subprocess.check_output(["ip", "link", "show", "u0"]))
    return peer


def inside(peer, *words):
    subprocess.run(["nsenter", "--net", "--target", str(peer.pid), "ip", *words], check=True)


def items(path):
    return json.loads(get(Service.address, path))["items"]


def note(outage, text):
    headers = {"Authorization": "Bearer " + TOKEN}
    request = urllib.request.Request(f"{ROOT}/v1/outages/{outage}/note", json.dumps({"text": text}).encode(), headers)
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()


def main():
    peer, directory = make_network(), sys.argv[2]
    are_up = lambda: {item["state"] for item in items("/v1/targets")} == {"up"}
    service = Service(sys.argv[1], configuration=CONFIGURATION)
    try:
        wait(are_up)
        service.stop()
        seed(service.directory.name + "/history.sqlite")
        service.start()
        wait(are_up)
        provider = items("/v1/outages?target=website&attribution=upstream")[0]["id"]
        note(provider, "Public: Our provider replaced a damaged fibre.")
        time.sleep(30)
        lose_route()
        wait(lambda: len(items("/v1/outages?state=open")) == 4)
        time.sleep(21)
        regain_link()
        wait(are_up)
        outage = next(item["id"] for item in items("/v1/outages?target=website"))
        time.sleep(60)
        with sync_playwright() as playwright:
            browser = launch(playwright)

            def take(name, path, scheme="light", width=1280):
                context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 600})
                page = context.new_page()
                page.goto(ROOT + path)
                if path != "/status":
                    page.wait_for_selector("#live.on")
                picture(page, f"{directory}/{name}.png")
                context.close()

            take("now", "/?window=90d")
            take("now-dark", "/", "dark")
            take("now-small", "/", width=320)
            take("target", "/targets/mail?window=7d")
            take("outage", f"/outages/{outage}")
            take("outages", "/outages", "dark")
            take("availability", "/availability?window=90d")
            take("network", "/network", "dark")
            take("status", "/status")
            peer.send_signal(signal.SIGUSR1)
            wait(lambda: not are_up(), 180)
            time.sleep(10)
            take("down", "/?kiosk", width=1920)
            browser.close()
    finally:
        service.stop()
        peer.kill()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main()
    else:
        signal.signal(signal.SIGUSR1, lambda *_: setattr(Handler, "failing", True))
        ThreadingHTTPServer(("", 80), Handler).serve_forever()
