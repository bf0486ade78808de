"""The checks of lint that know the released agents: true positives and near misses on small trees."""

import json
from pathlib import Path
from string import ascii_lowercase

import pytest

from foreword.engine.assembler import Assembler
from foreword.inspection.lint.agent_facts import mentions
from foreword.inspection.lint.material import is_material
from foreword.inspection.lint.rule_globs import PathIndex, split_globs
from foreword.programs.proofread import proofread
from foreword.sources import tree as folders

GIT = {"w/.git/HEAD": "ref: refs/heads/main\n"}
LONG = (
    "Every handler checks the caller's rights before it touches the database, and says in the log who asked for it. "
    * 10
)
LONGER = LONG * 4
OTHER = "Pages are rendered on the server, and their styles are in one file. " * 5
AGENT_CHECKS = {
    "unread-file",
    "unfollowed-import",
    "cut-file",
    "blank-file",
    "misordered-file",
    "misplaced-file",
    "unmatched-rule",
    "rule-field",
    "sent-twice",
    "cut-menu",
    "unsupported-include",
    "file-case",
}


@pytest.fixture
def findings_for(tree, capsys, monkeypatch):
    """`found(files, "web")` returns the code, path and line of each finding about agents."""
    from foreword.cli import main

    for name in ("XDG_CONFIG_HOME", "APPDATA", "PWD", "CODEX_HOME", "VIBE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tree.path("w"))

    def findings_for(files, *arguments):
        tree({**GIT, **{name if name.startswith("home/") else f"w/{name}": text for name, text in files.items()}})
        main(["lint", "--json", "--min-severity", "info", "--home", tree.path("home"), *arguments])
        findings = json.loads(tree.short(capsys.readouterr().out))["findings"]
        findings_for.messages = [finding["message"] for finding in findings if finding["code"] in AGENT_CHECKS]
        return [
            (finding["code"], finding["path"][3:], finding["line"])
            for finding in findings
            if finding["code"] in AGENT_CHECKS
        ]

    return findings_for


UNREAD = [("unread-file", "AGENTS.md", None)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"AGENTS.md": "Run tests.", "CLAUDE.md": "Be brief."}, UNREAD),
        ({"AGENTS.md": "Run tests.", ".claude/CLAUDE.md": "Be brief."}, UNREAD),
        ({"AGENTS.md": "Run tests.", "CLAUDE.md": Path("AGENTS.md")}, []),
        ({"AGENTS.md": "Run tests.", "CLAUDE.md": "Run tests.\n"}, []),
        ({"AGENTS.md": "# AGENTS.md\n\nSee AGENTS.md. Run.", "CLAUDE.md": "# Claude\n\nSee CLAUDE.md. Run."}, []),
        ({"AGENTS.md": "# Shop\n\nNever run tests.", "CLAUDE.md": "# Shop\n\nAlways run tests."}, UNREAD),
        ({"AGENTS.md": "# Shop\n\nRun the\ntests.", "CLAUDE.md": "# Claude\n\n- Run the **tests**.\n- Be brief."}, []),
        ({"AGENTS.md": "# Shop\n\nRun tests.", "CLAUDE.md": "# Shop\n\nRun."}, UNREAD),
        ({"AGENTS.md": "Read `docs/a.md`.", "CLAUDE.md": "@docs/a.md", "docs/a.md": "Run tests."}, []),
        ({"AGENTS.md": "Read `docs/a.md`.", "CLAUDE.md": "Be brief.", "docs/a.md": "Run tests."}, UNREAD),
        ({"AGENTS.md": "Run tests.", "CLAUDE.md": "@AGENTS.md"}, []),
        ({"AGENTS.md": "Run tests.", "CLAUDE.md": "Read AGENTS.md first."}, []),
        (
            {
                "AGENTS.md": "Read the scoped AGENTS.md.",
                ".claude/CLAUDE.md": "Read `AGENTS.md` first.",
                "a/AGENTS.md": "A." * 400,
            },
            [],
        ),
        ({"AGENTS.md": "Run. " * 60, "CLAUDE.md": "Test. " * 50}, []),  # a guide of its own, of the same length
        ({"AGENTS.md": "Run. " * 61, "CLAUDE.md": "Test. " * 50}, UNREAD),
        ({"AGENTS.md": "Run. " * 59, "CLAUDE.md": "Test. " * 49}, UNREAD),
        ({"AGENTS.md": "See CLAUDE.md.", "CLAUDE.md": "Run tests."}, []),
        ({"AGENTS.md": "Run tests.", "CLAUDE.md": " \n"}, [("blank-file", "CLAUDE.md", None)]),
        ({"AGENTS.md": "Run tests.", "CLAUDE.local.md": " \n"}, []),
        ({"AGENTS.md": "Run tests.", ".claude/rules/a.md": "Be brief."}, []),
        ({"AGENTS.md": "# Shop - Codex Instructions\n\nRun tests.", "CLAUDE.md": "Be brief."}, []),
        ({"AGENTS.md": "# Shop\n\nA guide for OpenCode sessions.\n\nRun tests.", "CLAUDE.md": "Be brief."}, []),
        ({"AGENTS.md": "# AGENTS.md\n\n## Cursor Cloud specific instructions\n\nRun.", "CLAUDE.md": "Be brief."}, []),
        ({"AGENTS.md": "# For Codex and Claude Code\n\nRun tests.", "CLAUDE.md": "Be brief."}, UNREAD),
        ({"AGENTS.md": "# Shop\n\nRun tests.\n\nCodex asks first.", "CLAUDE.md": "Be brief."}, UNREAD),
        ({"AGENTS.md": "# Shop\n\nIt calls the Gemini API.", "CLAUDE.md": "Be brief."}, UNREAD),
        ({"AGENTS.md": "Run tests."}, []),
    ],
)
def test_a_shared_file_that_an_agent_does_not_read(findings_for, files, expected):
    assert findings_for(files) == expected


def test_a_file_below_needs_its_own_file(findings_for):
    files = {"AGENTS.md": "Run tests.", "CLAUDE.md": Path("AGENTS.md"), "web/AGENTS.md": "Use CSS."}
    assert findings_for(files) == []
    assert findings_for({}, "--recursive") == [("unread-file", "web/AGENTS.md", None)]
    assert findings_for.messages == [
        "Claude Code never reads this file, because /w/CLAUDE.md takes its place; add /w/web/CLAUDE.md with `@AGENTS.md`, or run `foreword align`"
    ]
    assert findings_for({"web/CLAUDE.md": "@AGENTS.md"}, "--recursive", "--disable", "sent-twice") == []


def test_a_file_below_that_the_agent_knows_from_another_file(findings_for):
    files = {
        "CLAUDE.md": "Read [AGENTS.md](AGENTS.md) first.",
        "AGENTS.md": "See web/AGENTS.md.",
        "web/AGENTS.md": "Use CSS.",
    }
    assert findings_for(files, "--recursive") == []
    assert findings_for({"AGENTS.md": "Run tests."}, "--recursive") == [("unread-file", "web/AGENTS.md", None)]


@pytest.mark.parametrize(
    ("paths", "length", "expected"),
    [("web/**", 600, []), ("web/**", 599, ["unread-file"]), ("web/**, api/**", 600, ["unread-file"])],
)
def test_a_long_rule_is_a_guide_to_a_folder(findings_for, paths, length, expected):
    head = f"---\npaths: {paths}\n---\n"
    files = {
        "CLAUDE.md": "Be brief.",
        "AGENTS.md": "Be brief.",
        "web/AGENTS.md": "Use CSS.",
        ".claude/rules/web.md": head + "x" * (length - len(head)),
    }
    assert [code for code, _, _ in findings_for(files, "--recursive", "--disable", "unmatched-rule")] == expected


def test_rules_in_a_folder_are_a_guide_to_it(findings_for):
    files = {"CLAUDE.md": "Be brief.", "AGENTS.md": "Be brief.", "web/AGENTS.md": "Use CSS."}
    rule = {"web/.claude/rules/css.md": "x" * 600}
    assert findings_for({**files, **rule}, "--recursive") == []
    assert findings_for({"web/.claude/rules/css.md": "x" * 599}, "--recursive") == [
        ("unread-file", "web/AGENTS.md", None)
    ]


def test_the_advice_names_a_file_that_exists(findings_for):
    files = {
        "AGENTS.md": "Run tests.",
        "CLAUDE.md": "Be brief.",
        "web/AGENTS.md": "Use CSS.",
        "web/CLAUDE.md": "Hello.",
    }
    findings_for(files, "--recursive")
    assert [message.partition("; ")[2] for message in findings_for.messages] == [
        "add `@AGENTS.md` to /w/CLAUDE.md, or run `foreword align`",
        "add `@AGENTS.md` to /w/web/CLAUDE.md, or run `foreword align`",
    ]


def test_files_that_an_agent_does_not_read_are_one_finding(findings_for):
    below = {f"p{number:02}/AGENTS.md": f"Rules of {number}." for number in range(10)}
    root = {"CLAUDE.md": "Be brief.", "AGENTS.md": "Be brief."}
    assert findings_for({**root, **below}, "--recursive") == [("unread-file", "p00/AGENTS.md", None)]
    files = ", ".join(f"/w/p{number:02}/AGENTS.md" for number in range(8))
    assert findings_for.messages == [
        "Claude Code reads none of these 10 AGENTS.md files, because /w/CLAUDE.md takes their place:"
        f" {files} and 2 more; add a CLAUDE.md with `@AGENTS.md` beside each, or run `foreword align`"
    ]
    ignored = {f"p{number:02}/AGENTS.md": "<!-- foreword: ignore-file unread-file -->\nX." for number in range(8)}
    findings_for(ignored, "--recursive")
    assert findings_for.messages[0].startswith("Claude Code reads none of these 2 AGENTS.md files")
    findings_for({"p08/CLAUDE.md": "@AGENTS.md"}, "--recursive", "--disable", "sent-twice")
    assert findings_for.messages[0].startswith(
        "Claude Code never reads this file, because /w/CLAUDE.md takes its place"
    )


