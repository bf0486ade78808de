"""Compare the page with its limits: typing in long templates, opening and reading a long prompt, and the size of the download."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fixture import Fixture
from measure import Row

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests" / "browser"))

from served import Site, browser  # noqa: E402

STATIC = ROOT / "src" / "foreword" / "service" / "static"
DOWNLOADED_FILES = ("index.html", "app.js", "style.css", "icon.svg")
MAX_DOWNLOAD_KB = 200.0
FRAME_MS = 16.0

KEYS = 60
PAUSE_MS = 120  # between two keys: longer than a key takes, shorter than the page's delay before it requests a preview
LONG_PAUSE_MS = 1_200  # long enough for the preview to arrive after each key
CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline"]

SECTION = """## Section

[if git:status]
The tree is dirty: look at it before you change [prompt:cwd], and say so.
[git:status]
[else]
The tree is clean.
[endif]
[if !file:notes.md]There are no notes.[endif] Today is [system:date].

"""


TAGS = "".join(f"In [prompt:cwd] on {number}, [system:date].\n" for number in range(4_000))
"""A template of 8,000 tags."""
LINES = [f"- Rule {number}: read the code that a change touches, and the tests beside it.\n" for number in range(5_200)]
LONG_FILE = "".join(f"\n{line}" if number % 8 == 0 else line for number, line in enumerate(LINES))
"""A file of 400 KB, in paragraphs."""
LONG_TASK_MS = 50.0
CONVERSATIONS = 10_000


def rows(project: Fixture) -> list[Row]:
    """Compare keystrokes with one frame, the longest tasks with what browsers call long, and the download with its limit."""
    times, tag_times, longest = measure(project.home / "page")
    download_kb = sum(len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in DOWNLOADED_FILES) / 1000
    work = f"main-thread time per key, from the key to the frame, over {len(times)} keys in a template of 100 KB"
    tag_work = f"the same in a template of {TAGS.count('['):,} tags"
    return [
        Row("page, keystroke, median", median(times), FRAME_MS, 1.0, work, "one frame"),
        Row("page, keystroke, worst", max(times), FRAME_MS, 1.0, work, "one frame"),
        Row("page, keystroke in 8,000 tags, median", median(tag_times), FRAME_MS, 1.0, tag_work, "one frame"),
        *(
            Row(
                f"page, longest task, {name}", longest[name], LONG_TASK_MS, 1.0, "the page's main thread", "a long task"
            )
            for name in longest
        ),
        Row(
            "page, download in KB, compressed",
            download_kb,
            MAX_DOWNLOAD_KB,
            1.0,
            ", ".join(DOWNLOADED_FILES),
            "the limit",
        ),
    ]


def measure(folder: Path) -> tuple[list[float], list[float], dict[str, float]]:
    """Return the times of keys typed into a long template and into one with many tags, and the longest task of each action."""
    site = Site(folder)
    try:
        (site.shop / "AGENTS.md").write_text(LONG_FILE)
        with browser() as chrome:
            longest = read_prompt(chrome, chrome.new_page(viewport={"width": 1440, "height": 900}), site)
            longest |= read_conversations(chrome, site)
            (site.shop / "AGENTS.md").write_text("Be brief.\n")
            site.write(SECTION * (100_000 // len(SECTION) + 1))
            times, _ = edit(chrome, site, PAUSE_MS, KEYS)
            site.write(TAGS)
            tag_times, _ = edit(chrome, site, PAUSE_MS, KEYS)
            _, longest["typing slowly in 8,000 tags"] = edit(chrome, site, LONG_PAUSE_MS, 6)
            longest["scrolling 8,000 tags in the editor"] = scroll_editor(chrome, site)
    finally:
        site.stop()
    return times, tag_times, longest


def edit(chrome: Any, site: Site, pause_ms: int, keys: int) -> tuple[list[float], float]:
    """Return the main thread's time in milliseconds for each key typed into the template, and its longest task."""
    page = open_editor(chrome, site)
    page.locator(".cm-line").nth(20).click()
    page.keyboard.type("Warm up. ", delay=PAUSE_MS)
    page.wait_for_timeout(2_000)
    events = trace(chrome, page, lambda: page.keyboard.type("e" * keys, delay=pause_ms))
    page.close()
    return list(work_per_key(events)), longest_task(events)


def scroll_editor(chrome: Any, site: Site) -> float:
    """Return the longest task in milliseconds while the template is scrolled with the mouse wheel."""
    page = open_editor(chrome, site)
    box = page.locator(".cm-scroller").first.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    events = trace(chrome, page, lambda: turn_wheel(page, 300))
    page.close()
    return longest_task(events)


def open_editor(chrome: Any, site: Site) -> Any:
    """Open the editor and wait for its preview."""
    page = chrome.new_page()
    page.goto(f"{site.url}/#/edit")
    page.locator("section.preview[aria-busy='false']").wait_for()
    return page


def turn_wheel(page: Any, pixels: int) -> None:
    for _ in range(40):
        page.mouse.wheel(0, pixels)
        page.wait_for_timeout(20)


