"""What readers of the same state of the disk share, and what they forget when files change."""

import os

import pytest

from foreword import Agent
from foreword.building.build import build
from foreword.gathering.gather import gather
from foreword.layout.parse import parse
from foreword.packs.packs import find_layout
from foreword.sources.places import Known
from foreword.sources.reader import Reader


def text(tree, known):
    """The text of the layout opal's prompt, by a reader that shares what others have read."""
    reader, workspace = Reader(known=known), tree.workspace()
    source = find_layout("opal", workspace, reader)
    layout = parse(source.mapping, source.name, source.address)
    return build(layout, gather(layout, workspace, reader), Agent(), None).text


@pytest.mark.parametrize("changed", ["AGENTS.md", "api/AGENTS.md"])
def test_only_what_depends_on_a_changed_file_is_read_again(tree, changed):
    tree({"w/.git": None, "w/AGENTS.md": "Before.", "w/api/AGENTS.md": "Below."})
    known = Known()
    texts = [text(tree, known)]
    tree({"w/AGENTS.md": "After."})
    texts.append(text(tree, known))
    known.forget({tree.path(f"w/{changed}")})
    texts.append(text(tree, known))
    assert ["After." in text for text in texts] == [False, False, changed == "AGENTS.md"]
    assert ["Before." in text for text in texts] == [True, True, changed != "AGENTS.md"]


@pytest.mark.parametrize(
    ("size", "limit", "found"),
    [(3, 9, 3), (3, 4, 3), (3, 2, 3), (3, 1, 2), (5, 4, 5), (6, 4, 5), (6, 9, None), (4, 9, 4)],
)
def test_a_file_that_was_read_up_to_a_limit_is_known_up_to_it(size, limit, found):
    """At most one byte more than the limit is returned, which shows that the file is longer."""
    known = Known()
    known.add_file("/w/a", b"x" * min(size, 5), 4, None, "/w/a")
    content = known.find_file("/w/a", limit)
    assert (content and len(content[0])) == found


def test_a_changed_folder_is_listed_again_and_may_contain_what_was_missing():
    known = Known()
    known.listings = {"/w": ([], "/w"), "/x": ([], "/x")}
    known.folders = {"/w": (1, 2), "/x": (1, 3)}
    known.absent = {"/w/a": "/w", "/w/b/c": "/w", "/x/a": "/x", "/y": "/"}
    known.forget({"/w", "/y"})
    assert (known.listings, known.folders, known.absent) == ({"/x": ([], "/x")}, {"/x": (1, 3)}, {"/x/a": "/x"})


def test_a_folder_that_is_known_is_checked_as_a_folder_again(tree):
    class Guard:
        def refusal(self, places, path, real=None, is_folder=False):
            checked.append((path, is_folder))

    tree({"w/sub/a.md": "A"})
    known, folder = Known(), tree.path("w/sub")
    for _ in range(2):
        checked = []
        assert Reader(known=known).entries(folder, Guard()) == (["a.md"], None)
        assert set(checked) == {(folder, True)} and len(checked) == 2


def test_what_a_walk_did_not_find_in_a_folder_is_known_to_be_missing(tree, monkeypatch):
    tree({"w/a/b/.": None, "w/locked": None})
    known = Known()
    known.walked.add(
        {tree.path("w"): ["a", "locked", "Link"], tree.path("w/a"): [".Claude"], tree.path("w/locked"): []}
    )
    can_search = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in path and can_search(path, mode))
    found = {
        name: known.folder_without(tree.path(name))
        for name in ("w/x", "w/a/.cursor/rules/x", "w/a/.claude/x", "w/link/x", "w/a/..", "w/a/b/x", "w/locked/x", "y")
    }
    assert {name: tree.short(folder) for name, folder in found.items() if folder} == {
        "w/x": "/w",
        "w/a/.cursor/rules/x": "/w/a",
        "w/a/b/x": "/w/a",
    }
    assert known.absent == {tree.path(name): folder for name, folder in found.items() if folder}


def test_a_reader_looks_up_nothing_in_a_folder_without_it(tree):
    calls = []

    class Disk:
        def __getattr__(self, name):
            calls.append(name)
            return getattr(os, name)

    tree({"w/.git": None})
    known = Known()
    known.walked.add({tree.path("w"): [".git"]})
    reader = Reader(disk=Disk(), known=known)
    assert reader.read(tree.path("w/.claude/rules/x.md")).fate == "absent"
    assert not reader.is_folder(tree.path("w/.claude/rules"))
    assert calls == ["stat"]  # the folder's stamp
    assert list(reader.stamps) == [tree.path("w")]
