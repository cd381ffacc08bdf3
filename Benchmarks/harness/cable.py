"""Disconnects the cable during a download: how many bytes are transferred twice, and how soon the transfer continues after reconnection."""

import shlex
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import netlink
from .context import Context, Goal
from .file_server import FileServer
from .namespace import Namespace
from .netlink import Sender
from .statistics import table

_SIZE = 1 << 30
#: The duration of a download without interruption, in seconds.
_SECONDS = 16
_OUTAGES = 1, 3, 10, 30
#: The limits: bytes transferred twice, and milliseconds from the first packet to the first byte in the file.
_PIECE = 1 << 16
_MILLISECONDS = 50
_NEAR, _FAR = (10, "c0", "192.0.2.2"), (20, "s0", "192.0.2.1")
#: Constants of socket(7) and packet(7) that Python's modules do not have.
_SO_TIMESTAMPNS = 35
_ETH_P_IP = 0x0800
_PACKET_OUTGOING = 4


@dataclass
class _Program:
    name: str
    #: A shell command.
    command: str
    #: The file that the download grows.
    file: str


def measure(context: Context, folder: Path) -> dict:
    """Runs the measurement with the programs in a folder."""
    size, outages = context.scaled(_SIZE), _OUTAGES[:1] if context.quick else _OUTAGES
    results: dict = {"size": size}
    with Cable(size) as cable:
        for program in _programs(folder, cable.server.url):
            results[program.name] = {seconds: cable.run(program, seconds) for seconds in outages}
    return results


def _programs(folder: Path, server: str) -> list[_Program]:
    url = f"{server}/large"
    session, tool = (shlex.quote(str(folder / name)) for name in ("RequestBenchmark", "reachability-tools"))
    programs = [_Program("ReachabilityRequests", f"exec {session} down session {url} file", "file.part")]
    if (folder / "reachability-tools").exists():
        programs.append(_Program("reachability download", f"exec {tool} download --output file {url}", "file.part"))
    if shutil.which("curl"):
        for name, more in ("curl -C - --retry", ""), ("and --speed-time 2", " --speed-limit 1 --speed-time 2"):
            curl = f"curl -fsS -C - --retry 9{more} --output file {url}"
            programs.append(_Program(name, f"until {curl}; do sleep 1; done", "file"))
    return programs


class Cable:
    """A client and a server at the ends of a veth link, each in its own network namespace."""

    def __init__(self, size: int) -> None:
        self._near, self._far = Namespace.fresh(), Namespace.fresh()
        with self._far.entered():
            self._far_end = Sender()
        with self._near.entered():
            here = Sender()
            (near, near_name, near_address), (far, far_name, far_address) = _NEAR, _FAR
            here.do(netlink.set_link(1, True))
            here.do(netlink.add_veth(near_name, near, far_name, far, self._far.descriptor))
            self._far_end.do(netlink.set_link(far, True), netlink.add_address(far, far_address, 24))
            here.do(netlink.set_link(near, True), netlink.add_address(near, near_address, 24))
            here.do(netlink.add_default(near, far_address, 100))
            here.close()
        with self._far.entered():
            self.server = FileServer(far_address, size, size // _SECONDS)
        time.sleep(1.5)

    def __enter__(self) -> "Cable":
        return self

    def __exit__(self, *_) -> None:
        self.server.close()
        self._far_end.close()
        self._near.close()
        self._far.close()

    def run(self, program: _Program, outage: float) -> dict:
        """Runs a download with the cable disconnected for `outage` seconds after a third of it."""
        before = self.server.acknowledged()
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            file = Path(folder) / program.file
            with self._near.entered():
                begun = time.time_ns()
                process = subprocess.Popen(["sh", "-c", program.command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                _until(lambda: _size(file) > self.server.size // 3)
                self._far_end.do(netlink.set_link(_FAR[0], False))
                time.sleep(outage)
                packet, progress = self._plug_in(file)
                process.wait(300)
            finally:
                process.kill()
            size = _size(Path(folder) / "file")
        if size != self.server.size:
            raise RuntimeError(f"{program.name} left {size} bytes of {self.server.size}")
        return {
            "again": self.server.acknowledged() - before - size,
            "packet": packet,
            "progress": progress,
            "seconds": (time.time_ns() - begun) / 1e9 - outage,
        }

    def _plug_in(self, file: Path) -> tuple[int, int]:
        """Connects the cable. Returns the nanoseconds to the first packet from the server, and from there to the first byte in the file."""
        with self._near.entered():
            packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_IP))
        packets.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        packets.bind((_NEAR[1], _ETH_P_IP))
        size, first = _size(file), []
        back = time.time_ns()
        self._far_end.do(netlink.set_link(_FAR[0], True))
        listener = threading.Thread(target=lambda: first.append(_incoming(packets, back)), daemon=True)
        listener.start()
        # A client that starts again truncates the file first.
        _until(lambda: _size(file) > size)
        grown = time.time_ns()
        listener.join(10)
        packets.close()
        return first[0] - back, grown - first[0]


def _incoming(packets: socket.socket, since: int) -> int:
    """Returns the kernel's time stamp of the next packet that the server sent."""
    while True:
        _, messages, _, address = packets.recvmsg(64, 64)
        seconds, nanoseconds = struct.unpack("qq", messages[0][2][:16])
        when = seconds * 1_000_000_000 + nanoseconds
        if address[2] != _PACKET_OUTGOING and when >= since:
            return when


def _until(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("a download makes no progress")
        time.sleep(0.0005)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


# MARK: report


def report(summary: dict) -> list[str]:
    heading = f"{summary['size'] >> 20} MiB, cable disconnected for"
    rows = [[heading, "seconds", "KiB twice", "ms from the cable to a packet", "ms from there to new data", "s in total, without the outage"]]
    for name, outages in summary.items():
        if name == "size":
            continue
        for seconds, values in outages.items():
            rows.append([
                name, f"{seconds}", f"{values['again'] / 1024:.0f}", f"{values['packet'] / 1e6:.1f}",
                f"{values['progress'] / 1e6:.1f}", f"{values['seconds']:.1f}",
            ])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    ours = [summary[name] for name in ("ReachabilityRequests", "reachability download") if name in summary]
    outages = [values for outages in ours for values in outages.values()]
    return [
        Goal("cable disconnected: bytes transferred twice", max(values["again"] for values in outages), _PIECE),
        Goal("cable disconnected: ms from packets to new data", max(values["progress"] for values in outages) / 1e6, _MILLISECONDS),
    ]
