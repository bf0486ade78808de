"""The trees on which programs and layouts are compared."""

from __future__ import annotations

import os
import re

from .form_trees import FORM_TREES
from .front_trees import FRONT_TREES
from .glob_trees import GLOB_TREES
from .line_end_trees import LINE_END_TREES
from .menu_trees import (
    MENU_TREES,
    MENUS,
    NAME_CLASHES,
    SAME_NAMES,
    SAME_ONLY,
    SKILLS_WITH_PATHS,
    SORTED_MENUS,
    UNSORTED_MENUS,
    skill,
)
from .more_trees import MORE_TREES
from .odd_trees import ODD_TREES
from .place_trees import PLACE_TREES
from .settings_trees import SETTINGS_TREES
from .skill_trees import SKILL_TREES
from .tree import DEFAULT_PROGRAMS, Tree

ALL_PROGRAMS = (*DEFAULT_PROGRAMS, "qwen", "vibe", "pi-agent")


def _named(names: str, folders: str, mark: str = "") -> dict[str, str]:
    """Return a file of each name in each folder, with a marker made from both: `qx-a-b-agents`."""
    files = {}
    for folder in folders.split():
        for name in names.split():
            words = re.findall("[a-z0-9]+", f"{mark} {folder} {name}".lower())
            files[name if folder == "." else f"{folder}/{name}"] = f"qx-{'-'.join(words[:-1])}\n"
    return files


USER = {
    "home/.codex/AGENTS.md": "qx-user-codex\n",
    "home/.claude/CLAUDE.md": "qx-user-claude\n",
    "home/.gemini/GEMINI.md": "qx-user-gemini\n",
    "home/.config/opencode/AGENTS.md": "qx-user-opencode\n",
    "home/.copilot/copilot-instructions.md": "qx-user-copilot\n",
    "home/.qwen/QWEN.md": "qx-user-qwen\n",
    "home/.vibe/AGENTS.md": "qx-user-vibe\n",
    "home/.pi/agent/AGENTS.md": "qx-user-pi\n",
}

INSTRUCTION_FILES = "AGENTS.md CLAUDE.md GEMINI.md"
SPACED = "\n\n  qx-{0} indented \n\n\n\tqx-{0}-tab\t\n\n\n"

FRONT = "---\ntitle: qx-{0}-front\n---\n# qx-{0}\n\n<!-- qx-{0}-block -->\nqx-{0}-text <!-- qx-{0}-inline --> goes on\n\n<!--\nqx-{0}-long\n-->\n"
FRONT += "- qx-{0}-item\n  <!-- qx-{0}-in-list -->\n\n```\n<!-- qx-{0}-in-code -->\n```\n\n<!-- qx-{0}-two --> qx-{0}-after\n\n<!-- qx-{0}-open\n"

IMPORTS = """qx-{0} imports @inc/{0}-one.md here
@inc/{0}-two.txt
@./inc/{0}-dot.md
**@inc/{0}-bold.md** and (@inc/{0}-paren.md) and @inc/{0}-comma.md, and `@inc/{0}-code.md` qx-{0}-marks
@inc/{0}-missing.md qx-{0}-missing
mail me@example.com or @nobody qx-{0}-prose
@../out/{0}.md qx-{0}-outside
@~/{0}.md qx-{0}-tilde
@{base}/repo/inc/{0}-absolute.md qx-{0}-absolute-line
@inc/{0}-one.md qx-{0}-again

```
@inc/{0}-fence.md qx-{0}-fenced
```
qx-{0}-end
"""


