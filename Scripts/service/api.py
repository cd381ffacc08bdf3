"""Tests the HTTP APIs of the service and the hub against their OpenAPI documents. usage: api.py PROGRAM [REQUESTS]"""

import json
import os
import subprocess
import sys
import tempfile

from hub import Hub
from lab import Service, get, lose_link, lose_route, make_network, regain_link, wait

# The document describes each parameter alone; some combinations of two are rejected.
SERVICE = """
[[operations]]
include-path-regex = "availability$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

# The events after the requested one may have been removed from memory.
[[operations]]
include-path-regex = "events$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "410"]
"""

HUB = """
# Each parameter is optional, but a request needs one of them.
[[operations]]
include-path-regex = "v1/devices$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

# A page starts after an incident that exists, and a site must be known.
[[operations]]
include-path-regex = "incidents$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

[[operations]]
include-path-regex = "events$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "410"]
"""


def failures(address):
    """Returns the number of responses with a status of 500 to 599."""
    name = 'reachability_http_answers_total{code="5xx"}'
    return next(int(line.split()[1]) for line in get(address, "/metrics").splitlines() if line.startswith(name))


def ask(address, examples, settings, *more):
    """Sends requests for all described operations, and checks the responses against the description."""
    before = failures(address)
    with tempfile.TemporaryDirectory() as directory:
        configuration = os.path.join(directory, "schemathesis.toml")
        with open(configuration, "w") as file:
            file.write(settings)
        status = subprocess.call(
            [
                os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", configuration, "run",
                f"http://{address}/openapi.json", "--checks", "all", "--max-examples", str(max(1, examples)),
                # The stream does not end.
                "--exclude-path", "/v1/stream", "--seed", "18", "--no-color", "--request-timeout", "20", *more,
            ],
            cwd=directory,
        )
    assert status == 0, "the API does not match its description"
    assert failures(address) == before, "internal errors"


def count(service):
    return len(json.loads(service.get("/v1/outages"))["items"])


def ask_service(program, requests):
    service = Service(program)
    try:
        for lose in (lose_link, lose_route):
            before = count(service)
            lose()
            wait(lambda: count(service) > before)
            regain_link()
            wait(lambda: json.loads(service.get("/v1/status"))["targets"][0]["state"] == "up")
        # The number of requests is about 30 times the number of examples.
        ask(service.address, requests // 30, SERVICE)
    finally:
        regain_link()
        service.stop()


def ask_hub(program, requests):
    with Hub(program) as hub:
        # The token permits changes: forgetting devices, and reloading the configuration.
        ask(hub.address, requests // 20, HUB, "--header", f"Authorization: Bearer {hub.token}")


def main(program, requests=2000):
    make_network()
    ask_service(program, int(requests))
    if os.environ.get("HUB"):
        ask_hub(program, int(requests) // 2)


if __name__ == "__main__":
    main(*sys.argv[1:])
