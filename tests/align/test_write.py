"""Writing what `foreword align` plans: only in the repository, only what was planned for, and so that git can undo it."""

import os
import stat
from types import SimpleNamespace

import pytest

from foreword import CallError
from foreword.programs.align.model import FileChange
from foreword.programs.align.write import write_changes


@pytest.fixture
def write(tree, git):
    """`write(("AGENTS.md", "create", "Text"), force=True)` writes changes in a repository with two committed files."""
    git("init")
    tree({"w/A.md": "One.\n", "w/deep/down/B.md": "Two.\n", "elsewhere": None})
    git("add", ".")
    git("commit", "-m", "one")

    def write(*changes, force=False):
        rows = [FileChange(change[0], change[1], change[2], (), "", *change[3:]) for change in changes]
        write_changes(SimpleNamespace(root=tree.path("w"), changes=rows), force=force)

    return write


def files(tree):
    """Each file of the workspace with its text, or the target of the link."""
    found = {}
    for folder, _, names in os.walk(tree.path("w")):
        for name in names if ".git" not in folder.split("/") else ():
            path = os.path.join(folder, name)
            with open(path) as file:
                found[path[len(tree.path("w")) + 1 :]] = os.readlink(path) if os.path.islink(path) else file.read()
    return found


def test_files_are_created_edited_removed_and_linked(tree, write):
    os.chmod(tree.path("w/A.md"), 0o600)
    write(
        ("A.md", "edit", "New.\n", "One.\n"),
        ("new/C.md", "create", "Three.\n"),
        ("deep/down/B.md", "remove", None, "Two.\n"),
        ("L.md", "link", "A.md"),
    )
    assert files(tree) == {"A.md": "New.\n", "new/C.md": "Three.\n", "L.md": "A.md"}
    assert not os.path.exists(tree.path("w/deep"))
    modes = [stat.S_IMODE(os.lstat(tree.path(f"w/{name}")).st_mode) for name in ("A.md", "new/C.md")]
    assert modes == [0o600, 0o644]


def test_a_folder_with_other_files_stays(tree, write):
    tree({"w/deep/kept.md": "Kept.\n"})
    write(("deep/down/B.md", "remove", None, "Two.\n"))
    assert files(tree) == {"A.md": "One.\n", "deep/kept.md": "Kept.\n"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("../elsewhere/x.md", "create", "X"), "../elsewhere/x.md is not a path in the repository"),
        (("/x.md", "create", "X"), "/x.md is not a path in the repository"),
        (("a/./x.md", "create", "X"), "a/./x.md is not a path in the repository"),
        (("a\\..\\x.md", "create", "X"), "is not a path in the repository"),
        ((".git/hooks/x", "create", "X"), ".git/hooks/x is not a path in the repository"),
        (("out/x.md", "create", "X"), "out/x.md leads through a link, which align does not follow"),
        (("link.md", "edit", "X", "One.\n"), "link.md leads through a link, which align does not follow"),
        (("A.md", "edit", "X", "Other.\n"), "A.md has changed in the meantime; run align again"),
        (("A.md", "create", "X"), "A.md has changed in the meantime; run align again"),
        (("gone.md", "remove", None, "X"), "gone.md has changed in the meantime; run align again"),
        (("deep", "create", "X"), "deep cannot be read: Is a directory"),
    ],
)
def test_nothing_is_written_if_one_change_is_not_safe(tree, git, write, change, message):
    os.symlink("../elsewhere", tree.path("w/out"))
    os.symlink("A.md", tree.path("w/link.md"))
    before = files(tree)
    with pytest.raises(CallError) as error:
        write(("new.md", "create", "New.\n"), change, force=True)
    assert message in str(error.value)
    assert (files(tree), os.listdir(tree.path("elsewhere"))) == (before, [])


def test_what_git_could_not_restore_is_only_changed_with_force(tree, write):
    tree({"w/A.md": "Mine.\n", "w/deep/down/B.md": "Mine.\n"})
    changes = ("A.md", "edit", "New.\n", "Mine.\n"), ("deep/down/B.md", "remove", None, "Mine.\n")
    with pytest.raises(CallError, match=r"^A.md has changes that are not committed; commit them, or pass --force$"):
        write(changes[0])
    with pytest.raises(CallError, match=r"^A.md, deep/down/B.md have changes that are not committed"):
        write(*changes)
    write(("C.md", "create", "Three.\n"))
    write(*changes, force=True)
    assert files(tree) == {"A.md": "New.\n", "C.md": "Three.\n"}


def test_outside_a_repository_only_new_files_are_written_without_force(tree):
    def write(change, **options):
        write_changes(
            SimpleNamespace(root=tree.path("home"), changes=[FileChange(*change[:3], (), "", *change[3:])]), **options
        )

    write(("A.md", "create", "One.\n"))
    with pytest.raises(
        CallError, match=r"is not a repository that git can be run on, so changes to A.md could not be undone"
    ):
        write(("A.md", "edit", "Two.\n", "One.\n"))
    write(("A.md", "edit", "Two.\n", "One.\n"), force=True)
    with open(tree.path("home/A.md")) as file:
        assert file.read() == "Two.\n"