def test_a_file_in_the_hidden_folder_is_imported_from_there(findings_for):
    findings_for({"AGENTS.md": "Run tests.", ".claude/CLAUDE.md": "Be brief."})
    assert findings_for.messages[0].endswith("add `@../AGENTS.md` to /w/.claude/CLAUDE.md, or run `foreword align`")


def test_a_file_that_is_named_further_up_is_found_by_the_agent(findings_for):
    files = {"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "Read web/AGENTS.md.", "web/AGENTS.md": "Use CSS."}
    assert findings_for(files, "--recursive", "--disable", "unfollowed-import") == []


def test_no_agent_works_in_templates_and_skills(findings_for):
    files = {"CLAUDE.md": "Be brief.", "_templates/AGENTS.md": "X.", "s/SKILL.md": "No.", "s/AGENTS.md": "Y."}
    assert findings_for(files, "--recursive") == []


def test_an_import_that_a_person_has_to_approve_is_not_a_mistake(findings_for):
    files = {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "Run tests.", "web/CLAUDE.md": "Use CSS."}
    assert findings_for(files) == findings_for({}, "web") == findings_for({}, "--recursive") == []


def test_imports_of_several_files_that_fail_for_one_reason_are_one_finding(findings_for):
    rules = {f".claude/rules/{name}.md": f"@docs/{name}.md\n" for name in "ab"}
    assert findings_for({**rules, "docs/a.md": "A.", "docs/b.md": "B."}) == [
        ("unfollowed-import", ".claude/rules/a.md", 1)
    ]
    assert findings_for.messages == [
        "Claude Code does not import what these 2 files name, because each path is relative to its file's folder: /w/.claude/rules/a.md and"
        " /w/.claude/rules/b.md; correct the paths"
    ]


def test_an_import_is_reported_at_the_file_to_which_a_link_leads(findings_for):
    files = {"crates/AGENTS.md": "@docs/a.md\n", "crates/CLAUDE.md": Path("AGENTS.md"), "docs/a.md": "A."}
    found = findings_for(
        {**files, "CLAUDE.md": "Run tests.", ".github/copilot-instructions.md": "Be brief."}, "--recursive"
    )
    assert ("unfollowed-import", "crates/AGENTS.md", 1) in found
    assert [path for code, path, _ in found if code == "unfollowed-import"] == ["crates/AGENTS.md"]


@pytest.mark.parametrize(("status", "is_reported"), [("deprecated", False), ("'Superseded'", False), ("current", True)])
def test_what_an_outdated_file_imports_may_be_gone(findings_for, status, is_reported):
    files = {"CLAUDE.md": "@docs/a.md\n", "docs/a.md": f"---\ntitle: A\nstatus: {status}\n---\n\n@gone.md\n"}
    assert findings_for(files) == ([("unfollowed-import", "docs/a.md", 6)] if is_reported else [])


def test_the_fields_of_an_imported_file_have_no_effect(findings_for):
    page = "---\ntitle: 'A' B\n---\nBe brief.\n"
    assert findings_for({"CLAUDE.md": "@docs/a.md\n", "docs/a.md": page}) == []
    assert findings_for({".claude/rules/a.md": page}) == [("rule-field", ".claude/rules/a.md", 1)]


def test_includes_of_one_name_in_several_files_are_one_finding(findings_for):
    files = {f"{folder}AGENTS.md": "@STYLE.md\n" for folder in ("", "a/", "b/")} | {"STYLE.md": "Be brief."}
    files |= {f"{folder}/STYLE.md": "Be brief." for folder in "ab"}
    assert findings_for(files, "--recursive") == [("unsupported-include", "AGENTS.md", 1)]
    assert " @STYLE.md in these 3 files, so the model sees the line, not the file: " in findings_for.messages[0]


def test_sub_agents_without_a_description_are_one_finding(tree):
    tree({**GIT, **{f"w/.claude/agents/{name}.md": f"---\nname: {name}\n---\nBe brief.\n" for name in "ab"}})
    (finding,) = proofread(Assembler(tree.workspace("w"), "claude")).findings
    assert finding.code == "agent-invalid" and finding.message.endswith(" (the first of 2 such sub-agents)")


def test_imports_that_fail_for_one_reason_are_one_finding(findings_for):
    text = "# Web\n\n@docs/a.md\n@docs/b.md\n@gone.md\n@docs/*.md\n"
    files = {"web/CLAUDE.md": text, "docs/a.md": "A.", "docs/b.md": "B."}
    assert findings_for(files, "--recursive") == [("unfollowed-import", "web/CLAUDE.md", line) for line in (3, 5, 6)]
    assert findings_for.messages == [
        "Claude Code does not import @docs/a.md and @docs/b.md (line 4), because their paths are relative to this file's folder",
        "Claude Code does not import @gone.md, because the file does not exist",
        "Claude Code does not import @docs/*.md, because an import takes no `*`; name each file",
    ]


def test_the_label_of_a_link_is_not_an_import(findings_for):
    assert findings_for({"GEMINI.md": "See [@scope/name](docs/style.md).\n", "docs/style.md": "X."}) == []


def test_blank_files_are_one_finding(findings_for):
    files = {"AGENTS.md": "Be brief.\n", "web/AGENTS.md": "", "api/AGENTS.md": "\n"}
    assert findings_for(files, "--recursive") == [("blank-file", "api/AGENTS.md", None)]
    assert findings_for.messages == [
        "these 2 files are blank: /w/api/AGENTS.md and /w/web/AGENTS.md; write something in them, or delete them"
    ]


def test_a_file_that_was_made_from_the_one_that_hides_it_is_not_reported(findings_for):
    files = {"CLAUDE.md": "Be brief.\n", "AGENTS.md": f"<!-- generated from CLAUDE.md -->\n\n{LONG}\n"}
    assert findings_for(files) == []
    assert findings_for({"AGENTS.md": f"# Shop\n\n{LONG}\n"}) == [("unread-file", "AGENTS.md", None)]


def test_a_misspelled_ending_is_replaced(findings_for):
    files = {".github/instructions/web.insructions.md": "Be brief.\n", ".github/copilot-instructions.md": "X.\n"}
    findings_for(files)
    assert findings_for.messages[0].endswith("; rename it to web.instructions.md")


@pytest.mark.parametrize(
    ("text", "severity", "problem"),
    [
        ("See @docs/style.md.", "warning", "@docs/style.md, because the `.` after it is taken as part of the path"),
        (
            "(see @docs/style.md), then",
            "warning",
            "@docs/style.md, because the `),` after it is taken as part of the path",
        ),
        ("Do as in @docs/style.md: it is short.", "", ""),
        ("See @docs/gone.md", "warning", "@docs/gone.md, because the file does not exist"),
        ("See @docs/gone.md.", "warning", "@docs/gone.md., because the file does not exist"),
        ("```\n@docs/style.md\n```", "info", "@docs/style.md, because it is in code"),
        ("- `@docs/style.md`", "info", "@docs/style.md, because it is in code"),
        ("See `@docs/style.md` first.", "", ""),
        ("```\n@docs/gone.md\n```", "", ""),
        ("@docs/style.md\n\n`@docs/style.md`", "", ""),
        ("See @docs/gone.md if it exists", "", ""),
        ("The line below is imported when present.\n\n@docs/gone.md", "", ""),
        ("Ask @someone, use @types/node and @~/gone.md and @gone.local.md.", "", ""),
    ],
)
def test_an_import_that_is_not_followed(findings_for, tree, capsys, text, severity, problem):
    from foreword.cli import main

    findings_for({"CLAUDE.md": f"# Shop\n\n{text}\n", "docs/style.md": "Short lines.\n"})
    claude = [message for message in findings_for.messages if message.startswith("Claude Code")]
    assert [message.partition("not import ")[2].partition(";")[0] for message in claude] == (
        [problem] if problem else []
    )
    main(["lint", "--json", "--min-severity", "info", "--home", tree.path("home")])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [found["severity"] for found in findings if "Claude Code" in found["message"]] == (
        [severity] if severity else []
    )


def test_an_import_of_a_file_that_git_ignores(findings_for):
    files = {"CLAUDE.md": "@own.md\n\n@gone.md", ".gitignore": "own.md\n", ".git/objects/x": "", ".git/refs/x": ""}
    findings_for({**files, ".git/HEAD": "ref: refs/heads/main\n"})
    assert [message for message in findings_for.messages if "Claude" in message] == [
        "Claude Code does not import @gone.md, because the file does not exist"
    ]


def test_an_import_outside_the_folder_is_not_reported_as_missing(findings_for):
    assert findings_for({"CLAUDE.md": "@../out.md", "web/CLAUDE.md": "Use CSS."}, "--recursive") == []


@pytest.mark.parametrize(
    ("path", "front", "problem"),
    [
        (".claude/rules/a.md", "globs: web/**", "ignores the field `globs` of this rule; did you mean `paths`?"),
        (".claude/rules/a.md", "applyTo: web/**", "ignores the field `applyTo` of this rule; did you mean `paths`?"),
        (
            ".claude/rules/a.md",
            "globs: web/**\napplyTo: x",
            "ignores the field `globs` of this rule; did you mean `paths`?",
        ),
        (
            ".claude/rules/a.md",
            "path: web/**",
            "Claude Code ignores the field `path` of this rule; did you mean `paths`?",
        ),
        (".claude/rules/a.md", "paths: web/**\nglobs: web/**\nalwaysApply: false\ndescription: x", ""),
        (".claude/rules/a.md", "alwaysApply: true\ndescription: x", ""),
        (".cursor/rules/a.mdc", "alwaysApply: flase", "`alwaysApply: flase` is neither true nor false"),
        (".cursor/rules/a.mdc", "alwaysApply: True\nglobs: web/**", ""),
        (
            ".cursor/rules/a.mdc",
            "alwaysaply: true",
            "Cursor ignores the field `alwaysaply` of this rule; did you mean `alwaysApply`?",
        ),
        (
            ".cursor/rules/a.mdc",
            "paths: web/**",
            "Cursor ignores the field `paths` of this rule; did you mean `globs`?",
        ),
        (".github/instructions/a.instructions.md", "applyto: web/**", "did you mean `applyTo`?"),
        (
            ".claude/rules/a.md",
            "glob: web/**",
            "Claude Code ignores the field `glob` of this rule; did you mean `paths`?",
        ),
        (".claude/rules/a.md", "globs:\nalwaysApply: true", ""),
        (".claude/rules/a.md", "paths: []", "uses this rule for every file; add a pattern, or delete the field"),
        (".cursor/rules/a.mdc", "globs:\ndescription: x", ""),
        # No agent is detected: these are the rules of Foreword's own layout.
        (
            ".agents/rules/a.md",
            "glob: web/**",
            "the layout foreword ignores the field `glob` of this rule; did you mean `globs`?",
        ),
        (".agents/rules/a.md", "alwaysApply: treu", "`alwaysApply: treu` is neither true nor false"),
        (".agents/rules/a.md", "Paths: web/**", "did you mean `paths`?"),
        (".agents/rules/a.md", "globs: web/**\ntitle: x", ""),
        (
            ".agents/rules/a.md",
            "paths: []",
            "`paths` is empty, so the layout foreword uses this rule for every file; add a pattern, or delete the field",
        ),
        (
            ".agents/rules/a.md",
            "applyTo:",
            "`applyTo` is empty, so the layout foreword uses this rule for every file; add a pattern, or delete the field",
        ),
        (".agents/rules/a.md", "globs: []\nalwaysApply: true", ""),
        (".agents/rules/a.md", "globs: []\npaths: web/**", ""),
    ],
)
def test_a_field_of_a_rule_that_an_agent_ignores(findings_for, path, front, problem):
    found = findings_for({path: f"---\n{front}\n---\nBe brief.\n", "web/x.css": "a {}"}, "--disable", "unmatched-rule")
    if not problem:
        assert found == []
        return
    assert found == [("rule-field", path, 2)]
    assert findings_for.messages[0].endswith(problem)


def test_fields_that_only_the_layout_itself_ignores_do_not_matter_where_an_agent_is_used(findings_for):
    files = {".agents/rules/a.md": "---\nglob: web/**\n---\nBe brief.\n"}
    assert findings_for(files) == [("rule-field", ".agents/rules/a.md", 2)]
    assert findings_for({"CLAUDE.md": "Be brief."}) == []


def test_rules_of_the_layout_itself_are_checked_in_folders_below(findings_for):
    files = {"web/.agents/rules/a.md": "---\nglob: x.css\n---\nBe brief.\n", "web/x.css": "a {}"}
    assert findings_for(files) == []
    assert findings_for(files, "--recursive") == [("rule-field", "web/.agents/rules/a.md", 2)]


def test_a_rule_of_the_layout_itself_that_matches_no_file(findings_for):
    files = {".agents/rules/a.md": "---\npaths: web/*.md\n---\nBe brief.\n", "docs/a.md": ""}
    assert findings_for(files) == [("unmatched-rule", ".agents/rules/a.md", 2)]
    assert findings_for({**files, "web/x.css": "a {}"}) == []


def test_a_rule_for_files_that_a_skill_writes_waits_for_them(findings_for):
    files = {
        ".claude/rules/a.md": "---\npaths: docs/reviews/*.md\n---\nBe brief.\n",
        "docs/a.md": "",
        ".claude/skills/review/SKILL.md": "---\nname: review\ndescription: Reviews.\n---\nPut the review into docs/review/.\n",
    }
    assert findings_for(files) == [("unmatched-rule", ".claude/rules/a.md", 2)]
    skill = files[".claude/skills/review/SKILL.md"]
    assert findings_for({".claude/skills/review/SKILL.md": skill.replace("review/.", "reviews/.")}) == []


def test_scripts_of_agents_are_no_evidence_that_files_were_moved(findings_for):
    files = {".claude/rules/a.md": "---\npaths: api/**/*.py\n---\nBe brief.\n", ".claude/hooks/x.py": ""}
    assert findings_for(files) == []
    assert findings_for({"src/x.py": ""}) == [("unmatched-rule", ".claude/rules/a.md", 2)]


def test_a_rule_with_an_extension_that_an_agent_ignores(findings_for):
    files = {".claude/rules/a.mdc": "Be brief.", ".claude/rules/b.md": "Use CSS.", ".claude/rules/README.mdc": "Help."}
    assert findings_for(files) == [("misplaced-file", ".claude/rules/a.mdc", None)]
    assert findings_for.messages == [
        "Claude Code ignores this file, and reads only files that end in .md in this folder; rename it to a.md"
    ]
    named = {"CLAUDE.md": "The rules are in `.claude/rules/a.mdc`."}
    assert findings_for({**files, **named}) == []
    findings_for({"CLAUDE.md": "Be brief."})
    assert findings_for({".github/instructions/c.md": "Hello.", ".cursor/rules/d.md": "Hello."}) == [
        ("misplaced-file", ".claude/rules/a.mdc", None),
        ("misplaced-file", ".cursor/rules/d.md", None),
        ("misplaced-file", ".github/instructions/c.md", None),
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {".gemini/GEMINI.md": "@notes.md", ".gemini/notes.md": "X."},
            "GEMINI.md, and correct the paths that it imports, such as @notes.md",
        ),
        ({".gemini/GEMINI.md": "See `@notes.md` and a@notes.md.", ".gemini/notes.md": "X."}, "GEMINI.md"),
        ({".gemini/GEMINI.md": "@notes.md", "notes.md": "X."}, "GEMINI.md"),
    ],
)
def test_imports_of_a_file_that_is_moved_change(findings_for, files, message):
    findings_for({"web/GEMINI.md": "Use CSS.", **files}, "--recursive")
    moves = [each.rpartition("; move it to ")[2] for each in findings_for.messages if "move it" in each]
    assert [move.removeprefix("/w/") for move in moves] == [message]


