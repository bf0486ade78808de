"""Workspaces with the files of many agents: ordinary ones, and everything odd.

A string or bytes are a file, None is a folder, a Path is a link to that path, and a function creates what is at the path.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from peers.odd_trees import odd_tree
from peers.random_trees import random_tree

from foreword.inspection.lint.table import CHECKS

REPOSITORY = {"w/.git/HEAD": "ref: refs/heads/main\n"}
RULES = "Use pnpm. Run `make test` before each commit.\n"


def fields(text="", **values):
    """Return a file with front matter."""
    return "---\n" + "".join(f"{name}: {value}\n" for name, value in values.items()) + f"---\n{text}"


TOOLS = [
    {
        "name": "read_file",
        "description": "Reads a file.",
        "schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
    {"name": "shell", "snippet": "Run a command", "guidelines": ["Prefer short commands.", "Never run `rm -rf`."]},
    {"name": "tickets", "description": "Finds tickets.", "server": "jira", "defer": True, "strict": True},
    {"name": "wiki", "description": "Searches the wiki. " * 30, "server": "docs"},
]
SCOPE = {
    "allow": [
        {"path": "/srv/shop", "permission": "write"},
        {"path": "/usr/share/doc", "permission": "read", "recursive": False},
    ],
    "deny": [{"path": "/srv/shop/.env", "permission": "read"}],
}

# A project as most are, and everything that an agent can be told about itself.
SHOP = {
    **REPOSITORY,
    "w/AGENTS.md": "# Shop\n\nThree services and one database. Run `make test` before you say that you are done.\n\n## Style\n\n- Type every function.\n- See docs/style.md.\n",
    "w/CLAUDE.md": "@AGENTS.md\n",
    "w/Makefile": "test:\n\tpytest\n",
    "w/docs/style.md": "Write short functions.\n",
    "w/api/AGENTS.md": "# API\n\nHandlers stay thin; rules live in `domain/`.\n",
    "w/api/CLAUDE.md": "Handlers stay thin, and are tested.\n",
    "w/api/domain/order.py": "class Order: ...\n",
    "w/web/CLAUDE.md": "Use pnpm.\n",
    "w/.agents/skills/release/SKILL.md": fields(
        "Bump the version, write the changelog, tag.\n", name="release", description="Cuts a release of the shop."
    ),
    "w/.agents/skills/testing/SKILL.md": fields(
        "Run `make test`.\n", name="testing", description="Runs the tests and reads what they say."
    ),
    "w/.foreword/knowledge/orders.md": fields(
        "An order is paid first.\n", description="What an order goes through.", model_invocation="true"
    ),
    "home/.config/agents/AGENTS.md": "Answer in English.\n",
    "home/.config/foreword/AGENTS.md": "Write commit messages that say why.\n",
    "home/.claude/CLAUDE.md": "Keep answers short.\n",
    "home/.codex/AGENTS.md": "Explain before you change.\n",
    "tools.json": json.dumps(TOOLS),
    "scope.json": json.dumps(SCOPE),
    "servers.json": json.dumps({"jira": "Look up tickets by number.", "docs": "Long. " * 500}),
    "plan.md": "1. Find the slow query.\n2. Add the index.\n",
    "base.md": "You look after the shop.\n",
}

# Every file that some agent reads, each with a sentence of its own, in the project, a folder of it and the home directory.
NAMES = (
    "AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md OPAL.md CONTEXT.md COPILOT.md CODEX.md AGENTS.local.md"
    " .cursorrules .github/copilot-instructions.md .claude/CLAUDE.md .gemini/GEMINI.md .qwen/QWEN.local.md .kimi-code/AGENTS.md .factory/AGENTS.md"
    " .sf/SYSTEM.md .sf/APPEND_SYSTEM.md .ion/AGENTS.md .foreword/AGENTS.md .continue/rules/all.md .kilocode/rules/all.md .grok/rules/all.md"
).split()
HOME_NAMES = (
    ".claude/CLAUDE.md .codex/AGENTS.md .gemini/GEMINI.md .qwen/QWEN.md .qwen/output-language.md .vibe/AGENTS.md .copilot/copilot-instructions.md"
    " .config/opencode/AGENTS.md .config/kilo/AGENTS.md .kimi-code/AGENTS.md .agents/AGENTS.md .factory/AGENTS.md .config/gptme/AGENTS.md .grok/AGENTS.md"
    " .pi/agent/AGENTS.md .pi/agent/SYSTEM.md .pi/agent/APPEND_SYSTEM.md .continue/rules/user.md .ion/AGENTS.md .sf/agent/AGENTS.md .config/agents/AGENTS.md"
    " .config/agents/rules/python.md .config/foreword/AGENTS.md .claude/rules/user.md"
).split()
EVERYTHING = {
    **REPOSITORY,
    **{
        f"w/{folder}{name}": f"Sentence {number} of {folder or 'the root'}.\n"
        for folder in ("", "a/")
        for number, name in enumerate(NAMES)
    },
    **{f"home/{name}": f"Sentence {number} of the user.\n" for number, name in enumerate(HOME_NAMES)},
    "w/a/b/x.py": "x = 1\n",
    "w/.cursor/rules/always.mdc": fields("Always.\n", alwaysApply="true"),
    "w/.cursor/rules/python.mdc": fields("Python only.\n", globs='"**/*.py"'),
    "w/.cursor/rules/menu.mdc": fields("When asked.\n", description="About menus"),
    "w/.claude/rules/python.md": fields("Python for Claude.\n", paths='"**/*.py"'),
    "w/.claude/rules/all.md": "For every file.\n",
    "w/.github/instructions/python.instructions.md": fields(
        "Python for Copilot.\n", applyTo='"**/*.py"', description="Python"
    ),
    "w/.github/instructions/all.instructions.md": fields("For all.\n", applyTo='"**"'),
    "w/.continue/rules/python.md": fields("Python for Continue.\n", globs='"**/*.py"'),
    "w/.qwen/rules/python.md": fields("Python for Qwen.\n", paths="['**/*.py']"),
    "w/opencode.json": json.dumps({"instructions": ["docs/*.md", "CONTRIBUTING.md"]}),
    "w/docs/one.md": "Named by OpenCode.\n",
    "w/CONTRIBUTING.md": "How to contribute.\n",
}

IMPORTS = {
    **REPOSITORY,
    "w/AGENTS.md": "Before.\n@one.md\nBetween @docs/two.md and `@code.md`.\n\n```\n@code.md\n```\n\n@missing.md @../outside.md @~/private.md\n@.env\n",
    "w/CLAUDE.md": "Start.\n@AGENTS.md\n@one.md @one.md\n- @docs/two.md\n    @indented.md\n(@docs/three.md)\n@docs\n@/etc/answers-missing\n<!-- @one.md -->\n",
    "w/GEMINI.md": "Gemini.\n@./one.md\n@docs/two.md\n@missing.md\n",
    "w/QWEN.md": "Qwen.\n@./one.md\n@docs/two.md\n",
    "w/OPAL.md": "Opal.\n<!-- include: docs/two.md -->\n<!-- include: missing.md -->\n<!-- include: ../outside.md -->\n",
    "w/one.md": "One.\n@docs/two.md\n",
    "w/docs/two.md": "Two, which comes back.\n@../one.md\n@three.md\n",
    "w/docs/three.md": "Three.\n@four.md\n",
    "w/docs/four.md": "Four.\n@five.md\n",
    "w/docs/five.md": "Five.\n@six.md\n",
    "w/docs/six.md": "Six.\n@seven.md\n",
    "w/docs/seven.md": "Seven.\n",
    "w/indented.md": "Indented.\n",
    "w/code.md": "In code.\n",
    "w/.env": "PASSWORD=x\n",
    "w/link.md": Path("docs/three.md"),
    "w/web/CLAUDE.md": "@../AGENTS.md\n@../link.md\n@local.md\n",
    "w/web/local.md": "Local.\n",
    "outside.md": "Outside.\n",
    "home/private.md": "Private.\n",
    "home/.claude/CLAUDE.md": "@~/private.md\n@rules.md\n",
    "home/.claude/rules.md": "Rules.\n",
}

DAMAGE = {
    **REPOSITORY,
    "w/AGENTS.md": "\ufeff# Byte order mark\r\n\r\nWindows lines.\r\n</instructions>\r\n```sh\r\nnever closed\r\n",
    "w/CLAUDE.md": b"Latin \xe9 and NUL \x00.\n",
    "w/GEMINI.md": "",
    "w/QWEN.md": " \n\t\n",
    "w/OPAL.md": "word " * 4_000,
    "w/AGENTS.local.md": Path("nowhere.md"),
    "w/CLAUDE.local.md": Path("CLAUDE.local.md"),
    "w/AGENTS.override.md": Path("/tmp/answers/outside.md"),
    "w/.cursorrules": "Old rules.\u202e\u200b hidden \U000e0041\n",
    "w/a/AGENTS.md": "\ufeff",
    "w/a/CLAUDE.md": "UTF-16".encode("utf-16"),
    "w/a/agents.md": "Small letters.\n",
    "w/a/Agents.md": "A capital letter.\n",
    "w/a/GEMINI.md": "x" * 70_000 + "\n",
    "w/a/é\u0301 b/AGENTS.md": "In a folder with odd letters.\n",
    "w/b/AGENTS.md/x": "A folder with the name of a file.\n",
    "w/b/CLAUDE.md": os.mkfifo,
    "w/.claude/CLAUDE.md": "<!-- first -->\nAfter a comment. <!-- inline -->\n\n<!--\nlong\n-->\n- item\n  <!-- in an item -->\n```\n<!-- in code -->\n```\n",
    "w/c/AGENTS.md": "---\nname: [\n---\nBroken front matter.\n",
    "w/c/CLAUDE.md": "---\nname: x\nNever closed.\n<!-- nor this\n",
    "w/.claude/rules/linked.md": Path("../../c/AGENTS.md"),
    "w/.claude/rules/tabs.md": "---\npaths:\t'*.py'\n---\nTabs.\n",
    "w/.agents/skills/linked": Path("../../skills/real"),
    "w/.agents/skills/outside": Path("/tmp/answers/skills/far"),
    "w/skills/real/SKILL.md": fields("Body.\n", name="real", description="Is linked."),
    "skills/far/SKILL.md": fields("Body.\n", name="far", description="Is outside."),
    "w/api": Path("a"),
    "outside.md": "Outside the workspace.\n",
}

SKILLS = {
    **REPOSITORY,
    "w/AGENTS.md": "Use skills.\n",
    **{
        f"w/.agents/skills/{folder}/SKILL.md": text
        for folder, text in {
            "all-fields": fields(
                "# All\n\nBody with {{ braces }} and $ARGUMENTS.\n",
                name="all-fields",
                description="Has every field.",
                license="MIT",
                compatibility="Needs git",
                metadata="{author: ann, version: '1'}",
                **{
                    "allowed-tools": "Read Bash(git:*)",
                    "argument-hint": "'[file]'",
                    "when_to_use": "When asked.",
                    "user-invocable": "false",
                },
                model="opus",
                context="fork",
                paths="'**/*.py'",
            ),
            "group/inner": fields("Inner.\n", name="inner", description="Is in a group."),
            "group/other": fields("Other.\n", name="other", description="Is in the same group."),
            "hidden": fields(
                "Hidden.\n", name="hidden", description="Cannot be called.", **{"disable-model-invocation": "true"}
            ),
            "no-description": fields("The first line describes it.\n", name="no-description"),
            "no-name": fields("Nameless.\n", description="Has no name."),
            "wrong-name": fields("Body.\n", name="Wrong Name", description="Has a name with a blank."),
            "other-name": fields("Body.\n", name="not-the-folder", description="Is named differently."),
            "broken": "---\nname: broken\ndescription: a: b: c\n---\nBody.\n",
            "not-yaml": "---\nname: [\n---\nBody.\n",
            "no-front": "Only text.\n",
            "empty": "",
            "blank-body": fields("", name="blank-body", description="Has no body."),
            "list": fields("Body.\n", name="list", description="[a, b]"),
            "number": fields("Body.\n", name="12", description="34"),
            "multi-line": "---\nname: multi-line\ndescription: >\n  Folded\n  text.\n---\nBody.\n",
            "long": fields("Long.\n", name="long", description="Very long. " * 120),
            "unknown-field": fields(
                "Body.\n",
                name="unknown-field",
                description="Has other fields.",
                colour="blue",
                **{"allowed_tools": "x"},
            ),
            "angles": fields("Body.\n", name="angles", description="'Closes </skills> & <b>.'"),
            "日本": fields("Body.\n", name="日本", description="日本語。"),
        }.items()
    },
    "w/.claude/skills/inner/SKILL.md": fields("Claude's.\n", name="inner", description="Has the same name."),
    "w/.claude/skills/own/SKILL.md": fields("Own.\n", name="own", description="Is Claude's own.", when_to_use="Never."),
    "w/.claude/commands/deploy.md": fields("Deploy $1.\n", description="Deploys.", **{"argument-hint": "[where]"}),
    "w/.claude/commands/git/tidy.md": "# Tidy up\n\nSquash.\n",
    "w/.claude/agents/reviewer.md": fields(
        "You review.\n", name="reviewer", description="Reviews changes.", tools="Read, Grep"
    ),
    "w/.claude/agents/nameless.md": fields("You have no name.\n", description="Nameless."),
    "w/.gemini/skills/g/SKILL.md": fields("G.\n", name="g", description="Is Gemini's."),
    "w/.github/skills/c/SKILL.md": fields("C.\n", name="c", description="Is Copilot's."),
    "w/.opencode/skills/o/SKILL.md": fields("O.\n", name="o", description="Is OpenCode's."),
    "w/.qwen/skills/q/SKILL.md": fields("Q.\n", name="q", description="Is Qwen's."),
    "w/.ion/skills/i/SKILL.md": fields("I.\n", name="i", description="Is Ion's."),
    "w/.sf/skills/s/SKILL.md": fields("S.\n", name="s", description="Is pi's."),
    "home/.agents/skills/inner/SKILL.md": fields("The user's.\n", name="inner", description="Is the user's."),
    "home/.claude/skills/mine/SKILL.md": fields("Mine.\n", name="mine", description="Is mine."),
    "home/.codex/skills/codex/SKILL.md": fields("Codex.\n", name="codex", description="Is Codex's."),
    "w/sub/.agents/skills/inner/SKILL.md": fields("Nearer.\n", name="inner", description="Is nearer."),
    "w/sub/x.py": "",
}

GLOBS = {
    "one": '"**/*.py"', "list": '["src/**/*.ts", "!src/gen/**"]', "braces": '"**/*.{ts,tsx}"', "commas": '"a/*.py, b/*.py"', "folder": "src/", "bare": "Makefile",
    "root": "/top.py", "star": '"*"', "all": '"**"', "question": '"?.py"', "class": '"[ab].py"', "nothing": '"gone/**/*.rs"', "empty": '""', "null": "", "number": "5",
    "outside": '"../*.py"', "escaped": r"'\*.py'", "unclosed": '"src/{a,b"', "true": "true",
}  # fmt: skip
SCOPED = {
    **REPOSITORY,
    "w/AGENTS.md": "Read the rules.\n",
    **{f"w/.claude/rules/{name}.md": fields(f"Claude's rule {name}.\n", paths=glob) for name, glob in GLOBS.items()},
    **{
        f"w/.cursor/rules/{name}.mdc": fields(f"Cursor's rule {name}.\n", globs=glob, alwaysApply="false")
        for name, glob in GLOBS.items()
    },
    **{
        f"w/.github/instructions/{name}.instructions.md": fields(f"Copilot's rule {name}.\n", applyTo=glob)
        for name, glob in GLOBS.items()
    },
    **{
        f"w/.continue/rules/{name}.md": fields(f"Continue's rule {name}.\n", globs=glob) for name, glob in GLOBS.items()
    },
    "w/.claude/rules/deep/er/rule.md": fields("A deep rule.\n", paths="'*.py'"),
    "w/.claude/rules/typo.md": fields("A wrong field.\n", globs="'*.py'"),
    "w/.cursor/rules/typo.md": fields("A wrong extension.\n", globs="'*.py'"),
    "w/.cursor/rules/both.mdc": fields("Always.\n", globs="'*.py'", alwaysApply="true", description="Both"),
    "w/.github/instructions/typo.md": fields("A wrong name.\n", applyTo="'*.py'"),
    "w/src/.claude/rules/inner.md": fields("An inner rule.\n", paths="'*.ts'"),
    "w/src/CLAUDE.md": "In src.\n",
    "w/src/AGENTS.md": "In src, for others.\n",
    **{
        f"w/{name}": ""
        for name in ("src/a.ts", "src/gen/b.ts", "a/x.py", "b/y.py", "top.py", "a.py", "Makefile", "src/view.tsx")
    },
    "home/.claude/rules/mine.md": fields("My rule.\n", paths="'**/*.py'"),
}

CHECKS_OF_LINT = {
    f"w/{check.id}/{name}": text
    for check in CHECKS
    for name, text in {".git/HEAD": "ref: refs/heads/main\n", **check.bad.files}.items()
}


# Trees that a generator wrote, as in the tests against released agents.
RANDOM = {
    **{f"w/{seed}": random_tree(seed).write for seed in (11, 12, 13, 14)},
    **{f"w/odd-{number}": odd_tree(number).write for number in (1, 2, 3)},
}

# Repositories whose agents do not read the same, one for each way to align them.
ALIGNMENT = {
    **{
        f"w/{name}/.git/HEAD": "ref: refs/heads/main\n"
        for name in ("claude", "both", "nested", "gemini", "cursor", "linked")
    },
    "w/claude/CLAUDE.md": RULES,
    "w/claude/.codex/config.toml": "",
    "w/both/AGENTS.md": RULES,
    "w/both/CLAUDE.md": RULES + "\nAnswer in German.\n",
    "w/nested/AGENTS.md": RULES,
    "w/nested/CLAUDE.md": "@AGENTS.md\n",
    "w/nested/web/CLAUDE.md": "Use React.\n",
    "w/nested/api/AGENTS.md": "Use FastAPI.\n",
    "w/gemini/GEMINI.md": RULES,
    "w/gemini/AGENTS.md": "Be brief.\n",
    "w/cursor/.cursorrules": RULES,
    "w/cursor/.cursor/rules/python.mdc": fields("Type everything.\n", globs='"**/*.py"'),
    "w/cursor/.github/copilot-instructions.md": "Be kind.\n",
    "w/cursor/x.py": "",
    **{f"w/{name}/.git/HEAD": "ref: refs/heads/main\n" for name in ("plain", "json", "comments", "odd")},
    **{f"w/{name}/AGENTS.md": RULES for name in ("linked", "plain", "json", "comments", "odd")},
    "w/plain/GEMINI.md": "Only for Gemini.\n",
    "w/json/.gemini/settings.json": '{\n  "theme": "dark",\n  "context": {"includeDirectories": []}\n}\n',
    "w/comments/.gemini/settings.json": '// mine\n{ // first\n  "context": { "fileName": "GEMINI.md", /* old */ },\n}',
    "w/odd/.gemini/settings.json": '["not an object"]',
    "w/odd/.qwen/settings.json": '{"context": {"fileName": [5, "QWEN.md"]}}',
    "w/linked/CLAUDE.md": Path("AGENTS.md"),
}

# A worktree, a submodule, a folder without a repository and one with another mark.
WORKTREE = {
    "w/main/.git/HEAD": "ref: refs/heads/main\n",
    "w/main/.git/config": "[core]\n\tbare = false\n",
    "w/main/.git/worktrees/side/HEAD": "ref: refs/heads/side\n",
    "w/main/.git/worktrees/side/commondir": "../..\n",
    "w/main/.git/worktrees/side/gitdir": "/tmp/answers/w/main/side/.git\n",
    "w/main/.git/modules/lib/HEAD": "0123456789012345678901234567890123456789\n",
    "w/main/AGENTS.md": "The main checkout.\n",
    "w/main/CLAUDE.md": "The main checkout, for Claude.\n",
    "w/main/side/.git": "gitdir: ../.git/worktrees/side\n",
    "w/main/side/AGENTS.md": "The worktree.\n",
    "w/main/side/CLAUDE.md": "@AGENTS.md\n",
    "w/main/lib/.git": "gitdir: ../.git/modules/lib\n",
    "w/main/lib/AGENTS.md": "The submodule.\n",
    "w/main/broken/.git": "nothing\n",
    "w/main/broken/AGENTS.md": "Below a broken file.\n",
    "w/AGENTS.md": "No repository.\n",
    "w/CLAUDE.md": "No repository, for Claude.\n",
    "w/plain/AGENTS.md": "A plain folder.\n",
}

# The settings of programs that change what they read.
PROGRAMS = {
    **REPOSITORY,
    "w/AGENTS.md": "For everybody.\n",
    "w/CLAUDE.md": "For Claude.\n",
    "w/GEMINI.md": "For Gemini.\n",
    "w/TEAM.md": "For the team.\n",
    "w/web/CLAUDE.md": "Excluded.\n",
    "w/web/TEAM.md": "The team of the web.\n",
    "w/.claude/settings.json": '{"claudeMdExcludes": ["web/CLAUDE.md", "/tmp/answers/w/web/**"], "outputStyle": "terse"}',
    "w/.claude/settings.local.json": '{"autoMemoryEnabled": true} // a comment',
    "w/.claude/output-styles/terse.md": fields("One sentence.\n", name="terse", description="Short."),
    "w/.gemini/settings.json": '{"context": {"fileName": ["TEAM.md", "GEMINI.md"]}, // names\n}',
    "w/.codex/config.toml": 'project_doc_fallback_filenames = ["TEAM.md"]\nproject_doc_max_bytes = 40\n',
    "w/.qwen/settings.json": '{"context": {"fileName": "TEAM.md"}}',
    "w/opencode.json": '{"instructions": ["TEAM.md", "docs/**/*.md", "~/mine.md", "https://example.org/x.md"]}',
    "w/.opencode/opencode.jsonc": '{"instructions": ["web/TEAM.md"]}',
    "w/docs/a.md": "A document.\n",
    "w/.copilot/config.json": "{}",
    "w/.vibe/config.toml": "broken = [",
    "home/mine.md": "Mine.\n",
    "home/.codex/config.toml": '[projects."/tmp/answers/w"]\ntrust_level = "trusted"\n',
    "home/.claude/settings.json": '{"outputStyle": 5, "claudeMdExcludes": "not a list"}',
    "home/.claude/projects/-tmp-answers-w/memory/MEMORY.md": "Remember the milk.\n" * 300,
    "home/.gemini/settings.json": "not JSON",
    "home/.config/opencode/opencode.json": '{"instructions": ["~/mine.md"]}',
    "bin/claude": lambda path: _program(path, "2.1.300 (Claude Code)"),
    "bin/codex": lambda path: _program(path, "codex-cli 0.169.0"),
}


def _program(path, version):
    Path(path).write_text(f"#!/bin/sh\necho '{version}'\n")
    os.chmod(path, 0o755)
