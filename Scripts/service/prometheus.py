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


def value(query, **parameters):
    result = ask("query", query=query, **parameters)
    return float(result[0]["value"][1]) if result else None


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
        return value('up{job="reachability"}') == 1 and value(SECONDS) is not None
    except OSError:
        return False


def test_seconds(service):
    """What is lost between two scrapes is in the counter, exactly."""
    begin = time.time()
    before = value(SECONDS)
    for seconds in (0.04, 0.4, 0.04, 1.0, 0.4):
        lose_link()
        time.sleep(seconds)
        regain_link()
        time.sleep(1)
    outages = json.loads(service.get("/v1/outages"))["items"]
    assert [item["attribution"] for item in outages] == ["us"] * 5, [item["id"] for item in outages]
    truth = sum(item["durationNanoseconds"] for item in outages) / 1e9
    wait(lambda: abs(value(SECONDS) - before - truth) < 1e-6)
    difference = value(SECONDS) - before
    # At its two ends a window is guessed, by up to an interval of scrapes each: 120 of them make that less than 2 %.
    time.sleep(max(0, begin + 10 - time.time()))
    window = int(time.time() - begin + 2)
    estimate = value(f"increase({SECONDS}[{window}s])")
    print(f"prometheus: lost {truth:.9f} s, by the counter {difference:.9f} s, by increase() over {window} s {estimate:.6f} s")
    assert abs(estimate / truth - 1) < 0.02, "increase() is further away than 2 %"


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
        assert ask("query", query=text), f"nothing is found by: {text}"
    print(f"prometheus: {len(queries)} queries of the dashboard find something")


def test_probe():
    wait(lambda: value('probe_success{job="probe",instance="internet"}') == 1)
    lose_link()
    wait(lambda: value('probe_success{job="probe",instance="internet"}') == 0)
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
