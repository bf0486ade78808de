"""Which changes are planned, and what each agent reads before and after them."""

import pytest

RECORD = ".agents/align.json"
ALL = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "pi-agent", "qwen", "vibe")
GEMINI = '{\n  "context": {\n    "fileName": ["AGENTS.md", "GEMINI.md"]\n  }\n}\n'


def texts(alignment):
    return {change.path: change.text for change in alignment.changes if change.path != RECORD}


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
            "codex cuts AGENTS.md; align cannot change this",
        )
    ]


def test_a_bom_that_an_agent_keeps_is_not_a_lost_line(plan):
    assert problems(plan({"AGENTS.md": "\ufeffOne.\nTwo.\n"}, "codex", "claude").after) == {}


@pytest.mark.parametrize("text", ["x" * ((1 << 20) + 1), "\udcff"])
def test_a_source_that_cannot_be_read_is_reported(plan, text):
    alignment = plan({"AGENTS.md": "One.\n", "a/AGENTS.md": text}, "codex")
    assert [source.path for source in alignment.sources] == ["AGENTS.md"]
    assert [finding.message for finding in alignment.findings if finding.code == "align-unreadable"] == [
        "a/AGENTS.md is not UTF-8 text of at most 1 MiB, so align plans nothing for it"
    ]


def test_a_text_that_is_sent_twice_is_repeated(plan):
    alignment = plan({"AGENTS.md": "One.\n", "CLAUDE.md": "One.\nTwo.\n"}, "copilot")
    assert alignment.before["copilot"].repeated == ("AGENTS.md",)
    assert [row.code for row in alignment.findings] == ["align-unreached"]


def test_agents_share_a_finding(plan):
    alignment = plan({".agents/rules/ts.md": RULE, "a/AGENTS.md": "One.\n"}, "codex", "opencode", "vibe")
    assert [row.message for row in alignment.findings if row.code == "align-unreached"] == [
        "codex, opencode and vibe miss .agents/rules/ts.md; align cannot change this"
    ]


def test_lines_in_several_files_are_one_finding(plan):
    files = dict.fromkeys(("AGENTS.md", "CLAUDE.md", "a/AGENTS.md", "a/CLAUDE.md"), "Two.\n")
    assert [row.message for row in plan(files, "claude").findings if row.code == "align-shared"] == [
        "2 files have lines that the AGENTS.md beside them has too: CLAUDE.md (1) and a/CLAUDE.md (1); --merge keeps each line once"
    ]


def test_lines_in_two_files_are_reported(plan):
    alignment = plan({"AGENTS.md": "One.\nTwo.\n", "CLAUDE.md": "Two.\nThree.\n"}, "claude")
    assert [row.message for row in alignment.findings if row.code == "align-shared"] == [
        "CLAUDE.md has 1 line that AGENTS.md has too; --merge keeps each line once"
    ]


