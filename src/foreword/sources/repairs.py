"""Repairs of front matter that is not valid YAML, as a layout's key `repair` names them.

    symbols  quotes around values with a symbol that has a meaning in YAML; of fields with the same name, the last one counts
    colons   values that contain a colon become blocks
    values   quotes around values with a colon before a blank, and around lists and the like that are not closed
    fields   only the name and the description are read, each from its own line
    rows     each line with a colon is a field

A mirror needs them because its program repairs front matter like that. What is still not valid YAML then has no fields.
"""

from __future__ import annotations

import json

from ..text import regex
from .front_matter import load_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from re import Match

    from ..vocabulary import Repair

_FIELD = r"(?m)^([A-Za-z_][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)"
_WORD_FIELD = r"(?m)^([A-Za-z_-]+:[ \t]+)(?![ \t])([^\r\n]+)$"
_SYMBOL = r"[\[\]{}*&#!|>%@`]|: "
_CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_NAME_FIELD = r"(?m)^([A-Za-z_]\w*)[ \t]*:([^\n]*)$"
_TEXT_FIELDS = r"(?m)^[^\S\n]*(?:(name):([^\n]*)|(description):([^\n]*(?:\n[ \t]+\S[^\n]*)*))"


def repair_front_matter(head: str, repair: Repair) -> str:
    """Return front matter as a program reads it: unchanged if it is valid YAML, or after the repair, otherwise empty."""
    if _has_texts(head) if repair == "fields" else _is_valid(head):
        return head
    repaired = _REPAIRS[repair](head)
    return repaired if _is_valid(repaired) else ""


def _is_valid(head: str) -> bool:
    return not load_yaml(head.replace("\r\n", "\n"))[1]


def _has_texts(head: str) -> bool:
    loaded, _ = load_yaml(head.replace("\r\n", "\n"))
    return isinstance(loaded, dict) and all(isinstance(loaded.get(key), str) for key in ("name", "description"))


def _keep_last(head: str) -> str:
    """Return front matter without the fields of which a later one has the same name."""
    starts = [match.start() for match in regex.finditer(_FIELD, head)] or [len(head)]
    fields = [head[start:end] for start, end in zip(starts, [*starts[1:], len(head)], strict=True)]
    last = {field.partition(":")[0].rstrip(): number for number, field in enumerate(fields)}
    return head[: starts[0]] + "".join(fields[number] for number in sorted(last.values()))


def _quote_symbols(head: str) -> str:
    def quote(field: Match[str]) -> str:
        is_quoted = field[2][0] in "\"'" and field[2][0] == field[2][-1]
        is_unclear = not is_quoted and regex.search(_SYMBOL, field[2])
        return f"{field[1]}{_quote(field[2])}" if is_unclear else f"{field[0]}"

    return regex.sub(_WORD_FIELD, quote, _keep_last(regex.sub(_CONTROL, " ", head)))


def _indent_values(head: str) -> str:
    def indent(field: Match[str]) -> str:
        text = field[2].strip()
        return f"{field[1]}: |-\n  {text}" if ":" in text and text[0] not in "\"'" else field[0]

    return regex.sub(_NAME_FIELD, indent, head)


def _quote_values(head: str) -> str:
    """Quote values line by line, except in blocks, whose lines are indented more than their field."""
    lines: list[str] = []
    block = -1
    for line in head.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if 0 <= block < indent or (block >= 0 and not line.strip()):
            lines.append(line)
            continue
        key, _, value = line.partition(":")
        comment = regex.search(r"(?<=\s)#", value)
        text = (value[: comment.start()] if comment else value).strip()
        block = indent if text[:1] in ("|", ">") else -1
        is_field = bool(key.strip()) and value[:1].isspace()
        rest = f" {value[comment.start() :]}" if comment else ""
        lines.append(f"{key}: {_quote(text)}{rest}" if is_field and _needs_quotes(text) else line)
    return "\n".join(lines)


def _needs_quotes(text: str) -> bool:
    is_open = text[:1] in ("[", "{", "@", "`") and bool(load_yaml(text)[1])
    return text[:1] not in ("", "|", ">", "'", '"') and (is_open or regex.search(r":\s", text) is not None)


def _name_and_description(head: str) -> str:
    """Return the last name and the last description, which continues on indented lines, as valid YAML."""
    fields = {}
    for field in regex.finditer(_TEXT_FIELDS, head):
        lines = (field[2] if field[1] else field[4]).split("\n")
        fields[field[1] or field[3]] = " ".join(filter(None, (line.strip() for line in lines)))
    return "".join(f"{key}: {_quote(value)}\n" for key, value in fields.items())


def _read_rows(head: str) -> str:
    """Return the lines with a colon and a value as fields, the last one of each name."""
    fields = {}
    for line in head.split("\n"):
        key, _, value = line.partition(":")
        if value.strip() and not line.lstrip().startswith(("#", "- ")):
            fields[key.strip()] = value.strip()
    rows = ((key, value[1:-1] if value[0] == value[-1] == '"' else value) for key, value in fields.items())
    return "".join(f"{_quote(key)}: {value if _is_switch(value) else _quote(value)}\n" for key, value in rows)


def _is_switch(text: str) -> bool:
    return text in ("true", "false", "null")


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_REPAIRS: dict[Repair, Callable[[str], str]] = {
    "symbols": _quote_symbols,
    "colons": _indent_values,
    "values": _quote_values,
    "fields": _name_and_description,
    "rows": _read_rows,
}