def test_agents_that_read_a_name_in_different_places_have_no_list_in_common(findings_for):
    own = {"CLAUDE.md": "Be brief.", ".cursor/rules/a.mdc": "Be brief.", ".codex/config.toml": ""}
    findings_for({".codex/AGENTS.md": "Run tests.", **own}, "--recursive")
    (message,) = [each for each in findings_for.messages if "move it" in each]
    assert (
        message.partition(" ignore ")[2]
        == "this file, and read only AGENTS.md in other folders; move it to /w/AGENTS.md"
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("*See @docs/style.md*", "@docs/style.md, because the `*` after it is taken as part of the path"),
        ("*See @docs/gone.md*", "@docs/gone.md*, because the file does not exist"),
        ("See @docs/*", "@docs/*, because an import takes no `*`; name each file"),
        ("@docs/*.md", "@docs/*.md, because an import takes no `*`; name each file"),
        ("@docs/Style.md", "@docs/Style.md, because the file does not exist; style.md does"),
        ("@docs/styles.md", "@docs/styles.md, because the file does not exist"),
    ],
)
def test_why_an_import_finds_no_file(findings_for, line, problem):
    findings_for({"GEMINI.md": f"# A\n\n{line}\n", "docs/style.md": "Be brief."})
    messages = [each.partition(" not import ")[2] for each in findings_for.messages]
    assert [each.startswith(problem) for each in messages] == [True], messages


@pytest.mark.parametrize(
    ("files", "is_reported"),
    [
        ({".claude/rules/a.mdc": Path("../gone.md")}, False),
        ({".cursor/rules/b.mdc": "---\nglobs: x/*\n---\nThe rules are in @a.mdc."}, False),
        ({".cursor/rules/b.mdc": "See [the rules](../../.claude/rules/a.mdc)."}, False),
        ({".cursor/rules/b.mdc": "The rules are in .claude/rules:\n\n- a.mdc"}, False),
        ({".cursor/rules/b.mdc": "The rules are in a.mdc and in docs/a.mdc."}, True),
        ({".claude/rules/b.md": "---\npaths: x/*\n---\nSee a.mdc."}, False),
        ({".claude/rules/b.md": "---\npaths: x/*\n---\nSee data.mdc."}, True),
        ({"README.md": "See `.claude/rules/a.mdc`."}, True),
    ],
)
def test_a_rule_that_another_file_names_keeps_its_name(findings_for, files, is_reported):
    base = {"x/y": "", ".claude/rules/a.mdc": "Be brief.", ".claude/rules/c.md": "Use CSS."}
    found = findings_for({**base, **files})
    assert ("misplaced-file", ".claude/rules/a.mdc", None) in found or not is_reported
    assert is_reported or "misplaced-file" not in [code for code, _, _ in found]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((32_768, 0), []),
        ((33_023, 0), []),
        ((33_024, 0), [("cut-file", "AGENTS.md", None)]),
        ((30_000, 3_023), []),
        ((30_000, 3_024), [("cut-file", "AGENTS.md", None)]),
        ((32_768, 255), []),
        ((32_768, 256), [("cut-file", "AGENTS.md", None)]),
        ((32_768, 20_000), [("cut-file", "AGENTS.md", None)]),
        ((16_000, 17_100), [("cut-file", "a/AGENTS.md", None)]),
    ],
)
def test_text_cut_by_a_limit_is_reported_at_the_file_to_shorten(findings_for, sizes, expected):
    root, below = sizes
    assert (
        findings_for({"AGENTS.md": "r" * root, "a/AGENTS.md": "b" * below, "a/b/x": ""}, "a", "--disable", "blank-file")
        == expected
    )


