"""OpenAI's two forms: the Responses API, and Chat Completions, which many other servers speak as well.

Both cache prefixes by themselves. What a request can add is `prompt_cache_key`, which sends requests with a common prefix to the same
machine. The key made here is a hash of the tools and of the system prompt up to the first passage that lives for one turn: the part that
is the same in the next turn, and in every conversation that uses the same prompt. It is no hash of the conversation, for then no
conversation would find what another one wrote; and the text of a turn is left out, for a new plan must not send a conversation away
from what it has in the cache. Where so many conversations share one prompt that one machine is not enough for them, give a `cache_key`
of your own, such as the conversation's id.

Breakpoints are not set here. Only models since GPT-5.6 take them, and a turn does not know its model. Those models set one by themselves
at the newest message, which the next turn of the conversation reads.
"""

from __future__ import annotations

import json

from ..errors import CallError, check_turn
from ..vocabulary import Turn, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


_LONGEST_KEY = 64  # the API refuses a longer one


def for_openai_responses(turn: Turn, *, cache_key: str | None = None) -> dict[str, Any]:
    """The arguments `instructions`, `tools`, `input` and `prompt_cache_key` of `client.responses.create`.

    Without a `cache_key` one is made from the prompt; an empty one sends none.
    """
    check_turn("for_openai_responses", turn, Turn)
    request: dict[str, Any] = {}
    if turn.system.strip():
        request["instructions"] = turn.system
    if turn.tools:
        # Not said, strict would be true, which forbids most of JSON Schema.
        request["tools"] = [{"type": "function", **_function(tool), "strict": False} for tool in turn.tools]
    request["input"] = [_item(message) for message in turn.messages]
    return request | _cache_key(turn, cache_key)


def for_openai_chat(turn: Turn, *, cache_key: str | None = None) -> dict[str, Any]:
    """The arguments `messages`, `tools` and `prompt_cache_key` of `client.chat.completions.create`.

    The prompt is a message of the role `system`, which OpenAI reads as `developer` where a model wants that, and every other server
    knows. Without a `cache_key` one is made from the prompt; an empty one sends none, for servers that refuse what they do not know.
    """
    check_turn("for_openai_chat", turn, Turn)
    request: dict[str, Any] = {}
    if turn.tools:
        request["tools"] = [{"type": "function", "function": _function(tool)} for tool in turn.tools]
    system = [{"role": "system", "content": turn.system}] if turn.system.strip() else []
    request["messages"] = [*system, *turn.messages]
    return request | _cache_key(turn, cache_key)


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "parameters": schema}


def _item(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message in the input of Responses. Other items (calls, their outputs, reasoning) have no content, and stay as they are."""
    content = message.get("content")
    if "role" not in message or not isinstance(content, list | tuple):
        return message
    kind = "output_text" if message["role"] == "assistant" else "input_text"
    return {**message, "content": [_part(part, kind) for part in content]}


def _part(part: Any, kind: str) -> Any:
    if isinstance(part, str):
        return {"type": kind, "text": part}
    return {**part, "type": kind} if isinstance(part, dict) and part.get("type") == "text" else part


def _cache_key(turn: Turn, given: str | None) -> dict[str, str]:
    if given is not None and len(given) > _LONGEST_KEY:
        raise CallError(f"cache_key {given!r} has {len(given)} characters; at most {_LONGEST_KEY} are accepted")
    key = _prompt_key(turn) if given is None else given
    return {"prompt_cache_key": key} if key else {}


def _prompt_key(turn: Turn) -> str:
    """A hash of what every turn with this prompt begins with; empty if there is no such thing."""
    text = turn.system[: _lasting(turn)]
    if not text.strip() and not turn.tools:
        return ""
    return digest(json.dumps([list(turn.tools), text], separators=(",", ":"))).removeprefix("sha256:")


def _lasting(turn: Turn) -> int:
    """Where the part that outlives the turn ends. A prompt without passages is one edition, whatever is in it."""
    if not turn.passages:
        return len(turn.system)
    lasting = 0
    for _, end, lifetime in turn.passages:
        if lifetime == "turn":
            break
        lasting = end
    return lasting
