"""Lint's checks about the released agents, derived from the layouts that mirror them."""

from __future__ import annotations

from .check import Check, Example

RULES = (
    "Every handler checks the caller's rights before it touches the database, and says in the log who asked for what. "
    * 10
)
_LONG = "# Shop\n\n" + "Every handler checks rights. " * 1_100 + "\n"


def _describe_skill(number: int) -> str:
    description = "Checks the rights of a caller, the state of an order and the stock of a shop. " * 11
    return f"---\nname: s{number}\ndescription: {description.strip()}\n---\nRun the checks.\n"


AGENT_CHECKS = (
    Check(
        "unread-file",
        "warning",
        "An agent does not read a file that is meant for several agents, because it has found a file of its own.",
        "Claude Code reads AGENTS.md only if there is no CLAUDE.md in any folder from the filesystem root to the one in which it works."
        " Nothing is reported if the agent gets the text in another way: from a link, a copy or an import, or because a file that it reads"
        " names the other one; if it has a guide of its own in that folder, of 600 characters or more (300 if the file is no longer than"
        " the guide); or if there is no AGENTS.md beside the CLAUDE.md"
        " either, so that the repository does not use such files to instruct every agent.",
        Example(
            {"AGENTS.md": "# Shop\n\nRun `make test`.\n", "CLAUDE.md": "# Shop\n\nBe brief.\n"},
            message_part="Claude Code never reads",
        ),
        Example({"AGENTS.md": "# Shop\n\nRun `make test`.\n", "CLAUDE.md": "@AGENTS.md\n\nBe brief.\n"}),
    ),
    Check(
        "unfollowed-import",
        "warning",
        "An agent does not follow an import: the file does not exist, the path has a `*`, or the import is in code.",
        "A path is relative to the file that imports it, not to the root. In `See @docs/style.md.`, Claude Code takes the full stop as part of the"
        " path. Gemini CLI takes even `@scope/name` for an import, and replaces it by a comment that the import failed. Several imports of one"
        " file that fail for the same reason are one finding. A file that git ignores is not reported, and neither are such words in a sample between tags"
        " or in a file that says in its first lines that it is generated.",
        Example(
            {"web/CLAUDE.md": "# Web\n\n@guides/style.md\n", "guides/style.md": "Be brief.\n"},
            "web/CLAUDE.md",
            3,
            "does not import @guides/style.md, because its path is relative to this file's folder",
            ("--recursive",),
        ),
        Example(
            {"web/CLAUDE.md": "# Web\n\n@../guides/style.md\n", "guides/style.md": "Be brief.\n"},
            "web/CLAUDE.md",
            options=("--recursive",),
        ),
    ),
    Check(
        "cut-file",
        "warning",
        "An agent cuts a file, or drops it, because the files before it use up its limit.",
        "Codex reads at most 32,768 bytes of a project's files, the one at the root first. The nearest file, which is usually the most"
        " specific one, is the first to go. The agent does not say so. If one large file leaves no room for others, it is reported at that file."
        " Nothing is reported if the repository's own settings, which count for those who trust it, raise the limit.",
        Example(
            {"AGENTS.md": _LONG, "web/AGENTS.md": "# Web\n\n" + "Pages are rendered on the server. " * 40 + "\n"},
            "AGENTS.md",
            None,
            "Codex CLI reads at most 32,768 bytes",
            ("web",),
        ),
        Example({"AGENTS.md": _LONG, "web/AGENTS.md": "# Web\n\nBe brief.\n"}, "AGENTS.md", options=("web",)),
    ),
    Check(
        "cut-menu",
        "warning",
        "An agent leaves out or shortens the descriptions of skills, because there are too many.",
        "The model chooses a skill by its description. Copilot CLI lists about 15,000 characters of skills and Claude Code 24,000, and of the rest only"
        " names; Codex CLI shortens every description if they have more than 21,730. Reported if the names and descriptions alone are longer.",
        Example(
            {f".claude/skills/s{number}/SKILL.md": _describe_skill(number) for number in range(30)},
            ".claude/skills/s0/SKILL.md",
            1,
            "Claude Code lists only the names",
        ),
        Example(
            {f".claude/skills/s{number}/SKILL.md": _describe_skill(number) for number in range(3)},
            ".claude/skills/s0/SKILL.md",
        ),
    ),
    Check(
        "blank-file",
        "warning",
        "A file is blank: agents get nothing from it, or it takes the place of another one.",
        "Codex reads AGENTS.override.md instead of the AGENTS.md beside it, even if it is blank. A file with only comments is not reported unless it"
        " hides another one.",
        Example(
            {"AGENTS.md": "Run `make test`.\n", "AGENTS.override.md": "\n"}, "AGENTS.override.md", message_part="hides"
        ),
        Example({"AGENTS.md": "Run `make test`.\n", "AGENTS.override.md": "Be brief.\n"}, "AGENTS.override.md"),
    ),
    Check(
        "misordered-file",
        "info",
        "An agent puts a general file after a more specific one.",
        "Gemini CLI sorts files by their whole paths, and uppercase letters come before lowercase ones. Below a folder such as `API`, the file at the root"
        " comes last, where models expect what is most specific. A file in a hidden folder, such as `.claude/CLAUDE.md`, is about the folder that contains"
        " the hidden one.",
        Example(
            {"GEMINI.md": "Run `make test`.\n", "API/GEMINI.md": "Run `make api`.\n"},
            "GEMINI.md",
            None,
            "Gemini CLI",
            ("API",),
        ),
        Example(
            {"GEMINI.md": "Run `make test`.\n", "api/GEMINI.md": "Run `make api`.\n"}, "GEMINI.md", options=("api",)
        ),
    ),
    Check(
        "misplaced-file",
        "warning",
        "An agent ignores a file: it reads files of that name in other places, or files there with another extension.",
        "Gemini CLI reads the GEMINI.md of a project, but not `.gemini/GEMINI.md`. Reported only if no agent reads the file, no other file"
        " names it, and it is in a hidden folder, in which nobody works.",
        Example(
            {".gemini/GEMINI.md": "# Shop\n\nRun `make test`.\n", ".gemini/settings.json": "{}\n"},
            ".gemini/GEMINI.md",
            None,
            "Gemini CLI ignores this file",
            ("--recursive",),
        ),
        Example(
            {"GEMINI.md": "# Shop\n\nRun `make test`.\n", ".gemini/settings.json": "{}\n"},
            ".gemini/GEMINI.md",
            options=("--recursive",),
        ),
    ),
    Check(
        "unmatched-rule",
        "warning",
        "A rule applies only to some paths (`paths`, `globs` or `applyTo`), and the repository has no such file.",
        "The rule is not used for any file. Usually a folder was renamed. Only a pattern that begins with the name of a folder that does not exist is"
        " reported, if files with its extension (or, without one, a folder with its last name) exist elsewhere, because others may be for files to"
        " come. A pattern counts as matching if it matches at any depth and in any letter case, or if a `.gitignore` ignores its folder, and so does one"
        " for a folder that a skill or a command names, because it may write there. If a repository has three or more such rules and most match"
        " nothing, it is a collection for other projects, and none is reported.",
        Example(
            {
                ".cursor/rules/web.mdc": "---\nglobs: frontend/**/*.html\n---\nBe brief.\n",
                "web/index.html": "<p>Hello</p>\n",
            },
            ".cursor/rules/web.mdc",
            2,
            "no file in the repository matches frontend/**/*.html",
        ),
        Example(
            {
                ".cursor/rules/web.mdc": "---\nglobs: web/**/*.html\n---\nBe brief.\n",
                "web/index.html": "<p>Hello</p>\n",
            },
            ".cursor/rules/web.mdc",
        ),
    ),
    Check(
        "rule-field",
        "warning",
        "An agent ignores a field of a rule: it is misspelled, empty, belongs to another agent, is neither true nor false, or is not valid YAML;"
        " or an instruction file of Copilot has no `applyTo`.",
        "The rule then applies to other files than its author expects: to all of them, or to none. Cursor knows `globs`, Claude Code `paths`, and"
        " Copilot `applyTo`.",
        Example(
            {".claude/rules/web.md": "---\nglobs: web/**\n---\nBe brief.\n", "web/index.html": "<p>Hello</p>\n"},
            ".claude/rules/web.md",
            2,
            "did you mean `paths`?",
        ),
        Example(
            {".claude/rules/web.md": "---\npaths: web/**\n---\nBe brief.\n", "web/index.html": "<p>Hello</p>\n"},
            ".claude/rules/web.md",
        ),
    ),
    Check(
        "sent-twice",
        "info",
        "An agent gets the same text of 1,000 characters or more twice: from two files for the same agents, a link, or an import.",
        "All copies cost tokens on every turn, and sooner or later only one of them is updated. Two files are"
        " for the same agents if they have the same name or are rules in one folder; a copy in another file, such as CLAUDE.md, may be for an agent"
        " that reads only that one. A file that is identical byte for byte is sent once. What a program writes into a file is not reported. An agent"
        " counts if the repository has a file that only this agent reads, or if the text is in files for every agent.",
        Example(
            {
                "AGENTS.md": f"# Shop\n\n{RULES}\n",
                "web/AGENTS.md": f"# Web\n\n{RULES}\n",
            },
            "web/AGENTS.md",
            3,
            "get this paragraph twice",
            ("web",),
        ),
        Example({"AGENTS.md": f"# Shop\n\n{RULES}\n", "CLAUDE.md": f"# Claude\n\n{RULES}\n"}, "CLAUDE.md"),
    ),
)
AGENT_IDS = frozenset(check.id for check in AGENT_CHECKS)
