"""Trees of skills, sub-agents and commands whose front matter, names, descriptions or places are odd: one tree for each subject and program.

Each program gets the skills in its own folder. Some list those of a folder in the order of the disk, so the lines are compared sorted.
"""

from __future__ import annotations

from dataclasses import replace

from .tree import Tree

_FOLDERS = {
    "claude": "repo/.claude",
    "codex": "repo/.agents",
    "copilot": "repo/.github",
    "gemini": "repo/.gemini",
    "kimi": "repo/.kimi-code",
    "opencode": "repo/.opencode",
    "pi-agent": "home/.pi/agent",
    "qwen": "repo/.qwen",
    "vibe": "repo/.vibe",
}
_YAML = {
    "colon": "description: Use it: qx-{0}-about",
    "colons": "description: a: b: qx-{0}-about: c",
    "colon-end": "description: qx-{0}-about:",
    "colon-comment": "description: Use: qx-{0}-about # tail",
    "colon-other": "description: qx-{0}-about\nlicense: see: MIT",
    "colon-more": "description: use: qx-{0}-about\n  and more",
    "colon-block": "description: |\n  qx-{0}-about: b\nlicense: see: MIT",
    "at": "description: @qx-{0}-about",
    "code": "description: `qx-{0}-about`",
    "percent": "description: %qx-{0}-about",
    "star": "description: *qx-{0}-about",
    "bold": "description: **qx-{0}-about** rest",
    "bracket": "description: [qx-{0}-about] rest",
    "brace": "description: {{qx-{0}-about}} rest",
    "open-quote": 'description: "qx-{0}-about',
    "inner-quote": 'description: "qx-{0}-about" and more',
    "inner-single": "description: 'qx-{0}-about' and more",
    "escape": 'description: "qx-{0}-about \\d+"',
    "dash": "description: - qx-{0}-about",
    "question": "description: ? qx-{0}-about",
    "pipe": "description: | qx-{0}-about",
    "greater": "description: > qx-{0}-about",
    "not-indented": "description: >\nqx-{0}-about\nlicense: x",
    "next-line": "description: qx-{0}-about\nqx-{0}-more continues",
    "hint": "description: qx-{0}-about\nargument-hint: [a] [b]",
    "comment": "# comment\ndescription: qx-{0}-about # tail",
    "hash": "description: qx-{0}-about#not a comment",
    "quoted-key": '"description": qx-{0}-about',
    "space-key": "description : qx-{0}-about",
    "double": 'description: "qx-{0}-about\\tb\\u00e9 \\"x\\" \\\\ end"',
    "single": "description: 'qx-{0}-about it''s'",
    "several": "description: qx-{0}-about\n  qx-{0}-more",
}
_FIELDS = {
    "upper": "Description: qx-{0}-about",
    "none": "license: qx-{0}-license",
    "null": "description: null",
    "blank": "description:",
    "empty": "description: ''",
    "list": "description: [qx-{0}-about, b]",
    "map": "description:\n  a: qx-{0}-about",
    "true": "description: true",
    "number": "description: 12",
    "hint-list": "description: qx-{0}-about\nargument-hint: [a, b]",
    "hint-number": "description: qx-{0}-about\nargument-hint: 12",
    "tools": "description: qx-{0}-about\nallowed-tools:\n  - Read\n  - Bash(git:*)",
    "tools-null": "description: qx-{0}-about\nallowed-tools:",
    "long-compatibility": "description: qx-{0}-about\ncompatibility: " + "c" * 501,
    "metadata": "description: qx-{0}-about\nmetadata:\n  a: 1\n  b: [1, 2]",
    "disabled": "description: qx-{0}-about\ndisable-model-invocation: true",
    "not-disabled": "description: qx-{0}-about\ndisable-model-invocation: false",
    "not-for-users": "description: qx-{0}-about\nuser-invocable: false",
    "other": "description: qx-{0}-about\nmodel: x\ncontext: fork\neffort: high\nversion: 1.0",
    "use": "description: qx-{0}-about\nwhen_to_use: qx-{0}-use",
}
# Whole files, in which {0} is the name.
_TEXTS = {
    "windows": "---\r\nname: {0}\r\ndescription: qx-{0}-about\r\nlicense: x\r\n---\r\nBody.\r\n",
    "windows-colon": "---\r\nname: {0}\r\ndescription: use: qx-{0}-about\r\n---\r\nqx-{0}-body\r\n",
    "windows-body": "---\r\nname: {0}\r\n---\r\n# Title\r\n\r\nqx-{0}-body\r\nMore.\r\n",
    "no-end": "---\nname: {0}\ndescription: qx-{0}-about\n---",
    "unclosed": "---\nname: {0}\ndescription: qx-{0}-about\nBody\n",
    "dots": "---\nname: {0}\ndescription: qx-{0}-about\n...\nBody\n",
    "toml": "+++\nname = '{0}'\ndescription = 'qx-{0}-about'\n+++\nqx-{0}-body\n",
    "no-front": "# qx-{0}-title\n\ntext\n",
    "text-only": "qx-{0}-text\nmore\n",
    "code-body": "---\nname: {0}\n---\n```\nqx-{0}-code\n```\n\nText\n",
    "list-body": "---\nname: {0}\n---\n- qx-{0}-item\n- two\n",
    "lines-body": "---\nname: {0}\n---\nqx-{0}-one\ntwo\n\nthree\nqx-{0}-four\n",
    "heading-body": "---\nname: {0}\n---\n## qx-{0}-title\n\nqx-{0}-body\n",
    "long-body": "---\nname: {0}\n---\nqx-{0}-body " + "word " * 300 + "\nnext\n",
    "no-body": "---\nname: {0}\nlicense: qx-{0}-license\n---\n",
    "twice": "---\nname: {0}\ndescription: qx-{0}-first\ndescription: qx-{0}-last\n---\nqx-{0}-body\n",
    "unseen": '---\nname: {0}\ndescription: "qx-{0}-about  two\\tthree\\nfour"\n---\n',
    **{
        f"length-{count}": "---\nname: {0}\ndescription: qx-{0}-about " + "w" * count + "\n---\n"
        for count in (225, 235, 1000, 1010, 1520, 3000)
    },
    "length-emoji": "---\nname: {0}\ndescription: qx-{0}-about " + "🦊" * 240 + "\n---\n",
}
_PLACES = {
    "plain/SKILL.md": "plain",
    "group/inside/SKILL.md": "inside",
    "group/more/deep/SKILL.md": "deep",
    "lower/skill.md": "lower",
    "mixed/Skill.md": "mixed",
    "suffix/SKILL.MD": "suffix",
    "sp ace/SKILL.md": "space",
    "fox-🦊/SKILL.md": "fox",
    "ünï/SKILL.md": "accents",
    ".hidden/SKILL.md": "hidden",
    "folder/SKILL.md/x.md": "folder",
}
# What the layout of a program does not reproduce, as its `differs` says.
_LEFT_OUT = {"qwen": {"list", "use"}, "vibe": {"twice", "tools", "hint-number"}}
_AGENTS = {
    "colon": "name: {0}\ndescription: Use it: qx-{0}-about",
    "quoted": "name: {0}\ndescription: 'qx-{0}-about' and b",
    "double": "name: {0}\ndescription: qx-{0}-about  two",
    "literal": "name: {0}\ndescription: |\n  qx-{0}-about\n\n  qx-{0}-more",
    "escaped": 'name: {0}\ndescription: "qx-{0}-about\\tx\\nqx-{0}-more"',
    "tags": "name: {0}\ndescription: qx-{0}-about <b> & c",
    "long": "name: {0}\ndescription: qx-{0}-about " + "w" * 2000,
    "twice": "name: {0}\ndescription: qx-{0}-first\ndescription: qx-{0}-last",
    "nameless": "description: qx-{0}-about",
    "other-name": "name: another\ndescription: qx-{0}-about",
    "undescribed": "name: {0}\nmodel: qx-{0}-model",
    "list": "name: {0}\ndescription: qx-{0}-about\ntools: [Read, Grep]",
    "star": "name: {0}\ndescription: qx-{0}-about\ntools: '*'",
    "empty": "name: {0}\ndescription: qx-{0}-about\ntools: []",
    "blanks": "name: {0}\ndescription: qx-{0}-about\ntools: Read Grep ,Write",
    "patterns": "name: {0}\ndescription: qx-{0}-about\ntools: Bash(git log:*), Read",
    "except": "name: {0}\ndescription: qx-{0}-about\ndisallowedTools: Read, Write",
    "both": "name: {0}\ndescription: qx-{0}-about\ntools: Read\ndisallowedTools: Write",
    ".hidden": "name: hidden\ndescription: qx-hidden-about",
    "group/deep": "name: deep\ndescription: qx-deep-about",
}
_PATHS = {
    "python": "['**/*.py']",
    "name": "['*.py', 'x']",
    "web": "['web/**']",
    "none": "[]",
    "nothing": "",
}
_COMMANDS = {
    "line": "qx-{0}-text\n",
    "long": "qx-{0}-text " + "word " * 60 + "\n",
    "fields": "---\nallowed-tools: Read\n---\nqx-{0}-body\n",
    "blank": "---\ndescription:\n---\nqx-{0}-body\n",
    "broken": "---\ndescription: qx-{0}-about y: z\nargument-hint: [a] [b]\n---\nqx-{0}-body\n",
    "colon-end": "---\ndescription: qx-{0}-about:\n---\nqx-{0}-body\n",
    "windows": "---\r\ndescription: qx-{0}-about\r\n---\r\nBody\r\n",
    "mark": "\ufeff---\ndescription: qx-{0}-about\n---\nBody\n",
    "number": "---\ndescription: 12\n---\nqx-{0}-body\n",
    "use": "---\ndescription: qx-{0}-about\nwhen_to_use: qx-{0}-use\n---\nBody\n",
    "very-long": "---\ndescription: qx-{0}-about " + "w" * 2000 + "\n---\nBody\n",
    "five": "l1 qx-{0}-text\nl2\n\nl3\nl4\nl5\n",
    "shell": "!`git status` qx-{0}-text\n",
    "html": "<!-- qx-{0}-comment -->\nText qx-{0}-text\n",
}


