"""Take the screenshots for the documentation: `make pictures`. Clocks, folder and content are fixed, so that two runs take the same pictures.

The name of the folder is as long as the name shown for it, so that all offsets stay correct.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect
from served import Site, browser
from tests.sessions.session_logs import ClaudeLog

from foreword.store import open_store
from foreword.store.rows import TemplateVersion
from foreword.store.usage import CallUsage

IMAGES = Path(__file__).parents[2] / "docs" / "images"
FOLDER = Path("/tmp/foreword")
HOME = "/home/someone"
CREATED = "2026-03-07T08:41:00+00:00"
NOW = "2026-03-07T08:55:05Z"
COMMITTED = "2026-03-04T11:20:00Z"
# By day, the oldest first.
HIT_RATES = (0.71, 0.74, 0.69, 0.78, 0.83, 0.81, 0.44, 0.79, 0.86, 0.88, 0.87, 0.9, 0.91, 0.93)
VALUES = {"time": NOW, "date": "2026-03-07", "hostname": "desk"}

FIRST_TEMPLATE = "You are a coding agent for the shop.\n\n[if file:AGENTS.md]\n[file:AGENTS.md]\n[endif]\n"
SECOND_TEMPLATE = """You are a coding agent for the shop.

# What the project asks of you

[if file:AGENTS.md]
[file:AGENTS.md]
[else]
There are no instructions in [prompt:cwd]: ask before you begin.
[endif]

# Where you are

You work in [prompt:cwd], on the branch [git:branch].
"""
THIRD_TEMPLATE = (
    SECOND_TEMPLATE
    + """
[if git:status]
The tree is not clean; leave alone what you did not change:

