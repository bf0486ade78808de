"""Every kind of finding, with its severity and what it means: the reference page is made from this table.

A finding is an `error` when the prompt is not what was asked for, a `warning` when something a person wrote is not in it or not
as they wrote it, and `info` when all is well but worth knowing.
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
    "file-unreadable": ("warning", "A file with the right name could not be read; the message says why."),
    "file-binary": ("warning", "A file with the right name holds NUL bytes and was skipped."),
    "file-not-utf8": ("warning", "A file is not UTF-8; the message names the encoding or the first wrong byte."),
    "file-cut": ("warning", "A file is larger than the reader's limit; what follows the limit is not in the prompt."),
    "file-duplicate": ("info", "The same file, or the same text, was found twice; it stands in the prompt once."),
    "file-shadowed": ("info", "Another file was chosen in place of this one."),
    "file-case": (
        "warning",
        "A file differs from a known name only in its capital letters; the message says whether it was read.",
    ),
    "file-outside": (
        "info",
        'A link of the project leaves the workspace and was followed, as `links = "follow"` says.',
    ),
    "link-refused": (
        "warning",
        "A link leaves the workspace, or leads to a file that holds secrets, into `/proc`, `/sys` or `/dev`, or to a folder above itself,"
        " and was not followed. The message names the link, and the setting that would allow it if there is one.",
    ),
    "file-fence": (
        "warning",
        "A file or an entry ends inside a code fence or comment; it was closed so that it swallows nothing.",
    ),
    "file-neutralised": ("warning", "A file holds a tag of the section that wraps it; the tag was made harmless."),
    "hidden-characters": ("warning", "A text holds characters that a person does not see; the message decodes them."),
    "scan-limit": ("warning", "A folder holds more folders than are looked through; the rest was not looked at."),
    "folder-missing": ("warning", "A setting or layout names a folder to look in, and there is no such folder."),
    "home-missing": ("warning", "No home directory is known; everything that belongs to the user was skipped."),
    "not-a-repository": (
        "info",
        "No git repository above the working directory; the layout looks in that directory only.",
    ),
    "skill-shadowed": ("warning", "Two skills or residents have one name; the first stays."),
    # templates
    "template-unmatched": ("warning", "An [if], [else] or [endif] has no partner and is left as text."),
    "template-malformed": ("warning", "Something in a template looks like a tag but is not one, and is left as text."),
    "template-unknown-type": ("warning", "A variable's type is not in the catalog; the variable does not exist."),
    "template-error": ("error", "A template cannot be parsed or rendered."),
    "template-unknown-name": (
        "warning",
        "A variable's type is in the catalog, but has none of that name; the variable does not exist.",
    ),
    "template-more": ("info", "A template has more doubtful places than are listed."),
    "directive-unmatched": ("warning", "An if, else or endif directive has no partner and is left as text."),
    "directive-malformed": (
        "warning",
        "A directive is not well written and is left as text; the message says what is wrong.",
    ),
    "directive-unknown": (
        "info",
        "A comment has the form of a directive, but there is none of that name; it stands as text.",
    ),
    "directive-cycle": (
        "warning",
        "A file includes itself; the message prints the chain. Nothing was put in its place.",
    ),
    "directive-depth": (
        "warning",
        "Files include each other too deeply; the message prints the chain. Nothing was put in.",
    ),
    "variable-refused": ("warning", "A template names a file that may not be read; nothing stands in its place."),
    "variable-failed": (
        "warning",
        "The value of a variable could not be had; the message says why. It does not exist.",
    ),
    "include-refused": ("warning", "A file includes another that it may not have; nothing stands in its place."),
    # settings, and what a stranger may not do
    "wording-unknown": ("warning", "A prompts.toml has a key that no shipped layout knows."),
    "settings-wrong": ("warning", "The workspace's foreword.toml is wrong and was ignored."),
    "workspace-refused": ("warning", "Something that came with the workspace asked for what a workspace may not have."),
    # budgets
    "budget-file": ("warning", "A file was cut to keep a budget; the message tells its tokens before and after."),
    "budget-menu": ("warning", "A menu was shortened to keep a budget; the message tells its tokens before and after."),
    "budget-section": ("warning", "A section is over its budget."),
    "budget-whole": ("warning", "The prompt is over its budget."),
    "budget-exceeded": ("error", "What may not give way is over the budget of the whole prompt."),
    # conversations
    "tools-kept": (
        "warning",
        "The agent's tools differ from those of the conversation, and the layout keeps the definitions it started with.",
    ),
    "drift": (
        "info",
        "The workspace or the tools have changed since the edition in use was made; the message tells the price.",
    ),
    "store-down": ("warning", "The store could not be reached; what this process knows is used."),
    # prompt caches
    "cache-order": ("warning", "A section stands before one that lives longer, which is written again with it."),
    "cache-moved": ("warning", "Built again where nothing that matters had changed, a section reads otherwise."),
    # extensions
    "extension-unused": (
        "warning",
        "An extension has a source for a find that the layout does not have; nothing of it is in the prompt.",
    ),
    "extension-failed": (
        "warning",
        "Something of an extension raised an exception, or gave something else than it should, and was skipped.",
    ),
    # what the caller gave
    "base-file-name": (
        "warning",
        "The base is nothing but what looks like the name of a file; that name is the prompt, not what the file holds.",
    ),
    "agent-unused": ("info", "The caller gave something for which the layout has no place."),
    # skills
    "skill-invalid": ("warning", "A SKILL.md breaks the specification, cannot be read, or is gone, and was skipped."),
    "skill-blank": ("warning", "The active skill has nothing below its front matter; nothing of it is in the prompt."),
    "skill-no-description": ("warning", "A SKILL.md has no description that can be read and was skipped."),
    "skill-repaired": ("warning", "A skill's front matter is not valid YAML; it was read line by line."),
    "skill-name": ("info", "A skill's name is missing, ill-formed or not its folder's; the skill is loaded."),
    "skill-field": (
        "info",
        "A field of a skill is unknown, too long, of a wrong kind or ignored; the skill is loaded.",
    ),
    "resident-invalid": ("warning", "A file's front matter is never closed or far too long; the file was skipped."),
    "resident-no-description": ("warning", "A file that asks to be resident has no description and was skipped."),
    "resident-repaired": ("warning", "A resident's front matter is not valid YAML; it was read line by line."),
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
# Codes that lint replaces by a check that says more.
SAID_BETTER = {"file-neutralised": "forged-tag"}


def known_ids() -> set[str]:
    """Everything that can be turned off: the checks of lint, and the codes of findings."""
    return {*CHECK_IDS, *CODES} - SAID_BETTER.keys()


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
    """The findings, with one for each field of skills that says how many skills it concerns, and is placed at the first.

    One habit of an author would otherwise fill most of a report. Skills outside of `root` are counted apart.
    """
    every = list(findings)
    groups: dict[tuple[str, bool], list[Finding]] = {}
    for each in every:
        if each.code == "skill-field":
            groups.setdefault(_habit(each, root), []).append(each)
    shown = []
    for each in every:
        same = groups[_habit(each, root)] if each.code == "skill-field" else [each]
        skills = len({other.path for other in same})
        if skills == 1:
            shown.append(each)
        elif each is same[0]:
            shown.append(replace(each, message=f"{each.message} (in {skills:,} skills; this is the first)"))
    return shown


def _habit(each: Finding, root: str) -> tuple[str, bool]:
    return each.message, not root or each.path.startswith(f"{root.rstrip('/')}/")


# What a function of an extension gives


class WrongType(Exception):
    """A function of an extension gave something else than it should; the text says what, and what would be right."""


def entries_of(given: Any, kind: type, right: str) -> list[Any]:
    """What a function gave, as a list of this kind. What has no order is no list, and a text is not a list of letters."""
    if isinstance(given, str | bytes | bytearray | dict | set | frozenset) or not hasattr(given, "__iter__"):
        raise WrongType(f"{kind_of(given)}, not {right},")
    entries = list(given)
    wrong = [each for each in entries if not isinstance(each, kind)]
    if wrong:
        raise WrongType(f"{kind_of(given)} with {kind_of(wrong[0])} in it, not {right},")
    return entries


def kind_of(given: object) -> str:
    """The kind of a value, in words."""
    name = type(given).__name__
    return "None" if given is None else f"an {name}" if name[0] in "aeiou" else f"a {name}"
