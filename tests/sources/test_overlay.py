"""A repository's shared files with changes in memory: what a reader finds on this disk."""

import os
from pathlib import Path

import pytest

from foreword.sources.links import Reach
from foreword.sources.overlay import Overlay, SharedFiles
from foreword.sources.reader import Reader


@pytest.fixture
def reader(tree):
    """`reader(changes)` returns a reader of the workspace with changes. Only the files that are listed here are shared."""
    tree({"w/a.md": "A", "w/sub/b.md": "B", "w/hidden.md": "H", "above.md": "X"})
    os.symlink("sub", tree.path("w/linked"))
    os.symlink("a.md", tree.path("w/same.md"))
    os.symlink(tree.path("above.md"), tree.path("w/out.md"))
    names, links = ("a.md", "sub/b.md"), ("linked", "same.md", "out.md")
    files = SharedFiles(tree.path("w"), (*names, *links), links)

    def create(changes=None):
        contents = {name: text and text.encode() for name, text in (changes or {}).items()}
        return Reader(disk=Overlay(files, contents))

    return create


@pytest.mark.parametrize(
    ("changes", "path", "expected"),
    [
        ({}, "w/a.md", ("used", "A")),
        ({}, "w/sub/b.md", ("used", "B")),
        ({}, "w/hidden.md", ("absent", "")),
        ({"a.md": "new"}, "w/a.md", ("used", "new")),
        ({"a.md": None}, "w/a.md", ("absent", "")),
        ({"x/y/z.md": "new"}, "w/x/y/z.md", ("used", "new")),
        ({}, "w/same.md", ("used", "A")),
        ({"a.md": "new"}, "w/same.md", ("used", "new")),
        ({}, "w/linked/b.md", ("used", "B")),
        ({"sub/b.md": "new"}, "w/linked/b.md", ("used", "new")),
        ({}, "w/out.md", ("refused", "")),
        ({}, "w/sub", ("unreadable", "")),
    ],
)
def test_a_file_is_read(reader, tree, changes, path, expected):
    reach = Reach(tree.path("w"), tree.path("w"))
    reading = reader(changes).read(tree.path(path), reach)
    assert (reading.fate, reading.text) == expected


@pytest.mark.parametrize(
    ("changes", "folder", "expected"),
    [
        ({}, "w", ["a.md", "linked", "out.md", "same.md", "sub"]),
        ({"x/y.md": "new", "a.md": None}, "w", ["linked", "out.md", "same.md", "sub", "x"]),
        ({"sub/c.md": "new"}, "w/sub", ["b.md", "c.md"]),
        ({"x/y.md": "new"}, "w/x", ["y.md"]),
        ({}, ".", []),
    ],
)
def test_a_folder_is_listed(reader, tree, changes, folder, expected):
    assert reader(changes).entries(os.path.normpath(tree.path(folder)))[0] == expected


def test_nothing_exists_above_the_root(reader, tree):
    assert os.path.exists(tree.path("above.md"))
    assert not reader().exists(tree.path("above.md"))
    assert reader().is_folder(os.path.dirname(tree.path("w")))


def test_the_disk_stays_as_it_is(reader, tree):
    assert reader({"a.md": "new"}).read(tree.path("w/a.md")).text == "new"
    assert Path(tree.path("w/a.md")).read_text() == "A"


def test_a_repository_has_a_git_folder(reader, tree):
    assert reader().has_git(tree.path("w"))
    assert not reader().has_git(tree.path("w/sub"))


def test_a_file_behind_a_link_that_git_lists_as_a_folder_is_not_read(tree):
    tree({"w/a.md": "A", "outside/b.md": "B"})
    os.symlink(tree.path("outside"), tree.path("w/sub"))
    files = SharedFiles(tree.path("w"), ("a.md", "sub/b.md"))
    assert (files.text("a.md"), files.text("sub/b.md")) == ("A", None)


def test_a_link_that_git_lists_as_a_file_is_not_read(tree):
    tree({"w/real.md": "A", "w/a.md": Path("real.md")})
    files = SharedFiles(tree.path("w"), ("real.md", "a.md"))
    assert files.read("real.md") == (b"A", 1)
    with pytest.raises(OSError, match=r"a\.md"):
        files.read("a.md")
