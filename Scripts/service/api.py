"""Tests the interface by what it says of itself. usage: api.py PROGRAM [REQUESTS]"""

import json
import os
import subprocess
import sys
import tempfile

from lab import Service, lose_link, lose_route, make_network, regain_link, wait

# What is said of single parameters is true, and two of them together may make no sense.
CONFIGURATION = """
[[operations]]
include-path-regex = "availability$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

# What came after an event may not be kept any more.
[[operations]]
include-path-regex = "events$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "410"]
"""


def count(service):
    return len(json.loads(service.get("/v1/outages"))["items"])


def main(program, requests=2000):
    make_network()
    service = Service(program)
    try:
        for lose in (lose_link, lose_route):
            before = count(service)
            lose()
            wait(lambda: count(service) > before)
            regain_link()
            wait(lambda: json.loads(service.get("/v1/status"))["targets"][0]["state"] == "up")
        with tempfile.TemporaryDirectory() as directory:
            configuration = os.path.join(directory, "schemathesis.toml")
            with open(configuration, "w") as file:
                file.write(CONFIGURATION)
            # So many examples make so many requests, by experience.
            examples = max(1, int(requests) // 30)
            status = subprocess.call(
                [
                    os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", configuration, "run",
                    f"http://{service.address}/openapi.json", "--checks", "all", "--max-examples", str(examples),
                    # It does not end.
                    "--exclude-path", "/v1/stream", "--seed", "18", "--no-color", "--request-timeout", "20",
                ],
                cwd=directory,
            )
        assert status == 0, "the interface is not what it says"
        answers = [line for line in service.get("/metrics").splitlines() if line.startswith("reachability_http_answers")]
        print("api:", *answers, sep="\n  ")
        assert any(line.endswith('5xx"} 0') for line in answers), "something went wrong inside"
    finally:
        regain_link()
        service.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
