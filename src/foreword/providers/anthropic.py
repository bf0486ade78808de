"""Anthropic's Messages API: text blocks, with cache breakpoints where lifetimes end (`blocks.py`).

The API reads tools, then system, then messages, and caches everything before a breakpoint. It rejects a request with more than four
breakpoints, including the automatic one (`cache_control` of the request itself). By default at most three are set here, which leaves
one for the caller. Breakpoints that the caller has set in messages and tools count too; if there are too many, only the last ones are
kept. The API ignores a breakpoint in a prompt that is too short, so the prompt's tokens need not be counted.

Breakpoints that last an hour must come before those that last five minutes. In a long conversation, one breakpoint is in the messages
(`message_breakpoints.py`).

A late change that the conversation announces becomes a system message, if the model accepts one in the middle of a conversation. New
and removed tools are blocks of that message, if the model accepts them, and `tools` stays the same. The message is placed between the
user's message and the model's answer, the only place where the API accepts it. For any other model, a new tool is the last in `tools`,
which loses the cache after it, unless the agent has the tool search, which finds a deferred tool, or `use_tool` (`use_tool.py`).

Messages that belong to the prompt become user messages, because only some models accept other roles there. They continue the prompt,
and a lifetime may end in them.
"""

from __future__ import annotations

from ..errors import CallError, expect_mapping
from ..vocabulary import Turn, replace
from . import check_turn_for
from .blank_text import without_blank_text
from .blocks import blocks_of, keep_last_breakpoints, split_after_root
from .capabilities import capabilities_of
from .existing_breakpoints import breakpoints_in, without_first_breakpoints
from .late import announcements, with_deferred_tools, without_listed_tools
from .message_breakpoints import add_message_breakpoint
from .use_tool import with_use_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from .blocks import Block

    TTL = Literal["5m", "1h", "mixed"]

_TTLS = ("5m", "1h", "mixed")
_BETA_HEADER = "anthropic-beta"
MAX_BREAKPOINTS = 4  # in the whole request
_SHARED_LIFETIMES = ("release", "project")  # text that other conversations read too
_MIN_CACHED = 4096  # characters; most models do not cache less than this


def for_anthropic(
    turn: Turn,
    *,
    breakpoints: int = 3,
    ttl: TTL | None = None,
    betas: bool = True,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the arguments `tools`, `system` and `messages` of `client.messages.create`.

    `breakpoints` is how many cache breakpoints may be set, from 0 to 4. Together with those already in the messages and tools, there
    are never more than 4; if you add others to the request afterwards, leave room for them. The default leaves room for one, such as
    the automatic one (`cache_control={"type": "ephemeral"}`).

    `ttl` is how long the cache lasts: `5m`, `1h`, or `mixed` for an hour up to the end of the project's text and five minutes after
    it. Without it, the API uses 5 minutes. If you have set a breakpoint in the messages that lasts an hour, all those before it last
    an hour too.

    Tools that are added or removed late are sent with beta headers (`extra_headers`) if the turn's model accepts them, which preserves
    the cache. With `betas=False`, they are in `tools`. Pass your own headers as `headers`, and `extra_headers` contains both: the names
    in your `anthropic-beta` are kept.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> sorted(for_anthropic(turn))
    ['messages', 'system']
    """
    check_turn_for("anthropic", turn)
    _check_first_message(turn)
    turn = without_blank_text(turn)
    _check_options(breakpoints, ttl)
    expect_mapping("headers", headers)
    late_headers: dict[str, str] = {}
    if turn.changes:
        turn, late_headers = _with_late_changes(turn, betas)
    tools = [_tool(tool) for tool in turn.tools]
    messages = turn.messages[len(turn.leading) :]
    if next(breakpoints_in([tools, messages]), None):
        tools, messages, breakpoints, ttl = _limit_breakpoints(tools, messages, breakpoints, ttl)
    elif breakpoints and (marked := add_message_breakpoint(messages, _cache_control(ttl, "conversation"))):
        messages, breakpoints = marked, breakpoints - 1
    # A deferred tool is not in the prompt, so it cannot have a breakpoint.
    last_tool = next((tool for tool in reversed(tools) if not tool.get("defer_loading")), None)
    blocks, break_after_tools = _place_breakpoints(turn, tools if last_tool else (), breakpoints)
    if last_tool is not None and break_after_tools:
        last_tool.setdefault("cache_control", _cache_control(ttl, _SHARED_LIFETIMES[0]))
    request: dict[str, Any] = {"tools": tools} if tools else {}
    if system := _text_blocks(blocks, 0, ttl):
        request["system"] = system
    leading = [
        {"role": "user", "content": _text_blocks(blocks, number, ttl)} for number in range(1, len(turn.leading) + 1)
    ]
    request["messages"] = [*leading, *messages]
    if extra_headers := _merge_headers(headers, late_headers):
        request["extra_headers"] = extra_headers
    return request


request = for_anthropic


def _merge_headers(own: Mapping[str, str] | None, late: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's headers and those of late changes. Both may name betas; each is named once."""
    own = own or {}
    merged = {name: value for name, value in own.items() if name.lower() != _BETA_HEADER}
    values = [value for headers in (own, late) for name, value in headers.items() if name.lower() == _BETA_HEADER]
    names = dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip())
    return {**merged, **({_BETA_HEADER: ",".join(names)} if names else {})}