def read_prompt(chrome: Any, page: Any, site: Site) -> dict[str, float]:
    """Return the longest task in milliseconds while a prompt of 400 KB is opened, scrolled and pointed at."""
    page.goto(site.url)
    page.wait_for_timeout(1_000)

    def open_prompt() -> None:
        page.evaluate("location.hash = '#/workspace/prompt?layout=foreword'")
        page.locator(".prompt .k-file").first.wait_for()

    def bounds() -> dict[str, float]:
        page.locator(".prompt").scroll_into_view_if_needed()
        box: dict[str, float] = page.locator(".prompt").bounding_box()
        return box

    def scroll() -> None:
        box = bounds()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
        turn_wheel(page, 900)

    def point() -> None:
        box = bounds()
        for step in range(60):
            page.mouse.move(box["x"] + 20 + step * 37 % 800, box["y"] + 20 + step * 13 % 300)
            page.wait_for_timeout(20)

    actions = {"opening": open_prompt, "scrolling": scroll, "pointing at": point}
    return {f"{name} a prompt of 400 KB": longest_task(trace(chrome, page, act)) for name, act in actions.items()}


def read_conversations(chrome: Any, site: Site) -> dict[str, float]:
    """Return the longest task in milliseconds while 10,000 conversations are listed, and scrolled while they are compared.

    The pages of the list are made up from one conversation: comparing each would take the service minutes.
    """
    site.construct("one", model="gpt-5")
    (row,) = site.call("GET", "/conversations?details=true&compare=true")["conversations"]
    page = chrome.new_page(viewport={"width": 1440, "height": 900})
    page.route(
        re.compile(r"/conversations\?"), lambda route: route.fulfill(json=conversation_page(route.request.url, row))
    )
    page.goto(site.url)
    page.wait_for_timeout(1_000)

    def list_all() -> None:
        page.evaluate("location.hash = '#/conversations'")
        page.get_by_text(f"of {CONVERSATIONS:,} compared").wait_for()

    def scroll() -> None:
        box = page.locator(".conversation-table").bounding_box()
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        turn_wheel(page, 900)

    def jump() -> None:
        for step in range(30):
            share = step * 37 % 100 / 100
            page.locator(".conversation-table").evaluate(
                "(table, share) => { table.scrollTop = share * table.scrollHeight; }", share
            )
            page.wait_for_timeout(60)

    actions = {"listing": list_all, "scrolling": scroll, "jumping in": jump}
    longest = {
        f"{name} {CONVERSATIONS:,} conversations": longest_task(trace(chrome, page, act))
        for name, act in actions.items()
    }
    page.close()
    return longest


def conversation_page(url: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return what the service answers for one page of a long list, if every conversation is like this one."""
    query = dict(parse_qsl(urlsplit(url).query))
    start, limit = int(query.get("after") or 0), int(query.get("limit", 100))
    end = min(start + limit, CONVERSATIONS)
    numbers = range(start, end)
    found = [{**row, "id": f"chat-{number:05}", "tokens": 1_000 + number * 7 % 9_000} for number in numbers]
    if "compare" not in query:
        for each in found:
            del each["drift"]
    return {
        "conversations": found,
        "next": str(end) if end < CONVERSATIONS else None,
        "total": {"count": CONVERSATIONS, "exact": True},
    }


def trace(chrome: Any, page: Any, act: Callable[[], None]) -> list[dict[str, Any]]:
    """Return the events of the browser during an action, and half a second longer."""
    chrome.start_tracing(page=page, categories=CATEGORIES)
    act()
    page.wait_for_timeout(500)
    events: list[dict[str, Any]] = json.loads(chrome.stop_tracing())["traceEvents"]
    return events


def longest_task(events: list[dict[str, Any]]) -> float:
    """Return the longest task of a page's main thread, in milliseconds."""
    names = [event for event in events if event["name"] == "thread_name"]
    threads = {(event["pid"], event["tid"]) for event in names if event["args"]["name"] == "CrRendererMain"}
    tasks = [event for event in events if event["name"] == "RunTask" and "dur" in event]
    times = [event.get("tdur", event["dur"]) for event in tasks if (event["pid"], event["tid"]) in threads]
    return float(max(times)) / 1000


def work_per_key(events: list[dict[str, Any]]) -> Iterable[float]:
    """Yield how many milliseconds the main thread is busy between each keypress and the commit of the resulting frame.

    Later idle work and the blinking caret are not counted, because the user does not wait for them.
    """
    key_events = [
        event for event in events if event["name"] == "EventDispatch" and event["args"]["data"]["type"] == "keydown"
    ]
    thread = (key_events[0]["pid"], key_events[0]["tid"])
    thread_events = sorted(
        (event for event in events if (event["pid"], event["tid"]) == thread and "dur" in event), key=start
    )
    tasks = [event for event in thread_events if event["name"] == "RunTask"]
    commits = [event for event in thread_events if event["name"] == "Commit"]
    for key, next_key in pairwise(key_events):
        commit = next((event for event in commits if key["ts"] < event["ts"] < next_key["ts"]), None)
        if commit:
            # The task that contains the event began before it.
            busy_tasks = [event for event in tasks if end(event) > key["ts"] and start(event) <= commit["ts"]]
            yield sum(event.get("tdur", event["dur"]) for event in busy_tasks) / 1000


def start(event: dict[str, Any]) -> float:
    return float(event["ts"])


def end(event: dict[str, Any]) -> float:
    return float(event["ts"] + event["dur"])