[git:status]
[endif]
"""
)
VERSIONS = [
    TemplateVersion(0, FIRST_TEMPLATE, "Ada", "2026-02-24T09:12:00+00:00", "a beginning of our own"),
    TemplateVersion(0, SECOND_TEMPLATE, "Grace", "2026-03-02T14:40:00+00:00", "say where the agent is"),
    TemplateVersion(0, THIRD_TEMPLATE, "Ada", "2026-03-06T16:05:00+00:00", "a dirty tree is worth a warning"),
]


SUPPORT = [
    TemplateVersion(
        0,
        "You answer customers of the shop.\nBe kind.\n",
        "Ada",
        "2026-03-03T10:00:00+00:00",
        "for the help desk",
        name="support",
    ),
    TemplateVersion(
        0,
        "You answer customers of the shop.\nBe kind and brief.\n",
        "Grace",
        "2026-03-05T10:00:00+00:00",
        "shorter",
        name="support",
    ),
]


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    assert len(str(FOLDER)) == len(HOME)
    FOLDER.mkdir()
    try:
        store = open_store(f"sqlite:///{FOLDER / 'store.db'}")
        write_logs()
        site = Site(FOLDER, options=["--sessions"])
        try:
            fill_site(site, store)
            with browser() as chrome:
                take_screenshots(chrome, site)
        finally:
            site.stop()
    finally:
        shutil.rmtree(FOLDER)


def write_logs() -> None:
    """Write the logs of sessions on some of the last days. In every other one the model changes, and in the longest a pause is too long."""
    for ago, requests in enumerate((9, 14, 6, 22, 11, 17)):
        start = datetime.fromisoformat(CREATED).timestamp() - 2 * ago * 24 * 60 * 60
        id = f"{(ago + 3) * 0x2A91C3D7 % 2**32:08x}-aaaa-4bbb-8ccc-222222222222"
        log = ClaudeLog(FOLDER / "home", FOLDER / "shop", id, start=start).snapshot(prompt="You are an agent. " * 900)
        log.instructions(FOLDER / "shop" / "CLAUDE.md", "Prices are integers, in cents.\n" * 120)
        log.user().answer(written=38_000 + 900 * requests, out=600)
        for number in range(requests):
            seconds = 2_400 if requests > 20 and number == 12 else 40
            size = 38_000 + 900 * requests + 1_900 * number
            is_lost = seconds > 300
            log.user().answer(
                read=0 if is_lost else size, written=size + 1_900 if is_lost else 1_900, out=500, seconds=seconds
            )
        if ago % 2:
            log.user().answer(written=40_000 + 2_800 * requests, model="claude-sonnet-5-5", out=300)
        log.write()


def fill_site(site: Site, store: object) -> None:
    git = ["git", "-C", str(site.shop), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    dates = {"GIT_AUTHOR_DATE": COMMITTED, "GIT_COMMITTER_DATE": COMMITTED}
    for command in (["init", "-q", "-b", "prices"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *command], check=True, env=os.environ | dates)
    versions = iter(VERSIONS)
    store.add_template(next(versions))  # type: ignore[attr-defined]
    store.add_template(next(versions))  # type: ignore[attr-defined]
    site.construct("billing-7", model="claude-opus-4-5")
    store.add_template(next(versions))  # type: ignore[attr-defined]
    for version in SUPPORT:
        store.add_template(version)  # type: ignore[attr-defined]
    (site.shop / "notes.md").write_text("Ask Grace about rounding.\n")
    fill_usage(site, store)
    for id in ("checkout-12", "checkout-13", "docs-3", "search-41"):
        site.construct(id)


def fill_usage(site: Site, store: object) -> None:
    """Record calls on each of the last days: a day's usage is that of the editions whose last call was then."""
    last_day = int(datetime.fromisoformat(CREATED).timestamp())
    for ago, rate in enumerate(reversed(HIT_RATES)):
        id, model = f"shop-{len(HIT_RATES) - ago}", "claude-opus-4-5"
        site.construct(id, model=model)
        for call in range(20 + 7 * (ago % 3)):
            tokens, output = 24_000 + 900 * call, 700
            read = round(rate * tokens)
            cost = (read * 0.5 + (tokens - read) * 6.25 + output * 25) / 1_000_000
            usage = CallUsage(tokens, read, tokens - read, output, cost, last_day - ago * 24 * 60 * 60)
            store.add_usage(id, 1, usage)  # type: ignore[attr-defined]
    store.add_usage("billing-7", 1, CallUsage(48_200, 44_032, 0, 2_100, 0.0317, last_day))  # type: ignore[attr-defined]


def rewrite(site: Site, route: Route) -> None:
    """Replace folder, clock and host name in requests and responses with the ones to show."""
    real_folder = str(site.folder)
    request = route.request
    if "/events" in request.url:  # a stream has no end
        return route.abort()
    body = request.post_data and request.post_data.replace(HOME, real_folder)
    response = route.fetch(
        url=request.url.replace(HOME.replace("/", "%2F"), real_folder.replace("/", "%2F")), post_data=body
    )
    if "json" not in response.headers.get("content-type", ""):
        return route.fulfill(response=response)
    if request.url.endswith("/values"):
        form = response.json()
        for value in form["values"]:
            value["value"] = VALUES.get(value["name"], value["value"])
            value["value"] = value["value"] and value["value"].replace(real_folder, HOME)
        return route.fulfill(response=response, json=form)
    text = re.sub(r'"created":\s*"[^"]+"', f'"created":"{CREATED}"', response.text())
    return route.fulfill(response=response, body=text.replace(real_folder, HOME))


def open_view(chrome: Browser, site: Site, view: str, width: int, height: int, scheme: str = "light") -> Page:
    profile = chrome.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", timezone_id="UTC"
    )  # type: ignore[arg-type]
    page = profile.new_page()
    page.clock.set_fixed_time(NOW)
    page.add_init_script("localStorage.setItem('foreword.author', 'Ada')")
    page.route(f"{site.url}/**", lambda route: rewrite(site, route))
    page.goto(f"{site.url}/{view}")
    return page


