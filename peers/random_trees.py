"""Generate random trees, to find unexpected differences. The same seed gives the same tree."""

from __future__ import annotations

import random

from .tree import DEFAULT_PROGRAMS, Tree

FOLDERS = ("repo", "repo/a", "repo/a/b", "repo/a/b/C", "repo/.x", "repo/APPS", "repo/APPS/web")
USER_FILES = (
    "home/.codex/AGENTS.md",
    "home/.codex/AGENTS.override.md",
    "home/.claude/CLAUDE.md",
    "home/.claude/rules/user.md",
    "home/.gemini/GEMINI.md",
    "home/.config/opencode/AGENTS.md",
    "home/.copilot/copilot-instructions.md",
    "home/.copilot/instructions/user.instructions.md",
    "home/.qwen/QWEN.md",
    "home/.vibe/AGENTS.md",
    "home/.pi/agent/AGENTS.md",
)
NAMES = (
    "AGENTS.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "GEMINI.md",
    "CONTEXT.md",
    "QWEN.md",
    ".claude/CLAUDE.md",
    ".claude/rules/one.md",
    ".claude/rules/deep/two.md",
    ".github/copilot-instructions.md",
    ".github/instructions/three.instructions.md",
)
SCOPES = ("paths: '**/*.py'", "paths: ['a/**']", "applyTo: '**/*.ts'", "applyTo: '**'", "globs: '*.py'", "title: x")
LINES = (
    "qx-{0} plain",
    "# qx-{0} heading",
    "<!-- qx-{0} comment -->",
    "qx-{0} <!-- qx-{0}-inline --> inline",
    "- qx-{0} item\n  <!-- qx-{0}-in-item -->",
    "```\n<!-- qx-{0} code -->\n@{1}\n```",
    "qx-{0} `@{1}` in code",
    "qx-{0} imports @{1}",
    "@{1}",
    "@./{1} qx-{0} at the start",
    "@../{1} qx-{0} above",
    "@missing/none.md qx-{0} missing",
    "",
    "  \tqx-{0} indented  ",
    "<tag>\nqx-{0} in a tag\n</tag>",
)
SHARED_FILES = ("shared.md", "docs/more.md", "AGENTS.md", "CLAUDE.md", "notes.txt")


def random_tree(seed: int) -> Tree:
    """Return a tree of up to thirty files with one working directory, and a file to touch in or below it."""
    generator = random.Random(seed)
    files: dict[str, str] = {}
    for _ in range(generator.randint(6, 20)):
        folder = generator.choice(FOLDERS) if generator.random() < 0.95 else "."
        name = generator.choice(NAMES)
        files[name if folder == "." else f"{folder}/{name}"] = ""
    for name in generator.sample(USER_FILES, generator.randint(0, 4)):
        files[name] = ""
    for folder in generator.choices(FOLDERS, k=generator.randint(2, 9)):
        files[f"{folder}/{generator.choice(SHARED_FILES)}"] = ""
    for index, path in enumerate(files):
        files[path] = _text(generator, f"f{index}")
    cwd = generator.choice(FOLDERS)
    is_git = generator.random() < 0.85
    below = [folder for folder in FOLDERS if f"{folder}/".startswith(f"{cwd}/")]
    touched = f"{generator.choice(below)}/z.{generator.choice(('py', 'ts'))}"
    return Tree({**files, touched: "print()\n"}, (cwd,), DEFAULT_PROGRAMS, is_git, touched, any_order=True)


def _text(generator: random.Random, mark: str) -> str:
    """Return the text of one file. Some are blank or long, begin with front matter, or do not end with a newline."""
    chance = generator.random()
    if chance < 0.08:
        return generator.choice(("", "\n", " \n\n"))
    lines = [
        line.replace("{0}", mark).replace("{1}", generator.choice(SHARED_FILES))
        for line in generator.choices(LINES, k=generator.randint(1, 6))
    ]
    if chance > 0.95:
        lines.append(f"qx-{mark} long " + generator.choice(("x", "é", "語", "🦊")) * generator.randint(5_000, 15_000))
    front = f"---\n{generator.choice(SCOPES)}\n---\n" if chance < 0.3 else ""
    return front + f"qx-{mark}\n" + "\n".join(lines) + generator.choice(("\n", "\n", "", "\n\n"))
