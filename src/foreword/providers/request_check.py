"""Check a request just before it is sent: report what invalidates the provider's cache, and who changed it. Pure.

A framework or a caller may reorder tools, edit the prompt or add cache breakpoints after Foreword has returned a turn. The request
is compared with the turn, and with the previous request if there is one. Findings name tools, sections and positions, but do not quote
any text, and nothing is stored.
"""

from __future__ import annotations

from ..errors import CallError, check_turn
from ..findings import finding
from ..text.tokens import estimate
from ..text.words import common_prefix_length
from ..vocabulary import Turn, value
from .request_parts import as_json, changed_setting, describe_tool_change, first_difference, parse_request, parse_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Finding
    from .request_parts import RequestParts

MAX_BREAKPOINTS = 4


def check_request(request: Mapping[str, Any], turn: Turn, previous: Mapping[str, Any] | None = None) -> list[Finding]:
    """Return findings about what in this request invalidates the provider's cache: the first change, who made it, and what it costs.

    `request` contains the arguments for the provider's client, in any of the forms that Foreword's functions return, with whatever you
    or a framework have changed since. `previous` is the request that was sent before; without it, the request is compared with the turn
    only. Findings do not quote the prompt or the messages.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> check_request(for_anthropic(turn), turn)
    []
    """
    check_turn("check_request", turn, Turn)
    for name, content in (("request", request), ("previous", previous)):
        if not (isinstance(content, dict) or (name == "previous" and content is None)):
            raise CallError(
                f"check_request: {name} must be a dict with the client's arguments, not {type(content).__name__}"
            )
    try:
        return _findings(request, turn, previous)
    except RecursionError:
        raise CallError(
            "check_request: the request is nested too deeply, or contains itself, so it cannot be sent"
        ) from None


def _findings(request: Mapping[str, Any], turn: Turn, previous: Mapping[str, Any] | None) -> list[Finding]:
    current = parse_request(request)
    by_caller = _change_by_caller(current, turn)
    if previous is None:
        change = f"the caller {by_caller.what}" if by_caller else ""
    else:
        change = _change_since(parse_request(previous), current, turn, by_caller)
    return [*_breakpoint_findings(current), *([finding("request-changed", change)] if change else ())]


@value
class _Change:
    """A change in one part of the request, described by a verb phrase such as `removed tool x`."""

    part: str
    what: str


# Breakpoints


def _breakpoint_findings(request: RequestParts) -> Iterator[Finding]:
    breakpoints = request.breakpoints
    if len(breakpoints) > MAX_BREAKPOINTS:
        is_openai = any(isinstance(control, dict) and "mode" in control for control in breakpoints)
        consequence = f"writes at most {MAX_BREAKPOINTS}" if is_openai else f"rejects more than {MAX_BREAKPOINTS}"
        yield finding(
            "cache-breakpoints", f"the request has {len(breakpoints)} cache breakpoints; the provider {consequence}"
        )
    ttls = [control.get("ttl") or "5m" for control in breakpoints if isinstance(control, dict)]
    if "5m" in ttls and "1h" in ttls[ttls.index("5m") :]:
        number = ttls.index("1h", ttls.index("5m")) + 1
        yield finding(
            "cache-breakpoints",
            f"cache breakpoint {number} lasts an hour but comes after one that lasts five minutes",
        )


# Changes


def _change_by_caller(current: RequestParts, turn: Turn) -> _Change | None:
    """Return the first difference between a request and its turn, which the caller must have made."""
    if change := _tool_change(_expected_tools(current, turn), current.tools):
        return _Change("tools", change)
    if current.system != (turn.system if turn.system.strip() else ""):
        return _Change("system", _system_change(turn.system, current.system, turn))
    for index, message in enumerate(turn.messages[: len(turn.leading)]):
        if index >= len(current.messages) or current.messages[index][1] != message["content"]:
            return _Change("messages", f"changed message {index + 1} of the prompt")
    return None


def _expected_tools(current: RequestParts, turn: Turn) -> list[Mapping[str, Any]]:
    """Return the turn's tools that this request should list. A late or deferred tool may be in a message, or not in the prompt at all."""
    movable = {name for change in turn.changes for name in change.get("added", ())}
    movable.update(tool["name"] for tool in turn.tools if tool.get("defer"))
    sent_names = {tool["name"] for tool in current.tools}
    tools = [(tool["name"], parse_tool(tool)) for tool in turn.tools]
    return [tool for name, tool in tools if name not in movable or tool["name"] in sent_names]


def _tool_change(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    """Return a verb phrase for the first change of the tools, or an empty string if there is none."""
    index = first_difference(old, new)
    if index is None:
        return ""
    return describe_tool_change([tool["name"] for tool in old], [tool["name"] for tool in new], index)


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


def _change_since(old: RequestParts, current: RequestParts, turn: Turn, by_caller: _Change | None) -> str:
    """Describe the first change since the previous request. Returns an empty string if the cached prefix is the same."""
    messages = "".join(text for _, text in old.messages)
    setting, part = changed_setting(old.settings, current.settings)
    if part == "tools":
        return f"the caller changed {setting}; {_describe_loss(as_json(old.tools) + old.system + messages)}"
    index = first_difference(old.tools, current.tools)
    if index is not None:
        change, lost = (
            _Change("tools", _tool_change(old.tools, current.tools)),
            as_json(old.tools[index:]) + old.system + messages,
        )
    elif old.system != current.system:
        kept = common_prefix_length(old.system, current.system)
        change, lost = _Change("system", _system_change(old.system, current.system, turn)), old.system[kept:] + messages
    elif setting:
        return f"the caller changed {setting}; {_describe_loss(messages)}"
    else:
        return _message_change(old.messages, current.messages)
    if by_caller is None or by_caller.part != change.part:
        return f"edition {turn.edition} {change.what}; {_describe_loss(lost)}"
    # Only the comparison with the turn finds the right section, because the sections' offsets are those in the turn's text.
    return f"the caller {by_caller.what if by_caller.part == 'system' else change.what}; {_describe_loss(lost)}"


def _message_change(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> str:
    """Describe the first message that changed. Returns an empty string if messages were only added at the end."""
    index = first_difference(old, new)
    if index is None or index >= len(old):
        return ""
    verb = "changed" if index < len(new) else "removed"
    role, lost = old[index][0], "".join(text for _, text in old[index:])
    return f"the caller {verb} message {index + 1} ({role}); {_describe_loss(lost)}"


def _describe_loss(text: str) -> str:
    return f"about {estimate(text):,} tokens lost"