def test_horizontal_rules_that_a_program_reads_as_front_matter_are_reported(findings_for):
    page = "# Tests\n\nRun all of them.\n\n---\n\n# Style\n\nUse tabs.\n{}\n# Names\n\nUse nouns.\n"
    path = ".continue/rules/a.md"
    assert findings_for({path: page.format("")}) == []
    assert findings_for({path: page.format("\n---\n")}) == [("rule-field", path, 1)]
    assert findings_for.messages == [
        "what is between its first two lines `---` is read as front matter, and the text before them is left out by Continue;"
        " write `***` for a horizontal rule"
    ]
    assert findings_for({path: "---\nglobs: **/*.py\n---\nText\n"}) == [("rule-field", path, 1)]
    assert findings_for({path: "---\nglobs: '**/*.py'\n---\nText\n", "a.py": "x = 1\n"}) == []


def test_a_limit_counts_windows_line_ends(findings_for):
    text = "- One\n" * 5_600
    assert findings_for({"AGENTS.md": text.encode()}) == [("cut-file", "AGENTS.md", None)]
    assert (
        "only 32,768 of the 33,600 bytes of this one (lost from the middle of line 5,462: One)"
        in findings_for.messages[0]
    )
    assert findings_for({"AGENTS.md": text.replace("\n", "\r\n").encode()}) == [("cut-file", "AGENTS.md", None)]
    assert (
        "only 32,768 of the 39,200 bytes of this one (lost from the middle of line 4,682: One)"
        in findings_for.messages[0]
    )
    assert findings_for({"AGENTS.md": text[:30_000].encode()}) == []
    assert findings_for({"AGENTS.md": text[:30_000].replace("\n", "\r\n").encode()}) == [
        ("cut-file", "AGENTS.md", None)
    ]


def test_files_that_are_not_read_at_all_are_named(findings_for):
    files = {"AGENTS.md": "- One\n" * 6_000, "a/AGENTS.md": "A.", "a/b/AGENTS.md": "B.", "a/b/x": ""}
    assert findings_for(files, "a/b") == [("cut-file", "AGENTS.md", None)]
    expected = "(lost from the middle of line 5,462: One), and nothing of /w/a/AGENTS.md and 1 other file; shorten"
    assert expected in findings_for.messages[0]


@pytest.mark.parametrize(
    ("files", "is_reported"), [('["dist", "./AGENTS.md"]', False), ('["dist"]', True), ("{}", True)]
)
def test_a_file_that_a_package_publishes_is_for_its_users(findings_for, files, is_reported):
    tree = {"ui/AGENTS.md": "x" * 40_000, "ui/package.json": f'{{"files": {files}}}'}
    assert findings_for(tree, "--recursive") == ([("cut-file", "ui/AGENTS.md", None)] if is_reported else [])


def test_a_limit_that_the_repository_raises_for_those_who_trust_it(findings_for):
    files = {"AGENTS.md": "x" * 40_000, ".codex/config.toml": "project_doc_max_bytes = 50_000\n"}
    assert findings_for(files) == []
    for size in ("32_768", "100", "true", "'50_000'"):
        files[".codex/config.toml"] = f"project_doc_max_bytes = {size}\n"
        assert findings_for(files) == [("cut-file", "AGENTS.md", None)]


def test_a_large_file_that_leaves_no_room_for_others_is_reported_once(findings_for):
    files = {"AGENTS.md": "r" * 32_000, "a/AGENTS.md": "- One\n" * 200, "b/AGENTS.md": "- Two\n" * 300}
    assert findings_for(files, "--recursive") == [("cut-file", "AGENTS.md", None)]
    assert findings_for.messages[0].endswith(
        "only 768 of the 1,800 bytes of /w/b/AGENTS.md (lost from line 129: - Two); in other folders, at least 1 more file is cut; shorten this one, or move details"
        " into files that are read when needed"
    )


def test_the_place_where_most_is_lost_counts_files_that_are_not_read_at_all(findings_for):
    files = {
        "AGENTS.md": "r" * 32_000,
        "a/AGENTS.md": "x" * 2_000,
        "a/b/AGENTS.md": "y" * 500,
        "c/AGENTS.md": "z" * 2_100,
    }
    assert findings_for(files, "--recursive") == [("cut-file", "AGENTS.md", None)]
    assert (
        f"of /w/a/AGENTS.md (lost from the middle of line 1: {'x' * 60}…), and nothing of /w/a/b/AGENTS.md; in other folders, at least 1 more file is cut; shorten"
        in findings_for.messages[0]
    )


def test_a_file_with_only_comments_hides_nothing(findings_for):
    comment = "<!-- AUTO-GENERATED -->\n"
    assert findings_for({".claude/CLAUDE.md": comment, "AGENTS.md": comment}) == []
    assert findings_for({"AGENTS.md": "Run `make test`.\n"}) == []


@pytest.mark.parametrize(
    ("override", "expected"), [("", 1), (" \n", 1), ("Be brief.", 0), (None, 0)], ids=["empty", "blank", "text", "none"]
)
def test_a_blank_override(findings_for, override, expected):
    files = {"AGENTS.md": "Run tests.", **({"AGENTS.override.md": override} if override is not None else {})}
    assert [code for code, _, _ in findings_for(files)] == ["blank-file"] * expected


@pytest.mark.parametrize(("folder", "expected"), [("API", ["misordered-file"]), ("api", [])])
def test_a_general_file_that_comes_last(findings_for, folder, expected):
    files = {"GEMINI.md": "Run tests.", f"{folder}/GEMINI.md": "Use REST."}
    assert [code for code, _, _ in findings_for(files, "--recursive")] == expected


NAMES = '{"context": {"fileName": ["AGENTS.md", "GEMINI.md", "CLAUDE.md"]}}'


@pytest.mark.parametrize(("path", "expected"), [("API/GEMINI.md", ["misordered-file"]), (".claude/CLAUDE.md", [])])
def test_general_files_that_come_last_are_one_finding(findings_for, path, expected):
    files = {".gemini/settings.json": NAMES, "AGENTS.md": "Run tests.", "GEMINI.md": "Be brief.", path: "Use REST."}
    found = findings_for(files, "--recursive", "--disable", "unread-file")
    assert [code for code, _, _ in found if code == "misordered-file"] == expected


def test_a_file_in_a_hidden_folder_that_an_agent_ignores(findings_for):
    assert findings_for({".claude/CLAUDE.md": "Run tests.", **COPILOT}, "--recursive") == [], "Claude Code reads it"
    files = {".gemini/GEMINI.md": "Run tests.", ".gemini/settings.json": "{}"}
    assert findings_for(files, "--recursive") == [("misplaced-file", ".gemini/GEMINI.md", None)]
    assert findings_for({"GEMINI.md": "Use CSS."}, "--recursive") == []


@pytest.mark.parametrize(("folder", "is_reported"), [("files/home/ann", False), ("dotfiles", False), ("web", True)])
def test_a_file_to_copy_into_a_home_directory_is_not_misplaced(findings_for, folder, is_reported):
    files = {"GEMINI.md": "Be brief.", f"{folder}/.gemini/GEMINI.md": "Run tests."}
    found = [path for code, path, _ in findings_for(files, "--recursive") if code == "misplaced-file"]
    assert found == ([f"{folder}/.gemini/GEMINI.md"] if is_reported else [])


@pytest.mark.parametrize(
    "files",
    [
        {".github/CLAUDE.md": "Pin each action."},
        {".agents/AGENTS.md": "Run tests."},
        {".claude/CLAUDE.local.md": "My host.", "CLAUDE.md": "See `.claude/CLAUDE.local.md`."},
    ],
    ids=["people edit workflows", "Droid reads it", "a text names it"],
)
def test_a_file_in_a_hidden_folder_that_is_not_misplaced(findings_for, files):
    assert findings_for({"CLAUDE.md": "Be brief.", **files}, "--recursive", "--disable", "unread-file") == []


def test_a_file_in_a_nested_hidden_folder_that_an_agent_reads(findings_for):
    assert findings_for({"CLAUDE.md": "Run tests.", "doc/.claude/CLAUDE.md": "Use CSS."}, "--recursive") == []


@pytest.mark.parametrize(
    ("rule", "globs", "expected"),
    [
        (".claude/rules/a.md", "paths: src/**/*.ts", "unmatched-rule"),
        (".claude/rules/a.md", "paths: 'lib/**/*.py'", ""),
        (".cursor/rules/a.mdc", "globs: src/*, src/deep/**", "unmatched-rule"),
        (".cursor/rules/a.mdc", "globs: src/*, tests/**", ""),
        (".cursor/rules/a.mdc", "globs: src/Formula/*.rb", ""),
        (".cursor/rules/a.mdc", "globs: src/*,*.py", ""),
        (".cursor/rules/a.mdc", "globs: '**/*.ts'", ""),
        (".claude/rules/a.md", "paths: '**/web/**/*.ts'", ""),
        (".claude/rules/a.md", "paths: generated/**", ""),
        (".claude/rules/a.md", "applyTo: '**/*'", ""),
        (".github/instructions/a.instructions.md", "applyTo: 'src/**/*.{py,rb}'", "unmatched-rule"),
        (".github/instructions/a.instructions.md", "applyTo: '**'", ""),
    ],
)
def test_a_rule_for_paths_that_do_not_exist(findings_for, rule, globs, expected):
    files = {rule: f"---\ndescription: d\n{globs}\n---\nBe brief.\n", "lib/deep/a.py": "", ".gitignore": "generated/\n"}
    files["other/a.ts"] = ""
    files |= {".git/objects/x": "", ".git/refs/x": ""}  # so that git takes it for a repository
    assert findings_for(files) == ([(expected, rule, 3)] if expected else [])


