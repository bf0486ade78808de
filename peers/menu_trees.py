"""File trees for testing menus (skills, sub-agents, commands), including duplicate names."""

from __future__ import annotations

# OpenCode is left out: of several skills with the same name it lists one, and which one varies.
SORTED_MENUS = ("claude", "codex", "copilot", "qwen", "pi-agent")
# Programs that list the skills of a folder in directory order, unsorted.
UNSORTED_MENUS = ("gemini", "vibe")
_FOLDERS = ("agents", "claude", "codex", "gemini", "qwen", "vibe")
_SKILL_FOLDERS = (
    *(f"{base}/.{name}" for base in ("repo", "repo/a", "home") for name in _FOLDERS),
    *("repo/.github", "repo/a/.github", "home/.copilot", "repo/.pi", "repo/a/.pi", "home/.pi/agent"),
)


def _agent(name: str, mark: str) -> str:
    return f"---\nname: {name}\ndescription: qx-{mark}-about\ntools: Read, Grep\n---\nqx-{mark}-body\n"


def skill(name: str, mark: str, paths: str = "") -> str:
    """Return a SKILL.md with markers that applies to files matching `paths`."""
    scope = f"paths: {paths}\n" if paths else ""
    return f"---\nname: {name}\ndescription: qx-{mark}-about\n{scope}---\nqx-{mark}-body\n"


def _mark(folder: str) -> str:
    return folder.replace("/.", "-").replace("/", "-")


MENUS = {
    "repo/.claude/agents/zeta.md": _agent("zeta", "claude-zeta"),
    "repo/.claude/agents/alpha.md": _agent("alpha", "claude-alpha"),
    "home/.claude/agents/user.md": _agent("user", "claude-user"),
    "repo/.github/agents/hub.agent.md": _agent("hub", "github-hub"),
    "repo/.opencode/agent/open.md": "---\ndescription: qx-opencode-about\nmode: subagent\n---\nqx-opencode-body\n",
    "repo/.claude/skills/sort/SKILL.md": skill("sort", "claude-sort"),
    "repo/.agents/skills/beta/SKILL.md": skill("beta", "agents-beta"),
    "repo/.gemini/skills/gem/SKILL.md": skill("gem", "gemini-gem"),
    "repo/.github/skills/hubs/SKILL.md": skill("hubs", "github-hubs"),
    "home/.claude/skills/mine/SKILL.md": skill("mine", "claude-mine"),
    "home/.agents/skills/ours/SKILL.md": skill("ours", "agents-ours"),
}

NAME_CLASHES = {
    "repo/.agents/skills/one/SKILL.md": skill("same", "one"),
    "repo/.agents/skills/two/SKILL.md": skill("same", "two"),
    "repo/.agents/skills/zed/SKILL.md": skill("first", "zed"),
    "repo/a/.agents/skills/one/SKILL.md": skill("same", "below"),
    "home/.agents/skills/one/SKILL.md": skill("same", "user"),
    "home/.codex/skills/one/SKILL.md": skill("same", "codex"),
    "repo/.codex/skills/one/SKILL.md": skill("same", "dot"),
    "repo/a/.codex/skills/one/SKILL.md": skill("same", "dot-below"),
    "repo/.claude/skills/folder/SKILL.md": "---\ndescription: qx-folder-about\n---\nqx-folder-body\n",
    "repo/.claude/commands/top.md": "---\nname: other\ndescription: qx-top-about\n---\nqx-top-body\n",
    "repo/.claude/commands/front/test.md": "---\ndescription: qx-front-about\n---\nqx-front-body\n",
    "repo/.claude/commands/front/deep/test.md": "---\ndescription: qx-deep-about\n---\nqx-deep-body\n",
    "home/.claude/commands/front/test.md": "---\ndescription: qx-users-about\n---\nqx-users-body\n",
}

SKILLS_WITH_PATHS = {
    **{
        f"repo/{folder}/skills/{folder[1]}-{name}/SKILL.md": skill(f"{folder[1]}-{name}", f"{folder[1:]}-{name}", paths)
        for folder in (".claude", ".github")
        for name, paths in {
            "plain": "",
            "all": "'**'",
            "python": "a/**/*.py",
            "name": "['*.py', 'x']",
            "web": "['web/**', '*.html']",
        }.items()
    },
    "home/.claude/skills/user/SKILL.md": skill("user", "user", "['a/b']"),
    "repo/a/b/z.py": "print()\n",
}

# Each folder has one skill that all folders share and two of its own, whose names do not sort in folder order.
SAME_NAMES = {
    f"{folder}/skills/{name}/SKILL.md": skill(name, f"{_mark(folder)}-{name}")
    for number, folder in enumerate(_SKILL_FOLDERS)
    for name in ("same", f"{'mdxpgvbs'[number % 8]}{number}", f"{'ynetkzwh'[number % 8]}{number}")
}
SAME_NAMES |= {
    f"{folder}/agents/{name}.md": _agent(name, f"{_mark(folder)}-{name}")
    for folder in ("repo/.claude", "repo/a/.claude", "home/.claude")
    for name in ("helper", folder.partition("/")[0])
}
SAME_ONLY = {path: text for path, text in SAME_NAMES.items() if path.endswith("/same/SKILL.md")}
