"""Trees in which settings and environment variables move or change what a program reads."""

from __future__ import annotations

from .menu_trees import skill
from .tree import Tree

_GEMINI = '"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}'
_QWEN = '"privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true}'
_MEMORY_FILE = "home/.claude/projects/{slug}/memory/MEMORY.md"
_MEMORY = {_MEMORY_FILE: "qx-memory\n", "repo/CLAUDE.md": "qx-root\n"}
_TRUST = '[projects."{base}/%s"]\ntrust_level = "%s"\n'
_CODEX_PROJECT = {
    "repo/.codex/config.toml": "project_doc_max_bytes = 5\n",
    "repo/a/.codex/config.toml": 'project_doc_fallback_filenames = ["OTHER.md", "sub/DEEP.md"]\n',
    "repo/AGENTS.md": "qx-root\n",
    "repo/a/OTHER.md": "qx-other\n",
    "repo/sub/DEEP.md": "qx-deep\n",
}
_NO_CLAUDE = {
    "home/.claude/CLAUDE.md": "qx-user-claude\n",
    "repo/CLAUDE.md": "qx-claude\n",
    "repo/c/CLAUDE.md": "qx-c-claude\n",
    "repo/.claude/skills/s/SKILL.md": skill("s", "claude-skill"),
    "repo/.agents/skills/t/SKILL.md": skill("t", "agents-skill"),
    "repo/c/z.py": "print()\n",
}


def _gemini(context: str) -> dict[str, str]:
    """Return the user's settings for Gemini CLI with this content of `context`."""
    return {"home/.gemini/settings.json": f'{{"context": {{{context}}}, {_GEMINI}}}'}


def marked(*paths: str) -> dict[str, str]:
    """Return files with markers made of their paths."""
    return {path: f"qx-{path.lower().replace('/', '-').replace('.', '-').replace('--', '-')}\n" for path in paths}


