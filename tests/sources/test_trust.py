"""Which files of a workspace need trust."""

import os

import pytest

from foreword import Workspace
from foreword.sources.trust import Trust


@pytest.mark.parametrize(
    ("path", "real", "name"),
    [
        ("w/AGENTS.md", "", "AGENTS.md"),
        ("w/docs/../AGENTS.md", "", "AGENTS.md"),
        ("w/api/config", "", "api/config"),
        ("w/HEAD", "", "HEAD"),
        # What git needs is not text for prompts. Everything else in its folder could be.
        ("w/.git", "", None),
        ("w/.git/HEAD", "", None),
        ("w/.git/worktrees/x/commondir", "", None),
        ("w/.git/AGENTS.md", "", ".git/AGENTS.md"),
        ("w/api/.git", "", "api/.git"),
        ("w/api/.git/HEAD", "", "api/.git/HEAD"),
        # Outside the workspace, only what leads into it.
        ("home/AGENTS.md", "", None),
        ("w-2/AGENTS.md", "w-2/AGENTS.md", None),
        ("home/AGENTS.md", "w/api/AGENTS.md", "api/AGENTS.md"),
        ("home/HEAD", "w/.git/HEAD", None),
    ],
)
def test_the_files_of_a_workspace_have_a_name_in_it(tmp_path, path, real, name):
    top = os.path.realpath(tmp_path)
    trust = Trust(Workspace(f"{top}/w/api", root=f"{top}/w", environment={}), "ask", lambda path, hash: False)
    assert trust.name_of(f"{top}/{path}", real and f"{top}/{real}") == name
    refusal = trust.refusal(f"{top}/{path}", b"text", real and f"{top}/{real}")
    assert (refusal is None, list(trust.read_files)) == (name is None, [name] if name else [])