def _check_first_message(turn: Turn) -> None:
    first = next(iter(turn.messages[len(turn.leading) :]), None)
    if first is not None and first.get("role") in ("system", "developer"):
        raise CallError(
            f"for_anthropic: the first message has the role {first['role']!r}, which the API refuses there; pass its text as"
            " Agent(base=…), so that it is in turn.system, or with the role 'user'"
        )


def _check_options(breakpoints: int, ttl: str | None) -> None:
    if type(breakpoints) is not int or not 0 <= breakpoints <= MAX_BREAKPOINTS:
        raise CallError(f"breakpoints must be a number from 0 to {MAX_BREAKPOINTS}, not {breakpoints!r}")
    if ttl not in (None, *_TTLS):
        raise CallError(f"unknown ttl {ttl!r}; use {', '.join(map(repr, _TTLS))} or None")


def _place_breakpoints(turn: Turn, tools: Sequence[Any], count: int) -> tuple[list[Block], bool]:
    """Return the prompt's blocks, and whether to set a breakpoint after the tools. There are at most `count` breakpoints in total."""
    blocks = blocks_of(turn)
    # Tools come first and change with the agent's release. If text of that lifetime follows, its breakpoint covers them too. But
    # then a late tool would invalidate the cache of all tools, so tools that are longer than the text get their own breakpoint.
    has_release = bool(blocks) and blocks[0].lifetime == "release"
    break_after_tools = bool(tools) and (not has_release or _length(tools) > max(len(blocks[0].text), _MIN_CACHED))
    block_breakpoints = sum(block.has_breakpoint for block in blocks)
    if break_after_tools and has_release and block_breakpoints == count > 1:
        return keep_last_breakpoints(blocks, count - 1), True
    if break_after_tools + block_breakpoints < count:
        return split_after_root(blocks, turn.root_end), break_after_tools
    return keep_last_breakpoints(blocks, count), break_after_tools and block_breakpoints < count


def _length(tools: Iterable[Mapping[str, Any]]) -> int:
    """Return the length of the tools' descriptions, which are most of their text."""
    return sum(len(tool.get("description") or "") for tool in tools)


def _text_blocks(blocks: Iterable[Block], message: int, ttl: str | None) -> list[dict[str, Any]]:
    """Return the blocks of the system prompt (message 0) or of another message, in the API's form."""
    return [
        {"type": "text", "text": block.text, **_breakpoint_field(block, ttl)}
        for block in blocks
        if block.message == message
    ]


def _breakpoint_field(block: Block, ttl: str | None) -> dict[str, Any]:
    return {"cache_control": _cache_control(ttl, block.lifetime)} if block.has_breakpoint else {}


def _cache_control(ttl: str | None, lifetime: str) -> dict[str, str]:
    if ttl == "mixed":
        ttl = "1h" if lifetime in _SHARED_LIFETIMES else "5m"
    return {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}


# Late changes