CLAUDE_TREES = {
    "claude-moved": Tree(
        {
            **marked(
                "other/CLAUDE.md", "other/rules/r.md", "home/.claude/CLAUDE.md", "repo/CLAUDE.md", "repo/a/CLAUDE.md"
            ),
            "other/settings.json": '{"claudeMdExcludes": ["**/a/CLAUDE.md"]}',
            "other/rules/py.md": "---\npaths: '**/*.py'\n---\nqx-other-scoped\n",
            "other/skills/s/SKILL.md": skill("s", "skill"),
            "repo/z.py": "print()\n",
            "other/projects/{slug}/memory/MEMORY.md": "qx-memory\n",
        },
        ("repo", "repo/a"),
        ("claude",),
        env={"CLAUDE_CONFIG_DIR": "{base}/other"},
        touch="repo/z.py",
    ),
    "claude-excludes": Tree(
        {
            "home/.claude/settings.json": '{"claudeMdExcludes": ["**/a/CLAUDE.md"]}',
            "repo/.claude/settings.json": '{"claudeMdExcludes": ["**/b/CLAUDE.md"]}',
            "repo/.claude/settings.local.json": '{"claudeMdExcludes": ["**/c/CLAUDE.md"]}',
            "repo/a/b/.claude/settings.json": '{"claudeMdExcludes": ["**/d/CLAUDE.md"]}',
            **marked("repo/CLAUDE.md", "repo/a/CLAUDE.md", "repo/a/b/CLAUDE.md", "repo/a/b/c/CLAUDE.md"),
            "repo/a/b/c/d/CLAUDE.md": "qx-d\n",
            "repo/a/b/c/d/z.py": "print()\n",
        },
        ("repo", "repo/a/b/c/d"),
        ("claude",),
        touch="repo/a/b/c/d/z.py",
    ),
    "claude-local": Tree(
        {
            "repo/.claude/settings.local.json": '{"claudeMdExcludes": ["**/repo/CLAUDE.md"]}',
            "repo/a/.claude/settings.local.json": '{"claudeMdExcludes": ["**/b/CLAUDE.md"]}',
            **marked("repo/CLAUDE.md", "repo/a/CLAUDE.md", "repo/a/b/CLAUDE.md"),
            "repo/a/b/z.py": "print()\n",
        },
        ("repo/a",),
        ("claude",),
        touch="repo/a/b/z.py",
    ),
    "memory-off": Tree({**_MEMORY, "home/.claude/settings.json": '{"autoMemoryEnabled": false}'}, programs=("claude",)),
    "memory-off-here": Tree(
        {**_MEMORY, "repo/.claude/settings.json": '{"autoMemoryEnabled": false}', "repo/a/x": "x\n"},
        ("repo", "repo/a"),
        ("claude",),
    ),
    "memory-on-again": Tree(
        {
            **_MEMORY,
            "home/.claude/settings.json": '{"autoMemoryEnabled": false}',
            "repo/.claude/settings.local.json": '{"autoMemoryEnabled": true}',
        },
        programs=("claude",),
    ),
    "sub-agents": Tree(
        {
            "repo/.claude/agents/all.md": "---\nname: all\ndescription: qx-all\n---\nqx-all-body\n",
            "repo/.claude/agents/star.md": "---\nname: star\ndescription: qx-star\ntools: '*'\n---\nqx-star-body\n",
            "repo/.claude/agents/blank.md": "---\nname: blank\ndescription: qx-blank\ntools:\n---\nqx-blank-body\n",
        },
        programs=("claude",),
    ),
    "memory-lines": Tree(
        {**_MEMORY, _MEMORY_FILE: "qx-first\n" + "line\n" * 198 + "qx-last\n" + "more\n" * 50}, programs=("claude",)
    ),
    "memory-bytes": Tree(
        {**_MEMORY, _MEMORY_FILE: "qx-first\n" + ("x" * 399 + "\n") * 61 + "qx-last\n" + ("y" * 399 + "\n") * 30},
        programs=("claude",),
    ),
    "memory-off-env": Tree(_MEMORY, programs=("claude",), env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}),
    "memory-on-env": Tree(_MEMORY, programs=("claude",), env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}),
    "claude-directories": Tree(
        {
            "home/.claude/settings.json": '{"permissions": {"additionalDirectories": ["{base}/extra"]}}',
            "repo/.claude/settings.json": '{"permissions": {"additionalDirectories": ["../near", "sub"]}}',
            **marked("extra/CLAUDE.md", "near/CLAUDE.md", "repo/sub/CLAUDE.md", "repo/CLAUDE.md"),
        },
        programs=("claude",),
        env={"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"},
    ),
}
CODEX_TREES = {
    "codex-moved": Tree(
        {
            **marked("other/AGENTS.md", "home/.codex/AGENTS.md", "repo/TEAM.md"),
            "other/config.toml": 'project_doc_fallback_filenames = ["docs/X.md", "TEAM.md"]\n',
            "repo/docs/X.md": "qx-x\n",
        },
        programs=("codex",),
        env={"CODEX_HOME": "{base}/other"},
    ),
    **{
        f"codex-{name}": Tree(
            {**_CODEX_PROJECT, "home/.codex/config.toml": "".join(_TRUST % row for row in rows)},
            ("repo", "repo/a", "repo/a/b"),
            ("codex",),
        )
        for name, rows in {
            "unknown": (),
            "trusted": (("repo", "trusted"),),
            "untrusted": (("repo", "untrusted"),),
            "trusted-below": (("repo/a", "trusted"),),
            "untrusted-below": (("repo", "trusted"), ("repo/a", "untrusted")),
            "trusted-only-below": (("repo", "untrusted"), ("repo/a", "trusted")),
        }.items()
    },
    "codex-own-markers": Tree(
        {
            "home/.codex/config.toml": _TRUST % ("repo", "trusted"),
            "repo/.codex/config.toml": 'project_root_markers = [".top"]\nproject_doc_fallback_filenames = ["TEAM.md"]\n',
            **marked("repo/TEAM.md", "repo/a/.top", "repo/a/TEAM.md"),
        },
        ("repo/a",),
        ("codex",),
    ),
}
COPILOT_TREES = {
    "copilot-moved": Tree(
        {
            **marked("other/copilot-instructions.md", "other/.copilot/copilot-instructions.md", "repo/AGENTS.md"),
            **marked("other/instructions/x.instructions.md", "home/.copilot/copilot-instructions.md"),
            "other/skills/s/SKILL.md": skill("s", "skill"),
        },
        programs=("copilot",),
        env={"COPILOT_HOME": "{base}/other"},
    ),
    "copilot-folders": Tree(
        {
            **marked(
                "one/x.instructions.md", "one/.github/instructions/y.instructions.md", "one/deep/z.instructions.md"
            ),
            **marked("two/CLAUDE.md", "two/.github/copilot-instructions.md", "repo/AGENTS.md", "two/w.instructions.md"),
            "one/s.instructions.md": "---\napplyTo: '**/*.py'\n---\nqx-scoped\n",
            "repo/z.py": "print()\n",
        },
        programs=("copilot",),
        env={"COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "{base}/one, {base}/two"},
        touch="repo/z.py",
    ),
}
GEMINI_TREES = {
    "gemini-name": Tree(
        {
            **_gemini('"fileName": "NOTES.md"'),
            **marked("repo/NOTES.md", "repo/GEMINI.md", "home/.gemini/NOTES.md", "home/.gemini/GEMINI.md"),
            "repo/a/NOTES.md": "qx-a-notes\n",
            "repo/a/z.py": "print()\n",
        },
        programs=("gemini",),
        touch="repo/a/z.py",
    ),
    "gemini-own-name": Tree(
        {
            "repo/.gemini/settings.json": '{// ours\n"context": {"fileName": ["NOTES.md"]}}',
            **marked("repo/NOTES.md", "repo/GEMINI.md", "home/.gemini/GEMINI.md"),
        },
        programs=("gemini",),
    ),
    "gemini-old-name": Tree(
        {
            "home/.gemini/settings.json": f'{{"contextFileName": "NOTES.md", {_GEMINI}}}',
            **marked("repo/NOTES.md", "repo/GEMINI.md"),
        },
        programs=("gemini",),
    ),
    "gemini-folders": Tree(
        {
            **_gemini('"includeDirectories": ["{base}/extra"]'),
            "repo/.gemini/settings.json": '{"context": {"includeDirectories": ["in"]}}',
            **marked("extra/GEMINI.md", "extra/sub/GEMINI.md", "repo/in/GEMINI.md", "repo/GEMINI.md"),
        },
        programs=("gemini",),
    ),
    "gemini-markers": Tree(
        {
            **_gemini('"memoryBoundaryMarkers": [".top"]'),
            **marked("repo/GEMINI.md", "repo/a/.top", "repo/a/GEMINI.md", "repo/a/b/GEMINI.md"),
        },
        ("repo", "repo/a/b"),
        ("gemini",),
    ),
    "gemini-no-markers": Tree(
        {**_gemini('"memoryBoundaryMarkers": []'), **marked("GEMINI.md", "repo/GEMINI.md", "repo/a/GEMINI.md")},
        ("repo/a",),
        ("gemini",),
    ),
    "gemini-extensions": Tree(
        {
            "home/.gemini/extensions/one/gemini-extension.json": '{"name": "one", "version": "1.0.0"}',
            "home/.gemini/extensions/two/gemini-extension.json": '{"name": "two", "version": "1.0.0", "contextFileName":'
            ' ["A.md", "B.md", "NO.md"]}',
            **marked("home/.gemini/extensions/one/GEMINI.md", "home/.gemini/extensions/two/A.md", "repo/GEMINI.md"),
            **marked("home/.gemini/extensions/two/B.md", "home/.gemini/extensions/two/GEMINI.md"),
            **marked("home/.gemini/extensions/three/GEMINI.md"),
        },
        programs=("gemini",),
    ),
}
QWEN_TREES = {
    "qwen-moved": Tree(
        {
            **marked("other/QWEN.md", "other/AGENTS.md", "other/rules/r.md", "home/.qwen/QWEN.md", "repo/QWEN.md"),
            "other/skills/s/SKILL.md": skill("s", "skill"),
        },
        programs=("qwen",),
        env={"QWEN_HOME": "{base}/other"},
    ),
    "qwen-names": Tree(
        {
            "home/.qwen/settings.json": f'{{"context": {{"fileName": ["TEAM.md", "QWEN.md"]}}, {_QWEN}}}',
            **marked("home/.qwen/TEAM.md", "home/.qwen/QWEN.md", "repo/TEAM.md", "repo/AGENTS.md", "repo/QWEN.md"),
        },
        programs=("qwen",),
    ),
    "qwen-own-name": Tree(
        {
            "repo/.qwen/settings.json": '{"context": {"fileName": "TEAM.md"}}',
            **marked("repo/TEAM.md", "repo/AGENTS.md", "repo/QWEN.md", "repo/a/TEAM.md", "repo/a/QWEN.md"),
        },
        ("repo", "repo/a"),
        ("qwen",),
    ),
}
OPENCODE_TREES = {
    "opencode-dots": Tree(
        {
            "home/.config/opencode/opencode.json": '{"instructions": ["~/five.md"]}',
            "repo/opencode.json": '{"instructions": ["two.md"]}',
            "repo/.opencode/opencode.json": '{"instructions": ["one.md"]}',
            "repo/a/opencode.json": '{"instructions": ["three.md"]}',
            "repo/a/.opencode/opencode.jsonc": '{"instructions": ["four.md"],}',
            **marked("repo/one.md", "repo/two.md", "repo/three.md", "repo/four.md", "home/five.md"),
            "repo/.opencode/one.md": "qx-dot-one\n",
        },
        ("repo", "repo/a"),
        ("opencode",),
    ),
    "opencode-file": Tree(
        {
            "other/my.json": '{"instructions": ["one.md", "{base}/out/x.md"]}',
            "repo/opencode.json": '{"instructions": ["two.md"]}',
            **marked("repo/one.md", "repo/two.md", "out/x.md"),
        },
        programs=("opencode",),
        env={"OPENCODE_CONFIG": "{base}/other/my.json"},
    ),
    "opencode-folder": Tree(
        {
            "other/opencode.json": '{"instructions": ["one.md"]}',
            **marked("other/AGENTS.md", "home/.config/opencode/AGENTS.md", "repo/one.md"),
            "other/skills/s/SKILL.md": skill("s", "skill"),
        },
        programs=("opencode",),
        env={"OPENCODE_CONFIG_DIR": "{base}/other"},
    ),
    **{
        f"opencode-{name}": Tree(_NO_CLAUDE, programs=("opencode",), env=env, touch="repo/c/z.py")
        for name, env in {
            "no-claude": {"OPENCODE_DISABLE_CLAUDE_CODE": "1"},
            "claude": {"OPENCODE_DISABLE_CLAUDE_CODE": "0"},
            "no-claude-files": {"OPENCODE_DISABLE_CLAUDE_CODE_PROMPT": "true"},
            "no-claude-skills": {"OPENCODE_DISABLE_CLAUDE_CODE_SKILLS": "1"},
        }.items()
    },
    "opencode-no-project": Tree(
        {
            "repo/opencode.json": '{"instructions": ["one.md"]}',
            **marked("repo/AGENTS.md", "repo/one.md", "repo/d/AGENTS.md", "home/.config/opencode/AGENTS.md"),
            "repo/d/z.py": "print()\n",
        },
        programs=("opencode",),
        env={"OPENCODE_DISABLE_PROJECT_CONFIG": "1"},
        touch="repo/d/z.py",
    ),
}
SETTINGS_TREES = {**CLAUDE_TREES, **CODEX_TREES, **COPILOT_TREES, **GEMINI_TREES, **QWEN_TREES, **OPENCODE_TREES}
