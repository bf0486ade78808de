"""Trees about how files are written: upper and lower case in names, encodings, imports, globs and front matter."""

from __future__ import annotations

from .settings_trees import marked
from .tree import DEFAULT_PROGRAMS, Tree

_ALL = (*DEFAULT_PROGRAMS, "qwen", "vibe", "pi-agent")
_IMPORTERS = ("claude", "gemini", "copilot", "qwen")
_TARGETS = tuple(f"i{number}" for number in range(1, 25))
# Each form names its own file, so that a request shows which of them were imported.
_IMPORTS = """qx-forms
<!-- @i1.md qx-comment -->
<!--
@i2.md
-->
qx-between

    @i6.md qx-indented

\\@i7.md qx-escaped
see:@i8.md qx-colon
see: @i9.md qx-blank
@i10.md. qx-stop
"@i11.md" qx-quoted
[@i12.md] qx-bracket
@i13.md; qx-semicolon
@i14.md! qx-bang
@i15.md? qx-question
- @i16.md qx-item
> @i17.md qx-quote
| @i18.md | qx-cell |
``@i19.md`` qx-two-ticks
<b>@i20.md</b> qx-tag
@./i21.md#part qx-part
@i22.md\tqx-tab
_@i23.md_ qx-underscore
#@i24.md qx-hash
"""
_TILDES = "qx-forms\n~~~\n@i1.md\n~~~\n@i2.md\n~~~ sh\n@i3.md\n"
_TICKS = "qx-forms\n````\n@i1.md\n```\n@i2.md\n````\n@i3.md\n"
_OPEN = "qx-forms\n```\n@i1.md\n~~~\n@i2.md\n"
_FENCES = {"tildes": _TILDES, "ticks": _TICKS, "open": _OPEN}


# A soft hyphen, joiners, marks of direction, tags, an accent to compose, and blanks that look alike.
_INVISIBLE = "a\u00adb\u200bc\u200dd\u202ee\u2060f\ufeffg\U000e0041h e\u0301 \u2000\u00a0\u3000"
_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
_CHECKOUTS = {
    **{"repo": "main", "repo/a": "main-a", "beside": "beside"},
    **{"repo/.claude/worktrees/in": "in", "repo/.claude/worktrees/in/a": "in-a"},
}


def _import_files(name: str, text: str = _IMPORTS) -> dict[str, str]:
    targets = {
        f"repo/{target}.md": f"qx-target-{target}\n"
        for target in _TARGETS
        if f"@{target}." in text or f"/{target}." in text
    }
    return {f"repo/{name}": text, **targets}


def _rules(folder: str, suffix: str, fronts: dict[str, str]) -> dict[str, str]:
    return {f"repo/{folder}/{name}{suffix}": f"---\n{front}\n---\nqx-rule-{name}\n" for name, front in fronts.items()}


def _globs(key: str) -> dict[str, str]:
    """Return front matter by name, for a rule that may match `a/b/z.ts`."""
    return {
        "bang": f"{key}: '!a/b/z.ts'",
        "both": f"{key}: ['**/*.ts', '!a/**']",
        "group": f"{key}: '**/@(z|y).ts'",
        "braces": f"{key}: '**/{{z,y}}.{{ts,js}}'",
        "commas": f"{key}: '**/*.py, **/*.ts'",
        "blanks": f"{key}: '  **/*.ts  '",
        "late": f"title: x\nother: y\n{key}: '**/*.ts'",
        "unquoted": f"{key}: **/*.ts",
        "unquoted-list": f"{key}: [**/*.ts, *.py]",
        "question": f"{key}: 'a/b/?.ts'",
        "klass": f"{key}: 'a/b/[xyz].ts'",
        "no-star": f"{key}: a/b/z.ts",
        "folder": f"{key}: a/b",
        "folder-slash": f"{key}: a/b/",
        "dot": f"{key}: ./a/b/*.ts",
        "slash": f"{key}: /a/b/*.ts",
        "one-star": f"{key}: '*.ts'",
        "name": f"{key}: z.ts",
        "upper": f"{key}: 'A/B/*.TS'",
        "empty": f"{key}: ''",
        "missing": f"{key}:",
        "number": f"{key}: 3",
        "block": f"{key}:\n  - '**/*.ts'",
        "folded": f"{key}: >\n  **/*.ts",
        "tabbed": f"{key}:\t'**/*.ts'",
    }


