"""Trees whose files have the line ends of Windows, of old Macs, or several of them in one file."""

from __future__ import annotations

from .menu_trees import skill
from .tree import DEFAULT_PROGRAMS, Tree

_ALL = (*DEFAULT_PROGRAMS, "qwen", "vibe", "pi-agent", "kimi", "continue")
_NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
_USER = {
    "home/.codex/AGENTS.md": "codex",
    "home/.claude/CLAUDE.md": "claude",
    "home/.gemini/GEMINI.md": "gemini",
    "home/.config/opencode/AGENTS.md": "opencode",
    "home/.copilot/copilot-instructions.md": "copilot",
    "home/.qwen/QWEN.md": "qwen",
    "home/.vibe/AGENTS.md": "vibe",
    "home/.pi/agent/AGENTS.md": "pi",
    "home/.kimi-code/AGENTS.md": "kimi",
    "home/.continue/rules/u.md": "continue",
}
_SPACED = "\n \n  qx-{0} indented  \n\n\tqx-{0}-tab\t\n\n\n"
_IMPORTS = """# qx-{0}
see @inc/{0}-one.md
- @inc/{0}-two.md and more

```
@inc/{0}-code.md
```

<!-- qx-{0}-comment
@inc/{0}-hidden.md -->

<!-- qx-{0}-second -->


@inc/{0}-missing.md
@inc/{0}-last.md
"""
_IMPORTED = "---\ntitle: qx-{0}-front\n---\n\nqx-{0} text\n@{0}-deep.md\n\n"


def _windows(files: dict[str, str]) -> dict[str, str]:
    return {path: text.replace("\n", "\r\n") for path, text in files.items()}


def _imports(name: str) -> dict[str, str]:
    mark = name[:3].lower()
    files = {f"repo/{name}": _IMPORTS.format(mark)}
    for part in ("one", "two", "code", "hidden", "last"):
        files[f"repo/inc/{mark}-{part}.md"] = _IMPORTED.format(f"{mark}-{part}")
        files[f"repo/inc/{mark}-{part}-deep.md"] = f"\nqx-{mark}-{part}-deep\n"
    return files


# Line ends of every kind, in one file.
_MIXED = "qx-{0} windows\r\nqx-{0}-unix\nqx-{0}-mac\rqx-{0}-after\r\r\n\r\n\n\rqx-{0}-end\r"
_MACINTOSH = "---\rtitle: qx-{0}-front\r---\rqx-{0}\r<!-- qx-{0}-comment -->\r\rsee @inc/one.md\rqx-{0}-end\r"
_SCOPES = {
    "repo/.claude/rules/{}.md": "paths: '**/*.py'",
    "repo/.github/instructions/{}.instructions.md": "applyTo: '**/*.py'",
    "repo/.qwen/rules/{}.md": "paths:\n  - '**/*.py'",
    "repo/.continue/rules/{}.md": "globs: '**/*.py'",
}
_RULES = {
    path.format(name): text.format(scope, f"{name}-{path.split('/')[1][1:]}")
    for path, scope in _SCOPES.items()
    for name, text in {
        "scoped": "---\n{0}\ndescription: qx-{1}-about\n---\n\nqx-{1}\n<!-- qx-{1}-comment -->\n\n",
        "plain": "---\ndescription: qx-{1}-about\n---\n\nqx-{1}\n\n",
        "bare": "\nqx-{1}\n\n",
    }.items()
}
_FOLDED = "---\nname: {0}\ndescription: >-\n  qx-{1}-about\n  goes on\n---\n\nqx-{1}-body\n"
_LITERAL = "---\nname: {0}\ndescription: |-\n  qx-{1}-about\n  goes on\n---\n\nqx-{1}-body\n"
_AGENT = "---\nname: {0}\ndescription: qx-{0}-about\ntools: Read, Grep\n---\nqx-{0}-body\n"
_FORMS = {"plain": skill("{0}", "{1}"), "folded": _FOLDED, "literal": _LITERAL}
_SKILL_FOLDERS = ("agents", "claude", "gemini", "qwen", "vibe", "github", "kimi-code")


def _skills(folder: str, form: str) -> dict[str, str]:
    """Return a skill, because some programs list those of one folder in the order of the disk."""
    name = f"{folder.partition('-')[0]}-{form}"
    return {f"repo/.{folder}/skills/{name}/SKILL.md": _FORMS[form].format(name, name)}


