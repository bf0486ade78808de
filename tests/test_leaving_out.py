"""Leaving instructions out: paragraphs and sections of a file, their copies, imports, and prompts without them."""

import os
from pathlib import Path

import pytest

from foreword import Agent, CallError, Tool, Workspace, assemble
from foreword.cli import main
from foreword.text.leaving_out import Selection, leave_out, removed_text, select
from foreword.text.paragraphs import paragraphs_of, parts_of, sections_of

TEXT = """---
title: x
---
# Project

Intro.

## Testing

- Run make test.
- Never skip
  a test:

  ```sh
  # not a heading

  make test
  ```

### Unit

Fast.

## Style

Do this:

```sh
make style
```
"""


def test_paragraphs_are_blocks_headings_and_items():
    assert [(row.first, row.last, row.level) for row in paragraphs_of(TEXT)] == [
        (4, 4, 1),
        (6, 6, 0),
        (8, 8, 2),
        (10, 10, 0),
        (11, 18, 0),
        (20, 20, 3),
        (22, 22, 0),
        (24, 24, 2),
        (26, 30, 0),
    ]


def test_sections_reach_to_the_next_heading_of_their_level():
    rows = [(section.title, section.first, section.last) for section in sections_of(TEXT)]
    assert rows == [("Project", 4, 30), ("Testing", 8, 22), ("Unit", 20, 22), ("Style", 24, 30)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [("", 4, 6), ("Testing", 8, 22), ("Style", 24, 30)]),
        ("# A\n\na\n\n# B\n\nb\n", [("A", 1, 3), ("B", 5, 7)]),
        ("# A\n\n## B\n\nb\n\n## C\n\nc\n", [("B", 3, 5), ("C", 7, 9)]),
        ("# A\n\na\n", [("", 1, 3)]),
        ("just text", [("", 1, 1)]),
        ("", []),
        ("---\na: 1\n---\n", []),
        ("---\nnot closed", [("", 1, 2)]),
    ],
)
def test_parts_do_not_overlap(text, expected):
    assert [(part.title, part.first, part.last) for part in parts_of(text)] == expected


FILES = {
    "AGENTS.md": "# Rules\n\n## Tests\n\nRun  them.\n\n## Style\n\nBe brief.\n",
    "CLAUDE.md": "@AGENTS.md\n\nOwn.\n",
    "GEMINI.md": "- @./AGENTS.md\n",
    "docs/AGENTS.md": "Run them.\n\n@../GEMINI.md\n",
    "docs/other.md": "See @../AGENTS.md for more.\n",
}


@pytest.mark.parametrize(
    ("selections", "edits"),
    [
        (
            [Selection("AGENTS.md", 3, 5)],
            {"AGENTS.md": "# Rules\n\n## Style\n\nBe brief.\n", "docs/AGENTS.md": "@../GEMINI.md\n"},
        ),
        (
            [Selection("AGENTS.md")],
            {"AGENTS.md": None, "CLAUDE.md": "Own.\n", "GEMINI.md": None, "docs/AGENTS.md": None},
        ),
        # Both paragraphs are the whole file, so nothing is left of it.
        (
            [Selection("AGENTS.md", 5, 5), Selection("AGENTS.md", 9, 9)],
            {"AGENTS.md": None, "CLAUDE.md": "Own.\n", "GEMINI.md": None, "docs/AGENTS.md": None},
        ),
        ([Selection("CLAUDE.md", 3, 3)], {"CLAUDE.md": "@AGENTS.md\n"}),
        ([], {}),
    ],
)
def test_copies_and_imports_are_left_out_too(selections, edits):
    assert leave_out(FILES, selections) == edits


@pytest.mark.parametrize(
    ("text", "first", "expected"),
    [
        ("A\n\nB\n\nC\n", 3, "A\n\nC\n"),
        ("A\n\nB\n", 3, "A\n"),
        ("A\n\nB", 1, "B"),
        ("- a\n- b\n\nText\n", 2, "- a\n\nText\n"),
        ("A\r\n\r\nB\r\n\r\nC\r\n", 3, "A\r\n\r\nC\r\n"),
        ("---\na: 1\n---\nA\n\nB\n", 4, "---\na: 1\n---\n\nB\n"),
    ],
)
def test_the_other_lines_stay_as_they_are(text, first, expected):
    assert leave_out({"a.md": text}, [Selection("a.md", first, first)]) == {"a.md": expected}


def test_only_front_matter_is_nothing():
    assert leave_out({"a.md": "---\na: 1\n---\nA\n"}, [Selection("a.md", 4, 4)]) == {"a.md": None}


