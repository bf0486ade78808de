"""The directories to watch for a set of paths, and the events in them that matter."""

import os
import time
from pathlib import Path

import pytest

from foreword.engine.assembler import Assembler
from foreword.sources.notices import Notices, dependencies_of

ADDED, MODIFIED, DELETED = 1, 2, 3


def paths_inside(tree, paths):
    """The paths inside the temporary folder, relative to it."""
    top = os.path.realpath(tree.top)
    return sorted(path[len(top) :] or "/" for path in paths if path == top or path.startswith(top + "/"))


@pytest.mark.parametrize(
    ("files", "paths", "folders"),
    [
        ({"w/a.md": ""}, ["w/a.md"], ["/", "/w"]),
        ({"w/sub": None}, ["w/sub"], ["/", "/w", "/w/sub"]),
        ({}, ["w/no/such/file"], ["/", "/w"]),
        ({"w/a.md": Path("../far/b.md"), "far/b.md": ""}, ["w/a.md"], ["/", "/far", "/w"]),
        ({"w/a.md": Path("../far/b.md")}, ["w/a.md"], ["/", "/w"]),
        ({"w/d": Path("../far/e"), "far/e/f/a.md": ""}, ["w/d/f/a.md"], ["/", "/far", "/far/e", "/far/e/f", "/w"]),
        ({"w/a": Path("b"), "w/b": Path("a")}, ["w/a"], ["/", "/w"]),
        ({"w/a.md/x": ""}, ["w/a.md/x/y"], ["/", "/w", "/w/a.md"]),
        ({"w/up": Path(".."), "a.md": ""}, ["w/up/a.md"], ["/", "/w"]),
    ],
)
def test_every_directory_on_the_way_is_watched(tree, files, paths, folders):
    tree(files)
    assert paths_inside(tree, dependencies_of(map(tree.path, paths)).folders) == folders


def test_two_thousand_nested_names_and_a_chain_of_links_are_followed(tree):
    for number in range(30):
        tree({f"w/l{number}": Path(f"l{number + 1}")})
    tree({"w/l30": Path("../far")})
    dependencies = dependencies_of([tree.path("w/l0"), tree.path("w/" + "a/" * 2000 + "b")])
    assert os.path.realpath(tree.path("far")) in dependencies.entries
    assert paths_inside(tree, dependencies.folders) == ["/", "/w"]


@pytest.mark.parametrize(
    ("kind", "path", "is_relevant"),
    [
        (MODIFIED, "w/AGENTS.md", True),
        (DELETED, "w/AGENTS.md", True),
        (ADDED, "w/anything", True),  # a missing path is only known by its directory
        (MODIFIED, "w/server.log", False),
        (ADDED, "w/src/AGENTS.md", False),
        (ADDED, "beside", False),
        (DELETED, "w", True),
    ],
)
def test_only_events_that_can_change_the_prompt_matter(tree, kind, path, is_relevant):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/src": None})
    assembler = Assembler(tree.workspace(), "ion")
    assembler.prompt()
    dependencies = dependencies_of(assembler.paths_read())
    assert dependencies.is_relevant(kind, os.path.realpath(tree.top) + "/" + path) is is_relevant


class Watcher:
    """Returns one set of events after another. A function instead of a set is called first, and returns it."""

    def __init__(self, *events):
        self.left = list(events)

    def events(self, timeout, stop):
        events = self.left.pop(0)
        return events() if callable(events) else events

    def close(self):
        """Nothing is open."""


def waiting(tree, *events):
    """Notices about w/AGENTS.md, which get these events."""
    notices = Notices()
    notices.dependencies = dependencies_of([tree.path("w/AGENTS.md")])
    notices._watcher = Watcher(*events)
    return notices


def test_events_that_do_not_matter_do_not_end_the_waiting(tree):
    tree({"w/AGENTS.md": "X"})
    path = os.path.realpath(tree.path("w/AGENTS.md"))
    notices = waiting(tree, {(MODIFIED, f"{path}.swp")}, {(MODIFIED, path)})
    assert notices.wait() == {tree.path("w/AGENTS.md"): True}
    assert waiting(tree, set()).wait(tick=5) == {}
    assert waiting(tree, None).wait() is None


def test_changes_are_reported_when_git_has_released_its_lock(tree):
    tree({"w/AGENTS.md": "X", "w/.git/index.lock": ""})
    lock, path = tree.path("w/.git/index.lock"), os.path.realpath(tree.path("w/AGENTS.md"))

    def release():
        os.unlink(lock)
        return {(ADDED, f"{path}x"), (DELETED, os.path.dirname(path))}

    notices = waiting(tree, {(MODIFIED, path)}, set(), release, None)
    assert notices.wait(lock=lock) == {tree.path("w/AGENTS.md"): True, tree.path("w"): True}
    assert notices._watcher.left == [None]


@pytest.mark.parametrize("age", [0, 3600, -3600])
def test_a_lock_that_was_left_behind_does_not_count(tree, age):
    tree({"w/AGENTS.md": "X", "w/.git/index.lock": ""})
    lock, path = tree.path("w/.git/index.lock"), os.path.realpath(tree.path("w/AGENTS.md"))
    os.utime(lock, (time.time() - age, time.time() - age))
    notices = waiting(tree, {(MODIFIED, path)}, None)
    assert notices.wait(lock=lock) == (None if age == 0 else {tree.path("w/AGENTS.md"): True})


def test_a_file_that_is_being_saved_is_reported_when_it_has_content(tree):
    tree({"w/AGENTS.md": ""})
    path = os.path.realpath(tree.path("w/AGENTS.md"))

    def save():
        tree({"w/AGENTS.md": "X"})
        return {(MODIFIED, path)}

    notices = waiting(tree, {(DELETED, path)}, save, None)
    assert notices.wait() == {tree.path("w/AGENTS.md"): True}
    assert notices._watcher.left == [None]
    assert waiting(tree, {(MODIFIED, path)}, None).wait() == {tree.path("w/AGENTS.md"): True}


@pytest.mark.parametrize(("count", "found"), [(5_000, None), (5_001, {"": False})])
def test_after_many_events_at_once_everything_is_looked_at(tree, count, found):
    tree({"w/AGENTS.md": "X"})
    many = {(ADDED, f"/far/{number}") for number in range(count)}
    assert waiting(tree, many, None).wait() == found


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod", "builder"])
def test_only_directories_that_a_layout_reads_are_watched(tree, skill, layout):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.agents/skills/a/SKILL.md": skill("a"), "w/node_modules/b/c/d.js": ""})
    tree({"home/.ion/AGENTS.md": "X", "home/Documents/big/bigger": "", "w/src/deep/er.py": ""})
    assembler = Assembler(tree.workspace(), layout)
    assembler.prompt()
    watched = paths_inside(tree, dependencies_of(assembler.paths_read()).folders)
    wrong = ("node_modules", "Documents", "src")
    assert [path for path in watched if any(word in path for word in wrong)] == []
    assert "/w" in watched and "/home" in watched
