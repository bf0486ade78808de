"""A hundred random trees with what people combine by accident: odd names, encodings, settings, rules, skills, links and worktrees.

The same number always gives the same tree. Each is for two programs, so that every program has about twenty, and is recorded compactly.
"""

from __future__ import annotations

import random

from .menu_trees import skill
from .tree import Tree

PROGRAMS = ("claude", "codex", "copilot", "gemini", "opencode", "qwen", "vibe", "pi-agent", "kimi", "continue")
TOUCHING = ("claude", "copilot", "gemini", "opencode", "qwen", "vibe", "kimi")
COUNT = 100
# Gemini CLI ends with an error in this tree, whose worktree has no commit.
_REFUSED = {(14, "gemini")}
_FOLDERS = ("", "a/", "a/b/", "a b/", "ü/", ".x/", "A/", "deep/er/and/deeper/", "node_modules/p/")
_NAMES = (
    *("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "AGENTS.override.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
    *("agents.md", "Claude.md", "AGENTS.MD", "CONTEXT.md", ".github/copilot-instructions.md", "AGENT.md"),
    *(".kimi-code/AGENTS.md", ".continue/rules/c.md", ".qwen/rules/q.md", "AGENTS.local.md", ".claude/AGENTS.md"),
)
_USER = (
    *(
        "home/.claude/CLAUDE.md",
        "home/.codex/AGENTS.md",
        "home/.copilot/copilot-instructions.md",
        "home/.gemini/GEMINI.md",
    ),
    *("home/.config/opencode/AGENTS.md", "home/.qwen/QWEN.md", "home/.vibe/AGENTS.md", "home/.pi/agent/AGENTS.md"),
    *(
        "home/.kimi-code/AGENTS.md",
        "home/.continue/rules/u.md",
        "home/.claude/rules/u.md",
        "home/AGENTS.md",
        "AGENTS.md",
    ),
)
_SCOPES = ("**/*.py", "a/**", "*.ts", "!a/**", "a/b/z.py", "./a/*.py", "**/{z,y}.py", "A/**", "**", "src/**, a/**")
_LINES = (
    "{m} text",
    "# {m} heading",
    "<!-- {m}-comment -->\n{m} after",
    "{m} sees @{i} here",
    "- @{i} {m}",
    "```\n@{i}\n``` \n{m} below",
    "{m} mail a@b.c and @scope/name",
    "{m} \u00a0\u200b wide \u3000 語 🦊",
    "\t{m} tab  ",
    '<b>{m}</b> & "quoted"',
)


def odd_trees() -> dict[str, Tree]:
    """Return the trees by name."""
    return {f"odd-{number}": odd_tree(number) for number in range(1, COUNT + 1)}


def odd_tree(number: int) -> Tree:
    choose = random.Random(f"odd {number}")
    programs: tuple[str, ...] = (
        PROGRAMS[number % len(PROGRAMS)],
        PROGRAMS[(number * 3 + number // 10) % len(PROGRAMS)],
    )
    folders = choose.sample(_FOLDERS, 4)
    paths = [f"repo/{choose.choice(folders)}{choose.choice(_NAMES)}" for _ in range(choose.randint(4, 12))]
    paths += choose.sample(_USER, choose.randint(0, 4))
    imported = [f"repo/{folder}more.md" for folder in folders[:2]]
    files = {path: _text(choose, f"qx-f{index}") for index, path in enumerate(dict.fromkeys((*paths, *imported)))}
    files |= _rules(choose) | _skills(choose) | _settings(choose)
    cwd = f"repo/{choose.choice(folders)}".rstrip("/")
    worktrees: tuple[str, ...] = ()
    if choose.random() < 0.2:
        worktrees = (choose.choice(("repo/a", "repo/.claude/worktrees/w", "beside")),)
        cwd = worktrees[0]
        files[f"{cwd}/CLAUDE.md"] = files[f"{cwd}/AGENTS.md"] = "qx-worktree\n"
    if choose.random() < 0.15 and "repo/a" not in worktrees:  # whose `.git` is a file
        files["repo/a/.git/HEAD"] = "ref: refs/heads/main\n"
    touched = f"{cwd}/{choose.choice(('', 'a/', 'a/b/'))}z.py"
    may_touch = any(program in TOUCHING for program in programs) and choose.random() < 0.5
    is_git = bool(worktrees) or choose.random() < 0.9
    # Vibe reads what its user trusts, which is not known here: the repository, but not what is beside it.
    refused = {"vibe"} if worktrees or not is_git or "repo/a/.git/HEAD" in files else set()
    refused |= {program for refused_number, program in _REFUSED if refused_number == number}
    programs = tuple(program for program in dict.fromkeys(programs) if program not in refused)
    return Tree(
        files | ({touched: "print()\n"} if may_touch else {}),
        (cwd,),
        programs,
        is_git=is_git,
        touch=touched if may_touch else "",
        any_order=True,
        worktrees=worktrees,
        links=_links(choose, files),
        is_compact=True,
    )


def _text(choose: random.Random, mark: str) -> str:
    """Return the text of a file in one of the ways that editors write it."""
    chance = choose.random()
    if chance < 0.06:
        return choose.choice(("", "\n", "  \n\n"))
    lines = [
        choose.choice(_LINES)
        .replace("{m}", mark)
        .replace("{i}", choose.choice(("more.md", "../more.md", "none.md", "./a/more.md")))
        for _ in range(choose.randint(1, 5))
    ]
    text = f"{mark}\n" + "\n".join(lines) + choose.choice(("\n", "", "\n\n\n"))
    if chance < 0.12:
        return f"\ufeff{text}"
    if chance < 0.18:
        return f"{mark} caf\udce9\n"
    if chance < 0.26:
        return text.replace("\n", "\r\n")
    if chance < 0.34:
        return f"---\ntitle: x\n---\n{text}"
    return f"\n\n{text}" if chance < 0.4 else text


def _rules(choose: random.Random) -> dict[str, str]:
    rules = {}
    for index in range(choose.randint(0, 3)):
        scope = choose.choice(_SCOPES)
        folder, suffix, key = choose.choice(
            (
                (".claude/rules/", ".md", "paths"),
                (".github/instructions/", ".instructions.md", "applyTo"),
                (".qwen/rules/", ".md", "paths"),
            )
        )
        front = choose.choice(
            (f"{key}: '{scope}'", f"{key}: ['{scope}', 'x/*']", f"{key}:\n  - '{scope}'", "description: d")
        )
        rules[f"repo/{folder}r{index}{suffix}"] = f"---\n{front}\n---\nqx-rule{index}\n"
    return rules


def _skills(choose: random.Random) -> dict[str, str]:
    folders = choose.sample(
        (".agents", ".claude", ".github", ".codex", ".gemini", ".qwen", ".vibe"), choose.randint(0, 2)
    )
    return {
        f"repo/{folder}/skills/s{index}/SKILL.md": skill(f"s{index}", f"skill{index}")
        for index, folder in enumerate(folders)
    }


def _settings(choose: random.Random) -> dict[str, str]:
    """Return a configuration file of the project, or none."""
    return choose.choice(
        (
            {},
            {},
            {"repo/.claude/settings.json": '{"claudeMdExcludes": ["**/a/**", "**/CLAUDE.local.md"]}'},
            {"repo/.gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}}'},
            {"repo/.qwen/settings.json": '{"context": {"fileName": ["CLAUDE.md"]}}'},
            {"repo/opencode.json": '{"instructions": ["more.md", "a/*.md"]}'},
            {"home/.codex/config.toml": 'project_doc_fallback_filenames = ["CLAUDE.md", "GEMINI.md"]\n'},
        )
    )


def _links(choose: random.Random, files: dict[str, str]) -> dict[str, str]:
    """Return a link beside an instruction file to it, or none."""
    targets = [
        path for path in files if path.rpartition("/")[2] in ("AGENTS.md", "CLAUDE.md") and path.startswith("repo/")
    ]
    if not targets or choose.random() > 0.3:
        return {}
    target = choose.choice(targets)
    folder, _, name = target.rpartition("/")
    link = f"{folder}/{'CLAUDE.md' if name == 'AGENTS.md' else 'AGENTS.md'}"
    return {} if link in files else {link: name}


ODD_TREES = odd_trees()
