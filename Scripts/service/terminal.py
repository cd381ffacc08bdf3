"""Records `watch` and `why` in a network namespace while a cable is unplugged and plugged in again, and writes an animated SVG.

usage: Scripts/test-service terminal FILE.svg
"""

import html
import os
import pty
import select
import subprocess
import sys
import threading
import time

import lab

COLUMNS = 120
PROMPT = "$ "
# The pause before each command and at the end of the animation, in seconds.
PAUSE = 1.5
END = 4.0


class Recording:
    """Lines of terminal text, each with the second at which it appeared."""

    def __init__(self):
        self.began = time.monotonic()
        self.lines = []

    def add(self, text, kind="out"):
        self.lines.append((time.monotonic() - self.began, kind, text))

    def follow(self, command):
        """Runs a command with a pseudo-terminal as its output and records its lines."""
        self.add(PROMPT + " ".join(["reachability", *command[1:]]), "command")
        master, slave = pty.openpty()
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": str(COLUMNS), "TZ": "UTC"}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=environment)
        os.close(slave)

        def read():
            rest = b""
            while select.select([master], [], [], 60)[0]:
                try:
                    rest += os.read(master, 65536)
                except OSError:
                    break
                *complete, rest = rest.split(b"\n")
                for line in complete:
                    self.add(line.decode().rstrip("\r"))
            os.close(master)

        thread = threading.Thread(target=read)
        thread.start()
        return process, thread


def make_network():
    for command in (
        "link set lo up", "link add eth0 type veth peer name p0", "link set eth0 up", "link set p0 up",
        "address add 192.0.2.7/24 dev eth0", "route add default via 192.0.2.1",
    ):
        lab.ip(*command.split())
    lab.wait(lambda: b"state UP" in subprocess.check_output(["ip", "link", "show", "eth0"]))


def record(binary):
    make_network()
    recording = Recording()
    watch, reader = recording.follow([binary, "watch"])
    lab.wait(lambda: len(recording.lines) == 2)
    time.sleep(PAUSE)
    recording.add("# the cable is unplugged", "note")
    lab.ip("link", "set", "p0", "down")
    lab.wait(lambda: len(recording.lines) == 4)
    time.sleep(PAUSE)
    why, explanation = recording.follow([binary, "why"])
    why.wait(timeout=20)
    explanation.join()
    time.sleep(2 * PAUSE)
    count = len(recording.lines)
    recording.add("# the cable is plugged in again", "note")
    lab.ip("link", "set", "p0", "up")
    lab.wait(lambda: len(recording.lines) == count + 2)
    watch.terminate()
    watch.wait(timeout=20)
    reader.join()
    return recording.lines


def wrapped(lines):
    for second, kind, text in lines:
        while len(text) > COLUMNS:
            cut = text.rfind(" ", 0, COLUMNS)
            cut = cut if cut > 0 else COLUMNS
            yield second, kind, text[:cut]
            text = "    " + text[cut:].lstrip()
        yield second, kind, text


def picture(lines):
    """An SVG in which each line appears at its second. Without animation, all lines are visible."""
    lines = list(wrapped(lines))
    total = lines[-1][0] + END
    height, left, top, advance = 20, 16, 52, 8.43
    width = round(2 * left + COLUMNS * advance)
    rules, rows = [], []
    for index, (second, kind, text) in enumerate(lines):
        share = 100 * second / total
        rules.append(f"@keyframes l{index}{{0%,{share:.2f}%{{opacity:0}}{share + 0.01:.2f}%,100%{{opacity:1}}}}"
                     f".l{index}{{animation:l{index} {total:.1f}s infinite}}")
        state = " bad" if ": not reachable" in text else " good" if ": reachable" in text else ""
        rows.append(f'<text x="{left}" y="{top + index * height}" class="l{index} {kind}{state}" xml:space="preserve">{html.escape(text)}</text>')
    style = (
        "text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#d5dbe3;white-space:pre}"
        ".command{fill:#fff;font-weight:bold}.note{fill:#8b96a5}.good{fill:#6fdc9b}.bad{fill:#ff8f8f}"
        + "".join(rules) + "@media (prefers-reduced-motion:reduce){text{animation:none!important}}"
    )
    bottom = top + len(lines) * height
    dots = "".join(f'<circle cx="{20 + 18 * index}" cy="18" r="5" fill="#4b5563"/>' for index in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" width="{width}" height="{bottom}" role="img" '
        f'aria-label="reachability watch reports the loss of the carrier, reachability why explains it, and the return is reported">'
        f'<style>{style}</style><rect width="100%" height="100%" rx="8" fill="#161b22"/>{dots}{"".join(rows)}</svg>\n'
    )


if __name__ == "__main__":
    binary = os.path.abspath(sys.argv[1])
    with open(sys.argv[2], "w") as file:
        file.write(picture(record(binary)))
