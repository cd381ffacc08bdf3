"""Writes a history of 90 days of six targets into the database of a stopped service."""

import math
import random
import sqlite3

SECOND, DAY, DAYS = 10**9, 86400, 90
# The targets: address, latency in milliseconds.
TARGETS = {
    "website": ("203.0.113.10", 18), "shop": ("203.0.113.11", 31), "api": ("203.0.113.12", 24),
    "mail": ("203.0.113.13", 42), "nas": ("192.0.2.20", 5), "printer": ("192.0.2.21", 7),
}
BEYOND = ("website", "shop", "api", "mail")
# Days ago, seconds, targets, attribution, cause, reason, length of maintenance. The times are those of one provider outage, one maintenance,
# and small faults.
FAULTS = (
    (71.40, 4.001, TARGETS, "us", "link", "noCarrier", False), (62.18, 743, ("mail",), "them", "refused", "refused", False),
    (48.61, 0.412, BEYOND, "us", "route", "noRoute", False), (40.07, 251, ("shop",), "them", "http", "statusNotExpected", False),
    (23.32, 4338, BEYOND, "upstream", "provider", None, False), (17.55, 96, ("printer",), "them", "host", "silent", False),
    (9.90, 7200, ("nas",), "up", None, None, True), (6.27, 10_800, ("website",), "up", "degraded", None, False),
    (3.44, 1868, ("api",), "them", "http", "statusNotExpected", False), (0.61, 9.2, TARGETS, "us", "link", "noCarrier", False),
    (0.32, 154, ("printer",), "them", "host", "silent", False),
)


def text(chance, latency, moment, count, failed):
    """Returns the statistics of checks in the format of `CheckBucket`."""
    hour = moment / SECOND % DAY / 3600
    middle = latency * (1 + 0.35 * math.exp(-((hour - 20) / 2.5) ** 2))
    values = [middle * chance.lognormvariate(0, 0.13) for _ in range(count)]
    bins = {}
    for value in values:
        micros = max(1, int(value * 1000))
        doublings = micros.bit_length() - 1
        number = doublings * 8 + ((micros - (1 << doublings)) * 8 >> doublings)
        bins[number] = bins.get(number, 0) + 1
    pairs = ",".join(f"{number}={bins[number]}" for number in sorted(bins))
    times = [str(int(bound * 10**6)) for bound in (min(values), max(values))] if values else ["", ""]
    return ";".join([str(count + failed), *times, f"silent={failed}" if failed else "", pairs])


def seed(file):
    chance = random.Random(90)
    with sqlite3.connect(file) as db:
        run, end = db.execute('SELECT id, coalesce("end", mark) FROM run ORDER BY id DESC').fetchone()
        begin = end - DAYS * DAY * SECOND
        db.execute("DELETE FROM interval")
        db.execute("DELETE FROM checks")
        db.execute("UPDATE boot SET start = ?", (begin,))
        db.execute("UPDATE run SET start = ?", (begin,))
        for name, (_, latency) in TARGETS.items():
            target, = db.execute("SELECT id FROM target WHERE name = ?", (name,)).fetchone()
            last, lost = begin, []
            for days, seconds, names, *fault in FAULTS:
                if name not in names:
                    continue
                attribution, cause, reason, maintenance = fault
                # Checks notice an outage at different times.
                start = end - int(days * DAY * SECOND) + (0 if attribution == "us" else chance.randrange(9 * SECOND))
                stop = start + int(seconds * SECOND)
                is_outage = attribution != "up"
                basis = "path" if attribution == "us" else "path+checks"
                bound = 0 if attribution == "us" or not is_outage else chance.randrange(5 * SECOND)
                add = "INSERT INTO interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)"
                db.execute(add, (target, last, start, "up", None, "path+checks", 0, None, 0, None))
                db.execute(add, (target, start, stop, attribution, cause, basis, int(maintenance), reason, bound, start if is_outage else None))
                last = stop
                if is_outage:
                    lost.append((start, stop))
            db.execute(add, (target, last, end, "up", None, "path+checks", 0, None, 0, None))
            for length, first, stop in ((3600, begin, end - 14 * DAY * SECOND), (300, end - 14 * DAY * SECOND, end)):
                step = length * SECOND
                for moment in range(first // step * step, stop // step * step, step):
                    share = sum(max(0, min(stop, moment + step) - max(start, moment)) for start, stop in lost) / step
                    failed = round(length / 30 * share) + (chance.random() < 0.002)
                    row = (target, step, moment, run, text(chance, latency, moment, max(0, length // 30 - failed), failed))
                    db.execute("INSERT OR REPLACE INTO checks VALUES (?, ?, ?, ?, ?)", row)
