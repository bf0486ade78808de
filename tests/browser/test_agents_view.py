"""What each agent reads: the reason at each cell, what files cost, and the plan that aligns the agents."""

import json
import subprocess

import pytest
from playwright.sync_api import expect
from served import Site
from test_everywhere import AXE, axe_violations
from tests.sessions.session_logs import ClaudeLog

from foreword.cli import main

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-sessions")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A service for a repository with files that not every agent reads, and the log of a session in it."""
    site = Site(tmp_path_factory.mktemp("site"), options=["--sessions"])
    for name, text in {"CLAUDE.md": "Be kind.\n" * 40, "GEMINI.md": "Be brief.\n"}.items():
        (site.shop / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=site.shop, check=True)
    log = ClaudeLog(site.folder / "home", site.shop).snapshot()
    log.instructions(site.shop / "CLAUDE.md", "Be kind.\n" * 40).user().answer(written=90_000)
    log.user().answer(read=90_000, written=1000).write()
    yield site
    site.stop()


@pytest.fixture
def printed(repository, monkeypatch, capsys):
    """A function that returns what a command prints with `--json`, for the same folder and home."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def run(command, *options):
        main([command, str(repository.shop), "--home", str(repository.folder / "home"), "--json", *options])
        return json.loads(capsys.readouterr().out)

    return run


def open_matrix(open_page, site, **options):
    page = open_page(f"{site.url}/#/workspace/agents", **options)
    expect(page.locator(".matrix tbody td").first).to_be_visible()
    return page


def test_a_popover_at_the_cell_says_why_and_escape_closes_it(open_page, repository, printed):
    page = open_matrix(open_page, repository)
    popover = page.locator(".popover")
    expect(popover).to_have_count(0)
    table = printed("agents")
    cells = page.locator(".matrix tbody td")
    cells.first.click()
    expect(popover).to_contain_text(table["agents"][0]["name"])
    expect(popover).to_contain_text(table["files"][0]["verdicts"][0]["reason"].replace(f"{repository.shop}/", ""))
    cell, box = cells.first.bounding_box(), popover.bounding_box()
    assert box["y"] == cell["y"] + cell["height"] and box["x"] == cell["x"]
    page.keyboard.press("ArrowRight")
    expect(popover).to_contain_text(f"{table['agents'][1]['name']}, AGENTS.md, ")
    expect(page.get_by_role("region", name="Files by agent").get_by_role("status")).to_contain_text(
        table["agents"][1]["name"]
    )
    page.keyboard.press("Tab")
    expect(popover.get_by_role("link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(popover).to_have_count(0)
    expect(cells.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(popover).to_have_count(1)
    page.get_by_role("heading", name="Workspace").click()
    expect(popover).to_have_count(0)
    cells.nth(1).click()
    popover.get_by_role("link").click()
    expect(page.get_by_role("list", name="Answer")).to_contain_text("AGENTS.md is in this prompt")


def test_the_popover_names_what_an_agent_reads_instead(open_page, repository):
    page = open_matrix(open_page, repository)
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="CLAUDE.md"))
    row.get_by_text("never").first.click()
    expect(page.locator(".popover")).to_contain_text("codex, CLAUDE.md, never: it reads only AGENTS.override.md ")


def test_the_popover_stays_in_a_small_window(open_page, repository):
    page = open_matrix(open_page, repository, width=360, height=740)
    page.locator(".matrix tbody tr").last.locator("td").last.click()
    box = page.locator(".popover").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert box["y"] >= 0 and box["y"] + box["height"] <= 740
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_files_have_what_they_cost_as_the_command_says(open_page, repository, printed):
    page = open_matrix(open_page, repository)
    ((path, cost),) = printed("agents", "--cost")["costs"].items()
    assert path == str(repository.shop / "CLAUDE.md")
    row = page.get_by_role("rowheader").filter(has_text="in 30 days")
    expect(row).to_have_text(f"CLAUDE.md${cost:.2f} in 30 days")


def test_without_sessions_there_are_no_costs_and_none_are_asked_for(open_page, shared_site):
    page = open_page("about:blank")
    bodies = []
    page.on("request", lambda request: bodies.append(request.post_data) if request.url.endswith("/agents") else None)
    page.goto(f"{shared_site.url}/#/workspace/agents")
    expect(page.locator(".matrix tbody td").first).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("in 30 days")
    assert bodies and not any("cost" in body for body in bodies)


def test_aligning_is_a_plan_with_a_command_and_writes_nothing(open_page, repository, printed):
    page = open_matrix(open_page, repository, bypass_csp=True, reduced_motion="reduce")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    before = sorted(repository.shop.rglob("*"))
    page.get_by_role("button", name="Align…").click()
    dialog = page.get_by_role("dialog", name="Align the agents")
    plan = printed("align")
    changes = dialog.get_by_role("heading", level=3)
    expect(changes).to_have_text([f"{change['action']} {change['path']}" for change in plan["changes"]])
    first = plan["changes"][0]
    added = dialog.get_by_role("region", name=f"Changes in {first['path']}").locator("tr.added .text")
    expect(added).to_have_text([f"added: {line}" for line in first["text"].splitlines()])
    rows = dialog.get_by_role("region", name="What each agent reads").locator("tbody tr")
    expect(rows).to_have_count(len(plan["before"]))
    for name, reading in plan["after"].items():
        if all(reading[problem] == [] for problem in ("missing", "repeated", "cut")):
            count = len(reading["read"])
            row = rows.filter(has=page.get_by_role("rowheader", name=name, exact=True))
            expect(row.locator("td").last).to_have_text(f"reads {count} of {count}")
    page.evaluate(AXE.read_text())
    assert axe_violations(page) == []
    dialog.get_by_role("button", name="Copy command").click()
    expect(page.get_by_text("Copied.")).to_be_attached()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command == f"foreword align {repository.shop} --write"
    dialog.get_by_label("Merge the agents' own files into AGENTS.md").check()
    expect(dialog.get_by_role("region", name="Command")).to_have_text(command.replace("--write", "--merge --write"))
    merged = printed("align", "--merge")
    expect(changes).to_have_text([f"{change['action']} {change['path']}" for change in merged["changes"]])
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Align…")).to_be_focused()
    assert sorted(repository.shop.rglob("*")) == before
