"""After a change, an assembler searches again only where it may matter, and finds what a new assembler finds."""

import os
import time
from types import SimpleNamespace

import pytest

from foreword import Agent, Assembler
from foreword.sources import stamps
from foreword.sources.reader import Reader

FILES = {"w/.git": None, "w/AGENTS.md": "Top.", "w/a/AGENTS.md": "A.", "w/a/b/AGENTS.md": "B.", "w/a/b/CLAUDE.md": "C."}


@pytest.fixture
def opened_after(tree, disk, monkeypatch):
    """Return a function that writes files, checks the prompt, and returns the paths that were opened for it."""
    an_hour_later = SimpleNamespace(time_ns=lambda: time.time_ns() + 3_600 * 10**9)
    monkeypatch.setattr(stamps, "time", an_hour_later)  # so that even new files count as unchanged
    paths = []
    monkeypatch.setattr(disk, "_record", lambda call, path: paths.append(tree.short(path)) if call == "open" else None)
    tree(FILES)
    assembler = Assembler(tree.workspace("w/a/b"))
    assembler.reader = lambda: Reader(disk=disk)
    assembler.prompt(Agent())

    def opened_after(files):
        tree(files)
        paths.clear()
        found, expected = assembler.prompt(Agent()), Assembler(tree.workspace("w/a/b")).prompt(Agent())
        assert (found.text, found.candidates, found.findings) == (expected.text, expected.candidates, expected.findings)
        return paths

    opened_after({"w/AGENTS.md": "The first change is followed by a whole search."})
    return opened_after


@pytest.mark.parametrize("path", ["w/AGENTS.md", "w/a/AGENTS.md", "w/a/b/AGENTS.md"])
def test_only_a_changed_file_is_opened(opened_after, path):
    assert [opened_after({path: "x" * size}) for size in (50, 60)] == [[f"/{path}"]] * 2


def test_a_new_file_in_a_folder_is_found(opened_after):
    """A new file may be the root of a repository, so everything is read again."""
    opened_after({"w/a/AGENTS.override.md": "Instead."})
    opened_after({"w/a/AGENTS.override.md": "Instead of both."})
    assert {os.path.dirname(path) for path in opened_after({"w/AGENTS.md": "Another top."})} == {"/w"}


@pytest.mark.parametrize("text", ["", "B.", "Top."])
def test_a_file_that_becomes_blank_or_a_copy_changes_the_fates_of_others(opened_after, text):
    opened_after({"w/a/b/AGENTS.md": "The second search is remembered."})
    opened_after({"w/a/b/AGENTS.md": text})
    opened_after({"w/a/AGENTS.md": "B."})
