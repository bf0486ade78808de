"""Check a request just before it is sent: report what invalidates the provider's cache, and who changed it. Pure.

A framework or a caller may reorder tools, edit the prompt or add cache breakpoints after Foreword has returned a turn. The request
is compared with the turn, and with the previous request if there is one. Findings name tools, sections and positions, but do not quote
any text, and nothing is stored.
"""

from __future__ import annotations

import json

from ..errors import CallError, check_turn
from ..findings import finding
from ..text.tokens import estimate
from ..text.words import common_prefix_length
from ..vocabulary import Turn, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Finding

MAX_BREAKPOINTS = 4
_BREAKPOINT_KEYS = ("cache_control", "prompt_cache_breakpoint")
_SYSTEM_ROLES = ("system", "developer")
_SYSTEM_KEYS = ("system", "instructions", "system_instruction")
_MESSAGE_KEYS = ("messages", "input", "contents")
_SCHEMA_KEYS = ("input_schema", "parameters", "parameters_json_schema", "schema")
_FUNCTION_TYPES = ("", "function", "custom", "namespace")  # the types of tools that have a name
_TOOL_FIELDS = ("name", "type", "description", "strict", "defer", "defer_loading", "allowed_callers", "server")
_KNOWN_KEYS = (*_SCHEMA_KEYS, *_TOOL_FIELDS, "options", *_BREAKPOINT_KEYS)


def check_request(request: Mapping[str, Any], turn: Turn, previous: Mapping[str, Any] | None = None) -> list[Finding]:
    """Return findings about what in this request invalidates the provider's cache: the first change, who made it, and what it costs.

    `request` contains the arguments for the provider's client, in any of the forms that Foreword's functions return, with whatever you
    or a framework have changed since. `previous` is the request that was sent before; without it, the request is compared with the turn
    only. Findings do not quote the prompt or the messages.
    """
    check_turn("check_request", turn, Turn)
    for name, content in (("request", request), ("previous", previous)):
        if not (isinstance(content, dict) or (name == "previous" and content is None)):
            raise CallError(
                f"check_request: {name} must be a dict with the client's arguments, not {type(content).__name__}"
            )
    current = _parse(request)
    by_caller = _change_by_caller(current, turn)
    if previous is None:
        change = f"the caller {by_caller.what}" if by_caller else ""
    else:
        change = _change_since(_parse(previous), current, turn, by_caller)
    return [*_breakpoint_findings(request), *([finding("request-changed", change)] if change else ())]


@value
class _Request:
    """The parts of a request that a provider caches, without breakpoints: tools, system prompt and messages."""

    tools: Sequence[Mapping[str, Any]]
    system: str
    messages: Sequence[tuple[str, str]]


@value
class _Change:
    """A change in one part of the request, described by a verb phrase such as `removed tool x`."""

    part: str
    what: str


def _parse(request: Mapping[str, Any]) -> _Request:
    settings = request.get("config")
    settings = settings if isinstance(settings, dict) else request
    system, entries = _first_of(settings, _SYSTEM_KEYS) or "", _first_of(request, _MESSAGE_KEYS) or ()
    entries = [entries] if isinstance(entries, str) else list(entries)
    if not system and entries and isinstance(entries[0], dict) and entries[0].get("role") in _SYSTEM_ROLES:
        system = entries.pop(0).get("content") or ""
    tools = [_tool(tool) for tool in _flat_tools(settings.get("tools") or ())]
    return _Request(tools, _text(system), [_message(entry) for entry in entries])