# With 40 lines of 819 bytes, the text is as long as the limit if its lines end with LF, and 40 bytes longer if with CRLF.
_LONG_LINES = "".join(f"qx-line-{number} ".ljust(818, "x") + "\n" for number in range(40))
# Cut between CR and LF: the limit is after the CR of the last line.
_SPLIT_END = "".join(f"qx-line-{number} ".ljust(818, "x") + "\n" for number in range(39))
_SPLIT_END += "qx-last ".ljust(32_768 - 39 * 820 - 1, "x") + "\nqx-left-out\n"
_MEMORY_LINES = "qx-first\n" + ("x" * 149 + "\n") * 166 + "qx-last\n" + ("y" * 149 + "\n") * 30

LINE_END_TREES = {
    "crlf-nested": Tree(
        _windows(
            {path: _SPACED.format(f"user-{mark}") for path, mark in _USER.items()}
            | {
                f"{folder}/{name}": _SPACED.format(f"{mark}-{name[:3].lower()}")
                for folder, mark in {"repo": "root", "repo/a": "a", "repo/c": "c", "repo/c/d": "d"}.items()
                for name in _NAMES
            }
        )
        | {"repo/c/d/z.py": "print()\n"},
        ("repo", "repo/a"),
        _ALL,
        touch="repo/c/d/z.py",
    ),
    "crlf-edit": Tree(
        _windows(
            {
                f"{folder}/{name}": f"qx-{mark}-{name[:3].lower()}\n\nlast\n"
                for folder, mark in {"repo": "root", "repo/a": "a"}.items()
                for name in _NAMES
            }
        ),
        ("repo",),
        tuple(program for program in _ALL if program != "claude"),
        edit={f"repo/{name}": f"qx-edited-{name[:3].lower()}\r\n\r\nlast\r\n" for name in _NAMES},
    ),
    # On a touch, the text after the front matter is not trimmed at its end.
    **{
        f"{line_ends}-front": Tree(
            {
                path: text if line_ends == "lf" else text.replace("\n", "\r\n")
                for path, text in {
                    "repo/.claude/rules/blank.md": "---\npaths: '**/*.py'\n---\n\n \n  qx-blank\n\n",
                    "repo/.claude/rules/comment.md": "---\npaths: '**/*.py'\n---\n\n \n  qx-commented\n<!-- qx-comment -->\n",
                    "repo/.claude/rules/plain.md": "\n \n  qx-plain <!-- qx-inline -->\n\n",
                    "repo/c/CLAUDE.md": "---\ntitle: x\n---\n\n\tqx-c\n",
                    "repo/.qwen/rules/blank.md": "---\npaths:\n  - '**/*.py'\n---\n\n \n  qx-qwen\n\n",
                    "repo/.qwen/rules/comments.md": "qx-start\n<!-- <!-- qx-in --> -->\n`<!-- qx-code -->` qx-x <!-- qx-y --> qx-z\n<!-- qx-open\n",
                    "repo/c/z.py": "print()\n",
                }.items()
            },
            ("repo",),
            ("claude", "qwen"),
            touch="repo/c/z.py",
            any_order=True,
        )
        for line_ends in ("lf", "crlf")
    },
    "crlf-imports": Tree(
        _windows({path: text for name in _NAMES[1:] for path, text in _imports(name).items()}),
        ("repo",),
        ("claude", "gemini", "copilot", "qwen"),
    ),
    "crlf-imports-agents": Tree(_windows(_imports("AGENTS.md")), ("repo",), ("claude", "copilot", "qwen")),
    "crlf-rules": Tree(
        {**_windows(_RULES), "repo/CLAUDE.md": "qx-root\r\n", "repo/a/z.py": "print()\n"},
        ("repo",),
        ("claude", "copilot", "qwen"),
        touch="repo/a/z.py",
        any_order=True,
    ),
    "crlf-rules-start": Tree(_windows(_RULES), ("repo",), ("continue",), any_order=True),
    "crlf-commands": Tree(
        _windows(
            {
                "repo/.claude/commands/top.md": "---\ndescription: qx-top-about\n---\nqx-top-body\n",
                "repo/.claude/commands/first.md": "qx-first-line\nand more\n",
            }
        ),
        ("repo",),
        ("claude",),
    ),
    **{
        f"crlf-menus-{form}": Tree(
            _windows(
                {path: text for folder in _SKILL_FOLDERS for path, text in _skills(folder, form).items()}
                | {"home/.pi/agent/skills/pi/SKILL.md": _FORMS[form].format("pi", "pi")}
                | {"repo/.claude/agents/helper.md": _AGENT.format("helper")}
            )
            | {"repo/AGENTS.md": "qx-root\r\n"},
            ("repo",),
            tuple(program for program in _ALL if program != "continue"),
        )
        for form in _FORMS
    },
    "mixed-line-ends": Tree(
        {f"repo/{name}": _MIXED.format(name[:3].lower()) for name in _NAMES}
        | {f"repo/c/{name}": _MIXED.format(f"c-{name[:3].lower()}") for name in _NAMES}
        | {"repo/c/z.py": "print()\n"},
        ("repo",),
        _ALL,
        touch="repo/c/z.py",
    ),
    "mixed-front": Tree(
        {
            "repo/.claude/rules/first.md": "---\r\npaths: '**/*.py'\n---\r\nqx-first\n",
            "repo/.claude/rules/second.md": "---\npaths: '**/*.py'\r\n---\nqx-second\r\n",
            "repo/.claude/rules/third.md": "---\npaths: '**/*.py'\n---\r\nqx-third\r\n",
            "repo/.github/instructions/first.instructions.md": "---\r\napplyTo: '**/*.py'\n---\r\nqx-hub-first\n",
            "repo/.github/instructions/second.instructions.md": "---\napplyTo: '**/*.py'\r\n---\nqx-hub-second\r\n",
            "repo/CLAUDE.md": "---\r\ntitle: qx-front\n---\nqx-root\r\n<!-- qx-comment -->\n\r\nqx-end\n",
            "repo/z.py": "print()\n",
        },
        ("repo",),
        ("claude", "copilot"),
        touch="repo/z.py",
        any_order=True,
    ),
    "lone-cr": Tree(
        {f"repo/{name}": _MACINTOSH.format(name[:3].lower()) for name in _NAMES} | {"repo/inc/one.md": "qx-one\r"},
        ("repo",),
        _ALL,
    ),
    "crlf-blank": Tree(
        {
            "home/.codex/AGENTS.md": "qx-user\r\n",
            "repo/AGENTS.override.md": "\r\n \r\n",
            **{f"repo/{name}": "\r\n\r\n" for name in _NAMES},
            **{f"repo/a/{name}": f"qx-{name[:3].lower()}\r\n" for name in _NAMES},
        },
        ("repo/a",),
        _ALL,
    ),
    "crlf-limit": Tree(
        {"repo/AGENTS.md": _LONG_LINES.replace("\n", "\r\n"), "repo/a/AGENTS.md": "qx-a\r\n"},
        ("repo", "repo/a"),
        ("codex",),
    ),
    "lf-limit": Tree(
        {"repo/AGENTS.md": _LONG_LINES[:-10] + "\n", "repo/a/AGENTS.md": "qx-a\r\nrest\r\nmore\r\n"},
        ("repo/a",),
        ("codex",),
    ),
    "crlf-limit-nested": Tree(
        {
            "home/.codex/config.toml": "project_doc_max_bytes = 20\n",
            "repo/AGENTS.md": "qx-root\r\nx\r\n",
            "repo/a/AGENTS.md": "qx-a\r\n\r\nleft out\r\n",
            "repo/a/b/AGENTS.md": "qx-b\r\n",
        },
        ("repo", "repo/a/b"),
        ("codex",),
    ),
    "crlf-limit-split": Tree({"repo/AGENTS.md": _SPLIT_END.replace("\n", "\r\n")}, ("repo",), ("codex",)),
    "memory-line-ends": Tree(
        {
            "home/.claude/projects/{slug}/memory/MEMORY.md": "\r\n" + _MIXED.format("memory") + "\r\n",
            "repo/CLAUDE.md": "qx-root\r\n",
        },
        ("repo",),
        ("claude",),
    ),
    "lf-memory": Tree(
        {"home/.claude/projects/{slug}/memory/MEMORY.md": _MEMORY_LINES, "repo/CLAUDE.md": "qx-root\r\n"},
        ("repo",),
        ("claude",),
    ),
    "crlf-memory": Tree(
        {
            "home/.claude/projects/{slug}/memory/MEMORY.md": _MEMORY_LINES.replace("\n", "\r\n"),
            "repo/CLAUDE.md": "qx-root\r\n",
        },
        ("repo",),
        ("claude",),
    ),
}
