"""The instructions of a change in user space, which do not depend on the load of the machine."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from .context import Context, Goal
from .listener import Listener, Program
from .world import changes

#: How often the default route is deleted and added.
_COUNT = 20
#: The seconds after a line in which the monitor evaluates once more.
_REST = 0.5
_GOAL = 120


def measure(context: Context) -> dict:
    if not context.binary:
        return {"missing": "the tool"}
    if not shutil.which("valgrind") or not shutil.which("strip"):
        return {"missing": "apt-get install valgrind binutils"}
    with tempfile.TemporaryDirectory() as folder:
        # valgrind 3.19 fails on Swift's debug information.
        stripped = Path(folder) / context.binary.name
        subprocess.run(["strip", "--strip-debug", "-o", stripped, context.binary], check=True)
        watch = replace(context, binary=stripped).watch("1.1.1.1")
        log = Path(folder) / "log"
        tool = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", f"--log-file={log}")
        program = replace(watch, command=(*tool, *watch.command), patience=30, beginning=0)
        # The difference between twice as many changes and the count excludes the start.
        few, many = (_instructions(context, program, log, count) for count in (_COUNT, 2 * _COUNT))
    return {"instructions": (many - few) / (2 * _COUNT)}


def _instructions(context: Context, program: Program, log: Path, count: int) -> int:
    lost, back = changes()[:2]
    with Listener(program) as listener:
        if listener.next(60) is None:
            raise RuntimeError("no line within 60 s")
        listener.settle(_REST)
        for _ in range(count):
            for change in lost, back:
                made = context.world.make(change)
                line, _ = listener.answer(change, made)
                if line is None:
                    raise RuntimeError(f"no line for {change}")
                time.sleep(_REST)
        os.kill(listener.pid, signal.SIGTERM)
        os.waitid(os.P_PID, listener.pid, os.WEXITED | os.WNOWAIT)
    collected = re.search(r"Collected : (\d+)", log.read_text())
    if not collected:
        raise RuntimeError(f"{program.command}: {log.read_text()[-400:]}")
    return int(collected[1])


def summary(results: dict) -> dict:
    return results


def report(summary: dict) -> list[str]:
    if "missing" in summary:
        return [f"instructions of a change: not measured ({summary['missing']})"]
    return [f"instructions of a change in user space: {summary['instructions'] / 1000:.0f} thousand"]


def goals(summary: dict) -> list[Goal]:
    if "missing" in summary:
        return []
    return [Goal("thousand instructions of a change", summary["instructions"] / 1000, _GOAL)]
