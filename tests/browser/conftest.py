"""One service and one Chromium for the tests of a file; each test has its own browser profile and template."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).parent))

from editor import Editor
from served import TIMEOUT, Site, browser

expect.set_options(timeout=TIMEOUT)

DEFAULT = """You are a helpful coding assistant.

[if file:AGENTS.md]
[file:AGENTS.md]
[endif]

The current working directory is [prompt:cwd].
"""


@pytest.fixture(scope="module")
def chrome():
    """Not for longer: while it runs, tests of other folders in the same process could not start an event loop."""
    with browser() as running_chrome:
        yield running_chrome


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory, launcher):
    site = Site(tmp_path_factory.mktemp("site"), launcher=launcher)
    yield site
    site.stop()


@pytest.fixture
def site(shared_site):
    """The service, with the default as its template."""
    shared_site.write(DEFAULT)
    return shared_site


@pytest.fixture
def own_site(tmp_path, launcher):
    """Services that only one test uses, and may stop or break."""
    sites = []

    def make(**options):
        sites.append(Site(tmp_path / f"site{len(sites)}", launcher=launcher, **options))
        return sites[-1]

    yield make
    for site in sites:
        site.stop()


@contextmanager
def opening_pages(chrome):
    """Yield a function that opens an address with a new browser profile.

    Errors in the page are errors at the end, and so are requests to other machines.
    """
    contexts, errors, urls = [], [], []

    def open_page(url, width=1440, height=900, scheme="light", **options):
        profile = chrome.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        contexts.append(profile)
        page = profile.new_page()
        page.set_default_timeout(TIMEOUT)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda message: errors.append(message.text) if "Content Security Policy" in message.text else None,
        )
        page.on("request", lambda request: urls.append(request.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
    assert [url for url in urls if not url.startswith(("http://127.0.0.1:", "data:", "about:", "chrome:"))] == []


@pytest.fixture
def open_page(chrome):
    """Open an address with a new browser profile; see `opening_pages`."""
    with opening_pages(chrome) as open_page:
        yield open_page


@pytest.fixture
def edit(open_page):
    """Open the editor of a service."""
    return lambda site, **options: Editor(open_page(f"{site.url}/#/edit", **options))


@pytest.fixture
def editor(edit, site):
    return edit(site)


@pytest.fixture(scope="module")
def open_editor(chrome, shared_site):
    with opening_pages(chrome) as open_page:
        yield Editor(open_page(f"{shared_site.url}/#/edit"))


@pytest.fixture
def kept_editor(open_editor):
    """An empty editor, which stays open for the tests of a file that change only its text: opening one takes seconds."""
    open_editor.clear()
    return open_editor
