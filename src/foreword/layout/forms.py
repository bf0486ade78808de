"""Parse the small languages in a layout: forms with `{fields}`, the text around a section, and the terms of `when`."""

from __future__ import annotations

import re

from ..errors import LayoutError, describe_unknown_platform, suggestion
from ..shapes import is_list_of_strings
from ..text.pieces import may_be_unclosed
from ..vocabulary.abilities import ABILITIES
from .keys import FILTERS
from .model import Condition, Field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .model import Form


_FIELD = r"\{\{|\}\}|\{([A-Za-z_.][\w.-]*|)((?:\|[a-z-]+)*)\}|[{}]"
FRONT = "front."


def parse_form(text: str, fields: Sequence[str], where: str) -> Form:
    """Parse text with `{name|filter}` fields. `{{` and `}}` are literal braces.

    If `fields` contains `front.`, any field that starts with `front.` is accepted.
    """
    if "{" not in text and "}" not in text:
        return (text,)
    parts: list[str | Field] = []
    literal, position = "", 0
    for match in re.finditer(_FIELD, text):
        literal += text[position : match.start()]
        position = match.end()
        if match[1] is None:
            if len(match[0]) == 1:
                raise LayoutError(f"{where}: unpaired {match[0]!r}; write {match[0] * 2!r} for a brace").at(where)
            literal += match[0][0]
            continue
        is_front = FRONT in fields and match[1].startswith(FRONT)
        if not is_front and match[1] not in fields:
            known = suggestion(match[1], fields) if any(fields) else "; the only one is '{}'"
            raise LayoutError(f"{where}: unknown field {match[0]!r}{known}").at(where)
        filters = tuple(match[2].split("|")[1:])
        for name in filters:
            if name not in FILTERS:
                raise LayoutError(f"{where}: unknown filter {name!r}" + suggestion(name, FILTERS)).at(where)
        if literal:
            parts.append(literal)
        parts.append(Field(match[1], filters))
        literal = ""
    literal += text[position:]
    return (*parts, literal) if literal else tuple(parts)


_FACT_KINDS = ("tool", "can", "set", "found", "provider", "platform")


def parse_condition(
    term: str,
    settings: Mapping[str, Any],
    where: str,
    lookups: Iterable[str],
    kinds: Sequence[str] = _FACT_KINDS,
    later_lookups: Sequence[str] = (),
) -> Condition:
    """Parse one term of `when`: `x`, `!x`, `a|b`, `@setting`.

    `lookups` are the names that `found:` may refer to, and `later_lookups` those that it could refer to if they were moved up.
    """
    negated = term.startswith("!")
    words = term.removeprefix("!").split("|")
    facts: list[str] = []
    for word in words:
        if word.startswith("@"):
            listed_facts = settings.get(word[1:], "")
            if not is_list_of_strings(listed_facts):
                raise LayoutError(
                    f"{where}: {word!r} is not a list in the settings" + suggestion(word[1:], settings)
                ).at(where)
            facts.extend(listed_facts)
        else:
            facts.append(word)
    for fact in facts:
        kind, _, name = fact.partition(":")
        if kind == "found" and name in later_lookups:
            raise LayoutError(
                f"{where}: the lookup rule {name!r} comes after this one; move [find.{name}] above it"
            ).at(where)
        _check_fact(fact, settings, where, lookups, kinds)
    return Condition(tuple(facts), negated, not negated and len(facts) > 1)


def _check_fact(
    fact: str, settings: Mapping[str, Any], where: str, lookups: Iterable[str], kinds: Sequence[str]
) -> None:
    kind, colon, name = fact.partition(":")
    if colon and kind == "set" and name not in settings:
        raise LayoutError(f"{where}: unknown setting {name!r}" + suggestion(name, settings)).at(where)
    if colon and kind == "found" and name not in lookups:
        raise LayoutError(f"{where}: unknown lookup rule {name!r}" + suggestion(name, tuple(lookups))).at(where)
    if kind == "platform" and (problem := describe_unknown_platform(name)):
        raise LayoutError(f"{where}: {problem}").at(where)
    _check_ability(fact, where)
    plain_facts = ("tools", "session", "base", "scope", "main", "sub") if kinds is _FACT_KINDS else ()
    if fact not in plain_facts and not (kind in kinds and name):
        known = ", ".join((*(f"{prefix}:NAME" for prefix in kinds), *plain_facts))
        raise LayoutError(f"{where}: unknown condition {fact!r}; conditions are {known}").at(where)


def _check_ability(fact: str, where: str) -> None:
    name = fact.removeprefix("can:")
    if name != fact and name and name not in ABILITIES:
        raise LayoutError(f"{where}: unknown ability {name!r}" + suggestion(name, ABILITIES)).at(where)


_TAG = r"<(/?)([A-Za-z][\w.:-]*)([^<>]*)>"
_VOID_TAGS = ("br", "hr", "img", "input", "link", "meta")


def describe_imbalance(text: str) -> str:
    """Describe a tag, comment or fence that a wrapper opens but does not close, or closes but never opened.

    Returns an empty string if the wrapper is balanced. Tags in code spans are text.
    """
    open_tags: list[str] = []
    for is_end, name, rest in re.findall(_TAG, re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)):
        if rest.endswith("/") or name.lower() in _VOID_TAGS:
            continue
        if not is_end:
            open_tags.append(name)
        elif not open_tags or open_tags.pop() != name:
            return f"</{name}> closes a tag that is not open"
    if open_tags:
        return f"</{open_tags[-1]}> is missing"
    if text.count("<!--") != text.count("-->"):
        return "a comment is not closed"
    fences = re.findall(r"^[ ]{0,3}(`{3,}|~{3,})", text, re.MULTILINE)
    return "a code fence is not closed" if len(fences) % 2 else ""


def describe_hiding(form: Form) -> str:
    """Describe the comment or code fence into which a wrapper puts its content, where a model would ignore it.

    Returns an empty string if the content is visible.
    """
    before = ""
    for part in form:
        if isinstance(part, str):
            before += part
        elif not part.name:
            return describe_unclosed(before)
    return ""


def describe_unclosed(text: str) -> str:
    """Describe the comment or code fence that is open at the end of a text, or return an empty string."""
    if not may_be_unclosed(text):
        return ""
    from ..text.markdown import find_unclosed

    return find_unclosed(text)[1]
