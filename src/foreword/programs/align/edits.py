"""Change the text of a file without losing anything in it: its line endings, its comments, the order of its keys. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A string, a comment or a trailing comma of JSON.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}])', re.DOTALL)
_FRONT_MATTER = re.compile(r"\ufeff?(?:---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|\Z))?")


def add_import(text: str, line: str) -> str:
    """Return a file's text with a line at its start, after the front matter. The rest of the text stays as it is."""
    newline = newline_of(text)
    head = _FRONT_MATTER.match(text)
    start = head.end() if head else 0
    before, rest = text[:start], text[start:]
    if start and before.strip("\ufeff") and not before.endswith("\n"):
        before += newline
    gap = newline if rest.strip() and not rest.startswith(("\n", "\r\n")) else ""
    return f"{before}{line}{newline}{gap}{rest}"


def newline_of(text: str) -> str:
    """Return the line ending that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


# JSON with comments


def set_json_key(text: str, key: str, content: Any) -> str | None:
    """Return JSON with one key set, which may be a path such as `context.fileName`. Comments and the order of keys stay.

    Returns None if the text is not an object, or a key on the way has another value than an object.
    """
    import json

    names = key.split(".")
    if not text.strip():
        return _new_object(names, json.dumps(content), 0) + "\n"
    try:
        start = _skip(text, text.startswith("\ufeff"))
        return _set_key(text, start, names, json.dumps(content))
    except (ValueError, IndexError, RecursionError):
        return None


def _set_key(text: str, start: int, names: list[str], content: str) -> str | None:
    members, _ = _members(text, start)
    if names[0] in members:
        begin, end = members[names[0]]
        if len(names) == 1:
            return text[:begin] + content + text[end:]
        return _set_key(text, begin, names[1:], content) if text[begin] == "{" else None
    return _insert(text, start, names, content, is_empty=not members)


def _insert(text: str, start: int, names: list[str], content: str, is_empty: bool) -> str:
    """Insert a member at the beginning of the object that starts at this position."""
    newline = newline_of(text)
    first = re.compile(r"[ \t]*\r?\n([ \t]*)").match(text, start + 1)
    line_start = text.rfind("\n", 0, start) + 1
    outer = text[line_start : line_start + len(text[line_start:]) - len(text[line_start:].lstrip(" \t"))]
    if is_empty:
        inner = outer + "  "
        end = _end_of_object(text, start)
        member = _member(names, content, len(inner)).replace("\n", newline)
        rest = text[start + 1 : end].strip()
        comment = f"{newline}{inner}{rest}" if rest else ""
        return f"{text[: start + 1]}{comment}{newline}{inner}{member}{newline}{outer}{text[end:]}"
    if first is None:
        import json

        nested = content
        for name in reversed(names[1:]):
            nested = f"{{{json.dumps(name)}: {nested}}}"
        return f"{text[: start + 1]}{json.dumps(names[0])}: {nested}, {text[start + 1 :].lstrip(' ')}"
    inner = first[1] or outer + "  "
    member = _member(names, content, len(inner)).replace("\n", newline)
    return f"{text[: start + 1]}{newline}{inner}{member},{text[start + 1 :]}"


def _member(names: list[str], content: str, indent: int) -> str:
    import json

    nested = content if len(names) == 1 else _new_object(names[1:], content, indent)
    return f"{json.dumps(names[0])}: {nested}"


def _new_object(names: list[str], content: str, indent: int) -> str:
    inner = " " * (indent + 2)
    return f"{{\n{inner}{_member(names, content, indent + 2)}\n{' ' * indent}}}"


def remove_json_key(text: str, key: str) -> str | None:
    """Return JSON without a key, which may be a path, and without objects that this leaves empty. None if there is no such key."""
    names = key.split(".")
    try:
        objects = [_skip(text, text.startswith("\ufeff"))]  # the object that contains each name
        for name in names[:-1]:
            objects.append(_members(text, objects[-1])[0][name][0])
        index = len(names) - 1
        while index and len(_members(text, objects[index])[0]) == 1:
            index -= 1
        _members(text, objects[-1])[0][names[-1]]
        return _without_member(text, objects[index], names[index])
    except (ValueError, KeyError, IndexError, RecursionError):
        return None


def _without_member(text: str, start: int, name: str) -> str:
    """Remove a member of the object that starts at this position, with its line, and the comma that it no longer needs."""
    starts: dict[str, int] = {}
    members, _ = _members(text, start, starts)
    begin, end = starts[name], members[name][1]
    if any(match[0][0] == "/" for match in _TOKEN.finditer(text, begin, end)):
        raise ValueError("a comment would be lost")
    after = _skip(text, end)
    if text[after] == ",":
        end = after + 1
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
        if text[end : end + 1] in ("\r", "\n"):  # the whole line
            line = text.rfind("\n", 0, begin) + 1
            if not text[line:begin].strip():
                begin, end = line, text.find("\n", end) + 1
        return text[:begin] + text[end:]
    before = text[:begin].rstrip()
    return (before[:-1] if before.endswith(",") else before) + text[end:]


def _members(text: str, start: int, starts: dict[str, int] | None = None) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the range of each member's value in the object that starts at this position, and the object's end. Raises ValueError.

    `starts` receives the position of each name.
    """
    import json

    if text[start] != "{":
        raise ValueError("not an object")
    members: dict[str, tuple[int, int]] = {}
    position = _skip(text, start + 1)
    while text[position] != "}":
        own = position
        end = _end_of_value(text, position)
        name = json.loads(text[position:end])
        position = _skip(text, end)
        if text[position] != ":" or not isinstance(name, str):
            raise ValueError("not a member")
        begin = _skip(text, position + 1)
        end = _end_of_value(text, begin)
        members[name] = begin, end
        if starts is not None:
            starts[name] = own
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
        elif text[position] != "}":
            raise ValueError("not an object")
    return members, position + 1


def _end_of_object(text: str, start: int) -> int:
    """Return the position of the brace that ends an object."""
    return _members(text, start)[1] - 1


def _end_of_value(text: str, start: int) -> int:
    if text[start] == "{":
        return _members(text, start)[1]
    if text[start] == "[":
        position = _skip(text, start + 1)
        while text[position] != "]":
            position = _skip(text, _end_of_value(text, position))
            if text[position] == ",":
                position = _skip(text, position + 1)
            elif text[position] != "]":
                raise ValueError("not a list")
        return position + 1
    match = re.compile(r'"(?:[^"\\\n]|\\.)*"|[-+.\w]+').match(text, start)
    if match is None:
        raise ValueError("not a value")
    return match.end()


def _skip(text: str, position: int) -> int:
    """Return the position of the next character that is not in white space or a comment."""
    match = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL).match(text, position)
    return match.end() if match else position


def read_json_key(text: str, key: str) -> Any:
    """Return the value of a key in JSON with comments, which may be a path, or None if there is none."""
    import json

    try:
        start = _skip(text, text.startswith("\ufeff"))
        begin, end = start, len(text)
        for name in key.split("."):
            begin, end = _members(text, begin)[0][name]
        return json.loads(_without_comments(text[begin:end]))
    except (ValueError, KeyError, IndexError, RecursionError):
        return None


def _without_comments(text: str) -> str:
    """Return a JSON value without comments and trailing commas."""
    return _TOKEN.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
