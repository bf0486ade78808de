"""Check a request just before it is sent: what in it loses the provider's cache, and whose change that was. Pure.

A framework or a caller may reorder tools, edit the prompt or add cache breakpoints after Foreword has returned a turn. The request
is compared with the turn, and with the previous request if there is one. A finding names tools, sections and positions, never their
text, and nothing is kept.
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

MAX_MARKS = 4
_MARKS = ("cache_control", "prompt_cache_breakpoint")
_SYSTEM_ROLES = ("system", "developer")
_SYSTEMS = ("system", "instructions", "system_instruction")
_MESSAGES = ("messages", "input", "contents")
_SCHEMAS = ("input_schema", "parameters", "parameters_json_schema", "schema")


def check_request(request: Mapping[str, Any], turn: Turn, previous: Mapping[str, Any] | None = None) -> list[Finding]:
    """Return what loses the provider's cache if this request is sent: the first change, who made it, and what it costs.

    `request` has the arguments of the provider's client, in any of the forms that Foreword's functions return, with whatever you or a
    framework have changed since. `previous` is the request that was sent before; without it, the request is compared with the turn only.
    No finding contains text of the prompt or of a message.
    """
    check_turn("check_request", turn, Turn)
    for name, content in (("request", request), ("previous", previous)):
        if not (isinstance(content, dict) or (name == "previous" and content is None)):
            raise CallError(
                f"check_request: {name} must be a dict of a client's arguments, not {type(content).__name__}"
            )
    now = _parse(request)
    own = _own_change(now, turn)
    if previous is None:
        change = f"the caller {own.what}" if own else ""
    else:
        change = _change_since(_parse(previous), now, turn, own)
    return [*_mark_findings(request), *([finding("request-changed", change)] if change else ())]


@value
class _Request:
    """The parts of a request that a provider caches, without breakpoints: tools, system prompt and messages."""

    tools: Sequence[Mapping[str, Any]]
    system: str
    messages: Sequence[tuple[str, str]]


@value
class _Change:
    """What changed, as a verb with its object, and in which part of the request."""

    part: str
    what: str


def _parse(request: Mapping[str, Any]) -> _Request:
    settings = request.get("config")
    settings = settings if isinstance(settings, dict) else request
    system, entries = _first_of(settings, _SYSTEMS) or "", _first_of(request, _MESSAGES) or ()
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
            yield tool["function"] if isinstance(tool.get("function"), dict) else tool


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's definition in one form for all providers."""
    schema = _first_of(tool, _SCHEMAS) or {}
    is_empty = schema == {"type": "object", "properties": {}}
    return {
        "name": str(tool.get("name") or tool.get("type") or ""),
        "description": tool.get("description") or "",
        "schema": {} if is_empty else schema,
    }


def _message(entry: Any) -> tuple[str, str]:
    """A message's role, or the type of another entry, and its content as text."""
    if not isinstance(entry, dict):
        return "", str(entry)
    content = entry.get("content", entry.get("parts"))
    others = {key: field for key, field in entry.items() if key not in ("role", "content", "parts", *_MARKS)}
    return str(entry.get("role") or entry.get("type") or ""), _text(content) + (_written(others) if others else "")


