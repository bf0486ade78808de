"""Read a request's messages and tools, and create responses, in each of the four wire formats."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Message = tuple[str, list[str]]

TEXT = "Done."


@dataclass(frozen=True)
class Call:
    """One tool call that the provider makes."""

    name: str
    arguments: Json


@dataclass(frozen=True)
class Metering:
    """The number of a response, which makes its ids unique, and the tokens that it reports.

    `long` of the `written` tokens are cached for an hour. A provider without a price for writing reports none.
    """

    number: int = 1
    fresh: int = 10
    written: int = 0
    read: int = 0
    out: int = 2
    long: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.written + self.read


def wire(path: str) -> str:
    """Return the wire format of a request path, or an empty string if it is not a request to a model."""
    path = path.split("?")[0]
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "gemini"
    return ""


def messages(path: str, body: Json) -> list[Message]:
    """Return the roles and texts in a request of any wire format, in order.

    Tool results have the role `tool`. Tool descriptions come last, with the role `tools`.
    """
    reader = {"anthropic": _anthropic, "responses": _responses, "chat": _chat, "gemini": _gemini}.get(wire(path))
    found = [*reader(body), ("tools", [tool.get("description") or "" for tool in _tools(body)])] if reader else []
    return [(role, texts) for role, texts in found if texts]


def tool_names(body: Json) -> list[str]:
    """Return the names of the tools that a request offers."""
    return [tool.get("name") or "" for tool in _tools(body)]


def _tools(body: Json) -> list[Json]:
    """Return the definitions of the tools that a request offers."""
    found: list[Json] = []
    for tool in body.get("tools") or []:
        for declared in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]:
            found.append(declared.get("function") or declared)
    return found


def _texts(content: object) -> list[str]:
    """Return the texts in a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _anthropic(body: Json) -> list[Message]:
    found: list[Message] = [("system", _texts(body.get("system")))]
    for message in body.get("messages") or []:
        content, role = message["content"], message["role"]
        if isinstance(content, str):
            found.append((role, [content]))
            continue
        for part in content:
            if part.get("type") == "tool_result":
                found.append(("tool", _texts(part.get("content"))))
            elif isinstance(part.get("text"), str):
                found.append((role, [part["text"]]))
    return _join_roles(found)


def _join_roles(parts: list[Message]) -> list[Message]:
    """Join consecutive parts with the same role into one message."""
    joined: list[Message] = []
    for role, texts in parts:
        if joined and joined[-1][0] == role:
            joined[-1] = (role, joined[-1][1] + texts)
        elif texts:
            joined.append((role, texts))
    return joined


