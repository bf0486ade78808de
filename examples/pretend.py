"""A fake provider on this machine, to try the examples without an API key or a network.

    python pretend.py python anthropic_loop.py "What is this project?"

It runs the command with ANTHROPIC_BASE_URL and OPENAI_BASE_URL set to itself. It answers a question by reading AGENTS.md with
`read_file`, and any other message directly. Its prompt cache works like a real one: tokens are cached if an earlier request started
with the same prefix, for Anthropic up to a breakpoint. (Real caches also have a minimum size and expire.) `--record FILE` saves the
requests, one per line.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BREAKPOINT = "cache_control"


class Provider(ThreadingHTTPServer):
    """Remembers the prefixes it has seen, and can record requests."""

    def __init__(self, record=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url, self.record, self.prefixes = f"http://127.0.0.1:{self.server_port}", record, set()

    def read(self, pieces):
        """Return the number of cached tokens and of all tokens. Each piece has a text, and says whether to cache everything up to its end."""
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
        answer = json.dumps(
            (for_messages if path.endswith("/messages") else for_responses)(request, self.server)
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Print nothing, so that only the command's output is visible."""


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
    pieces = [({**message, BREAKPOINT: None}, BREAKPOINT in message) for message in parts]
    pieces[-1] = (pieces[-1][0], pieces[-1][1] or BREAKPOINT in request)
    read, size = provider.read([(json.dumps(part), is_cached) for part, is_cached in pieces])
    last, count = messages[-1], len(messages)
    content = {"type": "text", "text": reply(last.get("content") if last["type"] == "tool_result" else None)}
    if request.get("tools") and last["type"] == "text" and last["text"].rstrip().endswith("?"):
        path = {"path": "AGENTS.md"}
        content = {"type": "tool_use", "id": f"use_{count}", "name": "read_file", "input": path}
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
    if request.get("tools") and str(last.get("content", "")).rstrip().endswith("?"):
        call = {"name": "read_file", "arguments": '{"path": "AGENTS.md"}'}
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


def reply(result):
    """Return the model's reply: the first line of a tool's result, or `Understood.`"""
    text = result[0]["text"] if isinstance(result, list) else result
    return f"AGENTS.md begins: {text.strip().splitlines()[0]}" if text else "Understood."


def environment(url):
    """Return environment variables that direct clients to this provider, without a proxy."""
    keys = {"ANTHROPIC_API_KEY": "fake", "OPENAI_API_KEY": "fake"}
    urls = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"}
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
