"""Fills the history file of a service to a size."""

import sqlite3
from pathlib import Path

_TARGETS = 20
_MINUTE = 60_000_000_000
_STEPS = "\x1e".join(
    "\x1f".join((kind, "ok", f"what the kernel says of the {kind} at number {{0}}", ""))
    for kind in ("vote", "address", "rule", "route", "link", "neighbour", "source", "verdict")
)


def fill(file: Path, size: int) -> int:
    """Writes outages of 1 to 29 s, one for each minute and target, backwards from the first run. Returns the size of the file in bytes."""
    database = sqlite3.connect(file)
    database.execute("PRAGMA journal_mode = WAL")
    (moment,) = database.execute("SELECT min(start) FROM run").fetchone()
    names = [(f"old {number}",) for number in range(_TARGETS)]
    database.executemany("INSERT INTO target (name) VALUES (?)", names)
    targets = [row[0] for row in database.execute("SELECT id FROM target WHERE name LIKE 'old %'")]
    (number,) = database.execute("SELECT coalesce(max(id), 0) FROM steps").fetchone()
    while True:
        with database:
            for _ in range(100):
                moment -= _MINUTE
                for target in targets:
                    number += 1
                    _write(database, number, target, moment)
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        (page,) = database.execute("PRAGMA page_size").fetchone()
        if pages * page >= size:
            break
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return file.stat().st_size


def _write(database: sqlite3.Connection, number: int, target: int, start: int) -> None:
    """Writes an outage of 1 to 29 s, and the time up until the next minute."""
    end = start + 1_000_000_000 * (1 + number % 29)
    database.execute("INSERT INTO steps (id, text) VALUES (?, ?)", (number, _STEPS.format(number)))
    row = "INSERT INTO interval VALUES (?, ?, ?, ?, ?, 'path', 0, ?, 0, ?, ?, ?)"
    database.execute(row, (target, start, end, "us", "route", "noRoute", start, number, start))
    database.execute(row, (target, end, start + _MINUTE, "up", None, None, None, None, None))
