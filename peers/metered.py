"""A fake provider that keeps a real prompt cache. It meters every request, records it, and makes the tool calls that a message asks for.

A text such as `[[call Read {"file_path": "/w/a.py"}]]` in a user's message makes the provider call that tool; several are called one
after the other. A sub-agent's task may contain calls in the same way, with `((call …))` for the inner ones.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from foreword.inspection.price_list import read_prices
from foreword.inspection.prices import Price, Prices

from .provider import handler
from .wires import Call, Metering, answer, messages, tool_names, wire

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from provider_cache import Model, ProviderCache

Json = dict[str, Any]

PROVIDERS = {"anthropic": "anthropic", "responses": "openai", "chat": "openai", "gemini": "gemini"}
_CALL = re.compile(r"\[\[call (\w+) (\{.*?\})\]\]", re.DOTALL)
_OUT = 7
_MINIMUM = 256


@dataclass(frozen=True)
class Metered:
    """A request as it arrived, when it arrived, and what it was charged."""

    path: str
    body: Json
    time: float
    metering: Metering
    model: str = ""


@dataclass
class Meter:
    """The requests so far, and the cache that all of them share."""

    requests: list[Metered] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    cache: ProviderCache = field(default_factory=ProviderCache)
    prices: Prices = field(default_factory=read_prices)

    def reply(self, path: str, body: Json) -> tuple[str, bytes]:
        """Charge and record a request, and return the content type and body of the response."""
        if not wire(path) or "count_tokens" in path:
            return answer(path, body, None)
        with self.lock:
            metering = self._charge(path, body, len(self.requests) + 1)
            self.requests.append(Metered(path, body, time.time(), metering, _model(path, body)))
        return answer(path, body, next_call(path, body), metering)

    def _charge(self, path: str, body: Json, number: int) -> Metering:
        rules, _, _ = self.prices.rule_for(PROVIDERS[wire(path)], "")
        price = Price(_model(path, body), rules.name, 4, 5, 0.4, _MINIMUM)
        charge = self.cache.send(_plain(body, wire(path)), Model(rules, price, count), int(time.time()))
        written = charge.written if rules.caching == "breakpoints" else 0
        is_long = "1h" in json.dumps(body.get("system", "")) + json.dumps(
            body.get("messages", "")
        ) and '"ttl": "1h"' in json.dumps(body)
        fresh = charge.tokens - charge.read - written
        return Metering(number, fresh, written, charge.read, _OUT, written if is_long else 0)


def count(text: str) -> int:
    """Return the tokens of a text in this provider's measure: one for every four bytes."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def _model(path: str, body: Json) -> str:
    named = re.search(r"/models/([^:/]+):", path)
    return named[1] if named else str(body.get("model") or "peer")


def _plain(body: Json, kind: str) -> Json:
    """Return a request in the form that the cache understands."""
    if kind == "gemini":
        system = body.get("systemInstruction") or {}
        tools = [tool for tool in body.get("tools") or [] for tool in tool.get("functionDeclarations") or [tool]]
        contents = [{"role": row.get("role"), "parts": row.get("parts")} for row in body.get("contents") or []]
        return {"system": system.get("parts") or [], "tools": tools, "contents": contents}
    if kind == "anthropic" and isinstance(body.get("system"), list):
        # The program's own line about billing is not part of what is cached.
        system = [
            block for block in body["system"] if not str(block.get("text")).startswith("x-anthropic-billing-header")
        ]
        return {**body, "system": system}
    if kind == "responses" and isinstance(body.get("input"), str):
        return {**body, "input": [{"role": "user", "content": body["input"]}]}
    return body


def next_call(path: str, body: Json) -> Call | None:
    """Return the next tool call that the last user message asks for, or None if all were made."""
    offered, rows = set(tool_names(body)), messages(path, body)
    wanted: list[Call] = []
    made = 0
    for role, texts in rows:
        if role == "user" and (calls := _calls("\n".join(texts))):
            wanted, made = calls, 0
        elif role == "tool":
            made += 1
    call = wanted[made] if made < len(wanted) else None
    return call if call and call.name in offered else None


def _calls(text: str) -> list[Call]:
    found = []
    for name, arguments in _CALL.findall(text):
        inner = arguments.replace("((call", "[[call").replace("))", "]]")
        for form in (inner, inner.replace('\\"', '"')):  # OpenCode sends a message with spaces in quotes
            try:
                found.append(Call(name, json.loads(form)))
                break
            except ValueError:
                continue
    return found


class MeteredProvider:
    """Serves a `Meter` on a free port of 127.0.0.1 while the `with` block runs."""

    def __init__(self, prices: str = "") -> None:
        self.meter = Meter(prices=read_prices(prices))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self.meter))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> MeteredProvider:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
