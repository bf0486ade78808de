"""Trees whose files have unusual fences around their front matter, or `---` in the text."""

from __future__ import annotations

from .tree import Tree

_SPLIT = {
    # One or two horizontal rules, without front matter.
    "one": "\nqx-one\n\n---\n\nqx-one-end\n\n",
    "two": "qx-two\n\n---\n\nqx-two-mid\n\n---\n\nqx-two-end\n\n",
    "three": "qx-three\n---\nqx-three-mid\n---\n\nqx-three-next\n\n---\n\n\nqx-three-end\n---",
    "code": "qx-code\n```yaml\n---\ntitle: x\n---\n```\nqx-code-end\n",
    "list": "qx-list\n---\n- qx-list-item\n- x\n---\nqx-list-end\n",
    "bad": "\nqx-bad\n---\nnote: this: is [qx-bad-mid\n---\nqx-bad-end\n\n",
    "colon": "\nqx-colon\n---\nglobs: '*.py': qx-colon-mid\n---\nqx-colon-end\n\n",
    "nothing": "qx-nothing\n---\ntitle: x\n---\n \n",
    "fields": "qx-fields\n\n---\nglobs: '*.py'\n---\n\nqx-fields-end\n",
    "always": "qx-always\n\n---\nalwaysApply: false\n---\n\nqx-always-end\n",
    # Front matter, with `---` in or after it.
    "later": "---\ndescription: x\n---\n\n  qx-later\n\n---\n\nqx-later-end\n---\n\n",
    "inline": "---\ndescription: a --- b\n---\nqx-inline --- here\nqx-inline-two ---\n --- \n",
    "rule": "---\ndescription: x\n\n---\n---\n\nqx-rule\n",
    "blanks": "---  \nglobs: '*.py'\n---\t\nqx-blanks\n",
    "blank-lines": "---\n\n\ndescription: x\n\n---\n\n\nqx-blank-lines\n\n",
    "blank": "---\n---\n\n  qx-blank\n\n",
    "blank-two": "---\n\n---\n\n  qx-blank-two\n\n",
    "blank-rule": "---\n---\n---\n\n  qx-blank-rule\n\n",
    "lead": "\n \n---\nglobs: '*.py'\n---\nqx-lead\n",
    "lead-plain": "\n \n---\ndescription: x\n---\n\nqx-lead-plain\n\n",
    # Not fences.
    "indent": "\n ---\nglobs: '*.py'\n ---\nqx-indent\n ---\nx\n",
    "long": "----\nglobs: '*.py'\n----\nqx-long\n----\n",
    "long-end": "---\nglobs: '*.py'\n----\nqx-long-end\n",
    "open": "---\nglobs: '*.py'\nqx-open\n\n",
    "word": "--- x\nglobs: '*.py'\n---\nqx-word\n--- y\n",
    "mark": "\ufeff---\nglobs: '*.py'\n---\nqx-mark\n",
    "mark-two": "\ufeff---\nglobs: '*.py'\n---\nqx-mark-two\n---\nqx-mark-end\n",
    "mark-end": "---\ndescription: x\n---\ufeff\nqx-mark-close\n",
    "next-line": "---\ndescription: x\n---\x85\nqx-next-line\n---\nqx-next-end\n",
    "separator": "qx-separator\u2028---\u2028x\u2029---\u2029qx-separator-end\n",
    "return": "qx-return\r---\rx\r---\rqx-return-end\r",
}
# Whether a rule of Continue is sent.
_FIELDS = {
    "invokable": "invokable: true",
    "not-invokable": "invokable: false",
    "both-false": "alwaysApply: false\nglobs: '*.py'",
    "invokable-always": "invokable: true\nalwaysApply: true",
    "regex": "regex: x",
    "both": "alwaysApply: true\nglobs: '*.py'",
    "globs-empty": "globs: ''",
    "globs-null": "globs:",
    "upper": "alwaysApply: True",
    "false": "alwaysApply: false",
    "always": "alwaysApply: true",
    "regex-always": "alwaysApply: true\nregex: x",
    "number": "alwaysApply: 1",
    "word": "alwaysApply: no",
    "invokable-number": "invokable: 1",
    "invokable-upper": "invokable: False",
}
# Of front matter that is not YAML, such as globs without quotes, Continue sends everything.
_INVALID = {
    "bare": "globs: **/*.py",
    "item": "globs:\n  - *.py",
    "twice": "globs: '*.py'\nglobs: ''",
    "named": "name: x",
}
# The `---` that ends the front matter of these is not a line, or it is preceded by another one.
_ENDS = {
    "value": "---\n{0}\nnote: a --- qx-{1}-rest\n---\nqx-{1}\n",
    "early": "---\nnote: a --- qx-{1}-rest\n{0}\n---\nqx-{1}\n",
    "same": "---\n{0} ---\nqx-{1}\n",
    "indent": "---\n{0}\n  ---\n\n  qx-{1}\n\n",
    "long": "---\n{0}\n----\nqx-{1}\n",
    "longer": "---\n{0}\n------\nqx-{1}\n",
    "word": "---\n{0}\n--- # qx-{1}-word\nqx-{1}\n",
    "hyphens": "---\n{0}\nnote: a----b\n---\nqx-{1}\n",
    "comment": "---\n# --- qx-{1}-comment\n{0}\n---\nqx-{1}\n",
}
# What is before the second `---` is not YAML.
_NOT_YAML = {
    "quoted": "---\n{0}\nnote: '---'\n---\nqx-{1}\n",
    "table": "---\n{0}\n\nqx-{1}-row | --- | x\n\nqx-{1}\n",
}
_BEGINNINGS = {
    "blanks": "--- \t\n{0}\n---  \t\n\n  qx-{1}\n",
    "lines": "---\n\n \n{0}\n\n---\nqx-{1}\n",
    "mark": "\ufeff---\n{0}\n---\nqx-{1}\n",
    "lead": "\n---\n{0}\n---\nqx-{1}\n",
    "space": " ---\n{0}\n---\nqx-{1}\n",
    "open-long": "----\n{0}\n----\nqx-{1}\n",
    "open-word": "--- # x\n{0}\n---\nqx-{1}\n",
    "unclosed": "---\n{0}\nqx-{1}\n",
    "mark-after": "---\ufeff\n{0}\n---\ufeff\nqx-{1}\n",
}
_PATHS = "paths: '**/*.py'"
# The folders that contain an instruction file with front matter, from the outside to the inside.
_NESTED = {"repo": "early", "repo/c": "long", "repo/c/d": "word"}


