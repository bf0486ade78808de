"""What people come for, each from the start page and in few clicks."""

import re
import subprocess

import pytest
from playwright.sync_api import expect
from served import Site
from tests.sessions.session_logs import ClaudeLog

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-sessions")
COUNT_CLICKS = "addEventListener('pointerdown', () => { window.clicks = (window.clicks ?? 0) + 1; }, true)"
LONG = "Keep prices in cents. " * 400


@pytest.fixture(scope="module")
def busy_site(tmp_path_factory):
    """A service with a nested file, a session, versions of a template, and conversations that are behind."""
    site = Site(tmp_path_factory.mktemp("site"), options=["--sessions"])
    (site.shop / "CLAUDE.md").write_text("Be kind.\n" * 40)
    (site.shop / "api/CLAUDE.md").write_text("Be careful.\n")
    subprocess.run(["git", "init", "-q"], cwd=site.shop, check=True)
    log = ClaudeLog(site.folder / "home", site.shop).snapshot()
    log.instructions(site.shop / "CLAUDE.md", "Be kind.\n" * 40).user().answer(written=90_000).write()
    site.write(f"One.\n{LONG}")
    usage = {"input_tokens": 100, "cache_read_input_tokens": 20_000, "output_tokens": 50}
    for id in ("first", "second"):
        site.construct(id, model="claude-opus-5")
    site.write(f"Two.\n{LONG}", "Ada", "shorter")
    site.call("POST", "/conversations/second/reload", {"cwd": str(site.shop), "model": "claude-opus-5"})
    for id in ("first", "second"):
        site.call("POST", f"/conversations/{id}/usage", {"usage": usage, "model": "claude-opus-5"})
    site.write(f"Three.\n{LONG}", "Ada", "longer")
    site.construct("third")
    yield site
    site.stop()


def views(page):
    return page.get_by_role("navigation", name="Views")


def see_why_a_nested_file_is_missing(page, site):
    views(page).get_by_role("link", name="Workspace").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="api/CLAUDE.md"))
    row.get_by_text("never").first.click()
    page.get_by_role("link", name="More about this file").click()
    expect(page.get_by_role("list", name="Answer")).to_contain_text(
        "api/CLAUDE.md is not in this prompt: the layout 'codex'"
    )
    expect(page.get_by_role("list", name="Answer")).to_contain_text("To include it: ")


def see_what_copilot_reads(page, site):
    views(page).get_by_role("link", name="Workspace").click()
    head = page.get_by_role("columnheader", name="copilot")
    expect(head).to_be_visible()
    column = head.evaluate("(cell) => cell.cellIndex")
    table = site.call("POST", "/agents", {"cwd": ".", "layouts": ["copilot"]})
    shown = page.locator(f".matrix tbody tr > :nth-child({column + 1}):not(:has-text('never'))")
    read = [row for row in table["files"] if row["verdicts"][0]["verdict"] != "never"]
    expect(shown).to_have_count(len(read))


def see_what_changed_between_editions_and_why(page, site):
    page.get_by_role("link", name=re.compile("^second")).click()
    editions = page.get_by_role("region", name="Editions")
    expect(editions).to_contain_text("reloaded on request")
    expect(editions).to_contain_text("body changed (template 1, template 2)")
    expect(editions.locator("tr.added mark").first).to_have_text("Two")
    assert editions.locator(".kept-bar").bounding_box()["height"] == 8  # a line, which does not hide the words


def see_what_a_rebuild_costs(page, site):
    page.get_by_role("link", name=re.compile("^first")).click()
    cost = site.call("GET", "/conversations/first/drift")["cost"]
    expect(page.locator(".figure", has_text="A rebuild costs").locator(".number")).to_have_text(f"${cost:.4f}")


def edit_label_and_roll_back_a_template(page, site):
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("Four. ")
    page.get_by_role("button", name=re.compile("^Save")).click()
    page.get_by_role("dialog", name="Save template").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_text("Saved as version 4")).to_be_visible()
    page.get_by_role("dialog").get_by_role("link", name="History").click()
    page.get_by_role("link", name=re.compile("shorter")).click()
    page.get_by_role("button", name="Move label…").click()
    page.get_by_role("dialog").get_by_role("button", name="Move label").click()
    expect(page.get_by_role("link", name=re.compile("^Version 2")).get_by_text("live")).to_be_visible()
    assert site.template().startswith("Two.")


def see_the_most_expensive_file_of_the_last_month(page, site):
    views(page).get_by_role("link", name="Sessions").click()
    expect(page.get_by_label("Period")).to_have_value("30d")
    expect(page.get_by_role("region", name="Cost by file")).to_contain_text(
        re.compile(r"The most expensive file is shop/CLAUDE\.md: \$\d")
    )


def see_all_conversations_that_lag_behind(page, site):
    page.locator(".figure", has_text="Behind").get_by_role("link").click()
    names = page.get_by_role("region", name="Table of conversations").locator("tbody").get_by_role("link")
    expect(page.locator(".progress")).to_have_count(0)
    expect(names).to_have_text(["second", "first"])


TASKS = {
    see_why_a_nested_file_is_missing: 3,
    see_what_copilot_reads: 3,
    see_what_changed_between_editions_and_why: 3,
    see_what_a_rebuild_costs: 3,
    see_all_conversations_that_lag_behind: 3,
    see_the_most_expensive_file_of_the_last_month: 3,
    edit_label_and_roll_back_a_template: 7,  # the last one, because it changes the template
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_task_needs_few_clicks(open_page, busy_site, task):
    page = open_page("about:blank")
    page.add_init_script(COUNT_CLICKS)
    page.goto(busy_site.url)
    task(page, busy_site)
    assert 1 <= page.evaluate("window.clicks") <= TASKS[task]