@pytest.mark.parametrize(
    ("field", "is_reported"),
    [
        ('paths: ["El Servador/**"]', False),
        ("paths: lib/*.ts El/*.py", False),
        ('paths: ["lib/*.ts El/*.py"]', True),
        ('paths: ["El Otro/*.py"]', True),
    ],
)
def test_only_a_string_of_globs_is_split_at_blanks(findings_for, field, is_reported):
    files = {".claude/rules/a.md": f"---\n{field}\n---\nBe brief.\n", "El Servador/a.py": "", "El/b.py": ""}
    assert findings_for(files) == ([("unmatched-rule", ".claude/rules/a.md", 2)] if is_reported else [])
    assert all("El, " not in message for message in findings_for.messages)


@pytest.mark.parametrize(
    ("name", "is_reported"), [("docs/a.md", False), ("docs/a.story.md", True), ("docs/mystory.md", False)]
)
def test_a_glob_may_be_for_files_with_all_of_its_suffixes(findings_for, name, is_reported):
    files = {".claude/rules/a.md": "---\npaths: stories/**/*.story.md\n---\nBe brief.\n", name: "X"}
    assert findings_for(files) == ([("unmatched-rule", ".claude/rules/a.md", 2)] if is_reported else [])


@pytest.mark.parametrize("glob", [".github/hooks/**/*.json", "tests/**/*.json"])
def test_a_rule_for_hidden_folders_or_tests_may_be_for_files_to_come(findings_for, glob):
    rule = f"---\napplyTo: '{glob}'\n---\nBe brief.\n"
    assert findings_for({".github/instructions/a.instructions.md": rule, "web/x.json": "{}"}) == []


def test_a_rule_that_the_settings_of_an_editor_name_needs_no_paths(findings_for):
    rule = {".github/instructions/commit.instructions.md": "---\napplyTo: ''\n---\nBe brief.\n"}
    assert findings_for(rule) == [("rule-field", ".github/instructions/commit.instructions.md", 2)]
    settings = '{"x.commitMessageGeneration.instructions": [{"file": ".github/instructions/commit.instructions.md"}]}'
    assert findings_for({".vscode/settings.json": settings}) == []


def test_rules_of_a_collection_match_nothing(findings_for):
    rules = {f".claude/rules/{name}.md": f"---\npaths: {name}/*.py\n---\nBe brief.\n" for name in "abcd"}
    assert findings_for(rules) == []
    unmatched = [("unmatched-rule", ".claude/rules/a.md", 2)]
    assert findings_for({"c/x.py": "", "d/x.py": ""}) == unmatched, "half of them match"
    assert findings_for.messages == [
        "Claude Code uses these 2 rules for no file, because none in the repository matches their patterns: /w/.claude/rules/a.md and"
        " /w/.claude/rules/b.md; correct the patterns, or delete the rules"
    ]


def test_an_output_style_is_not_a_rule(findings_for):
    files = {"CLAUDE.md": "Be brief.", ".claude/settings.json": '{"outputStyle": "other"}'}
    assert findings_for({**files, ".claude/output-styles/x.md": "Write verse.\n"}) == []


def test_a_link_to_a_file_that_is_read_anyway_can_be_deleted(findings_for):
    files = {"gptme.toml": "", "AGENTS.md": f"# A\n\n{LONG}\n", "GEMINI.md": Path("AGENTS.md")}
    assert findings_for(files) == [("sent-twice", "GEMINI.md", None)]
    assert findings_for.messages == [
        "gptme gets this file twice, because it is a link, and reads /w/AGENTS.md anyway; delete the link if no other agent needs it"
    ]


def test_rules_with_the_same_mistake_are_one_finding(findings_for):
    rules = {f".claude/rules/{name}.md": "---\nglobs: web/**\n---\nBe brief.\n" for name in "ab"}
    assert findings_for({**rules, "web/a.ts": ""}) == [("rule-field", ".claude/rules/a.md", 2)]
    assert findings_for.messages == [
        "Claude Code ignores the field `globs` of these 2 rules: /w/.claude/rules/a.md and /w/.claude/rules/b.md; did you mean `paths`?"
    ]
    rules = {f".claude/rules/{name}.md": "---\npaths: old/*.ts\n---\nBe brief.\n" for name in "ab"}
    assert findings_for(rules) == [("unmatched-rule", ".claude/rules/a.md", 2)]
    assert findings_for.messages[0].startswith("Claude Code uses these 2 rules for no file, because none")


def test_an_import_of_a_file_that_is_loaded_anyway_may_be_wrong(findings_for):
    files = {".claude/rules/a.md": "See @.claude/rules/b.md\n", ".claude/rules/b.md": "Be brief."}
    assert findings_for(files) == []
    assert findings_for({".claude/rules/a.md": "@docs/c.md\n", "docs/c.md": "X."}) == [
        ("unfollowed-import", ".claude/rules/a.md", 1)
    ]
    assert findings_for.messages[0].endswith("because its path is relative to this file's folder")


COPILOT = {".github/copilot-instructions.md": "Be brief.\n"}


def test_text_that_an_agent_gets_twice(findings_for):
    files = {"AGENTS.md": f"# A\n\n{LONG}\n", "CLAUDE.md": f"# B\n\n{LONG}\n"}
    assert findings_for({**files, **COPILOT}) == [], "Copilot gets it twice, but Claude Code reads only CLAUDE.md"
    assert findings_for({"CLAUDE.md": "@AGENTS.md\n"}) == [], "a short file that Claude Code should get too"
    assert findings_for({"AGENTS.md": f"# A\n\n{LONGER}\n"}) == [], "Claude Code needs the import"


def test_rules_that_an_agent_gets_twice(findings_for):
    rules = {f".claude/rules/{name}.md": f"# {name}\n\n{LONG}\n" for name in "ab"}
    assert findings_for(rules) == [("sent-twice", ".claude/rules/b.md", 3)]
    made = f"<!-- tool:rules:start -->\n\n{LONG}\n\n<!-- tool:rules:end -->\n"
    assert findings_for({".claude/rules/b.md": made}) == [], "a program writes it"
    assert findings_for({".claude/rules/b.md": "", "CLAUDE.md": f"# C\n\n{LONG}\n"}, "--disable", "blank-file") == []


@pytest.mark.parametrize(
    ("notice", "is_reported"),
    [
        ("<!-- GENERATED FILE: edit the source and regenerate. -->", False),
        ("Generated file\n\n", False),
        ("<!-- Do not edit this copy. -->", False),
        ("**DO NOT EDIT**", False),
        ("Do not edit files in `dist`.", True),
        ("A generated file is never changed.", True),
    ],
)
def test_a_generated_copy_repeats_its_source(tree, notice, is_reported):
    files = {"w/AGENTS.md": f"# A\n\n{LONG}\n", "w/web/AGENTS.md": f"{notice}\n\n{LONG}\n"}
    tree({**GIT, **files})
    found = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert {each.code for each in found} & {"repeated-paragraph", "sent-twice"} == (
        {"sent-twice"} if is_reported else set()
    )


def test_what_several_files_repeat_is_one_finding(tree):
    rules = f"<!-- tool:start -->\n\n{LONG}\n\n<!-- tool:end -->\n"
    files = {f"w/{folder}AGENTS.md": f"# {folder}\n\n{rules}" for folder in ("", "a/", "b/", "c/")}
    tree(
        {
            **GIT,
            **files,
            "w/d/AGENTS.md": f"# D\n\n{rules}\n\n{LONG} Too.\n",
            "w/d/e/AGENTS.md": f"# E\n\n{LONG} Too.\n",
        }
    )
    found = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    messages = [tree.short(each.message).partition("; ")[2] for each in found if each.code == "repeated-paragraph"]
    assert messages == ["also in /w/b/AGENTS.md:5 and 2 more", ""], "e repeats something else"


def test_an_import_in_a_sentence_is_advised_to_be_a_mention(findings_for):
    files = {
        "AGENTS.md": f"Read @CLAUDE.md before you start.\n\n{OTHER}\n",
        "CLAUDE.md": f"# B\n\n{LONGER}\n",
        **COPILOT,
    }
    findings_for(files, "--disable", "unread-file")
    assert findings_for.messages == [
        "Copilot CLI gets /w/CLAUDE.md twice: it is loaded anyway, and imported here;"
        " write `CLAUDE.md` instead of @CLAUDE.md, so that it is only mentioned"
    ]
    findings_for({"AGENTS.md": f"@CLAUDE.md\n\n{OTHER}\n"}, "--disable", "unread-file")
    assert findings_for.messages[1].endswith("; remove the import")


def test_two_imports_of_one_file_are_one_finding(findings_for):
    files = {
        **COPILOT,
        "CLAUDE.md": f"# A\n\n{LONGER}\n",
        "api/CLAUDE.md": f"# B\n\n{OTHER * 15}\n",
        "api/AGENTS.md": "Read @../CLAUDE.md and @CLAUDE.md before you change this package, which serves every request of the shop:"
        " those for pages, those for orders and those of partners. Keep its handlers thin, and its tests near.\n",
    }
    assert findings_for(files, "api", "--disable", "unread-file") == [("sent-twice", "api/AGENTS.md", 1)]
    assert findings_for.messages[0].startswith("Copilot CLI gets /w/CLAUDE.md and /w/api/CLAUDE.md twice: they are")