def _imports(mark: str, importer: str) -> dict[str, str]:
    """Return a file with every form of import, and the files it imports. Their markers start with `mark`."""
    inc = f"{os.path.dirname(importer)}/inc/{mark}"
    files = {
        importer: IMPORTS.replace("{0}", mark),
        f"out/{mark}.md": f"qx-{mark}-out\n",
        f"home/{mark}.md": f"qx-{mark}-home\n",
        f"repo/inc/{mark}-absolute.md": f"qx-{mark}-absolute-file\n",
        f"{inc}-one.md": f"qx-{mark}-one-file\n@{mark}-nested.md\n",
        f"{inc}-nested.md": f"qx-{mark}-nested-file\n@{mark}-one.md\n",
    }
    for name in ("two.txt", "dot.md", "bold.md", "paren.md", "comma.md", "code.md", "fence.md"):
        files[f"{inc}-{name}"] = f"\nqx-{mark}-{name.split('.')[0]}-file\n\n"
    return files


def _chain(mark: str, importer: str, hops: int = 9) -> dict[str, str]:
    """Return a chain of files, each of which imports the next."""
    files = {importer: f"qx-{mark}-0\n@{mark}1.md\n"}
    for hop in range(1, hops + 1):
        files[f"repo/{mark}{hop}.md"] = f"qx-{mark}-{hop}\n@{mark}{hop + 1}.md\n"
    return files


CLAUDE_RULES = {
    "repo/CLAUDE.md": "qx-root\n",
    "repo/.claude/CLAUDE.md": "qx-dot\n",
    "repo/CLAUDE.local.md": "qx-local\n",
    "repo/.claude/rules/a-plain.md": "qx-plain\n",
    "repo/.claude/rules/b-paths.md": '---\npaths: "a/**/*.py"\n---\nqx-paths\n',
    "repo/.claude/rules/c-list.md": '---\npaths:\n  - "**/*.ts"\n---\nqx-list\n',
    "repo/.claude/rules/d-all.md": '---\npaths: "**"\n---\nqx-all\n',
    "repo/.claude/rules/e-empty.md": "---\npaths: []\n---\nqx-empty\n",
    "repo/.claude/rules/f-globs.md": '---\nglobs: "*.py"\n---\nqx-globs\n',
    "repo/.claude/rules/G-UPPER.MD": "qx-upper\n",
    "repo/.claude/rules/.h-hidden.md": "qx-hidden\n",
    "repo/.claude/rules/deep/er/i-nested.md": "qx-nested\n",
    "repo/.claude/rules/j-text.txt": "qx-text\n",
    "repo/a/CLAUDE.md": "qx-a\n",
    "repo/a/.claude/rules/k-a.md": "qx-a-rule\n",
    "repo/a/.claude/CLAUDE.md": "qx-a-dot\n",
    "repo/a/CLAUDE.local.md": "qx-a-local\n",
    "repo/a/b/.claude/rules/l-b.md": "qx-b-rule\n",
    "repo/a/b/.claude/CLAUDE.md": "qx-b-dot\n",
    "repo/a/b/.claude/rules/m-b-paths.md": '---\npaths: "*.py"\n---\nqx-b-paths\n',
    "repo/a/b/z.py": "print()\n",
    "home/.claude/rules/n-user.md": "qx-user-rule\n",
    "home/.claude/rules/o-user-paths.md": '---\npaths: "**/*.py"\n---\nqx-user-paths\n',
}

