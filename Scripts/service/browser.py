"""Tests the dashboard in a browser. usage: browser.py PROGRAM [WORD OF A TEST NAME...]"""

import json
import shutil
import signal
import subprocess
import sys
import traceback

from axe_playwright_python.sync_playwright import Axe
from lab import Cable, Service, get, ip, launch, lose_link, lose_route, make_network, regain_link, wait
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

PORT = 9673
ROOT = f"http://localhost:{PORT}"
PAGES = ["/", "/?window=90d", "/?kiosk", "/help", "/outages", "/targets/internet", "/availability", "/network", "/service"]
DOWN, FINE = "The link of this machine is down", "The path out of this machine is up. Nothing beyond it is checked"


class Lab:
    def __init__(self, browser, service, cable):
        self.browser, self.service, self.cable = browser, service, cable
        self.complaints, self.may_fail = [], False

    def context(self, **options):
        context = self.browser.new_context(**options)
        context.on("console", self.hear)
        context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))
        context.on("request", self.see)
        return context

    def hear(self, message):
        if message.type in ("error", "warning") and not self.may_fail:
            self.complaints.append(f"console: {message.text}")

    def see(self, request):
        if not request.url.startswith(ROOT + "/"):
            self.complaints.append(f"request elsewhere: {request.url}")

    def page(self, path="/", context=None, **options):
        page = (context or self.context(**options)).new_page()
        page.goto(ROOT + path)
        return page


def says(page, sentence):
    return wait(lambda: page.locator("h1").get_attribute("data-say") == sentence)


def is_live(page):
    return page.locator("#live.on").count() == 1


def outage_path(lab):
    return "/outages/" + lab.service.newest_outage()["id"]


def test_change_is_shown_at_once(lab):
    page = lab.page()
    wait(lambda: is_live(page))
    for away, back in ((lose_link, regain_link), (lose_route, regain_link)):
        away()
        sentence = DOWN if away is lose_link else "No route leads out of this machine"
        shown = says(page, sentence)
        back()
        gone = says(page, FINE)
        print(f"  {sentence}: shown after {shown * 1000:.0f} ms, its end after {gone * 1000:.0f} ms")
    assert page.locator("#say").text_content() == FINE


def test_lengths_go_on(lab):
    page = lab.page()
    first = page.locator("h1 [data-since]").text_content()
    wait(lambda: page.locator("h1 [data-since]").text_content() != first)


def test_seven_tabs_share_a_stream_that_is_cut_and_goes_on(lab):
    context = lab.context()
    tabs = [lab.page(context=context) for _ in range(7)]
    for tab in tabs:
        wait(lambda: is_live(tab))
    assert lab.service.streams() == 1, lab.service.streams()
    lab.may_fail = True
    lab.cable.cut()
    times = [wait(lambda: tab.locator("#banner").is_visible()) for tab in tabs]
    lose_link()
    lab.cable.mend()
    for tab in tabs:
        wait(lambda: not tab.locator("#banner").is_visible())
        says(tab, DOWN)
    regain_link()
    for tab in tabs:
        says(tab, FINE)
        tab.close()
    lab.may_fail = False
    print(f"  banner after {max(times) * 1000:.0f} ms at most")


