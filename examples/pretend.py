"""A fake provider on this machine, to try the examples without an API key or a network.

    python pretend.py python anthropic_loop.py "What is this project?"

It runs the command with ANTHROPIC_BASE_URL, OPENAI_BASE_URL and GOOGLE_GEMINI_BASE_URL set to itself. It answers a question by reading
AGENTS.md with `read_file`, or with Anthropic's SDK by loading the first skill if the only tool is `use_skill`, and any other message
directly. If a question mentions an issue and there is a tool `open_issue`, it opens one. Its prompt cache works like a real one: tokens
are cached if an earlier request started with the same prefix, for Anthropic up to a breakpoint, of which it accepts four. (Real caches
also have a minimum size and expire.) `--record FILE` saves the requests, one per line.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BREAKPOINT = "cache_control"
MAX_BREAKPOINTS = 4


class Provider(ThreadingHTTPServer):
    """Remembers the prefixes it has seen, and can record requests."""

    def __init__(self, record=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url, self.record, self.prefixes = f"http://127.0.0.1:{self.server_port}", record, set()

    def read(self, pieces):
        """Return the number of cached tokens and of all tokens. Each piece is text, with whether to cache everything up to its end."""
        read, size, key, cached = 0, 0, "", set()
        for text, is_cached in pieces:
            size, key = size + len(text), hashlib.sha256((key + text).encode()).hexdigest()
            read = size if key in self.prefixes else read
            cached |= {key} if is_cached else set()
        self.prefixes |= cached
        return read // 4, size // 4


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        if self.server.record:
            with open(self.server.record, "a") as file:
                file.write(json.dumps({"path": path, **request}) + "\n")
        answer, stream = next((row[1:] for row in APIS if path.endswith(row[0])), (for_responses, stream_responses))
        response = refuse(request, self.headers) or answer(request, self.server)
        if request.get("stream") or "stream" in path:
            kind, content = "text/event-stream", "".join(map(as_event, stream(response)))
        else:
            kind, content = "application/json", json.dumps(response)
        self.send_response(400 if response.get("type") == "error" else 200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content.encode())))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *_):
        """Print nothing, so that only the command's output is visible."""


def refuse(request, headers):
    """Return an error for a body that Anthropic's API would not accept, or None."""
    if "extra_headers" in request:
        return error("extra_headers: Extra inputs are not permitted")
    if '"tool_addition"' in json.dumps(request.get("messages")) and "anthropic-beta" not in headers:
        return error("a block of type tool_addition needs the header anthropic-beta")
    return None


def error(message):
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def for_messages(request, provider):
    """Return a response in the format of Anthropic's Messages API. The request's `cache_control` applies to its last piece."""
    system = request.get("system", [])
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    messages = [
        {"role": message["role"], **(piece if isinstance(piece, dict) else {"type": "text", "text": piece})}
        for message in request["messages"]
        for piece in (message["content"] if isinstance(message["content"], list) else [message["content"]])
    ]
    parts = [*request.get("tools", []), *system, *messages]
    count = sum(BREAKPOINT in part for part in [request, *parts])
    if count > MAX_BREAKPOINTS:
        return error(f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {count}.")
    pieces = [({**message, BREAKPOINT: None}, BREAKPOINT in message) for message in parts]
    pieces[-1] = (pieces[-1][0], pieces[-1][1] or BREAKPOINT in request)
    read, size = provider.read([(json.dumps(part), is_cached) for part, is_cached in pieces])
    last, count = messages[-1], len(messages)
    content = {"type": "text", "text": reply(last.get("content") if last["type"] == "tool_result" else None)}
    if request.get("tools") and last["type"] == "text" and last["text"].rstrip().endswith("?"):
        name, arguments = tool_call(request, last["text"], json.dumps(system))
        content = {"type": "tool_use", "id": f"use_{count}", "name": name, "input": arguments}
    return {
        "id": f"msg_{count}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [content],
        "stop_reason": "tool_use" if content["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 0,
            "cache_creation_input_tokens": size - read,
            "cache_read_input_tokens": read,
            "output_tokens": 9,
        },
    }


def for_responses(request, provider):
    """Return a response in the format of OpenAI's Responses API, which caches every prefix automatically."""
    parts = [*request.get("tools", []), request.get("instructions", ""), *request["input"]]
    read, size = provider.read([(json.dumps(part), True) for part in parts])
    last, count = request["input"][-1], len(request["input"])
    text = {"type": "output_text", "text": reply(last.get("output")), "annotations": []}
    item = {"id": f"msg_{count}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    question = text_of(last.get("content") or "")
    if request.get("tools") and question.rstrip().endswith("?"):
        name, arguments = tool_call(request, question)
        call = {"name": name, "arguments": json.dumps(arguments)}
        item = {
            "id": f"fc_{count}",
            "type": "function_call",
            "call_id": f"call_{count}",
            "status": "completed",
            **call,
        }
    details = {"input_tokens_details": {"cached_tokens": read}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{count}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": request["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": size, "output_tokens": 9, "total_tokens": size + 9, **details},
    }


def for_chat(request, provider):
    """Return a response in the format of OpenAI's Chat Completions API, which caches every prefix automatically."""
    parts = [*request.get("tools", []), *request["messages"]]
    read, size = provider.read([(json.dumps(part), True) for part in parts])
    last, count = request["messages"][-1], len(request["messages"])
    message = {"role": "assistant", "content": reply(last["content"] if last["role"] == "tool" else None)}
    if request.get("tools") and last["role"] == "user" and text_of(last["content"]).rstrip().endswith("?"):
        name, arguments = tool_call(request, text_of(last["content"]))
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call_{count}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"chat_{count}",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": {
            "prompt_tokens": size,
            "completion_tokens": 9,
            "total_tokens": size + 9,
            "prompt_tokens_details": {"cached_tokens": read},
        },
    }


