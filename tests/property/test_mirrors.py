"""Layouts that mirror programs, on arbitrary texts with imports, comments and front matter: every character has an origin."""

import json
import os
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword import Agent, Workspace, assemble
from foreword.encoding.inputs import inputs_form, inputs_from
from foreword.gathering.gather import gather
from foreword.layout.parse import parse
from foreword.packs import agents
from foreword.packs.packs import find_layout
from foreword.sources.environment import resolve_workspace
from foreword.sources.reader import Reader

FILES = (
    "w/CLAUDE.md w/CLAUDE.local.md w/.claude/CLAUDE.md w/.claude/rules/r.md w/AGENTS.md w/GEMINI.md w/a/CLAUDE.md w/a/AGENTS.md w/a/GEMINI.md"
    " w/.github/copilot-instructions.md w/.github/instructions/x.instructions.md w/.cursor/rules/c.mdc w/a/QWEN.md w/i.md w/a/j.md"
    " home/.claude/CLAUDE.md home/.gemini/GEMINI.md home/.codex/AGENTS.md home/h.md out.md"
).split()
FRAGMENTS = [
    "@i.md", "@a/j.md", "@../i.md", "@j.md", "@./i.md", "@CLAUDE.md", "@AGENTS.md", "@GEMINI.md", "@~/h.md", "@../out.md", "@../../out.md",
    "@/etc/hostname", "@nobody", "@i.md,", "(@i.md)", "**@i.md**", "**@", "`@i.md`", "@.env", "@a", "@\N{SNOWMAN}.md", "@@i.md",
    " ", " ", "\n", "\n\n", "\n\n", "    ", "\t", "- ", "> ", "# ", "x", "word ", "é", "👩‍👩‍👧", "\r\n", "\u2028", "```\n", "```", "`", "~~~\n",
    "<!--", "-->", "<!-- c -->", "<!-- c -->\n", "<!--\nlong\n-->\n", "<div>\n", "</div>", "</system-reminder>", "<custom_instruction>",
    "---\n", "paths: a\n", "applyTo: '**'\n", "globs: *.md\n", "description: d\n", "{text}", "{front.x}", "{{",
]  # fmt: skip
FRONTS = [
    "",
    "---\npaths: x/**\n---\n",
    "---\ndescription: d\nalwaysApply: true\n---\n",
    "---\na: [\n---\n",
    "---\na: b\n",
    " \n",
]
texts = st.builds(
    "{}{}".format, st.sampled_from(FRONTS), st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
)
trees = st.dictionaries(st.sampled_from(FILES), texts, max_size=10)


@pytest.fixture(scope="module")
def write_tree(module_tree):
    """Return a function that writes these files to an otherwise empty tree, and returns its workspace."""
    top = module_tree.path("current")

    def write_tree(files, cwd):
        shutil.rmtree(top, ignore_errors=True)
        for folder in ("w/a", "w/.git", "home"):
            os.makedirs(os.path.join(top, folder))
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
            with open(os.path.join(top, name), "w", newline="") as file:
                file.write(text)
        return Workspace(os.path.join(top, cwd), home=os.path.join(top, "home"), platform="linux", environment={})

    return write_tree


def lines_of(path):
    with open(path, newline="") as file:
        return file.read().removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("layout", agents.NAMES)
@given(files=trees, cwd=st.sampled_from(["w", "w/a"]))
def test_every_character_has_its_origin(write_tree, layout, files, cwd):
    workspace = write_tree(files, cwd)
    prompt = assemble(workspace, Agent(), layout)
    for passage in prompt.passages:
        assert "".join(piece.text for piece in passage.pieces) == passage.text
        assert prompt.text[passage.start : passage.end] == passage.text
        for piece in passage.pieces:
            if piece.origin.kind == "file" and piece.origin.lines:
                first, last = piece.origin.lines
                lines = lines_of(piece.origin.path)
                # Some programs keep CRLF, in a piece that may end between its characters.
                text = piece.text.replace("\r\n", "\n").removesuffix("\r").rstrip("\n")
                assert text in "\n".join([*lines[first - 1 : last], ""])
    used = {candidate.path: candidate.reason for candidate in prompt.candidates if candidate.fate in ("used", "cut")}
    outside = os.path.dirname(workspace.home) + "/out.md"
    assert f"imported by {workspace.home}" in used.get(outside, f"imported by {workspace.home}")
    texts_of = {
        piece.origin.path
        for passage in prompt.passages
        for piece in passage.pieces
        if piece.origin.kind == "file" and piece.origin.lines
    }
    assert texts_of <= used.keys()


@pytest.mark.parametrize("layout", ["claude", "gemini", "copilot"])
@settings(max_examples=25)
@given(files=trees)
def test_inputs_survive_storing_and_reading(write_tree, layout, files):
    workspace = resolve_workspace(write_tree(files, "w"), Reader())
    source = find_layout(layout, workspace, Reader())
    inputs = gather(parse(source.mapping, source.name, source.address), workspace, Reader())
    stored = json.loads(json.dumps(inputs_form(inputs)))
    assert inputs_from(stored).found == inputs.found