def take_screenshot(page: Page, name: str) -> None:
    page.wait_for_timeout(1000)  # for requests that are still running
    page.evaluate("document.fonts.ready.then(() => true)")
    page.screenshot(path=IMAGES / f"{name}.png", scale="css")
    page.context.close()


def open_editor(chrome: Browser, site: Site, width: int, height: int, scheme: str = "light") -> Page:
    page = open_view(chrome, site, "#/edit", width, height, scheme)
    expect(page.locator("section.preview")).to_have_attribute("aria-busy", "false")
    return page


def take_screenshots(chrome: Browser, site: Site) -> None:
    page = open_view(chrome, site, "#/", 1280, 900)
    expect(page.get_by_role("link", name="search-41")).to_be_visible()
    expect(page.get_by_text("…", exact=True)).to_have_count(0)
    take_screenshot(page, "page-overview")

    page = open_view(chrome, site, "#/workspace/prompt?tools=read,edit,bash", 1280, 1000)
    expect(page.get_by_role("group", name="Prompt with origins")).to_be_visible()
    take_screenshot(page, "page-workspace")

    page = open_view(chrome, site, "#/workspace/agents", 1280, 720, "dark")
    page.locator(".matrix tbody td").last.click()
    take_screenshot(page, "page-agents")

    page = open_view(chrome, site, "#/layouts", 1280, 800)
    expect(page.get_by_role("group", name="Prompt with origins")).to_be_visible()
    take_screenshot(page, "page-layouts")

    page = open_editor(chrome, site, 1440, 900)
    page.get_by_label("Model", exact=True).fill("gpt-5")
    page.locator(".cm-line").nth(12).click()
    page.locator(".prompt .k-file").first.hover()
    take_screenshot(page, "page-editor")

    page = open_editor(chrome, site, 1440, 900, "dark")
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("Never push to [git:br")
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    page.wait_for_timeout(1_000)
    take_screenshot(page, "page-editor-dark")

    for name in ("template", "variables", "preview"):
        page = open_editor(chrome, site, 360, 720)
        page.get_by_role("group", name="View").get_by_role("button", name=name).click()
        take_screenshot(page, f"page-small-{name}")

    page = open_editor(chrome, site, 1100, 800)
    page.locator(".cm-line").first.click()
    page.keyboard.press("End")
    page.keyboard.type(" Be brief.")
    page.keyboard.press("Control+s")
    page.get_by_role("textbox", name="Note").fill("shorter answers")
    expect(page.get_by_text("until they are compacted")).to_be_visible()
    take_screenshot(page, "page-save")

    page = open_view(chrome, site, "#/template?name=support", 1280, 520)
    expect(page.get_by_role("region", name="Current template")).to_be_visible()
    expect(page.get_by_role("button", name="New template…")).to_be_visible()
    take_screenshot(page, "page-templates")

    page = open_view(chrome, site, "#/history", 1280, 640)
    expect(page.get_by_role("region", name="Changes in version 3")).to_be_visible()
    take_screenshot(page, "page-history")

    page = open_view(chrome, site, "#/conversations", 1280, 720)
    expect(page.get_by_role("link", name="search-41")).to_be_visible()
    expect(page.locator(".progress")).to_have_count(0)
    page.get_by_role("columnheader", name="Behind").get_by_role("button").click()
    take_screenshot(page, "page-conversations")

    page = open_view(chrome, site, "#/conversations/billing-7", 1280, 1100, "dark")
    expect(page.get_by_role("region", name="Compared with now")).to_contain_text("changed")
    expect(page.get_by_role("region", name="Where the tokens go").get_by_role("table")).to_be_visible()
    take_screenshot(page, "page-conversation")

    page = open_view(chrome, site, "#/sessions", 1280, 900)
    expect(page.get_by_role("region", name="Cost by file")).to_contain_text("The most expensive file")
    expect(page.locator(".bars")).to_be_visible()
    take_screenshot(page, "page-sessions")


if __name__ == "__main__":
    main()
