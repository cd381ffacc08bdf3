"""The instructions of a small GET and the memory of a large body, compared with async-http-client, URLSession and curl."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from . import cable
from .context import Context, Goal
from .file_server import FileServer
from .statistics import median, table

_BUILT = Path(__file__).resolve().parent.parent.parent / ".build/release"
_SENDERS = {
    "client": "async-http-client", "session": "ReachabilityRequests", "urlsession": "URLSession", "curl": "curl",
}
_GETS = 400
_ROUNDS = 3
_SIZE = 1 << 30
_MORE_INSTRUCTIONS = 60
_MEMORY = 16


def measure(context: Context) -> dict:
    folder = context.binary.parent if context.binary else _BUILT
    program = folder / "RequestBenchmark"
    if not program.exists():
        return {"missing": "Scripts/swift-build -c release --product RequestBenchmark"}
    return {
        "gets": _gets(program, context.scaled(_GETS) + 20),
        "memory": _memory(program, context.scaled(_SIZE)),
        "cable": cable.measure(context, folder),
    }


# MARK: instructions


def _gets(program: Path, count: int) -> dict:
    """Returns the instructions of a request: the difference between 2 x `count` and `count` requests excludes the start."""
    if not shutil.which("valgrind") or not shutil.which("strip"):
        return {"missing": "apt-get install valgrind binutils"}
    server = FileServer("127.0.0.1")
    folder = tempfile.TemporaryDirectory()
    # valgrind 3.19 fails on Swift's debug information.
    stripped = Path(folder.name) / program.name
    subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
    try:
        rounds: dict = {name: [] for name in _SENDERS if name != "curl" or shutil.which("curl")}
        for _ in range(_ROUNDS):
            for name, values in rounds.items():
                few, many = (_instructions(_get(stripped, name, f"{server.url}/small", n)) for n in (count, 2 * count))
                values.append((many - few) / count)
        return rounds
    finally:
        server.close()
        folder.cleanup()


def _get(program: Path, name: str, url: str, count: int) -> list[str]:
    if name == "curl":
        return ["curl", "-fsS", "--output", os.devnull, f"{url}?[1-{count}]"]
    return [str(program), "get", name, url, str(count)]


def _instructions(command: list[str]) -> int:
    """Returns the instructions of all threads in user space. The kernel's work is about the same for all programs."""
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    done = subprocess.run([*tool, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        raise RuntimeError(f"{command}: {done.stderr[-400:]}")
    return int(collected[1])


# MARK: memory


def _memory(program: Path, size: int) -> dict:
    """Returns by how many MiB the maximum resident size grew during the transfer of a body of `size` bytes."""
    server = FileServer("127.0.0.1", size)
    results: dict = {"bytes": size}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = f"{folder}/large"
        try:
            for name in _SENDERS:
                if name == "curl" and not shutil.which("curl"):
                    continue
                results[name] = {}
                for way in "down", "up":
                    results[name][way] = _grown(program, name, way, f"{server.url}/large", path)
        finally:
            server.close()
    return results


def _grown(program: Path, name: str, way: str, url: str, path: str) -> float:
    if way == "up":
        url = url.replace("/large", "/")
    if name != "curl":
        command = [str(program), way, name, url, path]
        return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout) / 1024
    # For curl the result includes the memory at its start.
    upload = ["--upload-file", path, "--output", os.devnull]
    process = subprocess.Popen(["curl", "-fsS", *(["--output", path] if way == "down" else upload), url])
    most = 0
    while process.poll() is None:
        text = Path(f"/proc/{process.pid}/status").read_text()
        most = max([most, *(int(value) for value in re.findall(r"VmHWM:\s+(\d+)", text))])
        time.sleep(0.005)
    if process.returncode:
        raise RuntimeError(f"curl ended with {process.returncode}")
    return most / 1024


# MARK: report


def summary(results: dict) -> dict:
    if "missing" in results:
        return results
    gets = results["gets"]
    if "missing" not in gets:
        gets = {name: median(values) for name, values in gets.items()}
    return {**results, "gets": gets}


def report(summary: dict) -> list[str]:
    if "missing" in summary:
        return [f"requests: not measured ({summary['missing']})"]
    gets, memory = summary["gets"], summary["memory"]
    if "missing" in gets:
        lines = [f"a small GET: not measured ({gets['missing']})"]
    else:
        rows = [["a small GET", "1000 instructions", "times async-http-client"]]
        rows += [[_SENDERS[name], f"{value / 1000:.0f}", f"{value / gets['client']:.2f}"] for name, value in gets.items()]
        lines = table(rows)
    rows = [[f"memory for {memory['bytes'] >> 20} MiB, in MiB above the start", "down to a file", "up from a file"]]
    for name, values in memory.items():
        if name != "bytes":
            words = _SENDERS[name] + (", including its start" if name == "curl" else "")
            rows.append([words, *(f"{values[way]:.1f}" for way in ("down", "up"))])
    return [*lines, "", *table(rows), "", *cable.report(summary["cable"])]


def goals(summary: dict) -> list[Goal]:
    if "missing" in summary:
        return []
    gets, memory = summary["gets"], summary["memory"]["session"]
    goals = [Goal(f"memory of a large body {way}, MiB", memory[way], _MEMORY) for way in ("down", "up")]
    if "missing" not in gets:
        more = 100 * (gets["session"] / gets["client"] - 1)
        goals.insert(0, Goal("a small GET, percent more instructions than async-http-client", more, _MORE_INSTRUCTIONS))
    return goals + cable.goals(summary["cable"])
