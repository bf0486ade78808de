"""The views of sessions: they show what the command prints, and only in services that were started for that."""

import re

import pytest
from playwright.sync_api import expect
from served import Site
from test_everywhere import AXE, axe_violations
from tests.sessions.session_logs import ClaudeLog

from foreword.cli import main

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-sessions")


@pytest.fixture(scope="module")
def logged_site(tmp_path_factory):
    """A service with the log of a session in which a file was edited and the model changed."""
    site = Site(tmp_path_factory.mktemp("site"), options=["--sessions"])
    log = ClaudeLog(site.folder / "home", site.shop).snapshot()
    log.instructions(site.shop / "CLAUDE.md", "Be kind.\n" * 40).user().answer(written=90_000)
    for number in range(4):
        log.user().answer(read=90_000 + 1000 * number, written=1000)
    log.user().answer(written=95_000, model="claude-sonnet-5-5").user().answer(
        written=95_500, seconds=4000, model="claude-sonnet-5-5"
    )
    log.write()
    yield site
    site.stop()


@pytest.fixture
def printed(logged_site, monkeypatch, capsys):
    """A function that returns what the command prints for the same folder and home."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def run(*options):
        main(["sessions", str(logged_site.shop), "--home", str(logged_site.folder / "home"), "--utc", *options])
        return capsys.readouterr().out

    return run


def cells(page, name):
    return page.get_by_role("region", name=name, exact=True).locator("tbody tr").all_inner_texts()


def test_the_link_is_there_only_if_the_service_shows_sessions(open_page, logged_site, shared_site):
    page = open_page(f"{logged_site.url}/#/")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Sessions").click()
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
    assert "sessions" not in shared_site.call("GET", "/token")["rights"]


def test_the_list_shows_what_the_command_prints(open_page, logged_site, printed):
    page = open_page(f"{logged_site.url}/#/sessions")
    files = page.get_by_role("region", name="Files", exact=True)
    expect(files.locator("tbody tr").first).to_be_visible()
    text = printed("--by", "file")
    for row in cells(page, "Files"):
        name, cost = row.split("\t")[:2]
        assert re.search(rf"{re.escape(name.rpartition('/')[2])}.*{re.escape(cost)}", text), (row, text)
    expect(page.get_by_role("region", name="Causes of collapses").locator("tbody tr")).to_have_count(2)
    total = printed()
    assert page.locator(".figures .number").first.inner_text() in total
    for row in cells(page, "Causes of collapses"):
        assert row.split("\t")[-1] in printed("--by", "cause")
    page.evaluate(AXE.read_text())
    assert axe_violations(page) == []


def test_a_session_has_a_bar_for_each_request_and_the_causes(open_page, logged_site):
    page = open_page(f"{logged_site.url}/#/sessions")
    page.get_by_role("link", name="11111111").click()
    expect(page.locator(".request-chart svg > g")).to_have_count(7)
    expect(page.locator(".request-chart .mark")).to_have_count(2 + 1)  # two collapses, and the legend
    reasons = page.get_by_role("list", name="Why the cache broke")
    expect(reasons).to_contain_text("the model changed from claude-opus-5-5 to claude-sonnet-5-5")
    page.get_by_label("Instruction").fill("CLAUDE.md:3")
    page.get_by_role("button", name="Look it up").click()
    expect(page.get_by_role("region", name="When it was in force")).to_contain_text("1 to 7 of 7")
    page.evaluate(AXE.read_text())
    assert axe_violations(page) == []


@pytest.mark.parametrize("width", [360, 800])
def test_nothing_is_wider_than_the_window(open_page, logged_site, width):
    for address in ("#/sessions", "#/sessions/11111111"):
        page = open_page(f"{logged_site.url}/{address}", width=width)
        expect(page.locator(".figures").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
