"""The documentation site in a browser: it fits a phone, can be searched, and follows the reader's colours."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("site")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        """Do not print each request."""


@pytest.fixture(scope="module")
def folder(site_build):
    folder, result = site_build
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def url(folder):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def open_page(chrome, url):
    contexts = []

    def open_page(path, **options):
        contexts.append(chrome.new_context(**options))
        page = contexts[-1].new_page()
        page.goto(f"{url}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_every_page_fits_a_phone(folder, open_page, url):
    """Every page that somebody wrote, and one of the generated ones, which are long and all alike."""
    page = open_page("index.html", viewport={"width": 390, "height": 844}, java_script_enabled=False)
    too_wide = []
    written = [path for path in sorted(folder.rglob("*.html")) if path.parent.name != "reference"]
    for path in (*written, folder / "reference/keys.html"):
        page.goto(f"{url}/{path.relative_to(folder).as_posix()}", wait_until="load")
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            too_wide.append(path.name)
    assert too_wide == []


def test_search_finds_pages_that_explain_before_those_that_list(open_page):
    page = open_page("index.html", viewport={"width": 1280, "height": 900})
    page.locator(".md-search__input").click()
    page.keyboard.type("bill")
    first = page.locator(".md-search-result__link").first
    expect(first).to_contain_text("My bill is too high")


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_reader_and_can_be_switched(scheme, is_dark, open_page):
    page = open_page("bill.html", color_scheme=scheme)
    brightness = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    assert (page.evaluate(brightness) < 128) is is_dark
    page.locator("label[for^=__palette]:visible").click()
    page.wait_for_function(f"({brightness} < 128) === {str(not is_dark).lower()}")
