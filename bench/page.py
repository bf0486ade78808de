"""The page: what a keystroke costs in a long template, and what is loaded. Both beside what they may be at most."""

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
PAUSE = 120  # between two keys: longer than their work, shorter than what the page waits before it asks for a preview
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


def rows(place: Fixture) -> list[Row]:
    """The keystroke, median and worst, and the load."""
    each = keystrokes(place.home / "page")
    loaded = sum(len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in LOADED) / 1000
    work = (
        f"the work of the page's thread for one of {len(each)} keys, from the key to the frame, in a template of 100 KB"
    )
    return [
        Row("page, a keystroke, median", median(each), FRAME, 1.0, work, "a frame"),
        Row("page, a keystroke, worst", max(each), FRAME, 1.0, work, "a frame"),
        Row(
            "page, loaded, kilobytes compressed", loaded, MOST_LOADED, 1.0, ", ".join(LOADED), "what it may be at most"
        ),
    ]


def keystrokes(folder: Path) -> list[float]:
    """The milliseconds of work for each key that is typed into a long template."""
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
    """How long the thread that gets the keys is busy from each key until what it changed is handed over to be drawn.

    What follows in idle moments, and the blinking of the caret, holds nobody up and is not counted.
    """
    downs = [each for each in events if each["name"] == "EventDispatch" and each["args"]["data"]["type"] == "keydown"]
    thread = (downs[0]["pid"], downs[0]["tid"])
    mine = sorted((each for each in events if (each["pid"], each["tid"]) == thread and "dur" in each), key=start)
    tasks = [each for each in mine if each["name"] == "RunTask"]
    drawn = [each for each in mine if each["name"] == "Commit"]
    for this, following in pairwise(downs):
        done = next((each for each in drawn if this["ts"] < each["ts"] < following["ts"]), None)
        if done:
            # The task that holds the event began before it.
            during = [each for each in tasks if end(each) > this["ts"] and start(each) <= done["ts"]]
            yield sum(each.get("tdur", each["dur"]) for each in during) / 1000


def start(event: dict[str, Any]) -> float:
    return float(event["ts"])


def end(event: dict[str, Any]) -> float:
    return float(event["ts"] + event["dur"])
