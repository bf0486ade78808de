"""Trees about where the working directory is: in the home directory, in repositories inside others, behind links, and below or beside files."""

from __future__ import annotations

from .settings_trees import marked
from .tree import DEFAULT_PROGRAMS, Tree

_ALL = (*DEFAULT_PROGRAMS, "qwen", "pi-agent", "kimi", "continue")
_TOUCHING = ("claude", "copilot", "gemini", "opencode", "qwen", "vibe", "kimi")
_NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
_USER = (
    *("home/.claude/CLAUDE.md", "home/.claude/rules/u.md", "home/.codex/AGENTS.md", "home/.gemini/GEMINI.md"),
    *("home/.config/opencode/AGENTS.md", "home/.copilot/copilot-instructions.md", "home/.qwen/QWEN.md"),
    *("home/.pi/agent/AGENTS.md", "home/.kimi-code/AGENTS.md", "home/.agents/AGENTS.md"),
)
# Globs that match a rule's path from the root, from the working directory or anywhere.
_SCOPES = ("src/**", "web/**", "**/*.ts", "*.ts", "web/src/*.ts", "src/*.ts")
# Claude Code compares these with the whole path as they are written.
_EXCLUDES = {
    "tilde": "~/.claude/CLAUDE.md",
    "name": "CLAUDE.md",
    "relative": "a/CLAUDE.md",
    "dot": "./a/CLAUDE.md",
    "class": "**/a/[C]LAUDE.md",
    "negated": "!**/a/CLAUDE.md",
    "group": "**/@(a|b)/CLAUDE.md",
    "imported": "**/x.md",
    "rules": ".claude/rules/**",
    "absolute": "{base}/repo/*/CLAUDE.md",
}


def _named(*folders: str) -> dict[str, str]:
    return marked(*(f"{folder}/{name}" for folder in folders for name in _NAMES))


def _repository(folder: str) -> dict[str, str]:
    """Return the files of the smallest repository that git accepts."""
    config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    files = {"HEAD": "ref: refs/heads/main\n", "config": config, "objects/.keep": "", "refs/heads/.keep": ""}
    return {f"{folder}/.git/{name}": text for name, text in files.items()}


def _scoped(folder: str, suffix: str, field: str, mark: str) -> dict[str, str]:
    return {
        f"{folder}/r{number}{suffix}": f"---\n{field.format(scope)}\n---\nqx-{mark}-{number}\n"
        for number, scope in enumerate(_SCOPES)
    }