COPILOT_RULES = {
    "repo/.github/copilot-instructions.md": "qx-root\n",
    "repo/a/.github/copilot-instructions.md": "qx-a\n",
    "repo/a/b/.github/copilot-instructions.md": "qx-b\n",
    "repo/.github/instructions/plain.instructions.md": "qx-plain\n",
    "repo/.github/instructions/all.instructions.md": '---\napplyTo: "**"\ndescription: qx-all-about\n---\nqx-all\n',
    "repo/.github/instructions/every.instructions.md": '---\napplyTo: "**/*"\n---\nqx-every\n',
    "repo/.github/instructions/not.instructions.md": '---\napplyTo: "**"\nexcludeAgent: ["coding-agent"]\n---\nqx-not\n',
    "repo/.github/instructions/py.instructions.md": '---\napplyTo: "**/*.py"\ndescription: qx-py-about\n---\nqx-py\n',
    "repo/.github/instructions/two.instructions.md": '---\napplyTo: "a/**,b/**"\n---\nqx-two\n',
    "repo/.github/instructions/deep/ts.instructions.md": '---\napplyTo: "**/*.ts"\n---\nqx-ts\n',
    "repo/.github/instructions/other.md": "qx-other\n",
    "repo/a/.github/instructions/a.instructions.md": "qx-a-plain\n",
    "repo/a/b/.github/instructions/b.instructions.md": "qx-b-plain\n",
    "repo/a/b/.github/instructions/c.instructions.md": '---\napplyTo: "**/*.py"\n---\nqx-b-py\n',
    "repo/a/b/.github/instructions/d.instructions.md": "---\napplyTo: '*.py'\n---\nqx-b-quotes 'single' & <x>\n",
    "repo/a/b/z.py": "print()\n",
    "home/.copilot/instructions/u.instructions.md": "qx-user-plain\n",
    "home/.copilot/instructions/v.instructions.md": '---\napplyTo: "**/*.py"\n---\nqx-user-py\n',
}


# Paths that are neither text nor a list of text, and front matter that is too long to be parsed as a whole.
ODD_PATHS = {
    "map": "paths: {a: b}",
    "list-of-maps": "paths:\n  - a/**: x",
    "nested-list": 'paths: [["**/*.py"], "x/**"]',
    "number": "paths: 5",
    "null": "paths:",
    "long": "note: '" + "x" * 40_000 + "'\npaths: '**/*.ts'",
}


ODD_IMPORTS = "qx-{0} imports @inc/dir here\n@inc/dir/ qx-{0}-slash\n@inc/blank.md\n@inc/empty.md\n@inc/rule.mdc @inc/UPPER.MD @inc/LICENSE\nqx-{0}-end\n"
ODD_FILES = {
    "blank.md": "\n\n",
    "empty.md": "",
    "dir/x.md": "qx-never\n",
    "rule.mdc": "qx-rule\n",
    "UPPER.MD": "qx-upper\n",
    "LICENSE": "qx-license\n",
}

# The limit of 32,768 bytes falls inside an é of the second file.
LARGE = {
    "repo/AGENTS.md": "qx-root " + "r" * 19_992,
    "repo/a/AGENTS.md": "qx-mid " + "é" * 20_000,
    "repo/a/b/AGENTS.md": "qx-leaf\n",
    "home/.codex/AGENTS.md": "qx-user " + "u" * 40_000 + "\n",
}