def test_lint_and_why_count_the_same_bytes(findings_for, tree, capsys):
    from foreword.cli import main

    assert findings_for({"AGENTS.md": "x" * 40_000 + "\n\n"}) == [("cut-file", "AGENTS.md", None)]
    assert "only 32,768 of the 40,002 bytes of this one" in findings_for.messages[0]
    main(["why", "AGENTS.md", "--layout", "codex", "--home", tree.path("home")])
    assert "cut from 40,002 to 32,768 bytes" in " ".join(capsys.readouterr().out.split())


def test_one_finding_names_all_agents(findings_for):
    assert findings_for({"AGENTS.md": LONG, "a/AGENTS.md": f"# A\n\n{LONG}\n"}, "a") == [
        ("sent-twice", "a/AGENTS.md", 3)
    ]
    assert findings_for.messages[0].startswith(
        "Codex CLI, Copilot CLI, Mistral Vibe, OpenCode and pi get this paragraph twice"
    )


def skills_in(folder, size, extra=""):
    return {
        f"{folder}/s{letter}/SKILL.md": f"---\nname: s{letter}\ndescription: {'d' * (size // 25 - 2)}\n{extra}---\nX.\n"
        for letter in ascii_lowercase[:25]
    }


@pytest.mark.parametrize(
    ("files", "agents"),
    [
        (skills_in(".claude/skills", 24_025), ["Claude Code lists only"]),
        (skills_in(".claude/skills", 24_000), []),
        ({**skills_in(".claude/skills", 15_025), **COPILOT}, ["Copilot CLI lists only"]),
        ({**skills_in(".claude/skills", 15_000), **COPILOT}, []),
        (
            {"AGENTS.md": "Be brief.", **skills_in(".agents/skills", 21_750)},
            ["Codex CLI shortens"],
        ),
        ({"AGENTS.md": "Be brief.", **skills_in(".agents/skills", 21_725)}, []),
        ({**skills_in(".agents/skills", 21_725), **COPILOT}, ["Copilot CLI lists only"]),
        (skills_in(".claude/skills", 24_025, "disable-model-invocation: true\n"), []),
        (skills_in(".gemini/skills", 90_000), []),
    ],
)
def test_a_menu_that_an_agent_does_not_list_in_full(findings_for, files, agents):
    findings_for(files)
    text = " ".join(message for message in findings_for.messages if message.startswith("the names and descriptions"))
    assert text.count("the names and descriptions") == len(agents)
    assert [agent for agent in agents if agent not in text] == []


def test_a_rule_of_another_agent_has_the_right_extension(findings_for):
    files = {".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nBe brief.\n", ".grok/config.toml": ""}
    assert findings_for(files) == []


def test_a_name_in_the_wrong_case_names_the_agents(findings_for):
    assert findings_for({"gemini.md": "Run tests."}) == [("file-case", "gemini.md", None)]
    assert findings_for.messages == ["/w/gemini.md was not read: it must be named GEMINI.md for Gemini CLI"]


def test_a_file_that_is_named_as_it_is_has_its_name_on_purpose(findings_for):
    files = {"CLAUDE.md": "Run tests.", ".claude/Agents.md": "Codex reviews."}
    assert findings_for(files) == [("file-case", ".claude/Agents.md", None)]
    assert findings_for({**files, "CLAUDE.md": "See `.claude/Agents.md` for who does what."}) == []


def test_a_list_of_agents_in_a_hidden_folder_is_not_named_wrongly(findings_for):
    assert findings_for({"CLAUDE.md": "Run tests.", ".claude/agents.md": "The architect plans."}) == []


@pytest.mark.parametrize(
    ("page", "expected"), [("Agents.md", []), ("AGENTS.MD", [("file-case", "docs/AGENTS.MD", None)])]
)
def test_a_page_may_begin_with_a_capital(findings_for, page, expected):
    assert findings_for({"AGENTS.md": "Run tests.", f"docs/{page}": "Page."}, "--recursive") == expected


@pytest.mark.parametrize(
    ("index", "text", "is_reported"),
    [
        ("README.md", "[Agents](docs/AGENTS.md)", False),
        ("docs/index.md", "[Agents](AGENTS.md)", False),
        ("docs/README.md", "[Agents](AGENTS.md)", False),
        ("README.md", "[Agents](AGENTS.md)", True),
        ("docs/other.md", "[Agents](AGENTS.md)", True),
    ],
)
def test_a_page_to_which_an_index_links_is_for_people(findings_for, index, text, is_reported):
    files = {"CLAUDE.md": "Run tests.", "AGENTS.md": "Run tests.", "docs/AGENTS.md": "Agents trade.", index: text}
    assert findings_for(files, "--recursive") == ([("unread-file", "docs/AGENTS.md", None)] if is_reported else [])


def test_a_file_beside_code_is_no_page(findings_for):
    files = {
        "CLAUDE.md": "Run tests.",
        "AGENTS.md": "Run tests.",
        "web/AGENTS.md": "Pages.",
        "README.md": "[A](web/AGENTS.md)",
    }
    assert findings_for(files, "--recursive") == [("unread-file", "web/AGENTS.md", None)]


def test_a_page_of_documentation_is_not_an_instruction_file(findings_for):
    assert (
        findings_for({"AGENTS.md": "Run tests.", "docs/agents.md": "Page.", "docs/setup.md": "Page."}, "--recursive")
        == []
    )
    assert findings_for({"api/agents.md": "Run tests."}, "--recursive") == [("file-case", "api/agents.md", None)]


def test_a_comment_or_setting_turns_a_check_off(findings_for):
    files = {"AGENTS.md": "<!-- foreword: ignore-file unread-file -->\nRun tests.", "CLAUDE.md": "Be brief."}
    assert findings_for(files) == []
    assert findings_for({"AGENTS.md": "Run tests."}) == UNREAD
    settings = {"home/.config/foreword/foreword.toml": '[lint]\ndisable = ["unread-file"]\n'}
    assert findings_for(settings) == []


def test_only_agents_in_use_or_in_the_settings_count(findings_for):
    files = {"AGENTS.md": "Run tests.", ".gemini/GEMINI.md": "Be brief."}
    assert findings_for(files) == []
    files = {"x/QWEN.md": f"# A\n\n{LONG}\n", "QWEN.md": f"# B\n\n{LONG}\n"}
    assert findings_for(files, "x", "--disable", "unread-file") == [("sent-twice", "x/QWEN.md", 3)]


def test_each_folder_is_listed_once(findings_for, monkeypatch):
    listed = []
    scan = folders.os.scandir
    monkeypatch.setattr(folders.os, "scandir", lambda path: listed.append(path) or scan(path))
    files = {
        "AGENTS.md": "X.",
        "a/AGENTS.md": "Y.",
        "a/b/c.py": "",
        ".claude/rules/r.md": "---\npaths: no/*.py\n---\nZ.",
    }
    assert findings_for(files, "--recursive") == [("unmatched-rule", ".claude/rules/r.md", 2)]
    below = [path for path in listed if isinstance(path, str) and path.endswith("/w/a/b")]
    assert len(below) == 1


@pytest.mark.parametrize(
    ("text", "globs"),
    [
        ("a/**, *.{ts,tsx},b", ["a/**", "*.{ts,tsx}", "b"]),
        ('"*.ts", "*.js"', ["*.ts", "*.js"]),
        ("*.ts *.js", ["*.ts *.js"]),
        ("El Servador/**, b", ["El Servador/**", "b"]),
        ("", []),
    ],
)
def test_globs_are_split_outside_braces(text, globs):
    assert split_globs(text) == globs


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("**/*.ts", True),
        ("*.TS", True),
        ("web/src/*.ts", True),
        ("/web/**", True),
        ("src", True),
        ("src/", True),
        ("web/*/a.ts", True),
        ("**/*.{js,ts}", True),
        ("a.?s", True),
        ("link/x/*.py", True),
        ("[id]/x.ts", True),
        ("!x", True),
        ("**/*", True),
        ("lib/**/*.ts", False),
        ("*.py", False),
        ("src/**/b.ts", False),
        ("web/*.ts", False),
        ("x" * 2_000, True),
    ],
)
def test_a_glob_matches_in_any_reading(glob, expected):
    assert PathIndex(["web", "web/src", "web/src/a.ts", "link"], ["link"]).has_match([glob]) is expected


def test_too_many_comparisons_count_as_a_match(monkeypatch):
    from foreword.inspection.lint import rule_globs

    monkeypatch.setattr(rule_globs, "_MAX_COMPARISONS", 10)
    index = PathIndex([f"src/{number}.ts" for number in range(20)])
    assert index.has_match(["src/x*.ts"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@AGENTS.md", False),
        ("See web/AGENTS.md.", True),
        ("Read the nearest AGENTS.md.", True),
        ("There are `AGENTS.md` files in each package.", True),
        ("Read `packages/<package>/AGENTS.md`.", True),
        ("Refer to all AGENTS.md.", True),
        ("Read the project's AGENTS.md.", True),
        ("See docs/AGENTS.md.", False),
        ("See CLAUDE.md.", False),
        ("파일의 폴더부터 루트까지의 AGENTS.md를 먼저 읽을 것", True),
        ("修改文件前，先读 AGENTS.md（每个目录都有）。", True),
        ("AGENTS.md를 먼저 읽을 것", False),
    ],
)
def test_a_file_above_names_one_below(text, expected):
    assert mentions(text, "/w/web/AGENTS.md", "/w/CLAUDE.md") is expected


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("/t/x", False), ("/t/x/docs/zh-CN", True), ("/t/x/docs/tr/a", True), ("/t/x/fixtures/a", True)],
)
def test_material(folder, expected):
    assert is_material(folder, "/t/x") is expected


