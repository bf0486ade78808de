"""Merging agents' own files into AGENTS.md."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.packs.shipped import shipped_mirror
from foreword.programs.align.merge import merge_files, merge_text


@pytest.mark.parametrize(
    ("merged", "text", "expected"),
    [
        ("", "One.\n", "<!-- from C.md -->\nOne.\n"),
        ("One.\n", "One.\n", "One.\n"),
        ("One.\n", "One.\nTwo.\n", "One.\n\n<!-- from C.md -->\nTwo.\n"),
        ("One.\r\n", "Two.\n", "One.\r\n\r\n<!-- from C.md -->\r\nTwo.\r\n"),
        ("One.\n", "@AGENTS.md\n\nTwo.\n", "One.\n\n<!-- from C.md -->\nTwo.\n"),
        ("One.\n", "@AGENTS.md\n", "One.\n"),
        ("", "A\n\n\n\nB\n", "<!-- from C.md -->\nA\n\nB\n"),
        # A code block is kept as a whole, unless the merged text has all of it.
        ("make x\n", "```\nmake x\nmake y\n```\n", "make x\n\n<!-- from C.md -->\n```\nmake x\nmake y\n```\n"),
        ("```\nmake x\n```\n", "```\nmake x\n```\n", "```\nmake x\n```\n"),
    ],
)
def test_each_line_is_kept_once(merged, text, expected):
    assert merge_text(merged, text, "C.md", "@AGENTS.md") == expected


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        ({"AGENTS.md": "One.\n", "C.md": "One.\n"}, [("C.md", "remove", "every line of it is in AGENTS.md")]),
        (
            {"AGENTS.md": "One.\n", "C.md": "Two.\n"},
            [("AGENTS.md", "merge", "it has every line of C.md once"), ("C.md", "remove", "every line of it is in AGENTS.md")],
        ),
        (
            {"C.md": "One.\n", "G.md": "Two.\n"},
            [
                ("AGENTS.md", "merge", "it has every line of C.md and G.md once"),
                *((name, "remove", "every line of it is in AGENTS.md") for name in ("C.md", "G.md")),
            ],
        ),
        ({"C.md": "\n"}, []),
        ({"AGENTS.md": "\n", "C.md": "\n"}, []),
        ({"AGENTS.md": "One.\n", "C.md": "---\na: 1\n---\nTwo.\n"}, []),
        ({"AGENTS.md": "One.\n", ".c/C.md": "Two.\n@other.md\n"}, []),
        ({"AGENTS.md": "One.\n", "C.md": "@other.md\n"}, [("AGENTS.md", "merge", "it has every line of C.md once"), ("C.md", "remove", "every line of it is in AGENTS.md")]),
        ({"api/C.md": "Two.\n"}, [("api/AGENTS.md", "merge", "it has every line of C.md once"), ("api/C.md", "remove", "every line of it is in AGENTS.md")]),
        (
            {"AGENTS.md": "One.\n", ".c/C.md": "Two.\n"},
            [("AGENTS.md", "merge", "it has every line of .c/C.md once"), (".c/C.md", "remove", "every line of it is in AGENTS.md")],
        ),
        ({"node_modules/x/C.md": "Two.\n", "ABC.md": "Two.\n"}, []),
    ],
)  # fmt: skip
def test_own_files_are_merged_into_one_and_removed(files, changes):
    agents = [
        SimpleNamespace(means={"files": ["AGENTS.md", "C.md", ".c/C.md"]}),
        SimpleNamespace(means={"files": ["G.md"]}),
    ]
    proposals = merge_files(files, files.get, agents, "AGENTS.md")
    assert [(row.path, row.means, row.reason) for row in proposals] == changes


def changes_of(planner, root, files, *agents):
    alignment = planner(root, files, agents, merge=True).plan()
    return alignment, {change.path: change.text for change in alignment.changes if change.path != ".agents/align.json"}


def test_diverged_files_become_one(planner, tmp_path):
    files = {
        "AGENTS.md": "Use tabs.\n",
        "CLAUDE.md": "Use tabs.\nRun the tests.\n",
        "GEMINI.md": "Be brief.\n",
        ".github/copilot-instructions.md": "Use tabs.\nBe brief.\n",
        "a/CLAUDE.md": "Only here.\n",
    }
    alignment, changes = changes_of(planner, tmp_path, files, "claude", "codex", "copilot", "gemini")
    assert changes == {
        "AGENTS.md": "Use tabs.\n\n<!-- from CLAUDE.md -->\nRun the tests.\n\n<!-- from .github/copilot-instructions.md -->\nBe brief.\n",
        "a/AGENTS.md": "<!-- from a/CLAUDE.md -->\nOnly here.\n",
        "CLAUDE.md": None,
        "GEMINI.md": None,
        ".github/copilot-instructions.md": None,
        "a/CLAUDE.md": None,
        ".gemini/settings.json": '{\n  "context": {\n    "fileName": ["AGENTS.md", "GEMINI.md"]\n  }\n}\n',
    }
    assert not any(reading.problems for reading in alignment.after.values())


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"AGENTS.md": "One.\n", "CLAUDE.md": "One.\n"},
            "after this, no file shows that CLAUDE is used here; from then on, and in CI, run: foreword align --check --agent claude",
        ),
        (
            {"AGENTS.md": "One.\n", "CLAUDE.md": "One.\n", "GEMINI.md": "One.\n"},
            "after this, no file shows that CLAUDE is used here; from then on, and in CI, run: foreword align --check --agent claude",
        ),
        ({"AGENTS.md": "One.\n", "CLAUDE.md": "One.\n", ".claude/settings.json": "{}\n"}, ""),
        ({"AGENTS.md": "One.\n", "GEMINI.md": "One.\n"}, ""),
        ({"AGENTS.md": "One.\n"}, ""),
    ],
)
def test_an_agent_that_is_not_detected_after_a_merge_is_reported(planner, tmp_path, files, expected):
    findings = planner(tmp_path, files, ("claude", "gemini"), merge=True).plan().findings
    messages = [row.message for row in findings if row.code == "align-undetected"]
    assert messages == [expected.replace("CLAUDE", shipped_mirror("claude").mirrors)] * bool(expected)


@pytest.mark.parametrize(
    "files",
    [
        {"AGENTS.md": "One.\n", "CLAUDE.md": "---\nx: 1\n---\nTwo.\n"},
        {"AGENTS.md": "One.\n", ".claude/CLAUDE.md": "@notes.md\n", ".claude/notes.md": "Two.\n"},
    ],
)
def test_a_file_that_would_mean_something_else_is_not_merged(planner, tmp_path, files):
    _, changes = changes_of(planner, tmp_path, files, "claude")
    assert None not in changes.values()


LINE = st.sampled_from(["One.", "Two.", "", "- a", "```", "# T", "@AGENTS.md", "  indented"])
TEXT = st.lists(LINE, max_size=6).map("\n".join)
FILES = st.dictionaries(st.sampled_from(["AGENTS.md", "CLAUDE.md", "GEMINI.md", "a/CLAUDE.md"]), TEXT, max_size=4)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(FILES)
def test_no_line_is_lost(planner, files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        _, changes = changes_of(planner, root, files, "claude", "gemini")
        result = {path: text for path, text in {**files, **changes}.items() if text is not None}
        for path in changes:
            (root / path).unlink(missing_ok=True)
        _, again = changes_of(planner, root, result, "claude", "gemini")
    assert lines(files.values()) <= lines(result.values())
    assert again == {}


def lines(texts):
    return {line.strip() for text in texts for line in text.split("\n")} - {"", "@AGENTS.md"}
