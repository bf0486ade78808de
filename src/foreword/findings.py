"""Every finding code, with its severity and meaning. The reference page is generated from this table.

A finding is an `error` if the prompt is not what was asked for, a `warning` if something that a person wrote is missing from it or
changed, and `info` if nothing is wrong.
"""

from __future__ import annotations

from .vocabulary import Finding, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .vocabulary import Severity

CODES: dict[str, tuple[Severity, str]] = {
    # files
    "file-unreadable": ("warning", "A file could not be read; the message says why."),
    "file-binary": ("warning", "A file contains NUL bytes and was skipped."),
    "file-not-utf8": ("warning", "A file is not UTF-8; the message names the encoding or the first invalid byte."),
    "file-cut": ("warning", "A file is larger than the reader's limit; the prompt has only its start."),
    "file-duplicate": ("info", "The same file, or the same text, was found twice; it is in the prompt once."),
    "file-blank": (
        "info",
        "A file contains only white space, and the layout keeps it as the program that it mirrors does.",
    ),
    "file-shadowed": ("info", "Another file was chosen instead of this one."),
    "file-case": (
        "warning",
        "A file name differs from a known one only in upper and lower case; the message says whether the file was read.",
    ),
    "file-outside": (
        "info",
        'A link in the project leads out of the workspace and was followed, because of `links = "follow"`.',
    ),
    "link-refused": (
        "warning",
        "A link leads out of the workspace, to a file with secrets, into `/proc`, `/sys` or `/dev`, or to a folder"
        " above itself, and was not followed. The message names the link and, if there is one, the setting that"
        " would allow it.",
    ),
    "file-fence": (
        "warning",
        "A file or an entry ends inside a code fence or comment; it was closed so that the rest of the prompt is not"
        " part of it.",
    ),
    "file-neutralised": ("warning", "A file contains a tag of the section around it; the tag was escaped."),
    "hidden-characters": ("warning", "Text contains invisible characters; the message decodes them."),
    "scan-limit": ("warning", "There are more folders than the search limit; the rest was not searched."),
    "folder-missing": ("warning", "A setting or layout names a folder that does not exist."),
    "home-missing": ("warning", "The home directory is not known; the user's own files were skipped."),
    "not-a-repository": (
        "info",
        "The working directory is not in a git repository; the layout searches only that directory.",
    ),
    "agent-invalid": ("warning", "The definition of a sub-agent has no description; it is skipped."),
    "config-invalid": (
        "warning",
        "A configuration file of the program that the layout mirrors cannot be read, or has a value that cannot be used; it was ignored.",
    ),
    "front-matter-invalid": (
        "warning",
        "The front matter of a file is not valid YAML; it was read line by line, or not at all.",
    ),
    "skill-shadowed": ("warning", "Two skills or residents have the same name; the first one is used."),
    # templates
    "template-unmatched": ("warning", "An [if], [else] or [endif] has no partner and is left as text."),
    "template-malformed": ("warning", "Something in a template looks like a tag but is not one, and is left as text."),
    "template-unknown-type": ("warning", "The type of a variable is not in the catalog; the variable does not exist."),
    "template-error": ("error", "A template cannot be parsed or rendered."),
    "template-unknown-name": (
        "warning",
        "The catalog has no variable of that name for this type; the variable does not exist.",
    ),
    "template-more": ("info", "A template has more problems than are listed."),
    "directive-unmatched": ("warning", "An if, else or endif directive has no partner and is left as text."),
    "directive-malformed": ("warning", "A directive is malformed and is left as text; the message says what is wrong."),
    "directive-unknown": (
        "info",
        "A comment looks like a directive, but there is no directive of that name; it is left as text.",
    ),
    "directive-cycle": ("warning", "A file includes itself; the message prints the chain. The include was left out."),
    "directive-depth": (
        "warning",
        "Files include each other too deeply; the message prints the chain. The include was left out.",
    ),
    "variable-refused": ("warning", "A template names a file that may not be read; the variable does not exist."),
    "variable-failed": (
        "warning",
        "The value of a variable could not be determined; the message says why. The variable does not exist.",
    ),
    "include-refused": ("warning", "A file includes another that it may not include; the include was left out."),
    "import-missing": ("info", "A file imports another that does not exist."),
    "import-outside": ("warning", "A file imports another that is outside what the layout allows; it is left out."),
    "import-refused": (
        "warning",
        "A file imports another that it may not read, such as one with secrets; it is left out.",
    ),
    "import-depth": ("warning", "Files import each other more deeply than the layout allows; the import is left out."),
    "import-cycle": ("warning", "A file imports itself, directly or through others; the message prints the chain."),
    "import-limit": ("warning", "A file has more imports, or imports more text, than the limit; the rest is left out."),
    # settings and untrusted workspaces
    "wording-unknown": ("warning", "A prompts.toml has a key that no shipped layout uses."),
    "agent-left-out": (
        "warning",
        "`foreword agents` cannot show an agent, because its layout does not accept the settings; the message says which.",
    ),
    "settings-invalid": ("warning", "The workspace's foreword.toml is invalid and was ignored."),
    "workspace-refused": ("warning", "A file in the workspace asked for something that a workspace may not have."),
    # budgets
    "budget-file": (
        "warning",
        "A file was cut to stay within a budget; the message gives its tokens or bytes before and after.",
    ),
    "budget-menu": (
        "warning",
        "A menu was shortened to stay within a budget; the message gives its tokens before and after.",
    ),
    "budget-section": ("warning", "A section is over its budget."),
    "budget-whole": ("warning", "The prompt is over its budget."),
    "budget-exceeded": ("error", "The parts that may not be cut are over the budget of the whole prompt."),
    # conversations
    "tools-kept": (
        "warning",
        "The agent's tools differ from those of the conversation, and the layout keeps the original definitions.",
    ),
    "drift": (
        "info",
        "The workspace or the tools have changed since the current edition was built; the message gives the price of"
        " a rebuild.",
    ),
    "store-down": ("warning", "The store could not be reached; the last state that this process knows is used."),
    # prompt caches
    "cache-order": (
        "warning",
        "A section comes before one that changes less often, which has to be sent again with it.",
    ),
    "cache-unstable": ("warning", "A section changed although nothing relevant did when the prompt was built again."),
    # extensions
    "extension-unused": (
        "warning",
        "An extension has a source for a lookup rule that the layout does not have; it is not in the prompt.",
    ),
    "extension-failed": (
        "warning",
        "A function of an extension raised an exception or returned the wrong type, and was skipped.",
    ),
    # arguments of the caller
    "base-file-name": (
        "warning",
        "The base looks like the name of a file; the prompt contains that name, not the file.",
    ),
    "agent-unused": ("info", "The caller passed something that the layout does not use."),
    # skills
    "skill-invalid": ("warning", "A SKILL.md violates the specification, cannot be read or is gone, and was skipped."),
    "skill-blank": ("warning", "The active skill has no text after its front matter; it is not in the prompt."),
    "skill-no-description": ("warning", "A SKILL.md has no readable description and was skipped."),
    "skill-repaired": ("warning", "The front matter of a skill is not valid YAML; it was read line by line."),
    "skill-name": (
        "info",
        "The name of a skill is missing, malformed or different from its folder's; the skill is loaded.",
    ),
    "skill-field": (
        "info",
        "A field of a skill is unknown, too long, of the wrong type or ignored; the skill is loaded.",
    ),
    "resident-invalid": ("warning", "The front matter of a file is never closed or is too long; the file was skipped."),
    "resident-no-description": ("warning", "A file that asks to be resident has no description and was skipped."),
    "resident-repaired": ("warning", "The front matter of a resident is not valid YAML; it was read line by line."),
}