PLACE_TREES = {
    "home-repository": Tree(
        {
            **_repository("home"),
            **_named("home", "home/proj"),
            **marked(*_USER, "home/.github/copilot-instructions.md"),
            "home/proj/z.py": "print()\n",
        },
        ("home", "home/proj"),
        tuple(program for program in _ALL if program != "continue"),
        is_git=False,
        touch="home/proj/z.py",
        any_order=True,
        is_compact=True,
    ),
    "below-home": Tree(
        {
            **_repository("home/work/x"),
            **_named("home", "home/work", "home/work/x", "home/work/x/a"),
            **marked(*_USER, "home/CLAUDE.local.md", "home/work/CLAUDE.local.md"),
            "home/.claude/settings.local.json": '{"claudeMdExcludes": ["**/work/CLAUDE.md"]}',
        },
        ("home/work/x/a",),
        _ALL,
        is_git=False,
        any_order=True,
        is_compact=True,
    ),
    "home-plain": Tree(
        {**_named("home", "home/p"), **marked(*_USER), "home/p/z.py": "print()\n"},
        ("home", "home/p"),
        ("claude", "codex", "copilot", "gemini"),
        is_git=False,
        touch="home/p/z.py",
        any_order=True,
        is_compact=True,
    ),
    "nested-repository": Tree(
        {
            **_repository("repo/vendor/lib"),
            **_named("repo", "repo/vendor", "repo/vendor/lib", "repo/vendor/lib/src"),
            **marked("repo/more.md", "repo/vendor/lib/more.md"),
            **marked("repo/.claude/rules/r.md", "repo/vendor/lib/.claude/rules/r.md"),
            "repo/.claude/settings.json": '{"claudeMdExcludes": ["**/src/CLAUDE.md"]}',
            "repo/opencode.json": '{"instructions": ["more.md"]}',
            "repo/vendor/lib/src/z.py": "print()\n",
        },
        ("repo", "repo/vendor/lib", "repo/vendor/lib/src"),
        _ALL,
        touch="repo/vendor/lib/src/z.py",
        any_order=True,
        is_compact=True,
    ),
    "linked-names": Tree(
        {"repo/AGENTS.md": "qx-root\n", "repo/a/CLAUDE.md": "qx-a\n"},
        ("repo", "repo/a"),
        (*_ALL, "vibe"),
        links={
            **{f"repo/{name}": "AGENTS.md" for name in _NAMES[1:]},
            **{"repo/a/AGENTS.md": "CLAUDE.md", "repo/a/GEMINI.md": "../AGENTS.md"},
            "repo/.github/copilot-instructions.md": "../AGENTS.md",
            "home/.claude/CLAUDE.md": "../../repo/AGENTS.md",
        },
        is_compact=True,
    ),
    "linked-imports": Tree(
        {
            "repo/.shared/base.md": "qx-base @part.md and @./part.md and @link.md\n",
            "repo/.shared/part.md": "qx-part-shared\n",
            "repo/part.md": "qx-part-root\n",
            "dot/main.md": "qx-main @more.md\n",
            "dot/more.md": "qx-more-dot\n",
            "home/.claude/more.md": "qx-more-home\n",
        },
        ("repo",),
        ("claude", "gemini", "qwen"),
        links={
            **{f"repo/{name}": ".shared/base.md" for name in ("CLAUDE.md", "GEMINI.md", "QWEN.md")},
            "home/.claude/CLAUDE.md": "../../dot/main.md",
        },
    ),
    "touch-below-root": Tree(
        {
            **_named("repo", "repo/web", "repo/web/src"),
            **_scoped("repo/.claude/rules", ".md", "paths: ['{}']", "c"),
            **_scoped("repo/web/.claude/rules", ".md", "paths: ['{}']", "cw"),
            **_scoped("home/.claude/rules", ".md", "paths: ['{}']", "cu"),
            **_scoped("repo/.github/instructions", ".instructions.md", "applyTo: '{}'", "h"),
            **_scoped("repo/web/.github/instructions", ".instructions.md", "applyTo: '{}'", "hw"),
            **_scoped("repo/.qwen/rules", ".md", "paths: ['{}']", "q"),
            **_scoped("repo/web/.qwen/rules", ".md", "paths: ['{}']", "qw"),
            "repo/web/src/a.ts": "x\n",
        },
        ("repo/web", "repo"),
        _TOUCHING,
        touch="repo/web/src/a.ts",
        any_order=True,
        is_compact=True,
        is_sorted=True,
    ),
    "touch-beside": Tree(
        {
            **_named("repo", "repo/a", "repo/b", "repo/b/c"),
            **marked("repo/b/.claude/rules/b.md"),
            "repo/.claude/rules/p.md": "---\npaths: '**/*.py'\n---\nqx-claude-rule\n",
            "repo/.qwen/rules/p.md": "---\npaths: ['**/*.py']\n---\nqx-qwen-rule\n",
            "repo/.github/instructions/p.instructions.md": "---\napplyTo: '**/*.py'\n---\nqx-copilot-rule\n",
            "repo/b/c/z.py": "print()\n",
        },
        ("repo/a",),
        _TOUCHING,
        touch="repo/b/c/z.py",
        any_order=True,
        is_compact=True,
    ),
    "import-html": Tree(
        {
            "repo/CLAUDE.md": "<p>@i1.md</p>\n\n<rules>\n@i2.md\n</rules>\n\n<details>\n\n@i3.md\n\n</details>\n\n"
            "x <!-- @i4.md --> y <b>@i5.md</b>\n\n[a]: @i6.md 'qx-definition'\n[b]: @i7.md qx-text\n\nqx-root\n",
            **{f"repo/i{number}.md": f"qx-target-{number}\n" for number in range(1, 8)},
        },
        ("repo",),
        ("claude",),
    ),
    "memory-imports": Tree(
        {
            "home/.claude/projects/{slug}/memory/MEMORY.md": "qx-memory @other.md @~/x.md\n",
            "home/.claude/projects/{slug}/memory/other.md": "qx-other\n",
            "home/x.md": "qx-x\n",
            "repo/CLAUDE.md": "qx-root\n",
        },
        ("repo",),
        ("claude",),
    ),
    # Of these, nothing is left, so AGENTS.md counts.
    "only-comments": Tree(
        {
            "repo/CLAUDE.md": "<!-- nothing yet -->\n",
            "repo/CLAUDE.local.md": "---\ntitle: x\n---\n",
            **marked("repo/AGENTS.md", "repo/a/AGENTS.md"),
            "repo/a/z.py": "print()\n",
        },
        ("repo",),
        ("claude",),
        touch="repo/a/z.py",
    ),
    "folder-names": Tree(
        {
            **marked("repo/AGENTS.md/x.md", "repo/CLAUDE.md", "repo/GEMINI.md", "repo/a/CLAUDE.md/x.md"),
            **marked("repo/a/AGENTS.md", "repo/a/b/AGENTS.md/x.md", "repo/a/b/CLAUDE.md", "repo/a/b/CONTEXT.md"),
            "repo/a/b/z.py": "print()\n",
        },
        ("repo", "repo/a/b"),
        ("claude", "copilot", "opencode", "pi-agent", "continue"),
        touch="repo/a/b/z.py",
        any_order=True,
        is_compact=True,
    ),
    "blank-name": Tree(
        {"repo/AGENTS.md": " \n\n", **marked("repo/CLAUDE.md", "repo/.continue/rules/r.md")}, ("repo",), ("continue",)
    ),
    "instructions-order": Tree(
        {
            "repo/opencode.json": '{"instructions": ["docs/{two,three}.md", "docs/one.md"]}',
            "home/.opencode/opencode.json": '{"instructions": ["docs/x.md"]}',
            **marked(*(f"repo/docs/{name}.md" for name in ("one", "two", "three", "x")), "repo/a/docs/one.md"),
        },
        ("repo/a",),
        ("opencode",),
    ),
    "codex-own-instructions": Tree(
        {
            "home/.codex/config.toml": 'model_instructions_file = "{base}/home/own.md"\n',
            "home/own.md": "\nqx-own\n\n",
            **marked("repo/AGENTS.md"),
        },
        ("repo",),
        ("codex",),
    ),
    "copilot-descriptions": Tree(
        {
            f"repo/.github/instructions/{name}.instructions.md": f"---\napplyTo: '*.x'\ndescription: {text}\n---\nqx-{name}\n"
            for name, text in {
                "bar": "'qx-d1 a|b'",
                "slash": "'qx-d2 a\\b'",
                "lines": "|\n  qx-d3 one\n  two",
                "quotes": '"qx-d4 \\"x\\" <b> & c"',
            }.items()
        },
        ("repo",),
        ("copilot",),
    ),
    "codex-no-bytes": Tree(
        {"home/.codex/config.toml": "project_doc_max_bytes = 0\n", **marked("repo/AGENTS.md", "home/.codex/AGENTS.md")},
        ("repo",),
        ("codex",),
    ),
}
# Most programs take any .git for a repository's: also an empty folder, and a file that leads nowhere.
PLACE_TREES |= {
    f"broken-git-{name}": Tree(
        {
            **files,
            **_named("repo", "repo/a", "repo/a/b", "repo/a/b/c"),
            **marked("repo/.github/copilot-instructions.md", "repo/a/.github/copilot-instructions.md"),
            **marked("repo/.claude/rules/r.md", "repo/a/.claude/rules/r.md"),
            "repo/a/b/c/z.py": "print()\n",
        },
        ("repo", "repo/a", "repo/a/b"),
        tuple(program for program in _ALL if program != "continue"),
        is_git=is_git,
        touch="repo/a/b/c/z.py",
        any_order=True,
        is_compact=True,
    )
    for name, is_git, files in (
        ("root-folder", False, {"repo/.git/.keep": ""}),
        ("root-file", False, {"repo/.git": "gitdir: ../nowhere\n"}),
        ("nested-folder", True, {"repo/a/.git/.keep": ""}),
        ("nested-file", True, {"repo/a/.git": "gitdir: ../nowhere\n"}),
    )
}
PLACE_TREES |= {
    f"excludes-{name}": Tree(
        {
            "home/.claude/settings.json": f'{{"claudeMdExcludes": ["{glob}"]}}',
            **marked("repo/CLAUDE.md", "repo/.claude/rules/one.md", "home/.claude/CLAUDE.md", "repo/b/CLAUDE.md"),
            "repo/a/CLAUDE.md": "qx-a @x.md\n",
            "repo/a/x.md": "qx-x\n",
        },
        ("repo/a",),
        ("claude",),
        is_compact=True,
    )
    for name, glob in _EXCLUDES.items()
}
