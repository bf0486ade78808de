"""A provider on this machine that pretends: the examples can be tried, and are tested, without a key and without a network.

    python pretend.py python anthropic_loop.py "What is this project?"

It runs the command with ANTHROPIC_BASE_URL and OPENAI_BASE_URL set to itself. A question is looked up in AGENTS.md with
`read_file`; anything else is answered at once. Its prompt cache is a real one: what it says was read from it are the pieces that an earlier
request began with, for Anthropic up to a breakpoint. (Real ones also want a least length, and forget.) `--record FILE` keeps the
requests, one to a line.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BREAKPOINT = "cache_control"


class Provider(ThreadingHTTPServer):
    """Keeps the prefixes it has seen, and writes down what it is sent."""

    def __init__(self, record=None):
        super().__init__(("127.0.0.1", 0), Answering)
        self.url, self.record, self.prefixes = f"http://127.0.0.1:{self.server_port}", record, set()

    def read(self, pieces):
        """How many tokens of these pieces are in the cache, and how many there are. Each is a text, and whether to keep up to it."""
        read, size, key, kept = 0, 0, "", set()
        for text, is_kept in pieces:
            size, key = size + len(text), hashlib.sha256((key + text).encode()).hexdigest()
            read = size if key in self.prefixes else read
            kept |= {key} if is_kept else set()
        self.prefixes |= kept
        return read // 4, size // 4


class Answering(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        if self.server.record:
            with open(self.server.record, "a") as file:
                file.write(json.dumps({"path": path, **asked}) + "\n")
        answer = json.dumps(
            (for_messages if path.endswith("/messages") else for_responses)(asked, self.server)
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Say nothing."""


def for_messages(asked, provider):
    """An answer in the form of Anthropic's Messages. `cache_control` of the request itself stands for its last piece."""
    system = asked.get("system", [])
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    messages = [
        {"role": each["role"], **(piece if isinstance(piece, dict) else {"type": "text", "text": piece})}
        for each in asked["messages"]
        for piece in (each["content"] if isinstance(each["content"], list) else [each["content"]])
    ]
    whole = [*asked.get("tools", []), *system, *messages]
    pieces = [({**each, BREAKPOINT: None}, BREAKPOINT in each) for each in whole]
    pieces[-1] = (pieces[-1][0], pieces[-1][1] or BREAKPOINT in asked)
    read, size = provider.read([(json.dumps(each), is_kept) for each, is_kept in pieces])
    last, count = messages[-1], len(messages)
    content = {"type": "text", "text": said(last.get("content") if last["type"] == "tool_result" else None)}
    if asked.get("tools") and last["type"] == "text" and last["text"].rstrip().endswith("?"):
        path = {"path": "AGENTS.md"}
        content = {"type": "tool_use", "id": f"use_{count}", "name": "read_file", "input": path}
    return {
        "id": f"msg_{count}",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
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


def for_responses(asked, provider):
    """An answer in the form of OpenAI's Responses, whose cache keeps every prefix by itself."""
    whole = [*asked.get("tools", []), asked.get("instructions", ""), *asked["input"]]
    read, size = provider.read([(json.dumps(each), True) for each in whole])
    last, count = asked["input"][-1], len(asked["input"])
    text = {"type": "output_text", "text": said(last.get("output")), "annotations": []}
    item = {"id": f"msg_{count}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    if asked.get("tools") and str(last.get("content", "")).rstrip().endswith("?"):
        called = {"name": "read_file", "arguments": '{"path": "AGENTS.md"}'}
        item = {
            "id": f"fc_{count}",
            "type": "function_call",
            "call_id": f"call_{count}",
            "status": "completed",
            **called,
        }
    details = {"input_tokens_details": {"cached_tokens": read}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{count}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": asked["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": size, "output_tokens": 9, "total_tokens": size + 9, **details},
    }


def said(result):
    """What the pretended model says: the first line of what a tool has found, or something that suits most occasions."""
    found = result[0]["text"] if isinstance(result, list) else result
    return f"AGENTS.md begins: {found.strip().splitlines()[0]}" if found else "Understood."


def environment(url):
    """What a client must find in its environment to come here. No proxy stands between a machine and itself."""
    keys = {"ANTHROPIC_API_KEY": "pretended", "OPENAI_API_KEY": "pretended"}
    urls = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"}
    return {**keys, **urls, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def main(arguments):
    record = arguments[1] if arguments[:1] == ["--record"] else None
    command = arguments[2:] if record else arguments
    with Provider(record) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        status = subprocess.run(command, env={**os.environ, **environment(provider.url)}).returncode
        provider.shutdown()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