def for_gemini(request, provider):
    """Return a response in the format of Gemini's API, which caches every prefix automatically."""
    parts = [request.get("systemInstruction", ""), *request.get("tools", []), *request["contents"]]
    read, size = provider.read([(json.dumps(part), True) for part in parts])
    last = request["contents"][-1]["parts"][-1]
    result = last.get("functionResponse", {}).get("response", {})
    part = {"text": reply(next(iter(result.values()), None) if result else None)}
    if request.get("tools") and last.get("text", "").rstrip().endswith("?"):
        name, arguments = tool_call(request, last["text"])
        part = {"functionCall": {"name": name, "args": arguments}}
    usage = {"promptTokenCount": size, "candidatesTokenCount": 9, "cachedContentTokenCount": read}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage}


# Streams: the same responses in pieces


def stream_messages(response):
    """Return the events of a streamed response of Anthropic's Messages API."""
    if response["type"] == "error":
        return [response]
    [block] = response["content"]
    start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block.get("text", "")}
    if block["type"] == "tool_use":
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    end = {"stop_reason": response["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**response, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": response["usage"]},
        {"type": "message_stop"},
    ]


def stream_responses(response):
    """Return the events of a streamed response of OpenAI's Responses API."""
    [item] = response["output"]
    place = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        [part] = item["content"]
        inner = [
            {"type": "response.content_part.added", **place, "content_index": 0, "part": {**part, "text": ""}},
            {
                "type": "response.output_text.delta",
                **place,
                "content_index": 0,
                "delta": part["text"],
                "logprobs": [],
            },
        ]
        start = {**item, "content": []}
    else:
        inner = [{"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}]
        start = {**item, "arguments": ""}
    events = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": start},
        *inner,
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return [{**event, "sequence_number": index} for index, event in enumerate(events)]


def stream_chat(response):
    """Return the chunks of a streamed response of OpenAI's Chat Completions API."""
    [choice] = response["choices"]
    calls = [{**call, "index": index} for index, call in enumerate(choice["message"].get("tool_calls", ()))]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    head = {key: response[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    return [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**head, "choices": [], "usage": response["usage"]},
        "[DONE]",
    ]


def stream_gemini(response):
    """Return the only event of a streamed response of Gemini's API."""
    return [response]


def as_event(data):
    """Return an event of a stream, as it is sent."""
    name = f"event: {data['type']}\n" if isinstance(data, dict) and "type" in data else ""
    return f"{name}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


# How the path of a request ends, and the functions that answer it.
APIS = (
    ("/messages", for_messages, stream_messages),
    ("/responses", for_responses, stream_responses),
    ("/chat/completions", for_chat, stream_chat),
    (":generateContent", for_gemini, stream_gemini),
    (":streamGenerateContent", for_gemini, stream_gemini),
)


def text_of(content):
    """Return the text of a message, whose content is a string or a list of blocks."""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def tool_call(request, question, prompt=""):
    """Return the tool that the model calls, and its arguments. A tool that is not in the list is called with `use_tool`, if that is."""
    skill = re.search(r"\\n- ([\w-]+): ", prompt)
    if skill and [tool.get("name") for tool in request["tools"]] == ["use_skill"]:
        return "use_skill", {"name": skill[1]}
    text, listed = json.dumps(request), json.dumps(request["tools"])
    if "issue" in question and "open_issue" in text:
        call = {"name": "open_issue", "arguments": {"title": question}}
        is_defined = any(name in text for name in ("tool_addition", "additional_tools")) or "open_issue" in listed
        return ("use_tool", call) if "use_tool" in listed and not is_defined else (call["name"], call["arguments"])
    return "read_file", {"path": "AGENTS.md"}


def reply(result):
    """Return the model's reply: a line of a tool's result, or `Understood.`"""
    text = text_of(result) if result else ""
    lines = text.strip().splitlines() if text else ["Understood."]
    if not text or lines[0].startswith(("The skill", "Opened")):
        return lines[-1]
    return f"AGENTS.md begins: {lines[0]}"


def environment(url):
    """Return environment variables that direct clients to this provider, without a proxy."""
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), "fake")
    urls = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1", "GOOGLE_GEMINI_BASE_URL": url}
    return {**keys, **urls, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def main(arguments):
    record = arguments[1] if arguments[:1] == ["--record"] else None
    command = arguments[2:] if record else arguments
    if not command or not shutil.which(command[0]):
        return "usage: python pretend.py [--record FILE] COMMAND…, such as python anthropic_loop.py 'Hello.'"
    with Provider(record) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        status = subprocess.run(command, env={**os.environ, **environment(provider.url)}).returncode
        provider.shutdown()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
