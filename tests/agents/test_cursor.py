"""The layout that mirrors Cursor, which follows its documentation: which rules apply, and what each rule waits for."""

import os

import pytest

from foreword.programs.questions import answer


def rule(text, **front):
    """Return the content of a rule with this front matter."""
    return "\n".join(["---", *(f"{name}: {content}" for name, content in front.items()), "---", text, ""])


FILES = {
    "w/.git": None,
    "w/.cursor/rules/always.mdc": rule("Always.", alwaysApply="true", description="Rule one"),
    "w/.cursor/rules/deep/globs.mdc": rule("Globs.", globs="'*.py'", alwaysApply="false"),
    "w/.cursor/rules/both.mdc": rule("Both.", globs="'*.ts'", description="Rule two"),
    "w/.cursor/rules/menu.mdc": rule("Menu.", description="When you  test", alwaysApply="false"),
    "w/.cursor/rules/manual.mdc": rule("Manual.", alwaysApply="false"),
    "w/.cursor/rules/plain.mdc": "Plain.\n",
    "w/.cursor/rules/other.md": rule("Other.", alwaysApply="true"),
    "w/.cursorrules": "Legacy.\n",
    "w/AGENTS.md": "Root.\n",
    "w/a/AGENTS.md": "Below.\n",
    "w/a/.cursor/rules/below.mdc": rule("Rule below.", alwaysApply="true"),
}


def test_the_prompt_has_rules_instructions_and_a_menu(tree):
    tree(FILES)
    assert tree.text("cursor", "w/a") == (
        "[Cursor's own instructions]\n\n"
        "[Rule .cursor/rules/always.mdc]\nAlways.\n\n[Rule .cursor/rules/below.mdc]\nRule below.\n\n"
        "Legacy.\n\n"
        "[Instructions AGENTS.md]\nRoot.\n\n[Instructions AGENTS.md]\nBelow.\n\n"
        "[Rules that the agent may read]\n- .cursor/rules/menu.mdc: When you test"
    )


@pytest.mark.parametrize(
    ("name", "fate", "reason"),
    [
        ("always", "used", ""),
        ("deep/globs", "waiting", "it waits for a file that matches *.py (globs in its front matter)"),
        ("both", "waiting", "it waits for a file that matches *.ts (globs in its front matter)"),
        ("menu", "used", ""),
        ("manual", "unused", "its front matter has alwaysApply: false"),
        ("plain", "unused", "its front matter has no alwaysApply"),
    ],
)
def test_each_rule_has_a_fate_and_a_reason(tree, name, fate, reason):
    tree(FILES)
    path = tree.path(f"w/.cursor/rules/{name}.mdc")
    (found_rule,) = [candidate for candidate in tree.prompt("cursor").candidates if candidate.path == path]
    assert (found_rule.fate, found_rule.reason) == (fate, reason)


def test_a_rule_in_the_menu_is_listed_and_not_loaded(tree):
    tree(FILES)
    rows = answer("agents", {"layouts": ["cursor"], "cwd": tree.path("w"), "paths": [".cursor/rules"]})["files"]
    verdicts = {os.path.basename(row["path"]): row["verdicts"][0]["verdict"] for row in rows}
    assert (verdicts["always.mdc"], verdicts["menu.mdc"]) == ("loaded", "listed")


@pytest.mark.parametrize(("name", "program"), [("cursor", "Cursor, as documented"), ("copilot", "Copilot CLI 1.0.102")])
def test_a_mirror_says_what_it_mirrors_and_how_it_differs(name, program):
    form = answer("layouts", {"name": name})
    assert form["mirrors"].startswith(program)
    assert form["differs"]


def test_the_cursor_layout_says_that_it_follows_the_documentation():
    assert "documentation" in answer("layouts", {"name": "cursor"})["differs"][0]
