"""A machine, gate-7, with one link, the service, and a browser that connects through a proxy that can be cut."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def make_network():
    socket.sethostname("gate-7")
    ip("link", "set", "lo", "up")
    ip("link", "add", "u0", "type", "veth", "peer", "name", "p0")
    for link in ("u0", "p0"):
        ip("link", "set", link, "up")
    ip("address", "add", "192.0.2.7/24", "dev", "u0")
    ip("route", "add", "default", "via", "192.0.2.1")
    # The kernel may report the carrier up to a second later. A service that starts before that starts with an outage.
    wait(lambda: b"state UP" in subprocess.check_output(["ip", "link", "show", "u0"]))


def lose_link():
    ip("link", "set", "u0", "down")


def regain_link():
    ip("link", "set", "u0", "up")
    ip("route", "replace", "default", "via", "192.0.2.1")


def lose_route():
    ip("route", "del", "default")


def wait(condition, seconds=60):
    """Waits until a condition is true, and returns the seconds that it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "timeout"
        time.sleep(0.01)
    return time.monotonic() - start


def get(address, path):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{address}{path}", timeout=20) as answer:
        return answer.read().decode()


class Service:
    """A running `reachability serve`."""

    address = "127.0.0.1:9672"

    def __init__(self, program, address=None, configuration=None):
        """Starts the service at an address, with the text of a configuration if there is one."""
        self.program = program
        self.address = address or self.address
        self.directory = tempfile.TemporaryDirectory()
        self.configuration = None
        if configuration:
            self.configuration = os.path.join(self.directory.name, "serve.toml")
            with open(self.configuration, "w", encoding="utf-8") as file:
                file.write(configuration)
        self.start()

    def start(self):
        history = os.path.join(self.directory.name, "history.sqlite")
        command = [self.program, "serve", "--socket", "none", "--listen", self.address, "--history", history]
        if self.configuration:
            command += ["--config", self.configuration]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith(f"listening at http://{self.address}/"), line

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(20)
        assert status in (0, -number), status
        return status

    def get(self, path):
        return get(self.address, path)

    def newest_outage(self):
        items = json.loads(self.get("/v1/outages?limit=1"))["items"]
        return items[0] if items else None

    def lose_link(self, seconds=0.0):
        """Sets the link down for some seconds, and waits until the service has recorded its start and its end. Without
        that a service on a busy processor could miss the outage."""
        lose_link()
        time.sleep(seconds)
        wait(lambda: (newest := self.newest_outage()) and newest["end"] is None)
        regain_link()
        wait(lambda: self.newest_outage()["end"] is not None)

    def streams(self):
        lines = self.get("/metrics").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("reachability_http_streams "))


class Cable:
    """A TCP proxy between the browser and the service that can be cut."""

    def __init__(self, port, to):
        self.to = to.split(":")[0], int(to.split(":")[1])
        self.port, self.is_cut, self.open = port, False, set()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(self.to)
            except OSError:
                near.close()
                continue
            self.open |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self.is_cut = True
        for end in self.open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.open = set()

    def mend(self):
        self.is_cut = False


def picture(page, file):
    """Saves a picture of a whole page, with a palette."""
    page.screenshot(path=file, full_page=True)
    # Status 98: the result would be larger.
    subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", file, file], check=False)


def launch(playwright):
    return playwright.chromium.launch(
        executable_path=os.environ["CHROMIUM"],
        args=["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server"],
    )
