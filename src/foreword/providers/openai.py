"""OpenAI's two APIs: Responses, and Chat Completions, which many other servers support too.

Both cache prefixes automatically. A request can add `prompt_cache_key`: requests with the same key go to the same machine, which has
the cache of the earlier ones, as long as there are not too many of them. By default each conversation has its own key, a hash of its
id, which stays the same when its prompt changes. A sub-agent's key depends on its prompt too. With `cache_scope="prompt"`, the key is a
hash of the tools and of the prompt, including its messages, up to the first passage that lasts only a turn: then all conversations with
the same prompt share a machine.

Models from GPT-5.6 on also accept breakpoints on blocks of text. The API sets one at the newest message, for the next turn; those set
here, where lifetimes end, are useful to other conversations too. In Responses, the system prompt is then a developer message, because
`instructions` cannot have blocks. A turn whose model is unknown has no breakpoints.

A late change that the conversation announces becomes a developer message (in Chat a system message), if the turn's model is known to
accept one. In Responses, models from GPT-5.6 on get new tools as an entry of `input`, and `tools` stays the same. A tool that is removed
stays in `tools` too: these models are limited to the others by `tool_choice`. Chat Completions and other models get new tools at the end
of `tools`, or with `use_tool` in a message (`use_tool.py`).

Responses accepts all message roles. For Chat Completions, a `developer` message of the prompt becomes `system`.
"""

from __future__ import annotations

import json

from ..errors import CallError, expect
from ..vocabulary import Turn, digest, replace
from ..vocabulary.tools import inactive_tools
from . import check_turn_for
from .blocks import blocks_of, keep_last_breakpoints, split_after_root
from .capabilities import capabilities_of
from .late import announcements, without_listed_tools
from .merging import merge_messages
from .tool_fields import reject_tool_fields
from .use_tool import with_use_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    from .blocks import Block

    CacheScope = Literal["conversation", "prompt"]


_MAX_KEY_LENGTH = 64  # the API rejects longer ones
_SCOPES = ("conversation", "prompt")
_MAX_BREAKPOINTS = 4
_TTLS = ("30m", "12h", "mixed")
_CHAT_TTLS = ("30m", "mixed")
_SHARED_LIFETIMES = ("release", "project")
_TYPES_WITH_NAME = ("custom", "namespace")


def for_openai_responses(
    turn: Turn,
    *,
    cache_key: str | None = None,
    cache_scope: CacheScope = "conversation",
    breakpoints: int = 3,
    ttl: Literal["30m", "12h", "mixed"] | None = None,
    tool_choice: Any = None,
) -> dict[str, Any]:
    """Return the arguments `instructions`, `tools`, `input` and `prompt_cache_key` of `client.responses.create`.

    The default `cache_key` is derived from the conversation, or from the prompt if `cache_scope` is `prompt`; an empty one is not sent.

    If the turn's model accepts cache breakpoints, as GPT-5.6 does, up to `breakpoints` of them are set where lifetimes end, and the
    system prompt is the first message of `input`. `ttl` is the minimum time for which these models keep the cache: `30m` (their
    default), `12h`, or `mixed` for twelve hours up to the end of the project's text.

    These models are limited to the active tools by `tool_choice` once a tool is removed. Pass your own here instead of adding it to the
    request: `auto` and `required` then apply to the active tools, and any other value is sent unchanged.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> sorted(for_openai_responses(turn))
    ['input', 'instructions', 'prompt_cache_key']
    """
    check_turn_for("openai-responses", turn)
    _check_tools(turn, "Responses")
    choice = _tool_choice(turn, tool_choice, is_chat=False)
    if turn.changes:
        turn = _with_late_changes(turn, "developer", can_add_tools=True)
    blocks = _blocks_with_breakpoints(turn, breakpoints, ttl, _TTLS)
    request: dict[str, Any] = {}
    if turn.system.strip() and not blocks:
        request["instructions"] = turn.system
    if turn.tools:
        request["tools"] = [_responses_tool(tool) for tool in turn.tools]
    messages = _with_blocks(turn, blocks, "developer", "input_text", ttl) if blocks else turn.messages
    request["input"] = [_item(message) for message in messages]
    return request | choice | _cache_key(turn, cache_key, cache_scope) | _cache_options(ttl)


