"""Tests the interfaces of the service and of a hub by what they say of themselves. usage: api.py PROGRAM [REQUESTS]"""

import json
import os
import subprocess
import sys
import tempfile

from hub import Hub
from lab import Service, get, lose_link, lose_route, make_network, regain_link, wait

# What is said of single parameters is true, and two of them together may make no sense.
SERVICE = """
[[operations]]
include-path-regex = "availability$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

# What came after an event may not be kept any more.
[[operations]]
include-path-regex = "events$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "410"]
"""

HUB = """
# Each parameter is optional, but a request needs one of them.
[[operations]]
include-path-regex = "v1/devices$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

# A page comes after an incident that is kept, and of a site that is known.
[[operations]]
include-path-regex = "incidents$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404"]

[[operations]]
include-path-regex = "events$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "410"]
"""


def failures(address):
    """How often it answered that something went wrong inside."""
    name = 'reachability_http_answers_total{code="5xx"}'
    return next(int(line.split()[1]) for line in get(address, "/metrics").splitlines() if line.startswith(name))


def ask(address, examples, settings, *more):
    """Asks for all that is described, and looks whether the answers are as they are described."""
    before = failures(address)
    with tempfile.TemporaryDirectory() as directory:
        configuration = os.path.join(directory, "schemathesis.toml")
        with open(configuration, "w") as file:
            file.write(settings)
        status = subprocess.call(
            [
                os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", configuration, "run",
                f"http://{address}/openapi.json", "--checks", "all", "--max-examples", str(max(1, examples)),
                # It does not end.
                "--exclude-path", "/v1/stream", "--seed", "18", "--no-color", "--request-timeout", "20", *more,
            ],
            cwd=directory,
        )
    assert status == 0, "the interface is not what it says"
    assert failures(address) == before, "something went wrong inside"


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
        # So many examples make so many requests, by experience.
        ask(service.address, requests // 30, SERVICE)
    finally:
        regain_link()
        service.stop()


def ask_hub(program, requests):
    with Hub(program) as hub:
        # With a token that lets it change something: machines are forgotten, and the configuration is read again.
        ask(hub.address, requests // 20, HUB, "--header", f"Authorization: Bearer {hub.token}")


def main(program, requests=2000):
    make_network()
    ask_service(program, int(requests))
    if os.environ.get("HUB"):
        ask_hub(program, int(requests) // 2)


if __name__ == "__main__":
    main(*sys.argv[1:])