def _text(content: Any) -> str:
    """Content as text: text as it is, other blocks as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    blocks = content if isinstance(content, list | tuple) else [content]
    return "".join(_block_text(block) for block in blocks)


def _block_text(block: Any) -> str:
    if isinstance(block, dict):
        if isinstance(block.get("text"), str) and block.get("type", "text") in ("text", "input_text", "output_text"):
            return str(block["text"])
        return _written(_unmarked(block))
    return block if isinstance(block, str) else _written(block)


def _unmarked(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _unmarked(field) for key, field in content.items() if key not in _MARKS}
    return [_unmarked(each) for each in content] if isinstance(content, list | tuple) else content


def _written(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)


# Breakpoints


def _mark_findings(request: Mapping[str, Any]) -> Iterator[Finding]:
    settings = [request.get(key) for key in ("tools", "system", "messages")]
    automatic = [request["cache_control"]] if request.get("cache_control") else []
    marks = [*_marks(settings), *automatic]
    if len(marks) > MAX_MARKS:
        yield finding(
            "cache-marks", f"{len(marks)} cache marks, {MAX_MARKS} allowed; the provider rejects this request"
        )
    ttls = [mark.get("ttl") or "5m" for mark in marks if isinstance(mark, dict)]
    if "5m" in ttls and "1h" in ttls[ttls.index("5m") :]:
        at = ttls.index("1h", ttls.index("5m")) + 1
        yield finding("cache-marks", f"cache mark {at} lasts an hour but comes after one that lasts five minutes")


def _marks(content: Any) -> Iterator[Any]:
    """Yield the breakpoints of blocks, not the keys of a tool's schema or of a call's arguments."""
    if isinstance(content, list | tuple):
        for each in content:
            yield from _marks(each)
    elif isinstance(content, dict):
        yield from _marks(content.get("content"))
        if content.get("cache_control"):
            yield content["cache_control"]


# Changes


def _own_change(now: _Request, turn: Turn) -> _Change | None:
    """The first difference between a request and the turn that it was made from: a change by the caller."""
    late = {name for change in turn.changes for name in change.get("added", ())} - {tool["name"] for tool in now.tools}
    if change := _tool_change([_tool(tool) for tool in turn.tools if tool["name"] not in late], now.tools):
        return _Change("tools", change)
    if now.system != (turn.system if turn.system.strip() else ""):
        return _Change("system", _system_change(turn.system, now.system, turn))
    for number, message in enumerate(turn.messages[: len(turn.leading)]):
        if number >= len(now.messages) or now.messages[number][1] != message["content"]:
            return _Change("messages", f"changed message {number + 1} of the prompt")
    return None


def _tool_change(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    """The first change of the tools, as a verb with its object; empty if there is none."""
    at = _first_difference(old, new)
    if at is None:
        return ""
    before, after = [tool["name"] for tool in old], [tool["name"] for tool in new]
    if at < len(old) and before[at] not in after:
        return f"removed tool `{before[at]}` from {at + 1}"
    if at < len(new) and after[at] not in before:
        return f"added tool `{after[at]}` at {at + 1}"
    if at < len(old) and at < len(new) and before[at] == after[at]:
        return f"changed the definition of tool `{after[at]}` at {at + 1}"
    if at < len(new):
        return f"moved tool `{after[at]}` from {before.index(after[at]) + 1} to {at + 1}"
    return f"removed tool `{before[at]}` from {at + 1}"


def _first_difference(old: Sequence[Any], new: Sequence[Any]) -> int | None:
    common = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    if common is None and len(old) != len(new):
        return min(len(old), len(new))
    return common


def _system_change(old: str, new: str, turn: Turn) -> str:
    """Where the system prompt changed, as a verb with its object. One of the two texts is that of the turn."""
    at = common_prefix_length(old, new)
    section = _section_at(turn, at)
    return f"changed the text of section {section}" if section else f"changed the system prompt at character {at + 1}"


def _section_at(turn: Turn, at: int) -> str:
    """The name of the section at an offset in the system prompt. A separator belongs to the section after it."""
    for (_, end, _), name in zip(turn.passages, turn.sections, strict=False):
        if at < end or (at == end == len(turn.system)):
            return name
    return ""


def _change_since(old: _Request, now: _Request, turn: Turn, own: _Change | None) -> str:
    """A sentence about the first change since the previous request; empty if the cached prefix is the same."""
    messages = "".join(text for _, text in old.messages)
    at = _first_difference(old.tools, now.tools)
    if at is not None:
        change, lost = (
            _Change("tools", _tool_change(old.tools, now.tools)),
            _written(old.tools[at:]) + old.system + messages,
        )
    elif old.system != now.system:
        kept = common_prefix_length(old.system, now.system)
        change, lost = _Change("system", _system_change(old.system, now.system, turn)), old.system[kept:] + messages
    else:
        return _message_change(old.messages, now.messages)
    if own is None or own.part != change.part:
        return f"edition {turn.edition} {change.what}; {_loss(lost)}"
    # The sections of the turn are those of its own text.
    return f"the caller {own.what if own.part == 'system' else change.what}; {_loss(lost)}"


def _message_change(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> str:
    """A sentence about the first message that changed; empty if there are only new ones at the end."""
    at = _first_difference(old, new)
    if at is None or at >= len(old):
        return ""
    verb = "changed" if at < len(new) else "removed"
    return f"the caller {verb} message {at + 1} ({old[at][0]}); {_loss(''.join(text for _, text in old[at:]))}"


def _loss(text: str) -> str:
    return f"about {estimate(text):,} tokens lost"