TREES: dict[str, Tree] = {
    "nested": Tree(
        {
            **_named(INSTRUCTION_FILES, "repo repo/a repo/a/b repo/c"),
            **_named("AGENTS.md CLAUDE.md", ".", "above"),
            **USER,
            "repo/c/d/z.py": "print()\n",
        },
        ("repo", "repo/a/b"),
        ALL_PROGRAMS,
        touch="repo/c/d/z.py",
        edit={
            "repo/AGENTS.md": "qx-repo-agents\nqx-edited-agents\n",
            "repo/CLAUDE.md": "qx-repo-claude\nqx-edited-claude\n",
            "repo/GEMINI.md": "qx-repo-gemini\nqx-edited-gemini\n",
        },
    ),
    "agents-only": Tree(
        {
            **_named("AGENTS.md", "repo repo/a/b repo/c"),
            "repo/.claude/AGENTS.md": "qx-dot-agents\n",
            "repo/AGENTS.local.md": "qx-local\n",
            "repo/CLAUDE.md": " \n\n",
            "repo/.claude/rules/r.md": "qx-rule\n",
            "repo/c/z.py": "print()\n",
        },
        ("repo", "repo/a", "repo/a/b"),
        ALL_PROGRAMS,
        touch="repo/c/z.py",
    ),
    "claude-below": Tree(
        {"repo/AGENTS.md": "qx-root\n", "repo/a/CLAUDE.md": "qx-a\n", "repo/a/AGENTS.md": "qx-a-agents\n"},
        ("repo", "repo/a"),
    ),
    "outside-git": Tree(
        {**_named(INSTRUCTION_FILES, "repo repo/a repo/a/b"), **_named(INSTRUCTION_FILES, ".", "above")},
        ("repo/a/b",),
        ALL_PROGRAMS,
        is_git=False,
    ),
    "user-only": Tree(USER, ("repo",)),
    "user-claude": Tree(
        {"home/.claude/CLAUDE.md": "qx-user-claude\n", "repo/CONTEXT.md": "qx-context\n"},
        ("repo",),
        ("opencode", "claude", "copilot"),
    ),
    "overrides": Tree(
        {
            "repo/AGENTS.override.md": "qx-root-override\n",
            "repo/AGENTS.md": "qx-root\n",
            "repo/a/AGENTS.override.md": " \n",
            "repo/a/AGENTS.md": "qx-a\n",
            "repo/a/b/AGENTS.override.md": "",
            "repo/a/b/AGENTS.md": "qx-b\n",
            "repo/a/b/c/AGENTS.md": "qx-c\n",
            "home/.codex/AGENTS.override.md": "\n",
            "home/.codex/AGENTS.md": "qx-user\n",
        },
        ("repo", "repo/a/b/c"),
        ("codex", "pi-agent"),
    ),
    "overrides-user": Tree(
        {
            "home/.codex/AGENTS.override.md": "\n\nqx-user-override\n\n",
            "home/.codex/AGENTS.md": "qx-user\n",
            "repo/AGENTS.md": "\n",
        },
        ("repo",),
        ("codex",),
    ),
    "codex-config": Tree(
        {
            "home/.codex/config.toml": 'project_doc_fallback_filenames = ["TEAM.md", "OTHER.md"]\n'
            'project_root_markers = [".top"]\n',
            "repo/AGENTS.md": "qx-root\n",
            "repo/a/.top": "",
            "repo/a/TEAM.md": "qx-a-team\n",
            "repo/a/OTHER.md": "qx-a-other\n",
            "repo/a/b/OTHER.md": "qx-b-other\n",
        },
        ("repo/a/b", "repo"),
        ("codex",),
    ),
    "codex-bytes": Tree(
        {
            "home/.codex/config.toml": "project_doc_max_bytes = 20\n",
            "repo/AGENTS.md": "qx-root\n",
            "repo/a/AGENTS.md": "qx-a and more\n",
        },
        ("repo/a",),
        ("codex",),
    ),
    "large": Tree(LARGE, ("repo", "repo/a/b"), ("codex",)),
    "large-all": Tree(
        {
            "repo/AGENTS.md": "qx-agents " + "a" * 70_000 + "\n",
            "repo/CLAUDE.md": "qx-claude " + "c" * 70_000 + "\n",
            "repo/GEMINI.md": "qx-gemini " + "g" * 70_000 + "\n",
        },
        ("repo",),
        ("claude", "gemini", "copilot", "opencode", "qwen", "vibe", "pi-agent"),
    ),
    "spaces": Tree(
        {
            "repo/AGENTS.md": SPACED.format("agents"),
            "repo/CLAUDE.md": SPACED.format("claude"),
            "repo/GEMINI.md": SPACED.format("gemini"),
            "repo/a/AGENTS.md": " \n",
            "repo/a/CLAUDE.md": " \n",
            "repo/a/GEMINI.md": " \n",
            "repo/a/b/AGENTS.md": "qx-b-agents",
            "repo/a/b/CLAUDE.md": "qx-b-claude\r\nqx-b-claude-crlf\r\n",
            "repo/a/b/GEMINI.md": "qx-b-gemini\r\nqx-b-gemini-crlf\r\n",
            **{path: text.replace("qx-", "\n\n qx-") + "\n" for path, text in USER.items()},
        },
        ("repo/a/b",),
        ALL_PROGRAMS,
    ),
    "front": Tree(
        {
            "repo/AGENTS.md": FRONT.replace("{0}", "agents"),
            "repo/CLAUDE.md": FRONT.replace("{0}", "claude"),
            "repo/GEMINI.md": FRONT.replace("{0}", "gemini"),
        }
    ),
    "front-paths": Tree(
        {
            path: f"---\npaths: '**/*.py'\n---\nqx-{name}\n"
            for name, path in {
                "root": "repo/CLAUDE.md",
                "dot": "repo/.claude/CLAUDE.md",
                "local": "repo/CLAUDE.local.md",
                "rule": "repo/.claude/rules/r.md",
                "agents": "repo/AGENTS.md",
                "user": "home/.claude/CLAUDE.md",
                "user-rule": "home/.claude/rules/r.md",
            }.items()
        },
        ("repo",),
        ("claude",),
    ),
    "comments": Tree(
        {
            "repo/CLAUDE.md": "qx-paragraph\n<x>\nqx-inside\n</x>\n<!-- qx-after-paragraph -->\n\n<x>\n<!-- qx-in-html -->\n</x>\n\n"
            "# qx-heading\n<x>\n<!-- qx-below-heading -->\n</x>\n\n> qx-quote\n<!-- qx-below-quote -->\nqx-end\n",
        },
        ("repo",),
        ("claude",),
    ),
    "imports": Tree(
        {
            **_imports("claude", "repo/CLAUDE.md"),
            **_imports("gemini", "repo/GEMINI.md"),
            **_imports("agents", "repo/AGENTS.md"),
            **_imports("hub", "repo/.github/copilot-instructions.md"),
            **_imports("qwen", "repo/QWEN.md"),
        },
        ("repo",),
        (*DEFAULT_PROGRAMS, "qwen"),
    ),
    "imports-odd": Tree(
        {
            **{f"repo/{name.upper()}.md": ODD_IMPORTS.replace("{0}", name) for name in ("claude", "gemini", "qwen")},
            "repo/.github/copilot-instructions.md": ODD_IMPORTS.replace("{0}", "hub"),
            **{f"repo/inc/{name}": text for name, text in ODD_FILES.items()},
            **{f"repo/.github/inc/{name}": text.replace("qx-", "qx-hub-") for name, text in ODD_FILES.items()},
        },
        ("repo",),
        ("claude", "gemini", "copilot", "qwen"),
    ),
    "imports-below": Tree(
        {
            "repo/CLAUDE.md": "qx-root\n@AGENTS.md\n@a/inside.md\n",
            "repo/AGENTS.md": "qx-agents\n",
            "repo/GEMINI.md": "qx-gemini\n@gem.md\n",
            "repo/gem.md": "qx-gem\n",
            "repo/a/inside.md": "qx-inside\n",
            "repo/a/CLAUDE.md": "qx-a\n@../up.md\n@in.md\n",
            "repo/a/GEMINI.md": "qx-a-gemini\n@../up-gem.md\n",
            "repo/up-gem.md": "qx-up-gem\n",
            "repo/up.md": "qx-up\n",
            "repo/a/in.md": "qx-in\n",
            "home/.claude/CLAUDE.md": "qx-user\n@../far.md\n@~/near.md\n@{base}/out/x.md\n",
            "home/far.md": "qx-far\n",
            "home/near.md": "qx-near\n",
            "home/.gemini/GEMINI.md": "qx-user-gemini\n@side.md\n@../far-gem.md\n",
            "home/.gemini/side.md": "qx-side-gem\n",
            "home/far-gem.md": "qx-far-gem\n",
            "out/x.md": "qx-out\n",
        },
        ("repo", "repo/a"),
        ("claude", "gemini", "copilot"),
    ),
    "imports-deep": Tree(
        {**_chain("c", "repo/CLAUDE.md"), **_chain("g", "repo/GEMINI.md"), **_chain("h", "repo/AGENTS.md")},
        ("repo",),
        ("claude", "gemini", "copilot"),
    ),
    "rules-claude": Tree(CLAUDE_RULES, ("repo", "repo/a/b"), ("claude", "copilot"), touch="repo/a/b/z.py"),
    "rules-copilot": Tree(COPILOT_RULES, ("repo", "repo/a/b"), ("copilot",), touch="repo/a/b/z.py"),
    "rules-odd": Tree(
        {
            "repo/CLAUDE.md": "qx-root\n",
            **{f"repo/.claude/rules/{name}.md": f"---\n{head}\n---\nqx-{name}\n" for name, head in ODD_PATHS.items()},
            "repo/a/z.py": "print()\n",
        },
        ("repo",),
        ("claude",),
        touch="repo/a/z.py",
    ),
    "rules-qwen": Tree(
        {
            **_named("QWEN.md AGENTS.md", "repo repo/a"),
            "repo/.qwen/QWEN.local.md": "qx-local\n",
            "repo/.qwen/rules/plain.md": "---\ndescription: qx-plain-about\n---\nqx-plain\n",
            "repo/.qwen/rules/deep/nested.md": "qx-nested\n",
            "repo/.qwen/rules/scoped.md": '---\npaths: ["a/**/*.py"]\n---\nqx-scoped\n',
            "home/.qwen/rules/user.md": "qx-user-rule\n",
            "repo/a/z.py": "print()\n",
        },
        ("repo", "repo/a"),
        ("qwen",),
        touch="repo/a/z.py",
    ),
    "copilot-walk": Tree(
        {
            **_named(INSTRUCTION_FILES, "repo repo/a repo/a/b repo/a/b/c"),
            **{
                f"{folder}/.claude/CLAUDE.md": f"qx-dot-{folder.replace('/', '-')}\n"
                for folder in ("repo", "repo/a", "repo/a/b", "repo/a/b/c")
            },
            **{
                f"{folder}/.github/copilot-instructions.md": f"qx-hub-{folder.replace('/', '-')}\n"
                for folder in ("repo", "repo/a", "repo/a/b/c")
            },
        },
        ("repo", "repo/a/b/c"),
        ("copilot",),
    ),
    "equal": Tree(
        {
            "repo/AGENTS.md": "qx-same\n",
            "repo/CLAUDE.md": "qx-same\n",
            "repo/a/AGENTS.md": "qx-same\n",
            "repo/a/CLAUDE.md": "qx-same \n",
            "repo/a/GEMINI.md": "qx-same\n",
            "repo/GEMINI.md": "qx-same\n",
        },
        ("repo/a",),
    ),
    "uppercase": Tree(
        {**_named("GEMINI.md AGENTS.md", "repo repo/APPS repo/APPS/web repo/.x repo/lower")},
        ("repo/APPS/web", "repo/.x", "repo/lower"),
        ("gemini",),
    ),
    "gemini-names": Tree(
        {
            "home/.gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}, '
            '"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}',
            **_named("AGENTS.md GEMINI.md", "repo repo/a home/.gemini"),
            "repo/.gemini/GEMINI.md": "qx-dot\n",
        },
        ("repo/a",),
        ("gemini",),
    ),
    "gemini-project": Tree(
        {
            "repo/.gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}}',
            **_named("AGENTS.md GEMINI.md", "repo repo/a"),
        },
        ("repo", "repo/a"),
        ("gemini",),
    ),
    "opencode-config": Tree(
        {
            "repo/opencode.json": '{"instructions": ["one.md", "docs/*.md", "missing.md", "one.md", "AGENTS.md"]}',
            "repo/one.md": "qx-one\n",
            "repo/docs/only.md": "qx-docs\n",
            "repo/a/one.md": "qx-a-one\n",
            "repo/AGENTS.md": "qx-root\n",
        },
        ("repo", "repo/a"),
        ("opencode",),
    ),
    "opencode-outside": Tree(
        {
            "repo/opencode.json": '{"instructions": ["~/mine.md", "one.md", "{base}/out/far.md"]}',
            "repo/one.md": "qx-one\n",
            "home/mine.md": "qx-mine\n",
            "out/far.md": "qx-far\n",
        },
        ("repo",),
        ("opencode",),
    ),
    "opencode-names": Tree(
        {
            "repo/CLAUDE.md": "qx-root-claude\n",
            "repo/a/CONTEXT.md": "qx-a-context\n",
            "repo/a/b/CLAUDE.md": "qx-b-claude\n",
        },
        ("repo/a/b", "repo/a"),
        ("opencode",),
    ),
    "excludes": Tree(
        {
            "repo/.claude/settings.json": '{"claudeMdExcludes": ["**/a/CLAUDE.md", "{base}/repo/.claude/rules/no.md"]}',
            "repo/CLAUDE.md": "qx-root\n",
            "repo/a/CLAUDE.md": "qx-a\n",
            "repo/a/b/CLAUDE.md": "qx-b\n",
            "repo/.claude/rules/no.md": "qx-no\n",
            "repo/.claude/rules/yes.md": "qx-yes\n",
        },
        ("repo", "repo/a/b"),
        ("claude",),
    ),
    "memory": Tree(
        {
            "home/.claude/projects/{slug}/memory/MEMORY.md": "qx-memory\n",
            "repo/CLAUDE.md": "qx-root\n",
            "repo/a/x.txt": "x\n",
        },
        ("repo", "repo/a"),
        ("claude",),
    ),
    "skill-paths": Tree(SKILLS_WITH_PATHS, ("repo", "repo/a"), ("claude", "copilot"), touch="repo/a/b/z.py"),
    "skill-gemini": Tree(
        {
            "repo/.gemini/skills/top/SKILL.md": skill("top", "top", "web/**"),
            "repo/a/.gemini/skills/here/SKILL.md": skill("here", "here"),
            "repo/a/b/z.py": "print()\n",
        },
        ("repo", "repo/a", "repo/a/b"),
        ("gemini",),
        touch="repo/a/b/z.py",
    ),
    "skills-below": Tree(
        {
            "repo/a/.claude/skills/plain/SKILL.md": skill("plain", "plain"),
            "repo/a/.claude/skills/web/SKILL.md": skill("web", "web", "web/**"),
            "repo/a/b/z.py": "print()\n",
        },
        ("repo",),
        ("claude",),
        touch="repo/a/b/z.py",
    ),
    "touched-extensions": Tree(
        {
            "repo/CLAUDE.md": "qx-root\n",
            "repo/c/CLAUDE.md": ODD_IMPORTS.format("c"),
            **{f"repo/c/inc/{name}": text for name, text in ODD_FILES.items()},
            "repo/c/z.py": "print()\n",
        },
        ("repo",),
        ("claude", "copilot"),
        touch="repo/c/z.py",
    ),
    "menus": Tree({**MENUS, "repo/AGENTS.md": "qx-root\n"}, ("repo",), ALL_PROGRAMS),
    "names": Tree({**NAME_CLASHES, "repo/AGENTS.md": "qx-root\n"}, ("repo", "repo/a"), ("claude", "codex")),
    "same-names": Tree({**SAME_NAMES, "repo/AGENTS.md": "qx-root\n"}, ("repo", "repo/a"), SORTED_MENUS),
    "same-only": Tree({**SAME_ONLY, "repo/AGENTS.md": "qx-root\n"}, ("repo", "repo/a"), UNSORTED_MENUS),
}
TREES |= SETTINGS_TREES | MORE_TREES | FORM_TREES | LINE_END_TREES | FRONT_TREES | MENU_TREES | SKILL_TREES | ODD_TREES
TREES |= GLOB_TREES | PLACE_TREES