def test_a_rule_is_checked_once_for_all_folders(findings_for, monkeypatch):
    from foreword.sources import finder

    checked = []
    check = finder._meets_conditions

    def count(reading, *others):
        checked.extend([reading.path] if "/rules/" in reading.path else [])
        return check(reading, *others)

    monkeypatch.setattr(finder, "_meets_conditions", count)
    files = {
        "CLAUDE.md": "Root.",
        ".claude/rules/python.md": "---\npaths: '**/*.py'\n---\nPython.",
        "a/CLAUDE.md": "A.",
    }
    findings_for(files, "--recursive")
    once = len(checked)
    findings_for({**files, "b/CLAUDE.md": "B.", "c/CLAUDE.md": "C."}, "--recursive")
    assert len(checked) - once == once > 0


TOKEN = "ghp_" + "q7Rz2mK9vXc4Lw8TnB5yHd3GfJ6sPa1Ue0Wk"


def test_files_that_only_other_agents_load_are_checked_once(tree, capsys):
    from foreword.cli import main

    files = {
        "AGENTS.md": "Be brief.",
        "CLAUDE.md": f"Use {TOKEN}.",
        "CLAUDE.local.md": Path("CLAUDE.md"),
        ".cursor/rules/touched.mdc": f"---\nglobs: src/**\n---\nUse {TOKEN}.",
        ".cursor/rules/attached.mdc": f"---\nalwaysApply: false\n---\nUse {TOKEN}.",
        ".claude/rules/touched.md": f"---\npaths: src/**\n---\nUse {TOKEN}.",
        ".agents/rules/touched.md": f"---\npaths: src/**\n---\nUse {TOKEN}.",
        "src/main.py": "",
        "api/CLAUDE.md": f"Read `guide.md`.\nUse {TOKEN}.",
    }
    tree({**GIT, **{f"w/{name}": text for name, text in files.items()}})

    def secrets_in(*arguments):
        main(["lint", tree.path("w"), "--json", "--min-severity", "info", "--home", tree.path("home"), *arguments])
        output = capsys.readouterr().out
        assert TOKEN not in output
        report = json.loads(tree.short(output))
        rows = [(row["path"][3:], row["line"]) for row in report["findings"] if row["code"] == "secret"]
        return report["files"], sorted(rows)

    at_root = [
        (".agents/rules/touched.md", 4),
        (".claude/rules/touched.md", 4),
        (".cursor/rules/attached.mdc", 4),
        (".cursor/rules/touched.mdc", 4),
        ("CLAUDE.md", 1),
    ]
    assert secrets_in() == (6, at_root)
    assert secrets_in("--recursive") == (7, [*at_root, ("api/CLAUDE.md", 2)])
    assert secrets_in("--layout", "cursor") == (5, at_root[1:])  # .agents/rules is Foreword's own
    disabled = [argument for check in sorted(AGENT_CHECKS) for argument in ("--disable", check)]
    assert secrets_in(*disabled) == (6, at_root)


def test_words_that_an_agent_takes_for_imports(findings_for):
    text = "# Rules\n\nUse @scope/name, never @types/node.\nAsk @alice. `@in/code` is text.\n"
    assert findings_for({"GEMINI.md": text}) == [("unfollowed-import", "GEMINI.md", 3)]
    assert findings_for.messages == [
        "Gemini CLI takes @scope/name and 2 other words of this file for imports, and replaces them by a comment that the import failed;"
        " write them in backticks"
    ]
    findings_for({"GEMINI.md": "Write to @shop.com or @shop.app.\n"})
    assert findings_for.messages[0].startswith("Gemini CLI takes @shop.com and @shop.app for imports, and replaces")
    findings_for({"GEMINI.md": "Use @scope/name."})
    assert findings_for.messages[0].startswith("Gemini CLI takes @scope/name for an import, and replaces it by")
    assert findings_for({"GEMINI.md": "Use `@scope/name`.", "CLAUDE.md": "Use @scope/name."}) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<code-snippet lang="css">\n@theme\n</code-snippet>\n', 0),
        ("<code>a</code>\n@theme\n", 1),
        ("This file is auto-generated. DO NOT EDIT.\n\nUses @scope/name.\n", 0),
        (f"# Rules\n\n{LONG}\n\nUse @scope/name. The types are generated by a script.\n", 1),
    ],
)
def test_words_in_samples_and_in_generated_files_cannot_be_changed(findings_for, text, expected):
    assert len(findings_for({"GEMINI.md": text})) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (".cursor/rules/a.mdc", "Be brief.", ""),
        (".cursor/rules/a.mdc", "---\nglobs:\nalwaysApply: false\n---\nBe brief.", ""),
        (".cursor/rules/a.mdc", "---\ndescription: When testing.\n---\nBe brief.", ""),
        (".cursor/rules/a.mdc", "\n", ""),
        (".claude/rules/a.md", "Be brief.", ""),
        (
            ".github/instructions/a.instructions.md",
            "Be brief.",
            "this file has no `applyTo`, so Copilot CLI uses it for every file",
        ),
        (".github/instructions/a.instructions.md", "---\ntitle: x\n---\nA.", "Copilot in VS Code for none"),
        (".github/instructions/a.instructions.md", "-- \napplyTo: '*.py'\n---\nA.", "does not begin with a line `---`"),
        (
            ".github/instructions/a.instructions.md",
            "\n<!--\nMinimal.\n-->\n<!-- B -->\n\n\n---\napplyTo: '*.py'\n---\nA.",
            "does not begin with a line `---`",
        ),
        (".github/instructions/a.instructions.md", "# A\n\nWrite:\n\n\n\napplyTo: '*'\n", "this file has no `applyTo`"),
        (".github/instructions/a.instructions.md", "---\napplyTo:\n---\nA.", "`applyTo` is empty"),
        (
            ".github/instructions/a.instructions.md",
            "---\napplyTo: 5\n---\nA.",
            "`applyTo` is a single value, not text or a list, so",
        ),
        (".github/instructions/a.instructions.md", "---\ndescription: x\n---\nA.", ""),
        (".github/instructions/_index.instructions.md", "Be brief.", ""),
        (".cursor/rules/a.mdc", "---\nalwaysApply: false\n---\nBe brief.", ""),
        (".github/instructions/a.instructions.md", "---\napplyTo: '**'\n---\nA.", ""),
        (".cursor/rules/a.mdc", '---\nglobs: ["lib/**\n---\nA.', "the front matter cannot be read as YAML"),
        (".cursor/rules/a.mdc", "---\nglobs: *.py, lib/**\n---\nA.", ""),
    ],
)
def test_a_rule_that_does_not_say_when_it_applies(findings_for, path, text, expected):
    findings_for({path: text, "lib/a.py": ""}, "--disable", "blank-file")
    assert [expected in message for message in findings_for.messages] == [True] * bool(expected), findings_for.messages


def test_rules_whose_front_matter_does_not_begin_with_dashes_are_one_finding(findings_for):
    text = f"description: {'Use it for tests. ' * 20}\napplyTo: '*.py'\n---\n"
    findings_for({f".github/instructions/{name}.instructions.md": text + name for name in "ab"})
    assert findings_for.messages == [
        "`applyTo` has no effect in these 2 files, because their front matter does not begin with a line `---` and end with another, so"
        " Copilot CLI uses them for every file: /w/.github/instructions/a.instructions.md and /w/.github/instructions/b.instructions.md;"
        " correct them"
    ]


def test_a_colon_in_a_rule_of_an_agent_that_was_not_run_is_only_noted(tree, capsys):
    from foreword.cli import main

    text = "---\ndescription: Pages: how to write them\nglobs: web/**\n---\nBe brief."
    tree(
        {
            **GIT,
            "w/web/a.css": "",
            "w/.cursor/rules/a.mdc": text,
            "w/.claude/rules/a.md": text.replace("globs", "paths"),
            "w/.claude/rules/b.md": text.replace("globs", "paths").replace("Pages: how", "'Pages' how"),
        }
    )
    main(["lint", tree.path("w"), "--json", "--min-severity", "info", "--home", tree.path("home")])
    found = json.loads(tree.short(capsys.readouterr().out))["findings"]
    assert [(finding["code"], finding["path"], finding["severity"]) for finding in found] == [
        ("rule-field", "/w/.claude/rules/b.md", "warning"),
        ("rule-field", "/w/.cursor/rules/a.mdc", "info"),
    ]


def test_an_older_version_of_a_rule_that_is_read_is_not_reported(findings_for):
    assert (
        findings_for({".cursor/rules/a.md": "Be brief.", ".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nA."})
        == []
    )


def test_a_file_whose_text_is_in_a_rule_that_is_read_is_not_reported(findings_for):
    text = "Check every form for a token.\n"
    assert (
        findings_for({".cursor/rules/a.md": text, ".cursor/rules/b.mdc": f"---\nalwaysApply: true\n---\n{text}More."})
        == []
    )


def test_rules_whose_extension_an_agent_does_not_read(findings_for):
    files = {f".cursor/rules/{name}.md": "Be brief." for name in ("a", "README", "rule-template")}
    assert findings_for(files) == [("misplaced-file", ".cursor/rules/a.md", None)]
    assert findings_for.messages == [
        "Cursor ignores this file, and reads only files that end in .mdc in this folder; rename it to a.mdc"
    ]
    findings_for({".cursor/rules/b.md": "Hello."})
    assert findings_for.messages == [
        "Cursor ignores these 2 files, and reads only files that end in .mdc in that folder: /w/.cursor/rules/a.md and /w/.cursor/rules/b.md;"
        " rename them to *.mdc"
    ]


