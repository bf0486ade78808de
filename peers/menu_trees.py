"""File trees for testing menus (skills, sub-agents, commands), including duplicate names."""

from __future__ import annotations

from .tree import DEFAULT_PROGRAMS, Tree

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

_LISTING = (*DEFAULT_PROGRAMS, "qwen", "vibe", "pi-agent", "kimi")


def _command(text: str, **fields: str) -> str:
    return _front(fields) + text


def _front(fields: dict[str, str]) -> str:
    rows = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"---\n{rows}---\n"


_COMMANDS = {
    "plain": "qx-plain-line\n\n- qx-plain-item\n  <b> & 'more'\n",
    "heading": "# qx-heading-title\n\nqx-heading-text\n#qx-heading-tag\n   ## qx-heading-inner\nqx-heading-end\n",
    "renamed": _command("qx-renamed-body\n", name="other name", description="qx-renamed-about"),
    "hidden": _command("qx-hidden-body\n", description="qx-hidden-about", disable_model_invocation="true"),
    "for-model": _command("qx-model-body\n", description="qx-model-about", user_invocable="false"),
    "without": _command("qx-without-body\n", allowed_tools="Read"),
    "scoped": _command("qx-scoped-body\n", description="qx-scoped-about", paths="'**/*.py'"),
    "long": "qx-long " + "word " * 30 + "\n" + "qx-long-again " * 90 + "qx-long-end\n",
    "two words": _command("qx-words-body\n", description="qx-words-about"),
    "UPPER": _command("qx-upper-body\n", description="qx-upper-about"),
    "deep/nested": _command("qx-nested-body\n", description="qx-nested-about"),
    "block": _command("qx-block-body\n", description="|\n  qx-block-about\n  qx-block-more", argument_hint="x"),
    "block-last": _command("qx-last-body\n", description=">\n  qx-last-about\n  qx-last-more"),
    "same": _command("qx-same-command-body\n", description="qx-same-command-about"),
    "users": _command("qx-users-command-body\n", description="qx-users-command-about"),
    "secret": _command("qx-secret-command-body\n", description="qx-secret-command-about"),
    "twice": _command("qx-twice-root-body\n", description="qx-twice-root-about"),
    "first": _command("qx-first-body\n", name="equal", description="qx-first-about"),
    "second": _command("qx-second-body\n", name="equal", description="qx-second-about"),
    ".dotted": _command("qx-dotted-body\n", description="qx-dotted-about"),
    "broken": "\n",
}
_COMMAND_TREE = {
    **{f"repo/.claude/commands/{name}.md": text for name, text in _COMMANDS.items()},
    "repo/.claude/commands/capital.MD": _command("qx-capital-body\n", description="qx-capital-about"),
    "repo/.claude/commands/text.txt": "qx-text\n",
    "repo/.github/commands/hub.md": "qx-hub\n",
    "repo/.agents/commands/agents.md": "qx-agents\n",
    "repo/a/.claude/commands/twice.md": _command("qx-twice-a-body\n", description="qx-twice-a-about"),
    "repo/a/.claude/commands/zeta.md": _command("qx-zeta-body\n", description="qx-zeta-about"),
    "home/.claude/commands/user.md": "qx-user\n",
    "home/.copilot/commands/user.md": "qx-user-copilot\n",
    "repo/.claude/skills/same/SKILL.md": skill("same", "same-skill"),
    "repo/.claude/skills/zz/SKILL.md": skill("zz", "zz-skill"),
    "repo/.claude/skills/spaced/SKILL.md": skill("A Name", "spaced-skill"),
    "repo/.claude/skills/secret/SKILL.md": "---\nname: secret\ndescription: qx-secret-about\ndisable-model-invocation: true\n---\n",
    "home/.copilot/skills/users/SKILL.md": skill("users", "users-skill"),
}
# Claude Code names commands by their paths, and these are the files for which that makes no difference.
_CLAUDE_COMMANDS = ("plain", "heading", "hidden", "for-model", "without", "block", "block-last", "same", "twice")

# A description in quotes or in a block, before another field and as the last one.
_DESCRIPTIONS = {
    "folded": ">\n  qx-{0}-about\n  qx-{0}-more",
    "literal": "|\n  qx-{0}-about\n\n  qx-{0}-more",
    "stripped": "|-\n  qx-{0}-about\n  qx-{0}-more",
    "quoted": '"  qx-{0}-about\\nqx-{0}-more\\n  "',
    "indented": ">\n  qx-{0}-about\n    qx-{0}-more\n  qx-{0}-end",
}
# Some programs list the skills of one folder in the order of the disk, so each folder has one.
_FIRST = (
    "repo/.claude",
    "repo/.gemini",
    "repo/.qwen",
    "repo/.vibe",
    "repo/.github",
    "repo/.kimi-code",
    "home/.pi/agent",
)
_SECOND = ("repo/.agents", "home/.agents")


def _described(folder: str, number: int, description: str, last: bool) -> dict[str, str]:
    mark = f"s{number}-{folder.rpartition('.')[2].replace('/', '-')}{'-home' if folder.startswith('home') else ''}"
    fields = {"name": mark, "description": description.replace("{0}", mark)} | ({} if last else {"license": "x"})
    return {f"{folder}/skills/{mark}/SKILL.md": _front(fields) + f"qx-{mark}-body\n"}


def _described_tree(name: str, description: str) -> Tree:
    """Return a tree with two skills for each program. Claude Code keeps the indentation of a line that it joins to the one before."""
    files = {"repo/AGENTS.md": "qx-root\n"}
    for last, folders in ((False, _FIRST), (True, _SECOND)):
        for number, folder in enumerate(folders):
            files |= _described(folder, number, description, last)
    programs = tuple(program for program in _LISTING if name != "indented" or program != "claude")
    return Tree(files, ("repo",), programs)


MENU_TREES = {
    "commands": Tree(_COMMAND_TREE, ("repo", "repo/a"), ("copilot",)),
    "commands-claude": Tree(
        {path: text for path, text in _COMMAND_TREE.items() if path.partition("/commands/")[2][:-3] in _CLAUDE_COMMANDS}
        | {"repo/.claude/skills/same/SKILL.md": skill("same", "same-skill")},
        ("repo", "repo/a"),
        ("claude", "copilot"),
    ),
    **{f"description-{name}": _described_tree(name, text) for name, text in _DESCRIPTIONS.items()},
    "description-tags": Tree(
        {
            f"{folder}/skills/{name}/SKILL.md": _front(
                {"name": name, "description": f"qx-{name} <b> & 'single' \"double\""}
            )
            for folder, name in {"repo/.agents": "tags", "home/.agents": "more-tags"}.items()
        },
        ("repo",),
        tuple(program for program in _LISTING if program != "claude"),
    ),
}
