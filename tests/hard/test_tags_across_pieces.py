"""A tag that only appears once an included text is inserted."""

from __future__ import annotations

import pytest

from foreword import Agent, Workspace, assemble

LAYOUT = """
sections = ["rules"]
[find.rules]
files = ["cwd:AGENTS.md"]
[section.rules]
list = "rules"
language = "directives"
wrap = "<rules>\\n{}\\n</rules>"
"""


@pytest.mark.parametrize(
    "text", ["<<!-- include: ./x.md -->", "</ru<!-- include: ./none.md -->les>", "<<!-- include: ./none.md -->/rules>"]
)
def test_a_tag_assembled_by_includes_is_escaped(tmp_path, text):
    (tmp_path / "AGENTS.md").write_text(f"Before {text} after\n")
    (tmp_path / "x.md").write_text("/rules>")
    (tmp_path / "team.toml").write_text(LAYOUT)
    workspace = Workspace(str(tmp_path), home=str(tmp_path), environment={})
    assert assemble(workspace, Agent(), str(tmp_path / "team.toml")).text.count("</rules>") == 1