def test_a_misspelled_scope_of_a_rule_that_always_applies_changes_nothing(findings_for):
    rule = "---\nglob: web/**\nalwaysApply: {}\n---\nBe brief.\n"
    assert findings_for({".cursor/rules/a.mdc": rule.format("true")}) == []
    assert findings_for({".cursor/rules/a.mdc": rule.format("false")}) == [("rule-field", ".cursor/rules/a.mdc", 2)]


def test_a_pattern_below_a_folder_that_exists_may_be_for_files_to_come(findings_for):
    rule = {".claude/rules/a.md": "---\npaths: apps/**/db/**\n---\nBe brief.\n"}
    assert findings_for({**rule, "apps/x.py": ""}) == []
    assert findings_for({".claude/rules/a.md": "---\npaths: old/**/db/*.py\n---\nBe brief.\n"}) == [
        ("unmatched-rule", ".claude/rules/a.md", 2)
    ]


def test_one_yaml_problem_is_one_finding(findings_for):
    text = "---\ndescription: Use when: always.\n---\nBe brief.\n"
    files = {f".cursor/rules/{name}.mdc": text for name in "ab"}
    assert findings_for(files) == [("rule-field", ".cursor/rules/a.mdc", 1)]
    assert "in these 2 files, so Cursor may ignore their fields: " in findings_for.messages[0]


def test_an_example_is_a_project_of_its_own(findings_for):
    files = {"AGENTS.md": f"# A\n\n{LONG}\n", "api/AGENTS.md": f"# B\n\n{LONG}\n"}
    assert findings_for({**files, "examples/a/CLAUDE.md": "Be brief."}, "--recursive", "--disable", "sent-twice") == []
    assert findings_for({"web/CLAUDE.md": "Be brief."}, "--recursive", "--disable", "sent-twice") == [
        ("unread-file", "AGENTS.md", None)
    ]


def test_the_path_of_a_package_is_no_import(findings_for):
    files = {"AGENTS.md": "load: node_modules/@scope/name/README.md\n", "CLAUDE.md": "@AGENTS.md\n"}
    assert findings_for(files) == []
    assert findings_for({"AGENTS.md": "Read\n\n@scope/name/README.md\n"}) == [("unfollowed-import", "AGENTS.md", 3)]


def test_punctuation_after_imports_of_one_file_is_one_finding(findings_for):
    files = {"CLAUDE.md": "- @a.md: one\n- @b.md: two\n- @c.md. three\n", "a.md": "A", "b.md": "B", "c.md": "C"}
    assert findings_for(files) == [("unfollowed-import", "CLAUDE.md", 1), ("unfollowed-import", "CLAUDE.md", 3)]
    assert findings_for.messages[0].startswith("Claude Code does not import @a.md and @b.md, because the `:` after it")


def test_a_file_with_only_comments_is_a_placeholder(findings_for):
    assert findings_for({".claude/rules/a.md": "<!-- add rules here -->\n", "CLAUDE.md": "<!-- later -->\n"}) == []


@pytest.mark.parametrize("mark", [".template.config/template.json", "cookiecutter.json", "copier.yml", "copier.yaml"])
def test_files_in_a_template_are_for_the_projects_made_from_it(findings_for, mark):
    files = {"CLAUDE.md": "Be brief.", "make/web/AGENTS.md": "Use CSS.", "AGENTS.md": "Run tests."}
    expected = [("unread-file", "AGENTS.md", None), ("unread-file", "make/web/AGENTS.md", None)]
    assert findings_for({**files, mark: "{}"}, "--recursive") == expected
    assert findings_for({f"make/{mark}": "{}"}, "--recursive") == expected[:1]


def test_a_blank_file(findings_for):
    assert findings_for({"AGENTS.md": " \n"}) == [("blank-file", "AGENTS.md", None)]
    assert findings_for.messages[0].startswith("this file is blank, so Codex CLI and ")
    findings_for({"CLAUDE.md": "Be brief."})
    assert findings_for.messages[0].startswith("this file is blank, and hides /w/CLAUDE.md from OpenCode and pi;")


def test_a_file_below_is_for_those_who_open_its_folder(findings_for):
    files = {".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nBe brief.", "web/.cursorrules": "Use CSS."}
    assert findings_for(files, "--recursive") == []


def test_an_import_in_a_sentence_may_be_outside_the_folder(findings_for):
    files = {
        "CLAUDE.md": "Follow the principles in @docs/style.md\n",
        "docs/style.md": "Short lines.",
        "web/CLAUDE.md": "X.",
    }
    assert findings_for(files, "--recursive") == []


def test_an_include_that_agents_do_not_expand_names_them(findings_for):
    files = {"AGENTS.md": "# Shop\n\n@server/AGENTS.md\n", "server/AGENTS.md": "Be brief."}
    findings_for(files)
    assert findings_for.messages == [
        "Codex CLI, Mistral Vibe, OpenCode and pi do not expand @server/AGENTS.md: the model sees the line, not the file; say when to read it"
    ]


@pytest.mark.parametrize(
    ("text", "is_reported"),
    [
        ("Lines starting with `@` name files. Tools that do not include them should read them.", False),
        ("Other agents: open the files that @-mentions name.", True),
        ("The @-mentions name files; open them first.", False),
        ("Write to `@` nobody.", True),
        ("Before you commit, follow `docs/a.md`.", False),
    ],
)
def test_a_file_may_explain_its_includes(findings_for, text, is_reported):
    files = {"AGENTS.md": f"{text}\n\n@docs/a.md\n", "docs/a.md": "A."}
    assert findings_for(files) == ([("unsupported-include", "AGENTS.md", 3)] if is_reported else [])


def test_includes_that_agents_do_not_expand_are_one_finding(findings_for):
    files = {"AGENTS.md": "# Shop\n\n@docs/a.md\n@docs/b.md\n", "docs/a.md": "A.", "docs/b.md": "B."}
    assert findings_for(files) == [("unsupported-include", "AGENTS.md", 3)]
    assert findings_for.messages == [
        "Codex CLI, Mistral Vibe, OpenCode and pi do not expand @docs/a.md and @docs/b.md (line 4): the model sees the lines, not the files;"
        " say when to read them"
    ]


GUIDE = "".join(f"Rule {number}: handlers of kind {number} are thin.\n" for number in range(60))
OTHER_GUIDE = GUIDE.replace("handlers", "pages")


def test_a_guide_of_its_own_beside_a_file_is_no_mistake(findings_for):
    assert findings_for({"AGENTS.md": GUIDE, "CLAUDE.md": OTHER_GUIDE}) == []
    below = {"web/AGENTS.md": GUIDE.replace("thin", "wide"), "web/CLAUDE.md": OTHER_GUIDE.replace("thin", "wide")}
    assert findings_for(below, "--recursive") == []
    copy = GUIDE.replace("Rule 7", "Rule seven")
    assert findings_for({"AGENTS.md": GUIDE, "CLAUDE.md": copy}) == [], "they may differ on purpose"


@pytest.mark.parametrize(
    ("word", "expected"), [("規則は短い。", []), ("Be brief.", [("unread-file", "web/AGENTS.md", None)])]
)
def test_a_guide_in_chinese_or_japanese_is_shorter(findings_for, word, expected):
    own = word * 400 if not word.isascii() else word * 40
    own = own[:400]
    files = {"AGENTS.md": "Run tests.", "CLAUDE.md": "Run tests.", "web/AGENTS.md": GUIDE, "web/CLAUDE.md": own}
    assert findings_for(files, "--recursive") == expected


def test_a_long_file_beside_a_guide_in_the_hidden_folder(findings_for):
    assert findings_for({"AGENTS.md": GUIDE * 3, ".claude/CLAUDE.md": OTHER_GUIDE}) == []


def test_a_repository_without_such_a_file_beside_its_guide_does_not_use_it_for_every_agent(findings_for):
    files = {"CLAUDE.md": "Be brief.", "rules/AGENTS.md": "Every block has a trigger."}
    assert findings_for(files, "--recursive") == []
    assert findings_for({"AGENTS.md": "Be brief."}, "--recursive") == [("unread-file", "rules/AGENTS.md", None)]


def test_a_page_for_people_in_the_place_of_a_guide(findings_for):
    files = {"AGENTS.md": GUIDE, "CLAUDE.md": Path("CONTRIBUTING.md"), "CONTRIBUTING.md": OTHER_GUIDE}
    assert findings_for(files) == UNREAD


def test_rules_that_are_links_to_files_for_other_agents(findings_for):
    shared = {"rules/a.md": "Be brief.", "AGENTS.md": "Run tests."}
    assert findings_for({**shared, ".cursor/rules": Path("../rules")}) == []
    assert findings_for({"AGENTS.md": "Run tests.", ".cursor/rules/a.mdc": Path("../../AGENTS.md")}) == []


def test_a_broken_link_is_the_only_mistake(findings_for):
    files = {"AGENTS.md": "Run tests.", "CLAUDE.md": Path("agent.md"), "specs/CLAUDE.md": "Be brief."}
    assert findings_for(files, "--recursive") == []


def test_an_include_in_a_file_for_another_agent(findings_for):
    below = {"web/CLAUDE.md": "@README.md\n", "web/README.md": "A shop."}
    assert findings_for({"AGENTS.md": "Run tests.", "CLAUDE.md": Path("AGENTS.md"), **below}, "--recursive") == []
