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
# 10 s contain 100 scrapes, so that the extrapolation of increase() at the ends of a window is small.
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
    """Waits until the query has a value: after a failed scrape it has none."""
    found = []
    wait(lambda: found.append(find(query)) or found[-1] is not None)
    return found[-1]


def check_files(service):
    for form in ("", "application/openmetrics-text"):
        request = urllib.request.Request(f"http://{service.address}/metrics", headers={"Accept": form})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=20) as answer:
            text = answer.read()
        # promtool reads only the text format.
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
    """Sets the link down five times, and compares the length of the outages with what Prometheus reports."""
    begin, before = time.time(), value(SECONDS)
    outages = []
    for seconds in (0.04, 0.4, 0.04, 1.0, 0.4):
        service.lose_link(seconds)
        outages.append(service.newest_outage())
        time.sleep(1)
    assert [item["attribution"] for item in outages] == ["us"] * 5, [item["id"] for item in outages]
    truth = sum(item["durationNanoseconds"] for item in outages) / 1e9
    wait(lambda: abs(value(SECONDS) - before - truth) < 1e-6)
    # increase() extrapolates at both ends of a window by up to one scrape interval each: with 120 intervals that is less than 2 %.
    time.sleep(max(0, begin + 10 - time.time()))
    window = int(time.time() - begin + 2)
    estimate = value(f"increase({SECONDS}[{window}s])")
    print(f"prometheus: outages {truth:.9f} s, counter the same, increase() over {window} s {estimate:.6f} s")
    return abs(estimate / truth - 1)


def test_seconds(service):
    """The counter contains outages between two scrapes exactly."""
    # A scrape that fails at an end of the window, on a busy processor, makes the extrapolation less exact.
    assert any(measure(service) < 0.02 for _ in range(3)), "increase() differs by more than 2 %"


def test_dashboard():
    """Each query of the dashboard has a result."""
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
    print(f"prometheus: {len(queries)} queries of the dashboard have results")


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
    print("prometheus: passed")


if __name__ == "__main__":
    main(*sys.argv[1:])
