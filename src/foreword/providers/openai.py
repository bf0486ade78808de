"""OpenAI's two APIs: Responses, and Chat Completions, which many other servers support too.

Both cache prefixes automatically. A request can add `prompt_cache_key`, which routes requests with a common prefix to the same machine.
The default key is a hash of the tools and of the prompt, including its messages, up to the first passage that lasts only a turn: the
part that is the same in the next turn and in every conversation with the same prompt. It does not depend on the conversation, so that conversations can share
the cache; and it leaves out the text of a turn, so that a new plan does not route a conversation away from its cache. If too many
conversations share one prompt for a single machine, pass your own `cache_key`, such as the conversation's id.

Breakpoints are not set. Only models since GPT-5.6 accept them, and a turn does not know its model. Those models set one automatically at
the newest message, which the next turn of the conversation reads.

Responses accepts all message roles. For Chat Completions, a `developer` message of the prompt becomes `system`.
"""

from __future__ import annotations

import json

from ..errors import CallError, check_turn
from ..vocabulary import Turn, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


_MAX_KEY_LENGTH = 64  # the API rejects longer ones


def for_openai_responses(turn: Turn, *, cache_key: str | None = None) -> dict[str, Any]:
    """Return the arguments `instructions`, `tools`, `input` and `prompt_cache_key` of `client.responses.create`.

    The default `cache_key` is derived from the prompt; an empty one is not sent.
    """
    check_turn("for_openai_responses", turn, Turn)
    request: dict[str, Any] = {}
    if turn.system.strip():
        request["instructions"] = turn.system
    if turn.tools:
        # The default is true, which forbids most of JSON Schema.
        request["tools"] = [{"type": "function", **_function(tool), "strict": False} for tool in turn.tools]
    request["input"] = [_item(message) for message in turn.messages]
    return request | _cache_key(turn, cache_key)


def for_openai_chat(turn: Turn, *, cache_key: str | None = None) -> dict[str, Any]:
    """Return the arguments `messages`, `tools` and `prompt_cache_key` of `client.chat.completions.create`.

    The prompt is a message with the role `system`, which OpenAI treats as `developer` where a model needs that, and which every other
    server accepts. The default `cache_key` is derived from the prompt; an empty one is not sent, for servers that reject unknown keys.
    """
    check_turn("for_openai_chat", turn, Turn)
    request: dict[str, Any] = {}
    if turn.tools:
        request["tools"] = [{"type": "function", "function": _function(tool)} for tool in turn.tools]
    system = [{"role": "system", "content": turn.system}] if turn.system.strip() else []
    leading = [_as_system(message) for message in turn.messages[: len(turn.leading)]]
    request["messages"] = [*system, *leading, *turn.messages[len(leading) :]]
    return request | _cache_key(turn, cache_key)


request = for_openai_responses


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "parameters": schema}


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


def _cache_key(turn: Turn, key: str | None) -> dict[str, str]:
    if key is not None and len(key) > _MAX_KEY_LENGTH:
        raise CallError(f"cache_key {key!r} has {len(key)} characters; at most {_MAX_KEY_LENGTH} are accepted")
    key = _prompt_key(turn) if key is None else key
    return {"prompt_cache_key": key} if key else {}


def _prompt_key(turn: Turn) -> str:
    """Return a hash of what all turns with this prompt have in common, or empty if they have nothing in common."""
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
    """Return how many characters of a text outlive the turn. A text without passages lasts as long as its edition."""
    if not passages:
        return len(text)
    length = 0
    for _, end, lifetime in passages:
        if lifetime == "turn":
            break
        length = end
    return length