def test_what_was_named_is_counted_once():
    assert removed_text(FILES, [Selection("AGENTS.md", 3, 5)]) == "## Tests\n\nRun  them."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AGENTS.md", [Selection("AGENTS.md")]),
        ("AGENTS.md#tests", [Selection("AGENTS.md", 3, 5)]),
        ("#Style", [Selection("AGENTS.md", 7, 9)]),
        ("Style", [Selection("AGENTS.md", 7, 9)]),
        ("AGENTS.md:5", [Selection("AGENTS.md", 5, 5)]),
        ("AGENTS.md:5-9", [Selection("AGENTS.md", 5, 9)]),
    ],
)
def test_a_name_selects_a_file_a_heading_or_lines(name, expected):
    assert select(name, FILES) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("AGENT.md", "no instruction file or heading 'AGENT.md' to leave out; did you mean 'AGENTS.md'?"),
        ("AGENT.md#Style", "no instruction file 'AGENT.md' to leave out; did you mean 'AGENTS.md'?"),
        ("AGENTS.md#Stile", "no heading 'Stile' to leave out; did you mean 'Style'?"),
        ("AGENTS.md:10", "'AGENTS.md:10': AGENTS.md has 9 lines"),
        ("AGENTS.md:5-4", "'AGENTS.md:5-4': AGENTS.md has 9 lines"),
    ],
)
def test_an_unknown_name_is_an_error(name, message):
    with pytest.raises(CallError) as error:
        select(name, FILES)
    assert message in str(error.value)


# Prompts


@pytest.fixture
def workspace(tree):
    tree({"w/.git": None, "home": None, **{f"w/{path}": text for path, text in FILES.items()}})
    return Workspace(tree.path("w"), home=tree.path("home"))


def test_a_prompt_without_a_section(workspace):
    text = assemble(workspace, layout="claude", without=["AGENTS.md#Tests"]).text
    assert "Run" not in text and "Be brief." in text and "Own." in text


def test_a_prompt_without_a_file_that_another_imports(workspace):
    text = assemble(workspace, layout="claude", without=["AGENTS.md"]).text
    assert "Be brief." not in text and "@AGENTS.md" not in text and "Own." in text


def test_a_link_to_a_file_loses_its_text_too(workspace, tree):
    os.unlink(tree.path("w/CLAUDE.md"))
    os.symlink("AGENTS.md", tree.path("w/CLAUDE.md"))
    assert "Be brief." in assemble(workspace, layout="claude").text
    assert "Be brief." not in assemble(workspace, layout="claude", without=["CLAUDE.md"]).text
    assert "Be brief." not in assemble(workspace, layout="claude", without=["AGENTS.md#Style"]).text


def test_a_skill_can_be_left_out(workspace, tree):
    path = ".agents/skills/testing/SKILL.md"
    tree({f"w/{path}": "---\nname: testing\ndescription: How to test.\n---\nRun them all."})
    agent = Agent(tools=[Tool("read_file")])
    assert "How to test." in assemble(workspace, agent).text
    assert "How to test." not in assemble(workspace, agent, without=[path]).text


def test_names_are_relative_to_the_working_directory_or_the_root(workspace, tree):
    nested = Workspace(tree.path("w/docs"), home=tree.path("home"))
    assert "Run them." in assemble(nested, layout="codex", without=["CLAUDE.md"]).text
    for name in ("../AGENTS.md#Style", "AGENTS.md:1"):
        assert "@../GEMINI.md" in assemble(nested, layout="codex", without=[name]).text


def test_nothing_is_written(workspace, tree):
    assemble(workspace, without=["AGENTS.md"])
    assert {path: Path(tree.path(f"w/{path}")).read_text() for path in FILES} == FILES


def test_trusted_files_stay_trusted(workspace, tree, monkeypatch, capsys):
    monkeypatch.setenv("HOME", tree.path("home"))
    home = ["--home", tree.path("home")]
    tree({"home/.config/foreword/foreword.toml": 'trust = "ask"\n'})
    assert main(["trust", tree.path("w"), "--yes", *home]) == 0
    capsys.readouterr()
    assert main(["show", tree.path("w"), "--without", "AGENTS.md#Tests", *home]) == 0
    shown = capsys.readouterr()
    assert "Be brief." in shown.out and "Run" not in shown.out and "untrusted" not in shown.err


def test_the_command_line_reports_unknown_names(workspace, tree, capsys):
    assert main(["show", tree.path("w"), "--home", tree.path("home"), "--without", "nothing"]) == 2
    assert "no instruction file or heading 'nothing' to leave out" in capsys.readouterr().err