def _with_late_changes(turn: Turn, betas: bool) -> tuple[Turn, dict[str, str]]:
    """Return the turn with announced changes in the API's own form, and the headers that this needs."""
    capabilities = capabilities_of("anthropic", turn.model)
    can_change_tools = betas and capabilities.added_tools and capabilities.removed_tools
    if not can_change_tools:
        turn = without_listed_tools(with_use_tool(with_deferred_tools(turn)))
    announced = announcements(turn)
    if not capabilities.system_messages or not announced:
        return turn, {}
    tools = {tool["name"]: tool for tool in turn.tools}
    blocks = {
        number: [*(_tool_changes(change, tools) if can_change_tools else ()), {"type": "text", "text": change["text"]}]
        for number, change in announced.items()
    }
    turn = replace(turn, messages=_with_system_messages(turn.messages, blocks))
    if all(len(message_blocks) == 1 for message_blocks in blocks.values()):
        return turn, {}
    added_names = {name for change in announced.values() for name in change.get("added", ())}
    headers = {_BETA_HEADER: ",".join(capabilities.betas)}
    return replace(turn, tools=[tool for tool in turn.tools if tool["name"] not in added_names]), headers


def _with_system_messages(
    messages: Sequence[Mapping[str, Any]], blocks: Mapping[int, Sequence[dict[str, Any]]]
) -> list[Mapping[str, Any]]:
    """Return the messages, with those whose numbers are in `blocks` replaced by system messages with these blocks."""
    result: list[Mapping[str, Any]] = []
    pending: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        if index in blocks:
            pending += blocks[index]
            continue
        if pending and message.get("role") == "assistant":
            result += _system_message(result, pending)
            pending = []
        result.append(message)
    return [*result, *(_system_message(result, pending) if pending else ())]


def _tool_changes(change: Mapping[str, Any], tools: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the blocks that add and remove tools."""
    for name in change.get("added", ()):
        if name in tools:
            yield {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": _tool(tools[name])}}
    for kind, key in (("tool_addition", "restored"), ("tool_removal", "removed")):
        for name in change.get(key, ()):
            if reference := _reference(tools.get(name, {"name": name})):
                yield {"type": kind, "tool": reference}


def _reference(tool: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a reference to a tool or to the tools of an MCP server. Other sets of tools have no name to refer to."""
    kind = tool.get("type", "")
    if "toolset" not in kind:
        return {"type": "tool_reference", "name": tool["name"]}
    server = (tool.get("options") or {}).get("mcp_server_name")
    return {"type": "mcp_toolset_reference", "server_name": server} if server else None


def _system_message(preceding: Sequence[Mapping[str, Any]], blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a system message. It must follow a user message, so if there is none, its text is sent as one."""
    if preceding and preceding[-1].get("role") != "assistant":
        yield {"role": "system", "content": blocks}
        return
    yield {"role": "user", "content": [block for block in blocks if block["type"] == "text"]}
    if changes := [block for block in blocks if block["type"] != "text"]:
        yield {"role": "system", "content": changes}


def _limit_breakpoints(
    tools: list[dict[str, Any]], messages: Sequence[Any], breakpoints: int, ttl: TTL | None
) -> tuple[list[dict[str, Any]], Sequence[Any], int, TTL | None]:
    """Return the tools and messages with at most four breakpoints, how many more may be set, and the TTL for those."""
    in_tools, in_messages = (len([*breakpoints_in(content)]) for content in (tools, messages))
    surplus = in_tools + in_messages - MAX_BREAKPOINTS
    tools = without_first_breakpoints(tools, surplus)
    messages = without_first_breakpoints(messages, surplus - in_tools)
    return tools, messages, max(min(breakpoints, -surplus), 0), _compatible_ttl(ttl, tools, messages)


def _compatible_ttl(ttl: TTL | None, tools: Sequence[Any], messages: Sequence[Any]) -> TTL | None:
    """Return a TTL that fits between the caller's breakpoints in tools and messages: five minutes must not precede an hour."""
    if "1h" in map(_ttl_of, breakpoints_in(messages)):
        return "1h"
    if any(_ttl_of(control) != "1h" for control in breakpoints_in(tools)):
        return ttl and "5m"
    return ttl


def _ttl_of(control: Any) -> Any:
    return control.get("ttl") if isinstance(control, dict) else None


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a definition to the API's form. A tool with a type is the provider's own, and a set of tools has no name."""
    options = tool.get("options") or {}
    description = {"description": tool["description"]} if tool.get("description") else {}
    if kind := tool.get("type"):
        name = {} if "toolset" in kind else {"name": tool["name"]}
        return {"type": kind, **name, **description, **_settings(tool), **options}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "input_schema": schema, **_settings(tool), **options}


def _settings(tool: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"strict": tool["strict"]} if tool.get("strict") is not None else {}
    if tool.get("defer"):
        settings["defer_loading"] = True
    if tool.get("allowed_callers"):
        settings["allowed_callers"] = list(tool["allowed_callers"])
    return settings