def for_openai_chat(
    turn: Turn,
    *,
    cache_key: str | None = None,
    cache_scope: CacheScope = "conversation",
    breakpoints: int = 3,
    ttl: Literal["30m", "mixed"] | None = None,
    tool_choice: Any = None,
    merge: bool | None = None,
) -> dict[str, Any]:
    """Return the arguments `messages`, `tools` and `prompt_cache_key` of `client.chat.completions.create`.

    The prompt is a message with the role `system`, which OpenAI treats as `developer` where a model needs that, and which every other
    server accepts. The other arguments are those of `for_openai_responses`, except that `ttl` cannot be `12h` for the whole request.
    Pass an empty `cache_key` for servers that reject unknown keys.

    With `merge`, consecutive messages from the user become one, because the chat templates of some models refuse them. By default,
    they do if the turn's model is known to need that, such as Mistral's and Gemma.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> sorted(for_openai_chat(turn))
    ['messages', 'prompt_cache_key']
    """
    check_turn_for("openai-chat", turn)
    if turn.changes:
        turn = with_use_tool(turn)
    _check_tools(turn, "Chat Completions")
    choice = _tool_choice(turn, tool_choice, is_chat=True)
    if turn.changes:
        turn = _with_late_changes(turn, "system", can_add_tools=False)
    blocks = _blocks_with_breakpoints(turn, breakpoints, ttl, _CHAT_TTLS)
    request: dict[str, Any] = {}
    if turn.tools:
        request["tools"] = [_chat_tool(tool) for tool in turn.tools]
    if blocks:
        prompt = _with_blocks(turn, blocks, "system", "text", ttl)
    else:
        prompt = [*([{"role": "system", "content": turn.system}] if turn.system.strip() else []), *turn.messages]
    count = len(prompt) - len(turn.messages) + len(turn.leading)
    messages = [*(_as_system(message) for message in prompt[:count]), *prompt[count:]]
    request["messages"] = merge_messages(messages) if _must_merge(turn.model, merge) else messages
    return request | choice | _cache_key(turn, cache_key, cache_scope) | _cache_options(ttl)


request = for_openai_responses


def _must_merge(model: str, merge: bool | None) -> bool:
    if merge is None:
        return bool(model) and capabilities_of("openai", model).merged_messages
    expect("merge", merge, bool)
    return merge


# Breakpoints


def _blocks_with_breakpoints(turn: Turn, breakpoints: int, ttl: str | None, ttls: Sequence[str]) -> list[Block]:
    """Return the prompt's blocks with at most `breakpoints` breakpoints, or an empty list if there are none to set."""
    if type(breakpoints) is not int or not 0 <= breakpoints <= _MAX_BREAKPOINTS:
        raise CallError(f"breakpoints must be a number from 0 to {_MAX_BREAKPOINTS}, not {breakpoints!r}")
    if ttl not in (None, *ttls):
        raise CallError(f"unknown ttl {ttl!r}; use {', '.join(map(repr, ttls))} or None")
    if not turn.model or not capabilities_of("openai", turn.model).breakpoints:
        if ttl:
            raise CallError(
                f"ttl needs a model with cache breakpoints, such as gpt-5.6; the turn's model is {turn.model!r}"
            )
        return []
    blocks = blocks_of(turn)
    if sum(block.has_breakpoint for block in blocks) < breakpoints:
        blocks = split_after_root(blocks, turn.root_end)
    blocks = keep_last_breakpoints(blocks, breakpoints)
    return blocks if any(block.has_breakpoint for block in blocks) else []


def _with_blocks(turn: Turn, blocks: Sequence[Block], role: str, kind: str, ttl: str | None) -> list[Mapping[str, Any]]:
    """Return the system prompt, with this role, and the messages. Those that belong to the prompt are lists of blocks."""
    count = len(turn.leading)
    contents: list[list[dict[str, Any]]] = [[] for _ in range(count + 1)]
    for block in blocks:
        contents[block.message].append(_text_block(block, kind, ttl))
    system = [{"role": role, "content": contents[0]}] if contents[0] else []
    # A blank message has no blocks.
    leading = [
        {**message, "content": content or message["content"]}
        for message, content in zip(turn.messages[:count], contents[1:], strict=True)
    ]
    return [*system, *leading, *turn.messages[count:]]


