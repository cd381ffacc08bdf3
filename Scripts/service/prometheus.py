"""Tests metrics, rules and dashboard with a real Prometheus. usage: prometheus.py PROGRAM"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from lab import Service, ip, lose_link, make_network, regain_link, wait

EXAMPLES = "examples/prometheus"
PROMETHEUS = "127.0.0.1:9090"
# Ten seconds hold fifty of them, so that what increase() adds at the ends of a window is little.
INTERVAL = "100ms"
SECONDS = 'reachability_target_seconds_total{job="reachability",state="us"}'


def ask(path, **parameters):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{PROMETHEUS}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=20) as answer:
        return json.load(answer)["data"]["result"]


def find(query):
    result = ask("query", query=query)
    return float(result[0]["value"][1]) if result else None


def value(query):
    """Waits until there is one: after a scrape that failed there is none."""
    found = []
    wait(lambda: found.append(find(query)) or found[-1] is not None)
    return found[-1]


def check_files(service):
    for form in ("", "application/openmetrics-text"):
        request = urllib.request.Request(f"http://{service.address}/metrics", headers={"Accept": form})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=20) as answer:
            text = answer.read()
        # promtool reads the text format only.
        if form:
            assert text.endswith(b"# EOF\n"), text[-100:]
        else:
            subprocess.run(["promtool", "check", "metrics"], input=text, check=True)
    for words in (
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "reachability.rules.yml"),
        ("test", "rules", "reachability.rules.test.yml"),
    ):
        subprocess.run(["promtool", *words], cwd=EXAMPLES, check=True)


def start(directory):
    with open(f"{EXAMPLES}/prometheus.yml") as file:
        text = file.read()
    text = text.replace("15s", INTERVAL).replace("reachability.rules.yml", os.path.abspath(f"{EXAMPLES}/reachability.rules.yml"))
    with open(f"{directory}/prometheus.yml", "w") as file:
        file.write(text)
    log = open(f"{directory}/log", "w")
    return subprocess.Popen(
        [
            "prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/data",
            f"--web.listen-address={PROMETHEUS}", "--web.enable-lifecycle",
        ],
        stdout=log,
        stderr=log,
    )


def is_ready():
    try:
        return find('up{job="reachability"}') == 1 and find(SECONDS) is not None
    except OSError:
        return False


def measure(service):
    """Loses the link five times; what was lost, and what Prometheus says of it."""
    begin, before = time.time(), value(SECONDS)
    outages = []
    for seconds in (0.04, 0.4, 0.04, 1.0, 0.4):
        service.lose_link(seconds)
        outages.append(service.newest_outage())
        time.sleep(1)
    assert [item["attribution"] for item in outages] == ["us"] * 5, [item["id"] for item in outages]
    truth = sum(item["durationNanoseconds"] for item in outages) / 1e9
    wait(lambda: abs(value(SECONDS) - before - truth) < 1e-6)
    # At its two ends a window is guessed, by up to an interval of scrapes each: 120 of them make that less than 2 %.
    time.sleep(max(0, begin + 10 - time.time()))
    window = int(time.time() - begin + 2)
    estimate = value(f"increase({SECONDS}[{window}s])")
    print(f"prometheus: lost {truth:.9f} s, the same by the counter, by increase() over {window} s {estimate:.6f} s")
    return abs(estimate / truth - 1)


def test_seconds(service):
    """What is lost between two scrapes is in the counter, exactly."""
    # A scrape that failed at an end of the window, for want of a processor, makes the guess a worse one.
    assert any(measure(service) < 0.02 for _ in range(3)), "increase() is further away than 2 %"


def test_dashboard():
    """Each query of the dashboard finds something."""
    with open(f"{EXAMPLES}/grafana.json") as file:
        dashboard = json.load(file)
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            name = re.match(r"label_values\((.*), *(\w+)\)", variable["query"])
            assert name, variable["query"]
            queries.append(name.group(1))
    for query in queries:
        text = query.replace("$__rate_interval", "10s").replace("$__range", "10s").replace("$target", ".*")
        assert "$" not in text, text
        print(f"  {text}")
        wait(lambda: ask("query", query=text))
    print(f"prometheus: {len(queries)} queries of the dashboard find something")


def test_probe():
    wait(lambda: find('probe_success{job="probe",instance="internet"}') == 1)
    lose_link()
    wait(lambda: find('probe_success{job="probe",instance="internet"}') == 0)
    regain_link()


def main(program):
    make_network()
    service = Service(program)
    with tempfile.TemporaryDirectory() as directory:
        prometheus = start(directory)
        try:
            check_files(service)
            wait(is_ready, 60)
            test_seconds(service)
            test_dashboard()
            test_probe()
        except BaseException:
            with open(f"{directory}/log") as file:
                print(file.read()[-2000:], file=sys.stderr)
            raise
        finally:
            prometheus.terminate()
            prometheus.wait(20)
            service.stop()
    print("prometheus: all is well")


if __name__ == "__main__":
    main(*sys.argv[1:])