FORM_TREES = {
    "case": Tree(
        {
            **marked("repo/agents.md", "repo/Claude.md", "repo/gemini.md", "repo/.github/Copilot-Instructions.md"),
            **marked("repo/a/AGENTS.MD", "repo/a/CLAUDE.MD", "repo/a/Gemini.md", "repo/a/qwen.md"),
            **marked("repo/a/b/Agents.md", "repo/a/b/claude.md", "repo/a/b/Agents.override.md"),
        },
        ("repo", "repo/a", "repo/a/b"),
        _ALL,
    ),
    "case-both": Tree(
        {
            f"repo/{name}": f"qx-{mark}\n"
            for mark, name in {
                "a-upper": "AGENTS.md",
                "a-lower": "agents.md",
                "c-mixed": "Claude.md",
                "c-upper": "CLAUDE.md",
                "g-lower": "gemini.md",
                "g-upper": "GEMINI.md",
            }.items()
        },
        ("repo",),
        _ALL,
    ),
    "bom": Tree(
        {
            f"repo/{name}": f"\ufeff# qx-{name[:3].lower()}\n"
            for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
        },
        ("repo",),
        _ALL,
    ),
    "latin-1": Tree(
        {
            f"repo/{name}": f"qx-{name[:3].lower()} caf\udce9\n"
            for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
        },
        ("repo",),
        _ALL,
    ),
    "crlf": Tree(
        {
            f"repo/{name}": f"---\r\ntitle: x\r\n---\r\nqx-{name[:3].lower()}\r\n<!-- qx-{name[:3].lower()}-comment -->\r\nlast\r\n"
            for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
        },
        ("repo",),
        _ALL,
    ),
    "invisible": Tree(
        {
            f"repo/{name}": f"qx-{name[:3].lower()} {_INVISIBLE} end\n"
            for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
        },
        ("repo",),
        ("codex", "claude", "gemini", "copilot", "qwen", "pi-agent"),
    ),
    "nul": Tree({"repo/AGENTS.md": "qx-root \x00 end\n"}, ("repo",), ("codex", "claude")),
    "import-forms-claude": Tree(_import_files("CLAUDE.md"), ("repo",), ("claude", "copilot")),
    "import-forms-agents": Tree(_import_files("AGENTS.md"), ("repo",), ("claude", "copilot", "qwen")),
    "import-forms-gemini": Tree(_import_files("GEMINI.md"), ("repo",), ("gemini",)),
    **{
        f"import-{name}": Tree(
            {
                **_import_files("CLAUDE.md", text),
                **_import_files("GEMINI.md", text.replace("qx-forms", "qx-gemini")),
                **_import_files("QWEN.md", text.replace("qx-forms", "qx-qwen")),
            },
            ("repo",),
            _IMPORTERS,
        )
        for name, text in _FENCES.items()
    },
    "rule-imports": Tree(
        {
            "repo/CLAUDE.md": "qx-root\n",
            "repo/.claude/rules/scoped.md": "---\npaths: '**/*.py'\n---\nqx-scoped @one.md\n",
            "repo/.claude/rules/plain.md": "qx-plain @../../two.md\n",
            "repo/.claude/rules/one.md.txt": "qx-never\n",
            "repo/one.md": "qx-one\n",
            "repo/two.md": "qx-two\n",
            "repo/z.py": "print()\n",
        },
        ("repo",),
        ("claude", "copilot"),
        touch="repo/z.py",
    ),
    "globs-claude": Tree(
        {"repo/CLAUDE.md": "qx-root\n", "repo/a/b/z.ts": "z\n", **_rules(".claude/rules", ".md", _globs("paths"))},
        ("repo",),
        ("claude", "copilot"),
        touch="repo/a/b/z.ts",
        any_order=True,
    ),
    "repeated-field": Tree(
        {
            "repo/CLAUDE.md": "qx-root\n",
            "repo/z.ts": "z\n",
            **_rules(".claude/rules", ".md", {"twice": "paths: '**/*.py'\npaths: '**/*.ts'"}),
        },
        ("repo",),
        ("claude",),
        touch="repo/z.ts",
    ),
    "globs-copilot": Tree(
        {"repo/a/b/z.ts": "z\n", **_rules(".github/instructions", ".instructions.md", _globs("applyTo"))},
        ("repo",),
        ("copilot",),
        touch="repo/a/b/z.ts",
    ),
    "globs-nested": Tree(
        {
            "repo/CLAUDE.md": "qx-root\n",
            "repo/a/CLAUDE.md": "qx-a\n",
            "repo/a/b/z.ts": "z\n",
            "repo/a/.claude/rules/own.md": "---\npaths: b/*.ts\n---\nqx-own\n",
            "repo/a/.claude/rules/whole.md": "---\npaths: a/b/*.ts\n---\nqx-whole\n",
            "repo/a/.claude/rules/any.md": "---\npaths: '**/*.ts'\n---\nqx-any\n",
            "repo/a/.claude/rules/plain.md": "qx-plain\n",
            "repo/a/.github/instructions/own.instructions.md": "---\napplyTo: b/*.ts\n---\nqx-github-own\n",
            "repo/a/.github/instructions/whole.instructions.md": "---\napplyTo: a/b/*.ts\n---\nqx-github-whole\n",
        },
        ("repo", "repo/a"),
        ("claude", "copilot"),
        touch="repo/a/b/z.ts",
    ),
    "gemini-touch-imports": Tree(
        {
            "repo/GEMINI.md": "qx-root\n",
            "repo/shared.md": "qx-shared\n",
            "repo/a/GEMINI.md": "qx-a @../shared.md\n@own.md\n",
            "repo/a/own.md": "qx-own\n",
            "repo/a/z.py": "print()\n",
        },
        ("repo",),
        ("gemini", "qwen"),
        touch="repo/a/z.py",
    ),
    "pi-system": Tree(
        {
            "home/.pi/agent/APPEND_SYSTEM.md": "qx-append-user\n",
            "repo/.pi/SYSTEM.md": "qx-system\n",
            "repo/.pi/APPEND_SYSTEM.md": "qx-append\n",
            "repo/AGENTS.md": "qx-root\n",
        },
        ("repo",),
        ("pi-agent",),
    ),
    "pi-own-system": Tree(
        {"home/.pi/agent/SYSTEM.md": "qx-system-user\n", "repo/AGENTS.md": "qx-root\n"}, ("repo",), ("pi-agent",)
    ),
    "output-style": Tree(
        {
            "repo/.claude/settings.json": '{"outputStyle": "Terse"}',
            "repo/.claude/output-styles/terse.md": "---\nname: Terse\ndescription: x\n---\nqx-style\n",
            "repo/CLAUDE.md": "qx-root\n",
        },
        ("repo",),
        ("claude",),
    ),
    "worktree": Tree(
        {
            **{
                f"{folder}/{name}": f"qx-{mark}-{name[:3].lower()}\n"
                for folder, mark in _CHECKOUTS.items()
                for name in _FILES
            },
            "home/.claude/projects/{slug}/memory/MEMORY.md": "qx-memory-main\n",
            "home/.claude/projects/{slug}--claude-worktrees-in/memory/MEMORY.md": "qx-memory-in\n",
        },
        ("repo", "repo/.claude/worktrees/in", "repo/.claude/worktrees/in/a", "beside"),
        tuple(program for program in _ALL if program != "vibe"),
        worktrees=("repo/.claude/worktrees/in", "beside"),
    ),
    "scope-package": Tree(
        {
            f"repo/{name}": f"qx-{name[:3].lower()} uses @types/node and @scope/name, mail a@b.md, @nobody\n"
            for name in ("CLAUDE.md", "GEMINI.md", "QWEN.md", "AGENTS.md")
        },
        ("repo",),
        _ALL,
    ),
}
