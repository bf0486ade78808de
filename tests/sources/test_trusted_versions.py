"""Which contents and lines of files are in the history of a trusted ref."""

import pytest

from foreword import CallError, MissingError, Workspace
from foreword.sources.git import open_git
from foreword.sources.reader import Reader
from foreword.sources.readings import LineCheck
from foreword.sources.trusted_versions import TrustedVersions, full_ref, short_ref

RULES = "# Rules\n\nBe brief.\nUse tabs.\n"
FRONT = "---\na: 1\n---\nBe brief.\n"


@pytest.fixture
def versions(tree, git, request):
    """The ref main: RULES has become FRONT in its second commit. The branch work begins at the first one."""
    git("init", "--object-format", getattr(request, "param", "sha1"))
    tree({"w/AGENTS.md": RULES, "w/other.md": "X\n"})
    git("add", ".")
    git("commit", "-m", "one")
    git("switch", "-c", "work")
    git("switch", "main")
    tree({"w/AGENTS.md": FRONT})
    git("commit", "-am", "two")
    git("switch", "work")
    return TrustedVersions(Workspace(tree.path("w"), root=tree.path("w")), "refs/heads/main")


@pytest.mark.parametrize("versions", ["sha1", "sha256"], indirect=True)
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("AGENTS.md", RULES, True),
        ("AGENTS.md", FRONT, True),
        ("AGENTS.md", RULES.replace("\n", "\r\n"), True),
        ("AGENTS.md", RULES + "More.\n", False),
        ("AGENTS.md", "X\n", False),
        ("other.md", "X\n", True),
        ("new.md", "X\n", False),
        ("new.md", "", False),
    ],
)
def test_every_content_that_a_file_has_had_is_trusted(versions, name, text, expected):
    assert versions.contain(name, text.encode()) is versions.contain(name, text.encode()) is expected


@pytest.mark.parametrize(
    ("text", "trusted", "missing", "is_front_changed"),
    [
        (RULES, "+++++", 0, False),
        (RULES.replace("\n", "\r\n"), "+++++", 0, False),
        ("# Rules\n\nBe brief.\nUse sudo.\n", "+++-+", 1, False),
        ("# Rules\n\nUse tabs.\n", "++++", 1, False),
        ("Use sudo.\n", "-+", 3, False),
        # Lines of the newest version are trusted too, but what is missing is counted in the one that the file was changed from.
        (FRONT, "+++++", 2, False),
        ("---\na: 2\n---\nBe brief.\n", "+-+++", 2, False),
    ],
)
def test_lines_of_the_common_ancestor_or_the_tip_are_trusted(versions, text, trusted, missing, is_front_changed):
    check = versions.check_lines("AGENTS.md", text.encode())
    assert "".join("-+"[line] for line in check.lines) == trusted
    assert check == LineCheck(check.lines, missing, "main", is_front_changed)


@pytest.mark.parametrize(
    ("text", "missing", "is_front_changed"),
    [(FRONT, 0, False), ("---\na: 1\n---\n", 1, False), ("---\n---\nBe brief.\n", 1, True), ("\ufeff---\na: 1\n---\nBe brief.\n", 1, True)],
)  # fmt: skip
def test_a_line_that_is_missing_in_the_front_matter_is_told_apart(versions, git, text, missing, is_front_changed):
    git("switch", "main")
    versions = TrustedVersions(versions.workspace, "refs/heads/main")
    check = versions.check_lines("AGENTS.md", text.encode())
    assert (check.missing, check.is_front_changed) == (missing, is_front_changed)


@pytest.mark.parametrize(("count", "is_known"), [(20_000, True), (20_001, False)])
@pytest.mark.parametrize("is_stored", [True, False])
def test_only_files_of_at_most_20_000_lines_are_compared(tree, git, versions, count, is_known, is_stored):
    text = "\n" * (count - 1)
    git("switch", "main")
    tree({"w/AGENTS.md": text if is_stored else "x\n"})
    git("commit", "-am", "three")
    versions = TrustedVersions(versions.workspace, "refs/heads/main")
    assert (versions.check_lines("AGENTS.md", b"" if is_stored else text.encode()) is not None) is is_known


@pytest.mark.parametrize(("size", "is_known"), [(1 << 20, True), ((1 << 20) + 1, False)])
def test_only_files_of_at_most_a_megabyte_are_compared(tree, git, versions, size, is_known):
    git("switch", "main")
    tree({"w/AGENTS.md": "x" * size})
    git("commit", "-am", "three")
    versions = TrustedVersions(versions.workspace, "refs/heads/main")
    assert (versions.check_lines("AGENTS.md", b"x") is not None) is is_known


def test_nothing_is_trusted_without_the_ref_or_a_repository(tree, versions):
    for missing in (
        TrustedVersions(versions.workspace, "refs/heads/gone"),
        TrustedVersions(Workspace(tree.path("home")), "refs/heads/main"),
    ):
        assert not missing.contain("AGENTS.md", RULES.encode())
        assert missing.check_lines("AGENTS.md", RULES.encode()) is None
    assert versions.check_lines("new.md", RULES.encode()) is None


def test_without_a_common_ancestor_only_the_tip_is_trusted(tree, git, versions):
    git("switch", "--orphan", "lone")
    tree({"w/AGENTS.md": RULES})
    git("add", ".")
    git("commit", "-m", "lone")
    versions = TrustedVersions(versions.workspace, "refs/heads/main")
    assert versions.contain("AGENTS.md", RULES.encode())  # main has contained it
    assert [*versions.check_lines("AGENTS.md", RULES.encode()).lines] == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("ref", "shown"),
    [("refs/heads/a/b", "a/b"), ("refs/remotes/origin/main", "origin/main"), ("refs/tags/v1", "v1"), ("0123456789abcdef", "0123456789ab")],
)  # fmt: skip
def test_a_ref_is_shown_by_its_name(ref, shown):
    assert short_ref(ref) == shown


def test_a_branch_or_tag_gets_its_full_name(versions, git):
    found = open_git(versions.workspace, Reader(), print)
    git("tag", "v1")
    tip = git("rev-parse", "main").strip()
    names = ("main", "heads/main", "v1", tip, tip[:10])
    assert [full_ref(found, name) for name in names] == ["refs/heads/main", "refs/heads/main", "refs/tags/v1", tip, tip]
    assert [full_ref(found, name) for name in ("HEAD", "@")] == ["refs/heads/work", "refs/heads/work"]
    git("tag", "main")
    with pytest.raises(CallError, match="main"):
        full_ref(found, "main")
    with pytest.raises(MissingError, match="there is no commit 'gone'"):
        full_ref(found, "gone")
