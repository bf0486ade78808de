"""The page of dated facts about released agents, computed from the recordings of `make peers`. `docs/generate.py` writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parents[1] / "tests/golden/agents"
# Each fact: a heading, and for each of the cases in which it shows, the case and the file. The first recorded case counts.
FACTS = {
    "`AGENTS.md` of the working directory": (
        ("nested repo start", "repo/AGENTS.md"),
        ("more-nested repo start", "repo/AGENTS.md"),
    ),
    "`AGENTS.md` without a `CLAUDE.md`": (("agents-only repo start", "repo/AGENTS.md"),),
    "`CLAUDE.md` beside it": (("nested repo start", "repo/CLAUDE.md"), ("more-nested repo start", "repo/CLAUDE.md")),
    "`CLAUDE.md` alone": (("more-claude repo start", "repo/CLAUDE.md"), ("rules-claude repo start", "repo/CLAUDE.md")),
    "`GEMINI.md`": (("nested repo start", "repo/GEMINI.md"), ("more-nested repo start", "repo/GEMINI.md")),
    "the root's `AGENTS.md`, from a folder below": (
        ("nested repo/a/b start", "repo/AGENTS.md"),
        ("more-nested repo/a/b start", "repo/AGENTS.md"),
    ),
    "`AGENTS.md` above the repository": (("nested repo start", "AGENTS.md"), ("more-nested repo start", "AGENTS.md")),
    "`AGENTS.md` of a folder in which the agent reads a file": (
        ("nested repo touch", "repo/c/AGENTS.md"),
        ("more-nested repo touch", "repo/c/AGENTS.md"),
    ),
    "`agents.md` in lower case": (("case repo start", "repo/agents.md"),),
    "a file in Latin-1": (("latin-1 repo start", "repo/AGENTS.md"), ("latin-1 repo start", "repo/CLAUDE.md")),
    "the main checkout's file, from a worktree inside it": (
        ("worktree repo/.claude/worktrees/in start", "repo/AGENTS.md"),
    ),
}
_SIZES = {"a file of 70,000 characters": ("large-all repo start",), "files of 60,000 bytes": ("large repo/a/b start",)}


def facts_page(table: Any, page: Any) -> str:
    """Return the page. `table` and `page` are the functions of docs/generate.py that format a table and a page."""
    recordings = [json.loads(path.read_text()) for path in sorted(RECORDINGS.glob("*.json"))]
    programs = [
        (
            each["program"],
            each["version"],
            each["date"],
            str(len(each["cases"])),
            f"{each['own']['prompt'] + each['own']['tools']:,}",
        )
        for each in recordings
    ]
    names = [each["program"] for each in recordings]
    rows = [(fact, *(_answer(each["cases"], cases) for each in recordings)) for fact, cases in FACTS.items()]
    rows += [(fact, *(_size(each["cases"], cases) for each in recordings)) for fact, cases in _SIZES.items()]
    rows.append(("after an edit, the next turn", *(_edit(each["cases"]) for each in recordings)))
    parts = [
        "What released agents really send, as `make peers` recorded it by running them against a fake provider. [Released agents](../agents.md)"
        " says how. The versions differ, so look at the date before you rely on a row.",
        table(("program", "version", "recorded", "cases", "tokens of its own prompt and tools"), programs),
        "## Which files they read",
        "*start*: the file is in the first request. *touch*: it is added when a tool reads a file in that folder. *no*: it is not sent. An empty"
        " cell was not tried.",
        *(
            table(("file", *names[start : start + 5]), [(row[0], *row[1 + start : 6 + start]) for row in rows])
            for start in (0, 5)
        ),
    ]
    return str(page("What released agents read", "tests/golden/agents", *parts))


def _answer(cases: Mapping[str, Any], known: Any) -> str:
    """Return whether and when a file is sent, or an empty string if that was not recorded."""
    tried = [(name, path) for name, path in known if name in cases]
    if not tried:
        return ""
    sent = any(
        [role, path]
        for name, path in tried
        for role, sent_path in cases[name]["files"]
        if sent_path == path and role != "tools"
    )
    return ("touch" if tried[0][0].endswith("touch") else "start") if sent else "no"


def _size(cases: Mapping[str, Any], known: Any) -> str:
    """Return how many bytes of the longest line were sent."""
    lines = [line for name in known if name in cases for entry in cases[name]["messages"] for line in entry["lines"]]
    sizes = [int(size) for line in lines for size in re.findall(r"…\[(\d+) bytes\]…", line)]
    return f"{max(sizes):,} bytes" if sizes else ""


def _edit(cases: Mapping[str, Any]) -> str:
    case = next((case for name, case in cases.items() if name.startswith("nested ") and name.endswith(" edit")), None)
    if case is None:
        return ""
    return ("sends it" if case["files"] else "keeps the old text") + (
        "" if case["prefix"] == "kept" else ", rewrites the prefix"
    )
