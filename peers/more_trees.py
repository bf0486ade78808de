"""Trees for programs that read other files than most."""

from __future__ import annotations

from .settings_trees import marked
from .tree import Tree

_NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "agents/x.md")
_OWN = (
    *(
        "home/.kimi-code/AGENTS.md",
        "home/.agents/AGENTS.md",
        "repo/.kimi-code/AGENTS.md",
        "repo/a/.kimi-code/AGENTS.md",
    ),
    *("home/.config/kilo/AGENTS.md", "home/.kilocode/rules/u.md", "repo/.kilocode/rules/k.md", "repo/.kilocoderules"),
    *("home/.factory/AGENTS.md", "repo/.factory/AGENTS.md", "repo/.agents/AGENTS.md", "repo/a/.factory/AGENTS.md"),
    *("home/.grok/AGENTS.md", "home/.claude/CLAUDE.md", "repo/.grok/rules/g.md", "repo/.claude/rules/c.md"),
    *("repo/.claude/CLAUDE.md", "repo/CLAUDE.local.md", "repo/.cursor/rules/r.md"),
    *("repo/.continue/rules/one.md", "home/.continue/rules/two.md"),
)
MORE_PROGRAMS = ("kimi", "continue")
_FIELDS = {
    "paths": "paths: '**/*.py'",
    "other": "paths: ['**/*.ts', 'x/**']",
    "all": "paths: '**'",
    "empty": "paths: ''",
    "apply": "applyTo: '**/*.py'",
    "both": "applyTo: '**/*.py'\npaths: '**/*.ts'",
    "both-other": "applyTo: '**/*.ts'\npaths: '**/*.py'",
    "both-empty": "applyTo: ''\npaths: '**/*.ts'",
    "both-all": "applyTo: '**'\npaths: '**/*.ts'",
    "both-scoped": "applyTo: '**/*.py'\npaths: '**'",
}


def _rules(folder: str, suffix: str, mark: str) -> dict[str, str]:
    return {f"{folder}/{name}{suffix}": f"---\n{front}\n---\nqx-{mark}-{name}\n" for name, front in _FIELDS.items()}


MORE_TREES = {
    "more-nested": Tree(
        {
            **marked(*(f"{folder}/{name}" for folder in ("repo", "repo/a", "repo/a/b", "repo/c") for name in _NAMES)),
            **marked("AGENTS.md", *_OWN),
            "repo/c/d/z.py": "print()\n",
        },
        ("repo", "repo/a/b"),
        MORE_PROGRAMS,
        touch="repo/c/d/z.py",
    ),
    "more-claude": Tree(
        {
            **marked("repo/CLAUDE.md", "repo/a/CLAUDE.md", "repo/a/CONTEXT.md", "home/.claude/CLAUDE.md"),
            "repo/a/agents.md": "qx-lower\n",
        },
        ("repo", "repo/a"),
        MORE_PROGRAMS,
    ),
    "more-spaces": Tree(
        {
            "repo/AGENTS.md": "---\ntitle: qx-front\n---\n\n  qx-root\n\n\n<!-- qx-comment -->\n\n",
            "repo/a/AGENTS.md": "qx-a @b.md\n",
            "repo/a/b.md": "qx-b\n",
        },
        ("repo/a",),
        MORE_PROGRAMS,
    ),
    "more-outside-git": Tree(
        marked("repo/AGENTS.md", "repo/a/AGENTS.md", "repo/a/CLAUDE.md"), ("repo/a",), MORE_PROGRAMS, is_git=False
    ),
    # An empty file hides others, but adds nothing.
    "empty": Tree(
        {
            "repo/AGENTS.md": "",
            "repo/CLAUDE.md": "qx-claude\n",
            "repo/a/AGENTS.md": "",
            "repo/a/CLAUDE.md": "qx-a-claude\n",
            "repo/a/z.py": "print()\n",
            "home/.config/opencode/AGENTS.md": "",
            "home/.claude/CLAUDE.md": "qx-user\n",
        },
        ("repo",),
        ("copilot", "opencode"),
        touch="repo/a/z.py",
    ),
    "outside-git-imports": Tree(
        {"repo/AGENTS.md": "qx-above\n@more.md\n", "repo/more.md": "qx-more\n", "repo/a/AGENTS.md": "qx-a\n"},
        ("repo/a",),
        ("qwen",),
        is_git=False,
    ),
    # Blank rules, and rules with the same text, which are sent as often as they are found.
    "rules-same": Tree(
        {
            **dict.fromkeys(("repo/AGENTS.md", "repo/a/AGENTS.md"), "qx-same\n"),
            **{f"repo/.claude/rules/{name}.md": "qx-same\n" for name in ("a", "d")},
            **{"repo/.claude/rules/b.md": "", "repo/.claude/rules/c.md": " \n"},
            "repo/.claude/rules/e.md": "---\npaths: '**/*.py'\n---\n",
            "repo/.claude/rules/f.md": "---\npaths: '**/*.py'\n---\n",
            "repo/.github/instructions/same.instructions.md": "qx-same\n",
            "repo/a/.github/instructions/blank.instructions.md": "",
            "repo/a/.claude/rules/same.md": "qx-same\n",
            "repo/a/z.py": "print()\n",
        },
        ("repo", "repo/a"),
        ("copilot",),
        touch="repo/a/z.py",
        links={"repo/a/CLAUDE.md": "AGENTS.md", "repo/a/.claude/rules/link.md": "same.md"},
    ),
    # Either field, in both kinds of files.
    "rules-fields": Tree(
        {
            **_rules("home/.copilot/instructions", ".instructions.md", "user"),
            **_rules("repo/.github/instructions", ".instructions.md", "root"),
            **_rules("repo/.claude/rules", ".md", "claude"),
            **_rules("repo/a/.github/instructions", ".instructions.md", "a"),
            **_rules("repo/a/.claude/rules", ".md", "a-claude"),
            "repo/a/z.py": "print()\n",
        },
        ("repo", "repo/a"),
        ("copilot",),
        touch="repo/a/z.py",
        any_order=True,
    ),
}