def test_a_folder_in_which_an_agent_misses_something_is_reported(plan):
    alignment = plan({"AGENTS.md": "One.\n", "a/AGENTS.md": "Two.\n"}, "gemini")
    assert [row.message for row in alignment.findings] == [
        "started in a, gemini does not read every instruction exactly once; start it at the root"
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


def test_changed_keys_are_recorded(plan):
    alignment = plan({"AGENTS.md": "One.\n"}, "gemini")
    record = {change.path: change.text for change in alignment.changes}[RECORD]
    assert record == '{\n  ".gemini/settings.json": [\n    "context.fileName"\n  ]\n}\n'


RULE = '---\npaths:\n  - "src/**/*.ts"\n---\nUse tabs.\n'
SKILL = "---\nname: release\ndescription: How to release.\n---\nRun it.\n"
MARK = "<!-- Generated by foreword align from .agents/{}; sha256:{} -->\n"


@pytest.mark.parametrize(
    ("agent", "path", "front"),
    [
        ("claude", ".claude/rules/ts.md", '---\npaths:\n  - "src/**/*.ts"\n---\n'),
        ("qwen", ".qwen/rules/ts.md", '---\npaths:\n  - "src/**/*.ts"\n---\n'),
        ("cursor", ".cursor/rules/ts.mdc", "---\nglobs: src/**/*.ts\nalwaysApply: false\n---\n"),
        ("copilot", ".github/instructions/ts.instructions.md", '---\napplyTo: "src/**/*.ts"\n---\n'),
    ],
)
def test_a_rule_is_copied_in_the_dialect_of_the_agent(plan, agent, path, front):
    alignment = plan({".agents/rules/ts.md": RULE}, agent)
    ((name, text),) = texts(alignment).items()
    assert name == path
    assert text.startswith(front + MARK.partition("{")[0]) and text.endswith(" -->\nUse tabs.\n")
    assert problems(alignment.after) == {}


def test_one_copy_of_a_rule_is_enough_for_agents_that_read_the_same_folder(plan):
    alignment = plan({".agents/rules/ts.md": RULE}, "claude", "copilot")
    assert [(change.path, change.agents) for change in alignment.changes] == [
        (".claude/rules/ts.md", ("claude", "copilot"))
    ]
    assert problems(alignment.after) == {}


def test_a_rule_without_paths_always_applies(plan):
    alignment = plan({".agents/rules/all.md": "Be brief.\n"}, "claude", "cursor", "qwen")
    assert {path: text.partition("<!--")[0] for path, text in texts(alignment).items()} == {
        ".claude/rules/all.md": "",
        ".cursor/rules/all.mdc": "---\nalwaysApply: true\n---\n",
        ".qwen/rules/all.md": "",
    }
    assert problems(alignment.after) == {}


def test_what_a_dialect_cannot_express_is_a_finding(plan):
    rule = '---\npaths: ["*.ts", "!gen.ts"]\n---\nUse tabs.\n'
    alignment = plan({".agents/rules/ts.md": rule}, "cursor", "codex")
    assert {row.code: row.message for row in alignment.findings} == {
        "align-dialect": ".cursor/rules/ts.mdc: globs cannot express !gen.ts, so the rule applies there too",
        "align-unreached": "codex misses .agents/rules/ts.md; align cannot change this",
    }


def test_a_skill_is_copied_only_for_agents_that_do_not_list_it(plan):
    alignment = plan({".agents/skills/release/SKILL.md": SKILL, ".agents/skills/release/x.sh": "x"}, "claude", "codex")
    assert list(texts(alignment)) == [".claude/skills/release/SKILL.md"]
    assert problems(alignment.after) == {}
    assert (
        "The other files of this skill are in `.agents/skills/release/` of the repository."
        in texts(alignment)[".claude/skills/release/SKILL.md"]
    )


def test_the_index_of_the_rules_is_not_a_rule(plan):
    assert plan({".agents/rules/README.md": "All rules.\n"}, "claude", "copilot").sources == ()


def test_a_line_with_a_comment_is_not_compared(plan):
    """Claude Code leaves out comments, and other agents do not."""
    alignment = plan({"AGENTS.md": "One.\nStart with `<!-- x -->` here.\n"}, "claude", "codex")
    assert (problems(alignment.before), alignment.findings) == ({}, ())


def generated(plan, rule=RULE):
    return {change.path: change.text for change in plan({".agents/rules/ts.md": rule}, "claude").changes}


def test_a_generated_file_is_current_until_its_source_changes(plan):
    copy = generated(plan)
    assert plan({".agents/rules/ts.md": RULE, **copy}, "claude").changes == ()
    changed = plan({".agents/rules/ts.md": RULE + "Really.\n", **copy}, "claude")
    ((path, text),) = texts(changed).items()
    assert path == ".claude/rules/ts.md" and text.endswith("Use tabs.\nReally.\n")
    assert [change.reason for change in changed.changes] == [".agents/rules/ts.md has changed"]
    assert problems(changed.after) == {}


def test_a_generated_file_without_a_source_is_removed(plan, tmp_path):
    copy = generated(plan)
    (tmp_path / ".agents/rules/ts.md").unlink()
    assert [(change.path, change.action) for change in plan(copy, "claude").changes] == [
        (".claude/rules/ts.md", "remove")
    ]


@pytest.mark.parametrize("source", [RULE, RULE + "Really.\n", ""])
def test_an_edited_generated_file_is_reported_and_left_alone(plan, source):
    ((path, text),) = generated(plan).items()
    alignment = plan({".agents/rules/ts.md": source, path: text + "Mine.\n"}, "claude")
    assert alignment.changes == ()
    assert "align-edited" in [row.code for row in alignment.findings]


def test_a_setting_that_is_not_needed_any_more_is_removed(plan, tmp_path):
    made = {change.path: change.text for change in plan({"AGENTS.md": "One.\n"}, "gemini").changes}
    assert list(made) == [".gemini/settings.json", ".agents/align.json"]
    (tmp_path / "AGENTS.md").unlink()
    removed = plan(made, "gemini").changes
    assert [(row.path, row.action) for row in removed] == [
        (".gemini/settings.json", "remove"),
        (".agents/align.json", "remove"),
    ]


def test_other_settings_stay_when_one_is_removed(plan):
    settings = '{\n  // mine\n  "context": {"fileName": ["AGENTS.md", "RULES.md"]},\n  "b": 1\n}\n'
    record = '{".gemini/settings.json": ["context.fileName"], "x.json": ["y"]}'
    alignment = plan({".gemini/settings.json": settings, ".agents/align.json": record}, "gemini")
    assert {row.path: row.text for row in alignment.changes} == {
        ".gemini/settings.json": '{\n  // mine\n  "context": {"fileName": ["RULES.md"]},\n  "b": 1\n}\n',
        ".agents/align.json": '{\n  "x.json": [\n    "y"\n  ]\n}\n',
    }


def test_a_setting_that_a_person_made_stays(plan):
    settings = '{"context": {"fileName": ["AGENTS.md"]}}'
    assert plan({".gemini/settings.json": settings}, "gemini").changes == ()


def test_line_endings_of_windows_stay(plan):
    """Files from a checkout with CRLF are compared by their lines, and an edited one keeps its endings."""
    files = {
        "AGENTS.md": "One.\r\n\r\nTwo.\r\n",
        "CLAUDE.md": "Own.\r\n",
        ".gemini/settings.json": '{\r\n  "ui": {}\r\n}\r\n',
    }
    alignment = plan(files, "claude", "gemini")
    assert problems(alignment.after) == {}
    changed = {row.path: row.text for row in alignment.changes if row.path in files}
    assert sorted(changed) == [".gemini/settings.json", "CLAUDE.md"]
    assert all(text.count("\n") == text.count("\r\n") for text in changed.values())
    assert (
        plan({**files, **changed, ".agents/align.json": alignment.changes[-1].text}, "claude", "gemini").changes == ()
    )


def test_a_generated_copy_is_current_with_line_endings_of_windows(plan):
    """Git may have converted both when it checked them out."""
    copy = {path: text.replace("\n", "\r\n") for path, text in generated(plan).items()}
    alignment = plan({".agents/rules/ts.md": RULE.replace("\n", "\r\n"), **copy}, "claude")
    assert (alignment.changes, alignment.findings) == ((), ())
