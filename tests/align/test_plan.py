"""Which changes are planned, and what each agent reads before and after them."""

import pytest

ALL = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "pi-agent", "qwen", "vibe")
GEMINI = '{\n  "context": {\n    "fileName": ["AGENTS.md", "GEMINI.md"]\n  }\n}\n'


def texts(alignment):
    return {change.path: change.text for change in alignment.changes}


def problems(readings):
    return {name: reading.problem_paths for name, reading in readings.items() if reading.problems}


@pytest.mark.parametrize(
    ("files", "agents", "changes"),
    [
        # Most agents read AGENTS.md themselves.
        ({"AGENTS.md": "One.\n"}, ("claude", "codex", "copilot", "cursor", "opencode", "pi-agent", "qwen", "vibe"), {}),
        ({"AGENTS.md": "One.\n"}, ALL, {".gemini/settings.json": GEMINI}),
        # A file with text of its own hides AGENTS.md from Claude Code.
        ({"AGENTS.md": "One.\n", "CLAUDE.md": "Own.\n"}, ("claude",), {"CLAUDE.md": "@AGENTS.md\n\nOwn.\n"}),
        # Copilot would follow that import and read AGENTS.md twice. It does not read .claude/CLAUDE.md at the root.
        (
            {"AGENTS.md": "One.\n", "CLAUDE.md": "Own.\n"},
            ("claude", "copilot"),
            {".claude/CLAUDE.md": "@../AGENTS.md\n"},
        ),
        # A copy and an import are read once.
        ({"AGENTS.md": "One.\n", "CLAUDE.md": "One.\n"}, ("claude", "codex", "copilot"), {}),
        ({"AGENTS.md": "One.\n", "CLAUDE.md": "@AGENTS.md\n"}, ("claude", "codex"), {}),
        # One setting is fewer files than one import for each folder.
        (
            {"AGENTS.md": "One.\n", "a/AGENTS.md": "Two.\n", "b/c/AGENTS.md": "Three.\n"},
            ("claude", "codex", "gemini"),
            {".gemini/settings.json": GEMINI},
        ),
        (
            {"AGENTS.md": "One.\n", "GEMINI.md": "@AGENTS.md\n", "a/AGENTS.md": "Two.\n"},
            ("gemini",),
            {"a/GEMINI.md": "@AGENTS.md\n"},
        ),
        ({"a/AGENTS.md": "Two.\n", "a/CLAUDE.md": "Own.\n"}, ("claude",), {"a/CLAUDE.md": "@AGENTS.md\n\nOwn.\n"}),
        # Nothing to align.
        ({"AGENTS.md": " \n"}, ("gemini",), {}),
        ({"CLAUDE.md": "Own.\n"}, ("gemini", "claude"), {}),
        ({".venv/AGENTS.md": "One.\n", "node_modules/x/AGENTS.md": "Two.\n"}, ("gemini",), {}),
    ],
)
def test_the_fewest_changes_are_planned(plan, files, agents, changes):
    alignment = plan(files, *agents)
    assert texts(alignment) == changes
    assert problems(alignment.after) == {}


def test_before_and_after_come_from_the_mirrors(plan):
    alignment = plan({"AGENTS.md": "One.\n", "CLAUDE.md": "Own.\n"}, "claude", "codex", "gemini")
    assert problems(alignment.before) == {"claude": {"AGENTS.md"}, "gemini": {"AGENTS.md"}}
    assert problems(alignment.after) == {}


def test_what_cannot_be_reached_is_a_finding(plan):
    long = "".join(f"Line {number}.\n" for number in range(4_000))
    alignment = plan({"AGENTS.md": long}, "codex")
    assert (alignment.changes, alignment.after["codex"].cut) == ((), ("AGENTS.md",))
    assert [(row.code, row.message) for row in alignment.findings] == [
        (
            "align-unreached",
            "Codex CLI 0.166.0 reads only a part of AGENTS.md; no change that align may make helps",
        )
    ]


def test_a_text_that_is_sent_twice_is_repeated(plan):
    alignment = plan({"AGENTS.md": "One.\n", "CLAUDE.md": "One.\nTwo.\n"}, "copilot")
    assert alignment.before["copilot"].repeated == ("AGENTS.md",)
    assert [row.code for row in alignment.findings] == ["align-unreached"]


def test_lines_in_two_files_are_reported(plan):
    alignment = plan({"AGENTS.md": "One.\nTwo.\n", "CLAUDE.md": "Two.\nThree.\n"}, "claude")
    assert [row.message for row in alignment.findings if row.code == "align-shared"] == [
        "CLAUDE.md has 1 line that AGENTS.md has too; they can drift apart"
    ]


def test_a_folder_in_which_an_agent_misses_something_is_reported(plan):
    alignment = plan({"AGENTS.md": "One.\n", "a/AGENTS.md": "Two.\n"}, "gemini")
    assert [row.message for row in alignment.findings] == [
        "Gemini CLI 0.61.0 does not read AGENTS.md, a/AGENTS.md exactly once if it is started in a; start it at the root"
    ]


def test_a_link_is_followed_by_readers_but_never_changed(plan, tmp_path):
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    alignment = plan({"AGENTS.md": "One.\n"}, "claude", "codex", "copilot")
    assert (texts(alignment), problems(alignment.before)) == ({}, {})


def test_settings_with_comments_keep_them(plan):
    settings = '{\n  // the theme\n  "ui": {"theme": "x"}, /* end */\n}\n'
    alignment = plan({"AGENTS.md": "One.\n", ".gemini/settings.json": settings}, "gemini")
    assert texts(alignment) == {
        ".gemini/settings.json": '{\n  "context": {\n    "fileName": ["AGENTS.md", "GEMINI.md"]\n  },'
        '\n  // the theme\n  "ui": {"theme": "x"}, /* end */\n}\n'
    }


def test_settings_that_cannot_be_changed_are_left_alone(plan):
    files = {"AGENTS.md": "One.\n", ".gemini/settings.json": '{"context": 3, "x": }'}
    assert texts(plan(files, "gemini")) == {"GEMINI.md": "@AGENTS.md\n"}


def test_names_that_the_settings_list_stay(plan):
    files = {
        "AGENTS.md": "One.\n",
        ".gemini/settings.json": '{"context": {"fileName": "NOTES.md"}}',
        "NOTES.md": "N.\n",
    }
    assert texts(plan(files, "gemini")) == {
        ".gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "NOTES.md"]}}'
    }
