"""Makes the pictures of docs/fleet.md: machines at three sites, a real broker, and real outages. usage: fleet.py PROGRAM DIRECTORY

Each machine of two sites is a network namespace with a link of its own, the service and the agent. The switch of one site loses its power. The
machines of the third site only publish states.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

from hub import publish, state
from lab import ip, launch, picture, wait
from playwright.sync_api import sync_playwright

ROOT = "http://127.0.0.1:9673"
MACHINES = [("north", f"door-{number}") for number in range(1, 5)] + [("south", "pump-1"), ("south", "pump-2")]


def get(path):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(ROOT + path, timeout=20) as answer:
        return json.load(answer)["items"]


class Machine:
    """A network namespace with the service and the agent. Its link is connected to the bridge that the broker uses."""

    def __init__(self, number, site, device, program, directory):
        self.site, self.link = site, f"m{number}"
        namespace = f"fleet-{number}"
        self.near = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        wait(lambda: os.readlink(f"/proc/{self.near.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
        ip("link", "add", self.link, "type", "veth", "peer", "name", "u0", "netns", str(self.near.pid))
        ip("link", "set", self.link, "master", "switch", "up")
        self.inside = ["nsenter", "--net", "--target", str(self.near.pid)]
        for words in (["link", "set", "lo", "up"], ["address", "add", f"192.0.2.{number + 10}/24", "dev", "u0"],
                      ["link", "set", "u0", "up"], ["route", "add", "default", "via", "192.0.2.1"]):
            subprocess.run([*self.inside, "ip", *words], check=True)
        socket = os.path.join(directory, namespace)
        self.processes = [self.start(program, "serve", "--listen", "none", "--socket", socket, "--history", "none")]
        wait(lambda: os.path.exists(socket))
        self.processes.append(
            self.start(program, "fleet", "agent", "--broker", "mqtt://192.0.2.1", "--site", site, "--device", device,
                       "--socket", socket, "--state", "none", "--will-delay", "0s", "--jitter", "2s"))

    def start(self, *command):
        return subprocess.Popen([*self.inside, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def set_power(self, on):
        """Sets the port of the bridge that the machine's link is connected to up or down."""
        ip("link", "set", self.link, "up" if on else "down")

    def stop(self):
        for process in [*self.processes, self.near]:
            process.kill()


def main():
    program, pictures = sys.argv[1:]
    for words in (["link", "set", "lo", "up"], ["link", "add", "switch", "type", "bridge"],
                  ["address", "add", "192.0.2.1/24", "dev", "switch"], ["link", "set", "switch", "up"]):
        ip(*words)
    with tempfile.TemporaryDirectory() as directory:
        settings = os.path.join(directory, "mosquitto.conf")
        with open(settings, "w") as file:
            file.write("listener 1883\nallow_anonymous true\n")
        running = [subprocess.Popen(["mosquitto", "-c", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        machines = []
        try:
            running.append(subprocess.Popen(
                [program, "fleet", "hub", "--broker", "mqtt://127.0.0.1", "--socket", "none", "--history", "none"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
            running[-1].stdout.readline()
            machines = [Machine(number, *machine, program, directory) for number, machine in enumerate(MACHINES)]
            wait(lambda: [item["standing"] for item in get("/v1/devices")] == ["online"] * 6, 60)
            publish([(f"west/till-{number}/state", state("online", path="reachable")) for number in range(1, 13)])
            time.sleep(5)
            north = [machine for machine in machines if machine.site == "north"]
            for machine in north:
                machine.set_power(False)
                time.sleep(0.4)
            # The broker closes the connection of a machine that has been silent for 1.5 times the keep-alive interval.
            wait(lambda: sum(item["standing"] == "silent" for item in get("/v1/devices")) == 4, 150)
            with sync_playwright() as playwright:
                browser = launch(playwright)
                context = browser.new_context(color_scheme="light", viewport={"width": 1280, "height": 600})
                page = context.new_page()

                def take(name, path):
                    page.goto(ROOT + path)
                    page.wait_for_selector("#live.on")
                    picture(page, f"{pictures}/{name}.png")

                take("silent", "/")
                for machine in north:
                    machine.set_power(True)
                wait(lambda: not get("/v1/incidents?state=open"), 90)
                incidents = get("/v1/incidents")
                assert len(incidents) == 1, incidents
                assert (incidents[0]["attribution"], incidents[0]["cause"]) == ("us", "link"), incidents
                assert len(incidents[0]["devices"]) == 4, incidents
                take("incident", f"/incidents/{incidents[0]['id']}")
                browser.close()
        finally:
            for machine in machines:
                machine.stop()
            for process in running:
                process.kill()


main()
