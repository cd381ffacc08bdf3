"""A running `reachability fleet hub`, and its machines and incidents."""

import json
import os
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

PORT = 19673


class Hub:
    """A running hub. Leaving its `with` block kills it."""

    def __init__(self, program: Path, broker: str, history: Path) -> None:
        self._command = [
            str(program), "hub", "--broker", broker, "--listen", f"127.0.0.1:{PORT}", "--socket", "none", "--history", str(history),
        ]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(self._is_ready, 60)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "Hub":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def megabytes(self) -> float:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024

    def cpu(self) -> float:
        """Returns the CPU time in seconds."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, path: str) -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=60) as answer:
            return json.load(answer)

    def _is_ready(self) -> bool:
        try:
            return self.ask("/readyz")["ready"]
        except OSError:
            return False

    def items(self, path: str) -> Iterator[dict]:
        """Yields all items of a list, page by page."""
        after = ""
        while True:
            page = self.ask(f"{path}{'&' if '?' in path else '?'}limit=1000{after}")
            yield from page["items"]
            if not page.get("next"):
                return
            after = "&after=" + urllib.parse.quote(page["next"], safe="")

    def until(self, holds: Callable[[], bool], seconds: float) -> float:
        """Waits until a condition is true. Returns the seconds that it took, or infinity after the timeout."""
        begun = time.monotonic()
        while not holds():
            if time.monotonic() - begun > seconds:
                return float("inf")
            time.sleep(0.05)
        return time.monotonic() - begun

    def counts(self) -> dict:
        """Returns the number of machines by standing."""
        return self.ask("/v1/status")["devices"]

    def behind(self, number: int, but: str = "") -> int:
        """Returns the number of machines of which the hub does not have the event with this number or a later one."""
        return sum(
            1 for item in self.items("/v1/devices")
            if item["device"] != but and int((item.get("event") or ".0").rpartition(".")[2]) < number
        )


class Stream:
    """Follows the event stream of a hub: the machines of each incident, and whether it has ended."""

    def __init__(self) -> None:
        self._incidents: dict[str, dict] = {}
        self._lock = threading.Lock()
        self._answer = urllib.request.urlopen(f"http://127.0.0.1:{PORT}/v1/stream", timeout=600)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for line in self._answer:
                if line.startswith(b"data:") and b'"incident":{' in line:
                    incident = json.loads(line[5:])["incident"]
                    with self._lock:
                        self._incidents[incident["id"]] = incident
        except (OSError, ValueError, AttributeError):
            pass  # The hub was killed.

    def machines(self, is_open: bool) -> int:
        """Returns the sum of the machines of all open incidents, or of all that have ended."""
        with self._lock:
            return sum(i["deviceCount"] for i in self._incidents.values() if (i["end"] is None) == is_open)

    def incidents(self) -> int:
        with self._lock:
            return len(self._incidents)
