"""Every finding code, with its severity and meaning. The reference page is generated from this table.

A finding is an `error` if the prompt is not what was requested, or if a file must be repaired before agents can use it; a `warning` if
something else that a person wrote is missing from the prompt or was changed; and `info` otherwise. `lint` reports the same findings with
the same severities.
"""

from __future__ import annotations

from .vocabulary import Finding, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .vocabulary import Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
CODES: dict[str, tuple[Severity, str]] = {
    # files
    "file-unreadable": ("warning", "A file could not be read; the message says why."),
    "file-binary": ("warning", "A file contains NUL bytes and was skipped."),
    "file-not-utf8": ("warning", "A file is not UTF-8; the message names the encoding or the first invalid byte."),
    "file-cut": ("warning", "A file is larger than the reader's limit; the prompt contains only the beginning."),
    "file-duplicate": (
        "info",
        "The same file, or the same text, was found twice; it is in the prompt once. Lint reports only equal texts, not a link or a file"
        " that only imports the other one.",
    ),
    "file-blank": (
        "info",
        "A file contains only white space, but the layout keeps it, as the program that it mirrors does.",
    ),
    "file-shadowed": ("info", "Another file was chosen instead of this one."),
    "file-case": (
        "warning",
        "A file name differs from a known one only in case; the message says whether the file was read.",
    ),
    "file-outside": (
        "info",
        'A link in the project points outside the workspace and was followed, because of `links = "follow"`.',
    ),
    "link-refused": (
        "warning",
        "A link points outside the workspace, to a file with secrets, into `/proc`, `/sys` or `/dev`, or to a folder"
        " above itself, and was not followed. The message names the link and, if there is one, the setting that"
        " would allow it.",
    ),
    "file-untrusted": (
        "warning",
        'A file, or some of its lines, is new or has changed since you trusted the workspace, and `trust = "ask"`, so it was'
        ' left out or, with `untrusted = "user"`, sent as a user message. `foreword trust` accepts it.',
    ),
    "file-changed": (
        "info",
        'A file is new or has changed since it was last used, and `trust = "record"`; or, with `trust = "ask"`, lines of a'
        " trusted version are missing from it.",
    ),
    "file-fence": (
        "warning",
        "A file or an entry ends inside a code fence or comment; it was closed so that the rest of the prompt is not"
        " part of it.",
    ),
    "file-neutralised": ("warning", "A file contains a tag of the section around it; the tag was escaped."),
    "hidden-characters": (
        "error",
        "Text contains invisible characters; the message decodes them. Kinds that usually come from copying are warnings.",
    ),
    "scan-limit": ("warning", "There are more folders than the search limit allows; the rest were not searched."),
    "folder-missing": ("warning", "A setting or layout refers to a folder that does not exist."),
    "pattern-literal": (
        "warning",
        "A setting contains `?`, or `{a,b}` outside a list or with too many alternatives, which are treated as part of a file's name.",
    ),
    "home-missing": ("warning", "The home directory is unknown; the user's own files were skipped."),
    "not-a-repository": (
        "info",
        "The working directory is not in a git repository; the layout searches only that directory.",
    ),
    "agent-invalid": ("warning", "A sub-agent's definition has no description and was skipped."),
    "config-invalid": (
        "warning",
        "A configuration file of the program that the layout mirrors cannot be read or has an unusable value, which was ignored.",
    ),
    "front-matter-invalid": (
        "warning",
        "A file's front matter is not valid YAML and was read line by line, or not at all; or some of its globs are ignored, because"
        " they are too long, too many, or neither text nor a list.",
    ),
    "touch-outside": ("info", "A touched path is invalid or outside the workspace; nothing was sent for it."),
    "touch-later": (
        "warning",
        "The instructions for a touched file could not be sent, because the store is down or the budget was used up; they will be sent later.",
    ),
    "skill-shadowed": ("warning", "Two skills or resident files have the same name; the first one is used."),
    # align
    "align-unlisted": ("info", "Git did not list the repository's files, so ignored ones count too."),
    "align-undetected": ("info", "After the changes, no file shows that an agent is used; name it with `--agent`."),
    "align-unreached": (
        "warning",
        "An agent will not read an instruction exactly once, and no change that `foreword align` may make can help.",
    ),
    "align-unreadable": (
        "warning",
        "A file that would be a source is not text, or is too large, so `foreword align` plans nothing for it.",
    ),
    "align-broken": ("warning", "After a change, an agent no longer reads an instruction exactly once."),
    "align-ignored": ("info", "Git would ignore a file that `foreword align` could create, so it creates none."),
    "align-from": (
        "warning",
        "A part of another program's folder (`--from`) cannot become an instruction for all agents, or a person's file is in its place.",
    ),
    "align-own": (
        "info",
        "An agent also reads the user's own files outside the repository. `foreword align` neither counts nor changes them.",
    ),
    "align-start": (
        "info",
        "An agent reads an instruction exactly once if it starts at the root, but not if it starts in a folder below.",
    ),
    "align-shared": (
        "info",
        "An agent's own file has lines that `AGENTS.md` has too, so they can drift apart. `foreword align --merge` keeps each once.",
    ),
    "align-edited": (
        "warning",
        "A generated file was edited by a person, so `foreword align` neither overwrites nor removes it.",
    ),
    "align-dialect": (
        "warning",
        "The copy of a rule or skill cannot express everything that its source says; the message says what is lost.",
    ),
    # templates
    "template-unmatched": ("error", "An [if], [else] or [endif] has no counterpart and is left as text."),
    "template-malformed": ("warning", "Something in a template looks like a tag but is not one, and is left as text."),
    "template-unknown-type": (
        "warning",
        "A variable's type is not in the catalog; the variable is treated as undefined.",
    ),
    "template-error": ("error", "A template cannot be parsed or rendered."),
    "template-unknown-name": (
        "warning",
        "The catalog has no variable with this type and name; the variable is treated as undefined.",
    ),
    "template-expression": (
        "warning",
        "A tag seems to combine or compare variables, but is read as a single variable with that name.",
    ),
    "template-more": ("info", "A template has more problems than the report lists."),
    "directive-unmatched": ("warning", "An if, else or endif directive has no counterpart and is left as text."),
    "directive-malformed": ("warning", "A directive is malformed and is left as text; the message says what is wrong."),
    "directive-platform": (
        "warning",
        "A condition compares the platform with a name that no platform has, such as windows instead of win32.",
    ),
    "directive-unknown": (
        "info",
        "A comment looks like a directive, but there is no directive with that name; it is left as text.",
    ),
    "directive-cycle": ("warning", "A file includes itself; the message shows the chain. The include was left out."),
    "directive-depth": (
        "warning",
        "Includes are nested too deeply; the message shows the chain. The include was left out.",
    ),
    "variable-refused": (
        "warning",
        "A template refers to a file that it is not allowed to read; the variable is treated as undefined.",
    ),
    "variable-failed": (
        "warning",
        "A variable's value could not be determined; the message says why. The variable is treated as undefined.",
    ),
    "include-refused": (
        "error",
        "A file includes another file that it is not allowed to include; the include was left out.",
    ),
    "import-missing": ("info", "A file imports another file that does not exist."),
    "import-outside": (
        "warning",
        "A file imports another file from a folder that the layout does not allow; the import was left out.",
    ),
    "import-refused": (
        "warning",
        "A file imports another file that it is not allowed to read, such as one with secrets; the import was left out.",
    ),
    "import-extension": (
        "warning",
        "A file imports another file whose extension the layout does not allow, such as `.mdc`; the import was left out.",
    ),
    "import-depth": (
        "warning",
        "Imports are nested more deeply than the layout allows; the import was left out.",
    ),
    "import-cycle": ("warning", "A file imports itself, directly or through others; the message shows the chain."),
    "import-limit": (
        "warning",
        "A file has more imports, or imports more text, than the limit allows; the rest was left out.",
    ),
    # settings and untrusted workspaces
    "wording-unknown": ("warning", "A `prompts.toml` has a key that no shipped layout uses."),
    "agent-left-out": (
        "warning",
        "`foreword agents` cannot show an agent, because its layout is invalid or does not accept the settings; the message says why.",
    ),
    "setting-unused": (
        "info",
        "A settings file sets a key that the layout in use does not have, though another one does; it was ignored.",
    ),
    "settings-invalid": (
        "warning",
        "The workspace's `foreword.toml` or `prompts.toml` is invalid and was ignored.",
    ),
    "workspace-refused": (
        "warning",
        "A file in the workspace requested something that a workspace is not allowed to do.",
    ),
    # budgets
    "budget-file": (
        "warning",
        "A file was cut to stay within a budget; the message gives its size in tokens or bytes before and after.",
    ),
    "budget-list": (
        "warning",
        "A list of skills or other entries was shortened to stay within a budget; the message gives its token counts before and after.",
    ),
    "budget-section": ("warning", "A section exceeds its budget."),
    "budget-prompt": ("warning", "The prompt exceeds its budget."),
    "budget-tools": (
        "warning",
        "The tools' definitions exceed their budget; the message names the MCP servers and tools that cost the most.",
    ),
    "budget-exceeded": ("error", "The parts that must not be cut already exceed the prompt's budget."),
    # conversations
    "compaction-empty": (
        "warning",
        "A summary was requested without the messages to summarise. Pass the history: `conversation.compact(messages=turn.history)`.",
    ),
    "price-unknown": (
        "info",
        "No prices are known for the agent's model, so costs are not estimated. This is normal for local models.",
    ),
    "layout-kept": (
        "info",
        "A conversation was opened with another layout than its prompt was built with, and keeps its prompt.",
    ),
    "layout-rebuilt": (
        "info",
        "A conversation was opened with another layout than its prompt was built with, and was rebuilt.",
    ),
    "tools-kept": (
        "warning",
        "The agent's tools differ from the conversation's, and the layout keeps the original definitions.",
    ),
    "drift": (
        "info",
        "The workspace or the tools have changed since the current edition was built; the message says how many"
        " cached tokens a rebuild would lose.",
    ),
    "rebuilt": (
        "info",
        "A new edition was built, because that is cheaper than announcing the changes; the message gives both prices.",
    ),
    "request-changed": (
        "warning",
        "A request misses the provider's cache (`check_request`); the message names the first change and who made it.",
    ),
    "cache-breakpoints": (
        "error",
        "A request has too many cache breakpoints, or has them in the wrong order, so Anthropic rejects it (`check_request`).",
    ),
    "store-down": (
        "warning",
        "The store could not be reached; the last state that this process read is used.",
    ),
    "store-busy": (
        "warning",
        "The store works, but did not complete a call in time, for example because another process has locked it; the last"
        " state that this process read is used.",
    ),
    # prompt caches
    "cache-order": (
        "warning",
        "A section comes before one that changes less often, so the latter must be sent again whenever the former changes.",
    ),
    "cache-unstable": (
        "warning",
        "A section changed when the prompt was built again, although nothing relevant had changed.",
    ),
    "cache-collapse": (
        "warning",
        "A call read less than half of what the previous call left in the provider's cache; the message gives the probable cause.",
    ),
    # extensions
    "extension-unused": (
        "warning",
        "An extension has a source for a lookup rule that the layout does not have; the source is not used.",
    ),
    "extension-failed": (
        "warning",
        "An extension's function raised an exception or returned the wrong type, and was skipped.",
    ),
    # the caller's arguments
    "base-file-name": (
        "warning",
        "The base prompt looks like a file name or the address of a template; the prompt contains that name, not the file's text.",
    ),
    "argument-unused": ("info", "The caller passed an argument that the layout does not use."),
    "server-cut": ("warning", "The instructions of an MCP server are too long, and only their beginning is used."),
    # skills
    "skill-invalid": (
        "error",
        "A SKILL.md violates the specification, cannot be read or no longer exists, and was skipped.",
    ),
    "skills-unlisted": (
        "warning",
        "Skills were found, but the prompt does not list them, because the agent has no tool that can load one.",
    ),
    "skill-blank": ("warning", "The active skill has no text after its front matter; it is not in the prompt."),
    "skill-no-description": ("error", "A SKILL.md has no readable description and was skipped."),
    "skill-repaired": ("warning", "A skill's front matter is not valid YAML; it was read line by line."),
    "skill-name": (
        "info",
        "A skill's name is missing, malformed or different from its folder's; the skill was loaded anyway.",
    ),
    "skill-field": (
        "info",
        "A skill's field is unknown, too long, of the wrong type or ignored; the skill was loaded anyway.",
    ),
    "resident-invalid": (
        "warning",
        "The front matter of a resident file (one that the prompt lists by name and description) is not closed or is too long; the file was skipped.",
    ),
    "resident-no-description": ("warning", "A resident file has no description and was skipped."),
    "resident-field": (
        "warning",
        "A resident file seems to ask to be listed, but the field has another value than true or false, or its name is misspelt.",
    ),
    "resident-repaired": (
        "warning",
        "A resident file's front matter is not valid YAML; it was read line by line.",
    ),
    # effect
    "effect-outside": (
        "info",
        "Every arm of an experiment still has this instruction file, because it is outside the repository.",
    ),
    "effect-left-out": (
        "warning",
        "No arm of an experiment has this file, although the checkout has it; `--with` copies it.",
    ),
    "effect-folder": (
        "info",
        "What an agent keeps for a folder, such as trust or memory, does not apply in the arms of an experiment.",
    ),
    "effect-no-result": ("warning", "Many runs of an arm had no result, so its verdict is *undecided*."),
    "effect-stopped": ("info", "An experiment was stopped before every arm was decided; the message says why."),
    # sessions
    "session-log-unreadable": ("warning", "A log of a released agent could not be read; the message says why."),
    "session-log-cut": ("info", "A line of a log is cut, not JSON or has unexpected values, and was left out."),
    "session-record-unknown": (
        "info",
        "A log has records of a type that Foreword does not know, and they were left out. There is one finding per type and version.",
    ),
    "session-rebuild-differs": (
        "warning",
        "A request that was rebuilt from a log differs from its digest in that log.",
    ),
    "session-old-text": (
        "info",
        "An instruction file was edited during a session, and the old text stayed in its requests beside the new one.",
    ),
    "session-file-lost": (
        "info",
        "An instruction file that was in the requests of a session was not sent any more after a compaction or a resume.",
    ),
    "session-bare-agent": ("info", "A sub-agent got none of the instruction files."),
    "session-mirror-differs": ("warning", "A program read other instruction files than the layout that mirrors it."),
    "session-folder-moved": (
        "info",
        "Logs belong to a folder with the repository's name that does not exist any more; the repository may have been moved.",
    ),
}