def _text_block(block: Block, kind: str, ttl: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"type": kind, "text": block.text}
    if block.has_breakpoint:
        is_long = ttl == "mixed" and block.lifetime in _SHARED_LIFETIMES
        fields["prompt_cache_breakpoint"] = {"mode": "explicit", **({"ttl": "12h"} if is_long else {})}
    return fields


def _cache_options(ttl: str | None) -> dict[str, Any]:
    return {"prompt_cache_options": {"ttl": ttl}} if ttl and ttl != "mixed" else {}


# Late changes


def _with_late_changes(turn: Turn, role: str, *, can_add_tools: bool) -> Turn:
    """Return the turn with this role in messages that announce a change, and with new tools as messages if the model accepts that."""
    capabilities = capabilities_of("openai", turn.model)
    can_add_tools = can_add_tools and capabilities.added_tools
    if not can_add_tools:
        turn = without_listed_tools(with_use_tool(turn))
    announced = announcements(turn)
    if not capabilities.system_messages or not announced:
        return turn
    tools = {tool["name"]: tool for tool in turn.tools}
    late_tools: set[str] = set()
    messages: list[Mapping[str, Any]] = []
    for index, message in enumerate(turn.messages):
        added = [name for name in announced.get(index, {}).get("added", ()) if name in tools]
        if added and can_add_tools:
            late_tools.update(added)
            definitions = [_responses_tool(tools[name]) for name in added]
            messages.append({"type": "additional_tools", "role": "developer", "tools": definitions})
        messages.append({**message, "role": role} if index in announced else message)
    return replace(turn, messages=messages, tools=[tool for tool in turn.tools if tool["name"] not in late_tools])


def _tool_choice(turn: Turn, choice: Any, *, is_chat: bool) -> dict[str, Any]:
    """Return `tool_choice`: the caller's, limited to the active tools if some are inactive and the model accepts that."""
    inactive = inactive_tools(turn.changes).intersection(tool["name"] for tool in turn.tools)
    mode = choice or "auto"
    if not inactive or mode not in ("auto", "required") or not capabilities_of("openai", turn.model).allowed_tools:
        return {"tool_choice": choice} if choice else {}
    active = [tool for tool in turn.tools if tool["name"] not in inactive]
    if not active:
        return {"tool_choice": "none"}
    fields = {"mode": mode, "tools": [_reference(tool, is_chat) for tool in active]}
    return {"tool_choice": {"type": "allowed_tools", **({"allowed_tools": fields} if is_chat else fields)}}


def _reference(tool: Mapping[str, Any], is_chat: bool) -> dict[str, Any]:
    """Return a reference to a tool. Most of the provider's own tools are referred to by their type alone."""
    kind = tool.get("type") or "function"
    if is_chat:
        return {"type": kind, kind: {"name": tool["name"]}}
    if kind == "mcp":
        return {"type": kind, "server_label": (tool.get("options") or {}).get("server_label", tool["name"])}
    return {"type": kind, **({"name": tool["name"]} if kind in ("function", *_TYPES_WITH_NAME) else {})}


# Tools and messages


def _responses_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a definition to the form of Responses. Only some of the provider's own tools have a name."""
    settings: dict[str, Any] = {"defer_loading": True} if tool.get("defer") else {}
    if tool.get("allowed_callers"):
        settings["allowed_callers"] = list(tool["allowed_callers"])
    options = tool.get("options") or {}
    if kind := tool.get("type"):
        name = {"name": tool["name"]} if kind in _TYPES_WITH_NAME else {}
        strict = {"strict": tool["strict"]} if tool.get("strict") is not None else {}
        return {"type": kind, **name, **_description(tool), **strict, **settings, **options}
    # The default of `strict` is true, which forbids most of JSON Schema.
    return {"type": "function", **_function(tool), "strict": bool(tool.get("strict")), **settings, **options}