def test_nothing_is_missed_and_nothing_told_twice(lab):
    page = lab.page()
    page.evaluate(
        """() => { window.heard = []; const source = new EventSource("/v1/stream");
        for (const name of ["snapshot", "gap", "intervalClosed", "intervalOpened", "intervalRefined", "outageBegan",
            "outageRefined", "outageEnded", "explained"])
            source.addEventListener(name, (event) => window.heard.push([name, Number(event.lastEventId.split(".")[1])])); }"""
    )
    heard = lambda: page.evaluate("window.heard")
    wait(lambda: len(heard()) == 1)
    outages = lambda: len(json.loads(lab.service.get("/v1/outages?limit=1000"))["items"])
    before = outages()
    lab.may_fail = True
    ended = lambda: sum(name == "outageEnded" for name, _ in heard())
    for count in range(1, 4):
        lose_link()
        wait(lambda: outages() == before + count)
        lab.cable.cut()
        regain_link()
        wait(lambda: lab.service.newest_outage()["end"] is not None)
        lab.cable.mend()
        wait(lambda: ended() == count)
    numbers = [number for _, number in heard()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
    assert sum(name in ("snapshot", "gap") for name, _ in heard()) == 1
    lab.may_fail = False


def test_the_end_of_the_service_shows_and_its_return_too(lab):
    page = lab.page()
    wait(lambda: is_live(page))
    lab.may_fail = True
    assert lab.service.stop(signal.SIGTERM) == 0
    wait(lambda: page.locator("#banner").is_visible())
    assert page.evaluate("getComputedStyle(document.querySelector('main')).filter") == "grayscale(1)"
    lab.service.start()
    wait(lambda: is_live(page) and not page.locator("#banner").is_visible())
    lab.may_fail = False


def test_pages_are_for_everybody(lab):
    lab.service.lose_link(0.5)
    for scheme in ("light", "dark"):
        context = lab.context(color_scheme=scheme)
        page = context.new_page()
        for path in PAGES + [outage_path(lab)]:
            page.goto(ROOT + path)
            wait(lambda: is_live(page))
            report = Axe().run(page).response
            assert len(report["passes"]) > 15
            for violation in report["violations"]:
                text = f"{scheme} {path}: {violation['impact']} {violation['id']}: {violation['nodes'][0]['html'][:200]}"
                assert violation["impact"] not in ("serious", "critical"), text
                print(f"  {text}")
        context.close()


def test_a_report_is_copied_and_a_table_taken_away(lab):
    lab.service.lose_link(0.5)
    context = lab.context(permissions=["clipboard-read", "clipboard-write"])
    page = lab.page(outage_path(lab), context=context)
    page.get_by_role("button", name="Copy the report").click()
    wait(lambda: page.locator("[data-copy]").text_content() == "Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert page.locator("h1").get_attribute("data-say") and "us.link" in copied and "noCarrier" in copied, copied
    for path, head in (("/outages", "id,target,attribution"), ("/availability", "target,day,up")):
        page.goto(ROOT + path)
        with page.expect_download() as download:
            page.locator("a[download]").click()
        with open(download.value.path(), encoding="utf-8", newline="") as file:
            assert file.readline().startswith(head)


def test_small_screens(lab):
    page = lab.page(viewport={"width": 320, "height": 640})
    for path in PAGES + [outage_path(lab)]:
        page.goto(ROOT + path)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width == 320, f"{path}: {width}"


CHECKED = f"""schema = 1
[[target]]
name = "a-target-with-a-name-that-is-longer-than-a-line-of-a-telephone.example.org"
host = "127.0.0.1"
interval = "1s"
checks = [{{ http = "/{'x' * 100}", port = 9672, expect = 404 }}]
"""
# Finds sibling elements whose text rectangles overlap. The rectangles are compared line by line.
OVERLAPS = """() => {
    const boxes = (node) => { const range = document.createRange(); range.selectNodeContents(node);
        return [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1); };
    const found = [];
    for (const parent of document.querySelectorAll("main li, main .target > div, main .state, main li > a, main .row, main .state, main dl")) {
        const parts = [...parent.children].filter((child) => child.textContent.trim()).map((child) => [child, boxes(child)]);
        for (const [index, [one, left]] of parts.entries())
            for (const [other, right] of parts.slice(index + 1))
                if (left.some((a) => right.some((b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)))
                    found.push(one.textContent.slice(0, 60) + " | " + other.textContent.slice(0, 60));
    }
    return found;
}"""


def test_nothing_overlaps_on_small_screens(lab):
    service = Service(lab.service.program, "127.0.0.1:9675", CHECKED)
    try:
        wait(lambda: json.loads(service.get("/v1/targets"))["items"][0]["state"] == "up")
        name = json.loads(service.get("/v1/targets"))["items"][0]["name"]
        context = lab.browser.new_context(viewport={"width": 320, "height": 640})
        page = context.new_page()
        for path in ["/", f"/targets/{name}", "/outages", "/availability", "/network", "/service"]:
            page.goto(f"http://{service.address}{path}")
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width == 320, f"{path}: {width}"
            overlaps = page.evaluate(OVERLAPS)
            assert not overlaps, f"{path}: {overlaps}"
    finally:
        service.stop()


def test_keyboard(lab):
    page = lab.page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if (page.evaluate("document.activeElement.getAttribute('href')") or "").startswith("./outages/"):
            break
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", outline
    # An update of the page keeps the focus.
    place = page.evaluate("document.activeElement.closest('[data-part]').dataset.part")
    lose_link()
    says(page, DOWN)
    regain_link()
    says(page, FINE)
    assert page.evaluate("document.activeElement.closest('[data-part]')?.dataset.part") == place
    page.keyboard.press("Enter")
    page.wait_for_url("**/outages/*")


def test_without_script(lab):
    page = lab.page(java_script_enabled=False)
    assert page.locator("h1").get_attribute("data-say") == FINE
    assert "UTC" in page.locator("#live").text_content()
    assert page.locator(".incidents a").count() > 0
    assert page.locator("svg.bar").count() >= 1


MANY = "schema = 1\n" + "".join(
    f'[[target]]\nname = "store-{number}"\nhost = "127.0.0.1"\ninterval = "1s"\n'
    f'checks = [{{ http = "/", port = 9676, expect = "200-499" }}]\n' for number in range(13)
)


def test_targets_are_filtered_and_a_chart_shows_its_values(lab):
    service = Service(lab.service.program, "127.0.0.1:9676", MANY)
    try:
        states = lambda: {item["state"] for item in json.loads(service.get("/v1/targets"))["items"]}
        wait(lambda: states() == {"up"})
        for script in (True, False):
            context = lab.browser.new_context(java_script_enabled=script, viewport={"width": 1920, "height": 1080})
            page = context.new_page()
            page.goto(f"http://{service.address}/")
            rows = page.locator(".targets > li:visible")
            assert rows.count() == 13
            last = rows.last.bounding_box()
            assert last["height"] == 56 and last["y"] + last["height"] <= 1080, last
            page.locator(".filter [type=search]").fill("STORE-1")
            if not script:
                page.locator(".filter button").click()
            wait(lambda: rows.count() == 4)
            # The script fetches the rows that the server did not send.
            page.goto(f"http://{service.address}/?filter=store-12")
            wait(lambda: rows.count() == 1)
            if script:
                page.locator(".filter [type=search]").fill("")
                wait(lambda: rows.count() == 13)
            page.goto(f"http://{service.address}/targets/store-1?window=1h")
            if script:
                page.locator(".chart svg").hover()
                wait(lambda: "median" in page.locator(".chart output").text_content())
                page.locator(".chart").press("ArrowLeft")
                assert "checks failed" in page.locator(".chart output").text_content()
            context.close()
    finally:
        service.stop()


PROXIED = """schema = 1
[access]
hosts = ["192.0.2.7"]
proxies = ["127.0.0.1"]
[[access.tokens]]
name = "browser"
sha256 = "1f280fa8ba26b55d213069fde14a3348c2d38b728780002fadb76c997b14b354"
[status-page]
targets = ["internet"]
listen = "192.0.2.7:9680"
"""
TOKEN = "rt_402rOYHumYHa_sCyoFA-E0ZRV8ltgi0nR_Ri5soegGY"
NGINX = """daemon off; pid pid; error_log stderr; events {}
http { access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;
server { listen 192.0.2.7:9443 ssl; ssl_certificate server.pem; ssl_certificate_key server.key;
location /net/ { proxy_pass http://127.0.0.1:9677/; proxy_http_version 1.1; proxy_set_header Host $http_host;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme; } } }
"""


def test_behind_nginx_with_tls_below_a_path(lab):
    program = shutil.which("nginx")
    if not program:
        print("  nginx is missing; LEFT OUT")
        return
    service = Service(lab.service.program, "127.0.0.1:9677", PROXIED)
    directory = service.directory.name
    with open(directory + "/nginx.conf", "w", encoding="utf-8") as file:
        file.write(NGINX)
    names = ["-subj", "/CN=192.0.2.7", "-addext", "subjectAltName=IP:192.0.2.7"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key"]
    command = ["openssl", "req", "-x509", *key, *names, "-out", "server.pem"]
    subprocess.run(command, cwd=directory, check=True, stderr=subprocess.DEVNULL)
    proxy = subprocess.Popen([program, "-p", directory, "-c", directory + "/nginx.conf", "-e", "stderr"])
    root = "https://192.0.2.7:9443/net/"
    try:
        assert "<h1" in get("192.0.2.7:9680", "/") and "<svg" in get("192.0.2.7:9680", "/badge/internet.svg")
        for credentials in (None, {"username": "", "password": TOKEN}):
            context = lab.browser.new_context(ignore_https_errors=True, http_credentials=credentials)
            requests = []
            context.on("request", lambda request: requests.append(request.url))
            page = context.new_page()
            # The status page needs no token.
            wait(lambda: answers(page, root + "status") == 200)
            assert page.locator("h1").is_visible() and page.locator("#live").text_content()
            if credentials is None:
                assert page.request.get(root).status == 401
            else:
                page.goto(root)
                wait(lambda: is_live(page))
                page.get_by_role("link", name="Incidents").first.click()
                page.wait_for_url(root + "outages")
            assert all(url.startswith(root) for url in requests), requests
            context.close()
    finally:
        proxy.terminate()
        proxy.wait()
        service.stop()


def answers(page, url):
    """Returns the status of a page; None if the server does not answer yet."""
    try:
        return page.goto(url).status
    except PlaywrightError:
        return None


def test_print(lab):
    page = lab.page()
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible() and page.locator(".targets").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def main():
    make_network()
    service = Service(sys.argv[1])
    failed = 0
    try:
        with sync_playwright() as playwright:
            lab = Lab(launch(playwright), service, Cable(PORT, Service.address))
            for name, test in list(globals().items()):
                if not name.startswith("test_") or not any(word in name for word in sys.argv[2:] or [""]):
                    continue
                print(name.removeprefix("test_").replace("_", " "), flush=True)
                try:
                    test(lab)
                    assert not lab.complaints, lab.complaints
                except Exception as error:
                    failed += 1
                    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)]
                    print(f"  FAILED: lines {lines}: {type(error).__name__}: {error}", flush=True)
                    lab.complaints, lab.may_fail = [], False
                    ip("link", "set", "u0", "up")
                    regain_link()
                    lab.cable.mend()
                for context in lab.browser.contexts:
                    context.close()
            lab.browser.close()
    finally:
        service.stop()
    sys.exit(1 if failed else 0)


main()