# Lint's checks; their table is in `inspection/lint/table.py`.
CHECK_IDS = (
    "secret",
    "hidden-characters",
    "forged-tag",
    "contradiction",
    "repeated-paragraph",
    "volatile-text",
    "missing-file",
    "missing-target",
    "missing-script",
    "unsupported-include",
    "include-refused",
    "missing-tool",
    "over-limit",
    "oversized-section",
    "skill-invalid",
    "skill-no-description",
    "skill-repaired",
    "skill-name",
    "skill-field",
    "unread-file",
    "unfollowed-import",
    "cut-file",
    "cut-menu",
    "blank-file",
    "misordered-file",
    "misplaced-file",
    "unmatched-rule",
    "rule-field",
    "sent-twice",
    "unused-ignore",
)
# Finding codes that lint replaces with a more detailed check.
REPLACED_BY_CHECKS = {"file-neutralised": "forged-tag"}


def known_ids() -> set[str]:
    """Return everything that can be disabled: lint checks and finding codes."""
    return {*CHECK_IDS, *CODES} - REPLACED_BY_CHECKS.keys()


def finding(
    code: str,
    message: str,
    path: str = "",
    line: int | None = None,
    column: int | None = None,
    end_column: int | None = None,
) -> Finding:
    """Create a finding with its code's severity."""
    return Finding(code, CODES[code][0], message, path, line, column, end_column)