# The checks of lint; their table is in `inspection/lint/table.py`.
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
    "blind-include",
    "include-refused",
    "missing-tool",
    "over-limit",
    "oversized-section",
    "skill-invalid",
    "skill-no-description",
    "skill-repaired",
    "skill-name",
    "skill-field",
    "unused-ignore",
)
# Codes that lint replaces with a more detailed check.
REPLACED_BY_CHECKS = {"file-neutralised": "forged-tag"}


def known_ids() -> set[str]:
    """Everything that can be disabled: the checks of lint and the codes of findings."""
    return {*CHECK_IDS, *CODES} - REPLACED_BY_CHECKS.keys()


def finding(
    code: str,
    message: str,
    path: str = "",
    line: int | None = None,
    column: int | None = None,
    end_column: int | None = None,
) -> Finding:
    """A finding, with the severity of its code."""
    return Finding(code, CODES[code][0], message, path, line, column, end_column)


def grouped(findings: Iterable[Finding], root: str = "") -> list[Finding]:
    """The findings, with equal ones about fields of skills merged into the first, which then says how many skills it is about.

    Otherwise one habit of an author would fill most of a report. Skills outside `root` are counted separately.
    """
    every = list(findings)
    groups: dict[tuple[str, bool], list[Finding]] = {}
    for each in every:
        if each.code == "skill-field":
            groups.setdefault(_group(each, root), []).append(each)
    shown = []
    for each in every:
        same = groups[_group(each, root)] if each.code == "skill-field" else [each]
        skills = len({other.path for other in same})
        if skills == 1:
            shown.append(each)
        elif each is same[0]:
            shown.append(replace(each, message=f"{each.message} (in {skills:,} skills; this is the first)"))
    return shown


def _group(each: Finding, root: str) -> tuple[str, bool]:
    return each.message, not root or each.path.startswith(f"{root.rstrip('/')}/")


# The results of extensions' functions


class WrongType(Exception):
    """A function of an extension returned the wrong type; the message says which, and what is expected."""


def entries_of(result: Any, kind: type, expected: str) -> list[Any]:
    """The result of a function as a list of this type. Strings and unordered collections are rejected."""
    if isinstance(result, str | bytes | bytearray | dict | set | frozenset) or not hasattr(result, "__iter__"):
        raise WrongType(f"{kind_of(result)}, not {expected},")
    entries = list(result)
    invalid = [each for each in entries if not isinstance(each, kind)]
    if invalid:
        raise WrongType(f"{kind_of(result)} with {kind_of(invalid[0])} in it, not {expected},")
    return entries


def kind_of(result: object) -> str:
    """The type of a value, in words: `a str`, `None`."""
    name = type(result).__name__
    return "None" if result is None else f"an {name}" if name[0] in "aeiou" else f"a {name}"