def _responses(body: Json) -> list[Message]:
    found: list[Message] = [("system", _texts(body.get("instructions")))]
    items = body.get("input") or []
    for item in [{"type": "message", "role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "message":
            found.append((item["role"], _texts(item.get("content"))))
        elif kind.endswith("_output"):
            found.append(("tool", _texts(item.get("output"))))
    return found


def _chat(body: Json) -> list[Message]:
    return [(message["role"], _texts(message.get("content"))) for message in body.get("messages") or []]


def _gemini(body: Json) -> list[Message]:
    found: list[Message] = []
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    found.append(("system", _texts(system.get("parts") if isinstance(system, dict) else system)))
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            if "functionResponse" in part:
                response = part["functionResponse"].get("response") or {}
                found.append(("tool", [value for value in response.values() if isinstance(value, str)]))
            elif isinstance(part.get("text"), str):
                found.append((content.get("role", "user"), [part["text"]]))
    return _join_roles(found)


def answer(path: str, body: Json, call: Call | None, metering: Metering | None = None) -> tuple[str, bytes]:
    """Return the content type and body of a response: the fixed text, or the tool call."""
    kind, meter = wire(path), metering or Metering()
    if kind == "anthropic":
        return _answer_anthropic(body, call, meter)
    if kind == "responses":
        return _answer_responses(body, call, meter)
    if kind == "chat":
        return _answer_chat(body, call, meter)
    if kind == "gemini":
        return _answer_gemini(path, call, meter)
    if "count" in path.lower():
        return "application/json", b'{"input_tokens": 10, "totalTokens": 10}'
    return "application/json", b"{}"


def _sse(events: list[Json], named: bool = True, end: str = "") -> tuple[str, bytes]:
    lines = []
    for event in events:
        lines.append((f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n")
    return "text/event-stream", ("".join(lines) + end).encode()


def _plain(value: Json) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()


def _answer_anthropic(body: Json, call: Call | None, meter: Metering) -> tuple[str, bytes]:
    usage: Json = {
        "input_tokens": meter.fresh,
        "output_tokens": meter.out,
        "cache_creation_input_tokens": meter.written,
        "cache_read_input_tokens": meter.read,
    }
    if meter.written:
        short = meter.written - meter.long
        usage["cache_creation"] = {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": meter.long}
    block: Json = {"type": "text", "text": TEXT}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{meter.number}", "name": call.name, "input": call.arguments}
    stop = "tool_use" if call else "end_turn"
    message: Json = {
        "id": f"msg_{meter.number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "peer"),
    }
    if not body.get("stream"):
        return _plain({**message, "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage})
    empty = {**block, "input": {}} if call else {**block, "text": ""}
    delta = {"type": "text_delta", "text": TEXT}
    if call:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    return _sse(
        [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
    )


def _answer_responses(body: Json, call: Call | None, meter: Metering) -> tuple[str, bytes]:
    content = [{"type": "output_text", "text": TEXT, "annotations": []}]
    item: Json = {
        "type": "message",
        "id": f"m{meter.number}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    if call:
        arguments = json.dumps(call.arguments)
        ids = {"id": f"f{meter.number}", "call_id": f"c{meter.number}"}
        item = {"type": "function_call", **ids, "name": call.name, "arguments": arguments}
    usage: Json = {"input_tokens": meter.input, "output_tokens": meter.out, "total_tokens": meter.input + meter.out}
    usage["input_tokens_details"] = {"cached_tokens": meter.read, "cache_write_tokens": meter.written}
    response: Json = {
        "id": f"resp_{meter.number}",
        "object": "response",
        "model": body.get("model", "peer"),
        "status": "completed",
    }
    response |= {"output": [item], "usage": usage}
    if not body.get("stream"):
        return _plain(response)
    return _sse(
        [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
    )


def _answer_chat(body: Json, call: Call | None, meter: Metering) -> tuple[str, bytes]:
    message: Json = {"role": "assistant", "content": TEXT}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{meter.number}", "type": "function", "function": function}],
        }
    stop = "tool_calls" if call else "stop"
    usage: Json = {
        "prompt_tokens": meter.input,
        "completion_tokens": meter.out,
        "total_tokens": meter.input + meter.out,
    }
    usage["prompt_tokens_details"] = {"cached_tokens": meter.read}
    head: Json = {"id": f"chat_{meter.number}", "created": 1, "model": body.get("model", "peer")}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": stop}
        return _plain({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    delta = dict(message)
    if call:
        delta["tool_calls"] = [{"index": 0, **message["tool_calls"][0]}]
    head["object"] = "chat.completion.chunk"
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {**head, "choices": [], "usage": usage},
    ]
    return _sse(chunks, named=False, end="data: [DONE]\n\n")


def _answer_gemini(path: str, call: Call | None, meter: Metering) -> tuple[str, bytes]:
    part: Json = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": TEXT}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": meter.input, "candidatesTokenCount": meter.out}
    usage |= {"totalTokenCount": meter.input + meter.out, "cachedContentTokenCount": meter.read}
    value = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "peer"}
    return _sse([value], named=False) if "stream" in path.split(":")[-1] else _plain(value)
