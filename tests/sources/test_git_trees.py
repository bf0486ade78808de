"""What is read from git: commits by name, and trees, their differences, and the sizes and contents of their files."""

import os
from pathlib import Path

import pytest

from foreword import CallError, MissingError, Workspace
from foreword.sources import git_trees
from foreword.sources.git import open_git
from foreword.sources.git_trees import GitTrees, id_of, mode_of
from foreword.sources.reader import Reader


@pytest.fixture
def objects(tree, git):
    """A repository with two commits on the branch main, and one without ancestors on the branch lone."""
    git("init")
    tree({"w/a.md": "One.\n", "w/deep/b.md": "Two.\n", "w/link": Path("a.md"), "w/n\nl": "X"})
    git("add", ".")
    git("commit", "-m", "one")
    tree({"w/a.md": "One, changed.\n", "w/c.sh": "#!/bin/sh\n"})
    os.chmod(tree.path("w/c.sh"), 0o755)
    os.unlink(tree.path("w/deep/b.md"))
    git("add", ".")
    git("commit", "-m", "two")
    git("switch", "--orphan", "lone")
    git("commit", "--allow-empty", "-m", "lone")
    git("switch", "main")
    return GitTrees(open_git(Workspace(tree.path("w"), root=tree.path("w")), Reader(), print))


def test_commits_are_found_by_name(objects, git):
    tip = objects.resolve("main")
    assert len(tip) == 40 and objects.resolve("HEAD") == objects.resolve(tip) == objects.resolve(tip[:9]) == tip
    assert objects.resolve("main~1") != tip


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "gone",
            MissingError,
            "there is no commit 'gone' in this repository; if it exists elsewhere, run git fetch first",
        ),
        ("main:a.md", MissingError, "there is no commit 'main:a.md' in this repository"),
        ("", CallError, "'' is not the name of a commit; pass a branch, a tag or a commit id"),
        ("--all", CallError, "'--all' is not the name of a commit"),
        ("a\nb", CallError, "is not the name of a commit"),
    ],
)
def test_a_name_of_no_commit_is_an_error(objects, name, error, message):
    with pytest.raises(error, match=message):
        objects.resolve(name)


def test_two_commits_may_have_a_common_ancestor(objects):
    tip, before, lone = map(objects.resolve, ("main", "main~1", "lone"))
    assert objects.merge_base(tip, before) == objects.merge_base(before, tip) == before
    with pytest.raises(CallError) as error:
        objects.merge_base(tip, lone)
    assert str(error.value) == (
        f"the commits {tip[:12]} and {lone[:12]} have no common ancestor in this clone; if it is shallow, run git fetch --unshallow"
        " (in a GitHub workflow, set fetch-depth: 0 for actions/checkout), or write BASE..HEAD to compare the two commits directly"
    )


def test_a_tree_has_an_entry_for_each_file(objects):
    files = objects.tree(objects.resolve("main~1"))
    assert {path: mode_of(entry) for path, entry in files.items()} == {
        "a.md": "100644",
        "deep/b.md": "100644",
        "link": "120000",
        "n\nl": "100644",
    }
    assert objects.tree(objects.resolve("lone")) == {}
    ids = {path: id_of(entry) for path, entry in files.items()}
    assert objects.sizes([*ids.values(), ids["a.md"], "0" * 40, objects.resolve("main")]) == {
        ids["a.md"]: 5,
        ids["deep/b.md"]: 5,
        ids["link"]: 4,
        ids["n\nl"]: 1,
    }
    assert objects.contents([ids["link"], "0" * 40, ids["a.md"], ids["link"]]) == {
        ids["link"]: b"a.md",
        ids["a.md"]: b"One.\n",
    }
    assert (objects.sizes([]), objects.contents([])) == ({}, {})
    assert [objects.start_of(ids["a.md"], limit) for limit in (2, 100)] == [b"On", b"One.\n"]
    assert objects.start_of("0" * 40, 9) is None


def test_differences_are_the_entries_of_the_second_tree(objects):
    before, after = objects.resolve("main~1"), objects.resolve("main")
    files = objects.tree(after)
    assert objects.differences(before, after) == {"a.md": files["a.md"], "c.sh": files["c.sh"], "deep/b.md": ""}
    assert mode_of(files["c.sh"]) == "100755"
    assert objects.differences(after, after) == {}


def test_a_commit_that_does_not_exist_cannot_be_read(objects):
    tip, gone = objects.resolve("main"), "0" * 40
    with pytest.raises(
        CallError, match=r"^git cannot list the files of 000000000000: .*; if this is a partial clone, git fetch"
    ):
        objects.tree(gone)
    with pytest.raises(CallError, match=f"^git cannot compare {tip[:12]} and 000000000000: "):
        objects.differences(tip, gone)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda objects: objects.tree("main"), "the commit main has too many files"),
        (lambda objects: objects.differences("main~1", "main"), "main~1 and main differ in too many files"),
    ],
)
def test_too_many_files_are_an_error(objects, monkeypatch, read, message):
    monkeypatch.setattr(git_trees, "_MAX_LISTING", 20)
    with pytest.raises(CallError, match=f"{message}; git lists more than 128 MB of names"):
        read(objects)


def test_a_file_with_a_path_that_no_disk_can_have_is_left_out(objects, git, monkeypatch):
    monkeypatch.setattr(git_trees, "_MAX_PATH", 4)
    assert sorted(objects.tree(objects.resolve("main"))) == ["a.md", "c.sh", "link", "n\nl"]
    assert sorted(objects.differences(objects.resolve("main~1"), objects.resolve("main"))) == ["a.md", "c.sh"]
