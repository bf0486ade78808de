"""The web page: the cost of a keystroke in a long template and the size of the download, each compared with its limit."""

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
LOADED = ("index.html", "app.js", "style.css", "icon.svg")
MOST_LOADED = 200.0
FRAME = 16.0

LETTERS = 60
PAUSE = 120  # ms between two keys: longer than a key takes, shorter than the page's delay before it requests a preview
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
    """Compare the median and worst keystroke with a frame, and the download with its limit."""
    times = keystrokes(project.home / "page")
    loaded = sum(len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in LOADED) / 1000
    work = f"main-thread time per key, from the key to the frame, over {len(times)} keys in a template of 100 KB"
    return [
        Row("page, keystroke, median", median(times), FRAME, 1.0, work, "one frame"),
        Row("page, keystroke, worst", max(times), FRAME, 1.0, work, "one frame"),
        Row("page, download in KB, compressed", loaded, MOST_LOADED, 1.0, ", ".join(LOADED), "the limit"),
    ]


def keystrokes(folder: Path) -> list[float]:
    """Main-thread milliseconds for each key typed into a long template."""
    site = Site(folder)
    try:
        site.write(SECTION * (100_000 // len(SECTION) + 1))
        with browser() as chrome:
            page = chrome.new_page()
            page.goto(f"{site.url}/#/edit")
            page.locator("section.preview[aria-busy='false']").wait_for()
            page.locator(".cm-line").nth(20).click()
            page.keyboard.type("Warm up. ", delay=PAUSE)
            page.wait_for_timeout(2_000)
            chrome.start_tracing(page=page, categories=CATEGORIES)
            page.keyboard.type("e" * LETTERS, delay=PAUSE)
            events: list[dict[str, Any]] = json.loads(chrome.stop_tracing())["traceEvents"]
    finally:
        site.stop()
    return list(work_per_key(events))


def work_per_key(events: list[dict[str, Any]]) -> Iterable[float]:
    """Milliseconds for which the main thread is busy from each key until its change is committed for drawing.

    Later idle work and the blinking caret are not counted, because the user does not wait for them.
    """
    downs = [each for each in events if each["name"] == "EventDispatch" and each["args"]["data"]["type"] == "keydown"]
    thread = (downs[0]["pid"], downs[0]["tid"])
    mine = sorted((each for each in events if (each["pid"], each["tid"]) == thread and "dur" in each), key=start)
    tasks = [each for each in mine if each["name"] == "RunTask"]
    commits = [each for each in mine if each["name"] == "Commit"]
    for key, next_key in pairwise(downs):
        commit = next((each for each in commits if key["ts"] < each["ts"] < next_key["ts"]), None)
        if commit:
            # The task that contains the event began before it.
            during = [each for each in tasks if end(each) > key["ts"] and start(each) <= commit["ts"]]
            yield sum(each.get("tdur", each["dur"]) for each in during) / 1000


def start(event: dict[str, Any]) -> float:
    return float(event["ts"])


def end(event: dict[str, Any]) -> float:
    return float(event["ts"] + event["dur"])
