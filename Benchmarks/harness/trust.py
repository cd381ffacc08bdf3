"""The cost of an evaluation of a server's certificates, compared with OpenSSL's verification."""

import subprocess
import tempfile
from pathlib import Path

from .context import Context, Goal
from .statistics import median, table

_PROGRAM = Path(__file__).resolve().parent.parent.parent / ".build/release/TrustBenchmark"
_KINDS = {"ecdsa": "ECDSA P-256", "rsa": "RSA 2048"}
_COUNT = 400


def measure(context: Context) -> dict:
    reference = context.references / "verify-chain"
    if not _PROGRAM.exists():
        return {"missing": "PRODUCTS=TrustBenchmark Scripts/build-release"}
    if not reference.exists():
        return {"missing": "OpenSSL's headers were not found when the references were built: apt-get install libssl-dev"}
    count = str(context.scaled(_COUNT))
    with tempfile.TemporaryDirectory() as directory:
        host, time = _output(_PROGRAM, "forge", directory).split()
        results: dict = {kind: {"openssl": [], "first": [], "repeated": []} for kind in _KINDS}
        for number in range(context.rounds):
            for kind, times in results.items():
                chain = f"{directory}/{kind}"
                turns = [
                    ("openssl", (reference, chain, count, host, time)),
                    ("first", (_PROGRAM, "first", chain, count)),
                    ("repeated", (_PROGRAM, "repeated", chain, count)),
                ]
                for name, command in turns if number % 2 else reversed(turns):
                    times[name].append(int(_output(*command)))
    return results


def _output(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def summary(results: dict) -> dict:
    if "missing" in results:
        return results
    return {kind: {name: median(values) for name, values in times.items()} for kind, times in results.items()}


def report(summary: dict) -> list[str]:
    if "missing" in summary:
        return [f"evaluation of certificates: not measured ({summary['missing']})"]
    rows = [["one evaluation of a chain of three, us", "OpenSSL", "ServerTrust", "ratio", "repeated", "of the first"]]
    for kind, times in summary.items():
        rows.append([
            _KINDS[kind],
            *(f"{times[name] / 1000:.1f}" for name in ("openssl", "first")),
            f"{_ratio(times):.2f}",
            f"{times['repeated'] / 1000:.1f}",
            f"{_share(times):.1f} %",
        ])
    return table(rows)


def goals(summary: dict) -> list[Goal]:
    if "missing" in summary:
        return []
    return [
        goal
        for kind, times in summary.items()
        for goal in (
            Goal(f"one evaluation, {_KINDS[kind]}, times OpenSSL", _ratio(times), 2),
            Goal(f"repeated evaluation, {_KINDS[kind]}, percent of the first", _share(times), 5),
        )
    ]


def _ratio(times: dict) -> float:
    return times["first"] / times["openssl"]


def _share(times: dict) -> float:
    return 100 * times["repeated"] / times["first"]
