"""Finds the flaws for which a program leaves out a skill or a command that others list."""

from __future__ import annotations

import re

from .front_matter import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH, load_yaml, read_fields, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

# What a strict program expects of other fields.
_FIELDS = "argument-hint allowed-tools disable-model-invocation user-invocable".split()
_KINDS = dict(zip(_FIELDS, ((str, type(None)), (str, list), (bool,), (bool,)), strict=True))
_WORD_NAME = re.compile(r"[\w.:-]*")
_ASCII_NAME = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9 ._:-]*)?")
_SPECIFIED_NAME = re.compile(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*)?")


def find_flaw(text: str, default_name: str, flaws: Collection[str]) -> str:
    """Return what is wrong with the front matter of a file, if it has one of these flaws, or empty. Without front matter, it has none.

    An entry without a name has the default one.
    """
    head, _, _ = split(text)
    if head is None or not flaws:
        return ""
    head = head.replace("\r\n", "\n")
    loaded, error = load_yaml(head)
    if error and "yaml" in flaws:
        return "its front matter cannot be read as YAML"
    fields, _, _ = read_fields(text)
    name = fields.get("name", "").strip()
    problems = _find_problems(name or default_name, fields.get("description", ""), loaded)
    problems["no-name"] = "" if name else "it has no name"
    return next((problem for flaw, problem in problems.items() if problem and flaw in flaws), "")


def _find_problems(name: str, description: str, loaded: Any) -> dict[str, str]:
    """Return what is wrong by the name of each flaw, or empty for those that a name and a description do not have."""
    values = loaded if isinstance(loaded, dict) else {}
    is_text = all(isinstance(values.get(key, ""), str) for key in ("name", "description"))
    return {
        "no-text": "" if is_text else "its name or description is not text",
        "bad-field": next(
            (f"its {key} has the wrong type" for key, kinds in _KINDS.items() if not _is_of(values, key, kinds)), ""
        ),
        "long-name": _too_long("name", name, MAX_NAME_LENGTH),
        "symbol-name": "" if _WORD_NAME.fullmatch(name) else "its name contains a blank or a symbol",
        "ascii-name": "" if _ASCII_NAME.fullmatch(name) else "its name contains a character that is not allowed",
        "spec-name": ""
        if _SPECIFIED_NAME.fullmatch(name)
        else "its name has other characters than a-z, 0-9 and single hyphens",
        "long-description": _too_long("description", description, MAX_DESCRIPTION_LENGTH),
    }


def _is_of(fields: dict[str, Any], key: str, kinds: Any) -> bool:
    """Whether a field is missing or of one of these kinds. A list must contain text only."""
    value = fields.get(key)
    is_text = not isinstance(value, list) or all(isinstance(item, str) for item in value)
    return key not in fields or (isinstance(value, kinds) and is_text)


def _too_long(field: str, text: str, limit: int) -> str:
    return f"its {field} is longer than {limit:,} characters" if len(text) > limit else ""