def _windows(files: dict[str, str]) -> dict[str, str]:
    return {path: text.replace("\n", "\r\n") for path, text in files.items()}


def _rules(forms: dict[str, str]) -> dict[str, str]:
    rules = {f"repo/.claude/rules/{name}.md": form.format(_PATHS, name) for name, form in forms.items()}
    nested = {
        f"{folder}/CLAUDE.md": _ENDS[form].format("title: x", f"root-{folder[-1]}") for folder, form in _NESTED.items()
    }
    return {**rules, **nested, "repo/c/d/z.py": "print()\n"}


def _menus(form: str) -> dict[str, str]:
    """Return a skill, a sub-agent and a command, because those of one folder are listed in the order of the disk."""
    fields = "name: {0}\ndescription: qx-{0}-about"
    paths = {
        "skill": "repo/.claude/skills/skill/SKILL.md",
        "agent": "repo/.claude/agents/agent.md",
        "command": "repo/.claude/commands/command.md",
    }
    return {path: form.format(fields.format(name), f"{name}-body") for name, path in paths.items()}


def _pairs(forms: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return pairs of a rule of the project and one of the user, because Continue sends those of a folder in the order of the disk."""
    names = list(forms)
    pairs = zip(names[::2], [*names[1::2], names[0]], strict=False)
    return {
        first: {f"repo/.continue/rules/{first}.md": forms[first], f"home/.continue/rules/{second}.md": forms[second]}
        for first, second in pairs
    }


_INVALID_RULES = {name: f"---\n{fields}\n---\nqx-{name}\n" for name, fields in _INVALID.items()}
_FIELD_RULES = {name: f"---\n{fields}\n---\nqx-{name}\n" for name, fields in _FIELDS.items()}

FRONT_TREES = {
    **{f"continue-split-{name}": Tree(files, ("repo",), ("continue",)) for name, files in _pairs(_SPLIT).items()},
    **{
        f"continue-crlf-split-{name}": Tree(_windows(files), ("repo",), ("continue",))
        for name, files in _pairs(_SPLIT).items()
    },
    **{
        f"continue-fields-{name}": Tree(files, ("repo",), ("continue",)) for name, files in _pairs(_FIELD_RULES).items()
    },
    **{
        f"continue-invalid-{name}": Tree(files, ("repo",), ("continue",))
        for name, files in _pairs(_INVALID_RULES).items()
    },
    **{
        f"claude-fences-{name}": Tree(files, ("repo",), ("claude",), touch="repo/c/d/z.py", any_order=True)
        for name, files in {
            "end": _rules(_ENDS),
            "end-crlf": _windows(_rules(_ENDS)),
            "not-yaml": _rules(_NOT_YAML),
            "start": _rules(_BEGINNINGS),
            "start-crlf": _windows(_rules(_BEGINNINGS)),
        }.items()
    },
    **{
        f"claude-menus-{name}": Tree(_menus(form), ("repo",), ("claude",))
        for name, form in {**_ENDS, **_NOT_YAML, **_BEGINNINGS}.items()
    },
}
