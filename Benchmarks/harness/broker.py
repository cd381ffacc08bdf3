"""A mosquitto in the network namespace of the benchmark, configured as docs/fleet.md describes it."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PORT = 18883
PROGRAM = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")

_MAKE_CERTIFICATES = Path(__file__).resolve().parents[2] / "examples/fleet/make-certificates"


class Broker:
    """A running broker with its state in a folder. Leaving its `with` block ends it."""

    def __init__(self, folder: Path, tls: bool = False) -> None:
        self._folder = folder
        #: Files for a client with TLS: certificate of the authority, certificate of the client, private key.
        self.files: tuple[str, str, str] | None = None
        settings = [
            f"listener {PORT}", "allow_anonymous true", "user root", "persistence true", f"persistence_location {folder}/",
            "autosave_interval 60", "set_tcp_nodelay true", "max_queued_messages 100000", "log_dest none",
        ]
        if tls:
            subprocess.run([_MAKE_CERTIFICATES, folder, "127.0.0.1", "device"], check=True)
            self.files = (f"{folder}/authority.pem", f"{folder}/device.pem", f"{folder}/device.key")
            settings += [
                f"cafile {folder}/authority.pem", f"certfile {folder}/broker.pem", f"keyfile {folder}/broker.key", "require_certificate true",
            ]
        (folder / "mosquitto.conf").write_text("\n".join(settings) + "\n")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.start()

    @property
    def url(self) -> str:
        return f"{'mqtts' if self.files else 'mqtt'}://127.0.0.1:{PORT}"

    def start(self) -> None:
        assert PROGRAM
        self._process = subprocess.Popen([PROGRAM, "-c", self._folder / "mosquitto.conf"], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError("mosquitto does not listen")

    def end(self, number: int = signal.SIGKILL) -> None:
        self._process.send_signal(number)
        self._process.wait(60)

    def __enter__(self) -> "Broker":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def status(self, key: str) -> int:
        """Returns a memory field of /proc/PID/status in KiB."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(f"{key}:")).split()[1])

    def cpu(self) -> float:
        """Returns the CPU time in seconds."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
