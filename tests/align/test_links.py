"""`--links`: a file or a skill's folder that an agent looks for may become a link to the source."""

import os

import pytest

from foreword.errors import CallError
from foreword.programs.align.write import write_changes

SKILL = "---\nname: release\ndescription: How to release.\n---\nTag it.\n"
FILES = {
    "AGENTS.md": "Use pnpm.\n",
    "CLAUDE.md": "Mine.\n",
    "api/AGENTS.md": "Validate.\n",
    ".agents/rules/ts.md": '---\npaths: ["**/*.ts"]\n---\nNo any.\n',
    ".agents/skills/release/SKILL.md": SKILL,
    ".agents/skills/release/tag.sh": "git tag\n",
}


@pytest.fixture
def aligned(tmp_path, planner):
    """The plan with links, of which nothing is written."""
    return planner(tmp_path, FILES, ["claude", "copilot"], links=True).plan()


def test_links_replace_imports_and_copies(aligned):
    assert {change.path: (change.action, change.text) for change in aligned.changes} == {
        ".claude/CLAUDE.md": ("link", "../AGENTS.md"),
        ".claude/rules/ts.md": ("link", "../../.agents/rules/ts.md"),
        ".claude/skills/release": ("link", "../../.agents/skills/release"),
        "api/CLAUDE.md": ("link", "AGENTS.md"),
    }
    assert [reading.problems for reading in aligned.after.values()] == [0, 0]


def test_a_second_run_finds_the_links(aligned, tmp_path, planner):
    write_changes(aligned, force=True)
    assert os.readlink(tmp_path / "api/CLAUDE.md") == "AGENTS.md"
    assert (tmp_path / ".claude/skills/release/tag.sh").read_text() == "git tag\n"
    again = planner(tmp_path, {}, ["claude", "copilot"])
    assert again.before == aligned.after
    assert again.plan().changes == ()


def test_without_the_option_there_are_no_links(tmp_path, planner):
    plan = planner(tmp_path, FILES, ["claude", "copilot"]).plan()
    assert {change.action for change in plan.changes} == {"create"}


def test_a_system_without_links_changes_nothing(aligned, tmp_path, monkeypatch):
    """On Windows, creating a link needs a privilege that most users do not have."""

    def symlink(target, path):
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(os, "symlink", symlink)
    with pytest.raises(CallError, match="cannot be written: A required privilege is not held by the client"):
        write_changes(aligned, force=True)
    assert sorted(path for path in FILES if not (tmp_path / path).is_file()) == []
    assert not (tmp_path / "api/CLAUDE.md").exists()


def test_a_link_is_not_made_where_something_is(aligned, tmp_path):
    (tmp_path / "api/CLAUDE.md").symlink_to("/etc/hostname")
    with pytest.raises(CallError, match="leads through a link"):
        write_changes(aligned, force=True)
    assert not (tmp_path / ".claude").exists()