def _first_of(fields: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((fields[key] for key in keys if fields.get(key)), None)


def _flat_tools(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in tools:
        if isinstance(tool, dict) and "function_declarations" in tool:
            yield from tool["function_declarations"]
        elif isinstance(tool, dict):
            kind = str(tool.get("type") or "")
            inner = tool.get("function", tool.get(kind) if kind else None)
            if isinstance(inner, dict):  # Chat Completions
                yield {**inner, "type": kind}
            elif not kind and len(tool) == 1 and isinstance(next(iter(tool.values())), dict):  # Gemini's own tools
                yield {"type": next(iter(tool)), **next(iter(tool.values()))}
            else:
                yield tool


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition in a form that is the same for all providers. A provider's own tool is named after its type."""
    schema = _first_of(tool, _SCHEMA_KEYS) or {}
    is_empty = schema == {"type": "object", "properties": {}}
    kind = str(tool.get("type") or "")
    others = {key: field for key, field in tool.items() if key not in _KNOWN_KEYS}
    return {
        "name": str(tool.get("name") or "") if kind in _FUNCTION_TYPES else kind,
        "description": tool.get("description") or "",
        "schema": {} if is_empty else schema,
        "strict": bool(tool.get("strict")),
        "defer": bool(tool.get("defer") or tool.get("defer_loading")),
        "allowed_callers": list(tool.get("allowed_callers") or ()),
        "options": {**(tool.get("options") or {}), **others},
    }


def _message(entry: Any) -> tuple[str, str]:
    """Return a message's role, or the type of an entry without one, and its content as text."""
    if not isinstance(entry, dict):
        return "", str(entry)
    content = entry.get("content", entry.get("parts"))
    others = {key: field for key, field in entry.items() if key not in ("role", "content", "parts", *_BREAKPOINT_KEYS)}
    return str(entry.get("role") or entry.get("type") or ""), _text(content) + (_as_json(others) if others else "")


def _text(content: Any) -> str:
    """Return content as one string, with blocks other than text as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    blocks = content if isinstance(content, list | tuple) else [content]
    return "".join(_block_text(block) for block in blocks)


def _block_text(block: Any) -> str:
    if isinstance(block, dict):
        if isinstance(block.get("text"), str) and block.get("type", "text") in ("text", "input_text", "output_text"):
            return str(block["text"])
        return _as_json(_without_breakpoints(block))
    return block if isinstance(block, str) else _as_json(block)


def _without_breakpoints(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_breakpoints(field) for key, field in content.items() if key not in _BREAKPOINT_KEYS}
    return [_without_breakpoints(entry) for entry in content] if isinstance(content, list | tuple) else content


def _as_json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)


# Breakpoints


def _breakpoint_findings(request: Mapping[str, Any]) -> Iterator[Finding]:
    settings = [request.get(key) for key in ("tools", "system", "messages")]
    automatic = [request["cache_control"]] if request.get("cache_control") else []
    breakpoints = [*_breakpoints_in(settings), *automatic]
    if len(breakpoints) > MAX_BREAKPOINTS:
        yield finding(
            "cache-breakpoints",
            f"the request has {len(breakpoints)} cache breakpoints; the provider rejects more than {MAX_BREAKPOINTS}",
        )
    ttls = [control.get("ttl") or "5m" for control in breakpoints if isinstance(control, dict)]
    if "5m" in ttls and "1h" in ttls[ttls.index("5m") :]:
        number = ttls.index("1h", ttls.index("5m")) + 1
        yield finding(
            "cache-breakpoints",
            f"cache breakpoint {number} lasts an hour but comes after one that lasts five minutes",
        )


def _breakpoints_in(content: Any) -> Iterator[Any]:
    """Yield the breakpoints of blocks, ignoring keys of the same name in a tool's schema or a call's arguments."""
    if isinstance(content, list | tuple):
        for entry in content:
            yield from _breakpoints_in(entry)
    elif isinstance(content, dict):
        yield from _breakpoints_in(content.get("content"))
        if content.get("cache_control"):
            yield content["cache_control"]


# Changes


def _change_by_caller(current: _Request, turn: Turn) -> _Change | None:
    """Return the first difference between a request and its turn, which the caller must have made."""
    late_names = {name for change in turn.changes for name in change.get("added", ())}
    sent_names = {tool["name"] for tool in current.tools}
    tools = [(tool["name"], _tool(tool)) for tool in turn.tools]
    expected = [tool for name, tool in tools if name not in late_names or tool["name"] in sent_names]
    if change := _tool_change(expected, current.tools):
        return _Change("tools", change)
    if current.system != (turn.system if turn.system.strip() else ""):
        return _Change("system", _system_change(turn.system, current.system, turn))
    for number, message in enumerate(turn.messages[: len(turn.leading)]):
        if number >= len(current.messages) or current.messages[number][1] != message["content"]:
            return _Change("messages", f"changed message {number + 1} of the prompt")
    return None


def _tool_change(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    """Return a verb phrase for the first change of the tools, or an empty string if there is none."""
    index = _first_difference(old, new)
    if index is None:
        return ""
    old_names, new_names = [tool["name"] for tool in old], [tool["name"] for tool in new]
    position = f"position {index + 1}"
    if index < len(old) and old_names[index] not in new_names:
        return f"removed tool `{old_names[index]}` from {position}"
    if index < len(new) and new_names[index] not in old_names:
        return f"added tool `{new_names[index]}` at {position}"
    if index < len(old) and index < len(new) and old_names[index] == new_names[index]:
        return f"changed the definition of tool `{new_names[index]}` at {position}"
    if index < len(new):
        return f"moved tool `{new_names[index]}` from position {old_names.index(new_names[index]) + 1} to {index + 1}"
    return f"removed tool `{old_names[index]}` from {position}"


def _first_difference(old: Sequence[Any], new: Sequence[Any]) -> int | None:
    """Return the index of the first entry that differs, or None if the two are equal."""
    pairs = zip(old, new, strict=False)
    index = next((index for index, (before, after) in enumerate(pairs) if before != after), None)
    if index is None and len(old) != len(new):
        return min(len(old), len(new))
    return index


def _system_change(old: str, new: str, turn: Turn) -> str:
    """Return a verb phrase for the first change in the system prompt. One of the two texts is the turn's."""
    offset = common_prefix_length(old, new)
    section = _section_at(turn, offset)
    if section:
        return f"changed the text of section {section}"
    return f"changed the system prompt at character {offset + 1}"


def _section_at(turn: Turn, offset: int) -> str:
    """Return the name of the section at an offset in the system prompt. A separator belongs to the section after it."""
    for (_, end, _), name in zip(turn.passages, turn.sections, strict=False):
        if offset < end or (offset == end == len(turn.system)):
            return name
    return ""


def _change_since(old: _Request, current: _Request, turn: Turn, by_caller: _Change | None) -> str:
    """Describe the first change since the previous request. Returns an empty string if the cached prefix is the same."""
    messages = "".join(text for _, text in old.messages)
    index = _first_difference(old.tools, current.tools)
    if index is not None:
        change, lost = (
            _Change("tools", _tool_change(old.tools, current.tools)),
            _as_json(old.tools[index:]) + old.system + messages,
        )
    elif old.system != current.system:
        kept = common_prefix_length(old.system, current.system)
        change, lost = _Change("system", _system_change(old.system, current.system, turn)), old.system[kept:] + messages
    else:
        return _message_change(old.messages, current.messages)
    if by_caller is None or by_caller.part != change.part:
        return f"edition {turn.edition} {change.what}; {_describe_loss(lost)}"
    # Only the comparison with the turn finds the right section, because the sections' offsets are those in the turn's text.
    return f"the caller {by_caller.what if by_caller.part == 'system' else change.what}; {_describe_loss(lost)}"


def _message_change(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> str:
    """Describe the first message that changed. Returns an empty string if messages were only added at the end."""
    index = _first_difference(old, new)
    if index is None or index >= len(old):
        return ""
    verb = "changed" if index < len(new) else "removed"
    role, lost = old[index][0], "".join(text for _, text in old[index:])
    return f"the caller {verb} message {index + 1} ({role}); {_describe_loss(lost)}"


def _describe_loss(text: str) -> str:
    return f"about {estimate(text):,} tokens lost"
