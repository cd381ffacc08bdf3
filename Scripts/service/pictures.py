"""Makes the pictures of docs/service.md, with real outages. usage: pictures.py PROGRAM DIRECTORY"""

import json
import sys
import time

from lab import Service, launch, lose_link, lose_route, make_network, regain_link
from playwright.sync_api import sync_playwright

ROOT = f"http://{Service.address}"


def lose(how, seconds):
    how()
    time.sleep(seconds)
    regain_link()


def main():
    make_network()
    service = Service(sys.argv[1])
    directory = sys.argv[2]
    try:
        for pause, how, seconds in (
            (40, lose_link, 4),
            (55, lose_route, 0.4),
            (70, lose_route, 21),
            (60, lose_link, 9),
            (50, lose_link, 0.04),
            (40, lose_route, 3),
        ):
            time.sleep(pause)
            lose(how, seconds)
        time.sleep(45)
        longest = max(json.loads(service.get("/v1/outages"))["items"], key=lambda item: item["durationMilliseconds"])
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for name, path, scheme, width in (
                ("now", "/", "light", 1280),
                ("now-dark", "/", "dark", 1280),
                ("now-small", "/", "light", 320),
                ("target", "/targets/internet", "light", 1280),
                ("outage", f"/outages/{longest['id']}", "light", 1280),
                ("outages", "/outages", "dark", 1280),
                ("availability", "/availability", "light", 1280),
                ("network", "/network", "dark", 1280),
                ("service", "/service", "light", 1280),
            ):
                context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 600})
                page = context.new_page()
                page.goto(ROOT + path)
                page.wait_for_selector("#live.on")
                page.screenshot(path=f"{directory}/{name}.png", full_page=True)
                if name == "now":
                    lose_link()
                    page.wait_for_selector("h1[data-say*=link]")
                    time.sleep(5)
                    page.screenshot(path=f"{directory}/down.png", full_page=True)
                    regain_link()
                    page.wait_for_selector("h1[data-say*=path]")
                context.close()
            browser.close()
    finally:
        service.stop()


main()