def _skill(name: str, fields: str) -> str:
    return f"---\nname: {name}\n{fields.format(name)}\n---\n# qx-{name}-title\n\nqx-{name}-body\n"


def _skills(program: str, subject: str) -> dict[str, str]:
    """Return the skills of a subject by the path in a folder of skills."""
    if subject == "places":
        return {path: _skill(name, "description: qx-{0}-about") for path, name in _PLACES.items()}
    forms = {"yaml": _YAML, "fields": _FIELDS, "texts": _TEXTS}[subject]
    texts = {
        name: form.replace("{0}", name) if subject == "texts" else _skill(name, form) for name, form in forms.items()
    }
    return {f"{name}/SKILL.md": text for name, text in texts.items() if name not in _LEFT_OUT.get(program, ())}


def _tree(program: str, subject: str) -> Tree:
    files = {f"{_FOLDERS[program]}/skills/{path}": text for path, text in _skills(program, subject).items()}
    return Tree({"repo/AGENTS.md": "qx-root\n", **files}, ("repo",), (program,), is_compact=True, is_sorted=True)


SKILL_TREES = {
    **{
        f"skills-{subject}-{program}": _tree(program, subject)
        for subject in ("yaml", "fields", "texts", "places")
        for program in _FOLDERS
    },
    "skills-fields-no-claude": replace(_tree("opencode", "fields"), env={"OPENCODE_DISABLE_CLAUDE_CODE": "1"}),
    "skills-paths-qwen": Tree(
        {
            **{
                f"repo/.qwen/skills/{name}/SKILL.md": _skill(name, f"description: qx-{name}-about\npaths: {paths}")
                for name, paths in _PATHS.items()
            },
            "home/.qwen/skills/user/SKILL.md": _skill("user", "description: qx-user-about\npaths: ['a/b/*']"),
            "repo/.qwen/rules/rule.md": "---\npaths: ['a/**']\n---\nqx-rule\n",
            "repo/a/b/z.py": "print()\n",
        },
        ("repo",),
        ("qwen",),
        touch="repo/a/b/z.py",
    ),
    "agents-odd": Tree(
        {
            f"repo/.claude/agents/{name}.md": f"---\n{fields.replace('{0}', name)}\n---\nqx-{name}-body\n"
            for name, fields in _AGENTS.items()
        },
        ("repo",),
        ("claude",),
        is_compact=True,
        is_sorted=True,
    ),
    "commands-odd": Tree(
        {f"repo/.claude/commands/{name}.md": text.replace("{0}", name) for name, text in _COMMANDS.items()},
        ("repo",),
        ("claude", "copilot"),
        is_compact=True,
        is_sorted=True,
    ),
}
