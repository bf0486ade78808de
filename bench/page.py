"""Compare the cost of a keystroke in a long template, and the size of the web page's download, with their limits."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

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


def rows(project: Fixture) -> list[Row]:
    """Compare the median and the worst keystroke with one frame, and the download with its limit."""
    times = keystrokes(project.home / "page")
    download_kb = sum(len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in DOWNLOADED_FILES) / 1000
    work = f"main-thread time per key, from the key to the frame, over {len(times)} keys in a template of 100 KB"
    return [
        Row("page, keystroke, median", median(times), FRAME_MS, 1.0, work, "one frame"),
        Row("page, keystroke, worst", max(times), FRAME_MS, 1.0, work, "one frame"),
        Row(
            "page, download in KB, compressed",
            download_kb,
            MAX_DOWNLOAD_KB,
            1.0,
            ", ".join(DOWNLOADED_FILES),
            "the limit",
        ),
    ]


def keystrokes(folder: Path) -> list[float]:
    """Return the main thread's time in milliseconds for each key typed into a long template."""
    site = Site(folder)
    try:
        site.write(SECTION * (100_000 // len(SECTION) + 1))
        with browser() as chrome:
            page = chrome.new_page()
            page.goto(f"{site.url}/#/edit")
            page.locator("section.preview[aria-busy='false']").wait_for()
            page.locator(".cm-line").nth(20).click()
            page.keyboard.type("Warm up. ", delay=PAUSE_MS)
            page.wait_for_timeout(2_000)
            chrome.start_tracing(page=page, categories=CATEGORIES)
            page.keyboard.type("e" * KEYS, delay=PAUSE_MS)
            events: list[dict[str, Any]] = json.loads(chrome.stop_tracing())["traceEvents"]
    finally:
        site.stop()
    return list(work_per_key(events))


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