def _chat_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    options = tool.get("options") or {}
    if tool.get("type"):
        return {"type": "custom", "custom": {"name": tool["name"], **_description(tool), **options}}
    strict = {"strict": tool["strict"]} if tool.get("strict") is not None else {}
    return {"type": "function", "function": {**_function(tool), **strict, **options}}


def _check_tools(turn: Turn, api: str) -> None:
    """Raise a CallError if a tool sets a field that the API or the turn's model does not accept."""
    if api == "Chat Completions":
        reject_tool_fields(api, turn.tools, ("defer", "allowed_callers"), "use for_openai_responses, or remove it")
        other_tools = [tool for tool in turn.tools if tool.get("type") != "custom"]
        reject_tool_fields(api, other_tools, ("type",), "use for_openai_responses, or leave out the tool")
    elif any(tool.get("defer") for tool in turn.tools) and not capabilities_of("openai", turn.model).deferred_tools:
        hint = "set the agent's model to one that can, such as gpt-5.6, or remove it"
        reject_tool_fields(f"the turn's model {turn.model!r}", turn.tools, ("defer",), hint)


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **_description(tool), "parameters": schema}


def _description(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": tool["description"]} if tool.get("description") else {}


def _as_system(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Change the role `developer` to `system`, because other servers do not accept `developer`."""
    return {**message, "role": "system"} if message["role"] == "developer" else message


def _item(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a message to an input item of Responses. Other items (calls, outputs, reasoning) have no content and are not changed."""
    content = message.get("content")
    if "role" not in message or not isinstance(content, list | tuple):
        return message
    kind = "output_text" if message["role"] == "assistant" else "input_text"
    return {**message, "content": [_part(part, kind) for part in content]}


def _part(part: Any, kind: str) -> Any:
    if isinstance(part, str):
        return {"type": kind, "text": part}
    return {**part, "type": kind} if isinstance(part, dict) and part.get("type") == "text" else part


# The cache key


def _cache_key(turn: Turn, key: str | None, scope: str) -> dict[str, str]:
    if scope not in _SCOPES:
        raise CallError(f"unknown cache_scope {scope!r}; use {' or '.join(map(repr, _SCOPES))}")
    if key is not None and len(key) > _MAX_KEY_LENGTH:
        raise CallError(f"cache_key {key!r} has {len(key)} characters; at most {_MAX_KEY_LENGTH} are accepted")
    if key is None:
        key = _conversation_key(turn) if scope == "conversation" and turn.conversation else _prompt_key(turn)
    return {"prompt_cache_key": key} if key else {}


def _conversation_key(turn: Turn) -> str:
    """Return a hash of the conversation's id, so that the id itself is not sent. Sub-agents, which have no edition, add their prompt."""
    return digest(f"{turn.conversation}\n{'' if turn.edition else _prompt_key(turn)}").removeprefix("sha256:")


def _prompt_key(turn: Turn) -> str:
    """Return a hash of what all turns with this prompt have in common, or an empty string if that is nothing."""
    texts = _lasting_texts(turn)
    if not any(text.strip() for text in texts) and not turn.tools:
        return ""
    return digest(json.dumps([list(turn.tools), *texts], separators=(",", ":"))).removeprefix("sha256:")


def _lasting_texts(turn: Turn) -> list[str]:
    """Return the parts of the system prompt and of the prompt's messages that outlive the turn, up to the first text that does not."""
    texts: list[str] = []
    contents = [turn.system, *(message["content"] for message in turn.messages[: len(turn.leading)])]
    for text, passages in zip(contents, (turn.passages, *turn.leading), strict=True):
        length = _lasting_length(text, passages)
        if length or not texts:
            texts.append(text[:length])
        if passages and length < passages[-1][1]:
            break
    return texts


def _lasting_length(text: str, passages: Sequence[tuple[int, int, str]]) -> int:
    """Return how many characters of the text outlive the turn. Text without passages lasts as long as its edition."""
    if not passages:
        return len(text)
    length = 0
    for _, end, lifetime in passages:
        if lifetime == "turn":
            break
        length = end
    return length