def template_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings about a template itself, its variables and the files that it reads."""
    return [row for row in findings if row.code.startswith(("template-", "variable-", "file-"))]


# What a message calls the files of a finding.
_MERGED_CODES = {
    **dict.fromkeys(("skill-invalid", "skill-no-description", "skill-field", "skill-name", "skill-repaired"), "skills"),
    "agent-invalid": "sub-agents",
    **dict.fromkeys(("over-limit", "file-case", "file-unreadable"), "files"),
    "link-refused": "links",
}


def merge_repeated(findings: Iterable[Finding], root: str = "") -> list[Finding]:
    """Merge findings about files with one problem into the first one, which says how many have it. Those outside `root` are separate."""
    findings = list(findings)
    groups: dict[tuple[str, str, bool], list[Finding]] = {}
    for current in (each for each in findings if each.code in _MERGED_CODES):
        groups.setdefault(_group_key(current, root), []).append(current)
    merged = []
    for current in findings:
        group = groups[_group_key(current, root)] if current.code in _MERGED_CODES else [current]
        count = len({member.path for member in group})
        if count == 1:
            merged.append(current)
        elif current is group[0]:
            message = f"{current.message} (the first of {count:,} such {_MERGED_CODES[current.code]})"
            merged.append(replace(current, message=message))
    return merged


def _group_key(found: Finding, root: str) -> tuple[str, str, bool]:
    problem = found.message.removeprefix(found.path).removeprefix(": ")
    if found.code in ("skill-name", "agent-invalid"):  # the quoted names differ, the problem is the same
        problem = "".join(problem.split("'")[::2])
    problem = problem.partition(";")[2] if found.code == "over-limit" else problem
    return found.code, problem, not root or found.path.startswith(f"{root.rstrip('/')}/")


# What extensions' functions return


class WrongType(Exception):
    """An extension's function returned the wrong type; the message says which type was returned and which was expected."""


def list_of(result: Any, kind: type, expected: str) -> list[Any]:
    """Return a function's result as a list of this type. Strings and unordered collections are rejected."""
    if isinstance(result, str | bytes | bytearray | dict | set | frozenset) or not hasattr(result, "__iter__"):
        raise WrongType(f"{type_in_words(result)}, not {expected},")
    entries = list(result)
    if invalid := [entry for entry in entries if not isinstance(entry, kind)]:
        raise WrongType(f"{type_in_words(result)} with {type_in_words(invalid[0])} in it, not {expected},")
    return entries


def type_in_words(result: object) -> str:
    """Return a value's type with its article: `a str`, `an int`, `None`."""
    name = type(result).__name__
    return "None" if result is None else f"an {name}" if name[0] in "aeiou" else f"a {name}"
