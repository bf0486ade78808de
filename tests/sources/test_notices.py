"""The directories to watch for a set of paths, and the events in them that matter."""

import os
from pathlib import Path

import pytest

from foreword.engine.assembler import Assembler
from foreword.sources.notices import dependencies_of

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
