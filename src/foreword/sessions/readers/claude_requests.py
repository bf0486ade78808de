"""Rebuild the requests of Claude Code from the hashes in its log. Pure.

A row `api-request` lists the hashes of a request's messages: the first `keep` of the request `base`, then `tail`. A message is in a row
`api-request-blob`, or it equals a run of the conversation's rows, which is then hashed here.
"""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import chain

from ..chains import MOST_PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..values import LogPart
    from .claude_parts import PartMaker

_MOST_BASES = 200
_MOST_MESSAGES = 50_000
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
_NO_REQUEST: tuple[str, list[str], int] = ("", [], 0)
_UNSENT = frozenset(("metadata", "stream", "thread", "diagnostics", "safeguards", "data_flow"))


def canonical(content: Any) -> str:
    """Return content as JSON with sorted keys and no spaces, which is what the program hashes."""
    return _encode(content)


def sha(text: str) -> str:
    """Return the SHA-256 of a text. A lone surrogate is hashed as its escape sequence, as JavaScript writes it."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return sha256(data).hexdigest()


def plain_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as it is hashed: its content as a list, without breakpoints."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if isinstance(blocks, list):
        blocks = [
            {key: field for key, field in block.items() if key != "cache_control"} if isinstance(block, dict) else block
            for block in blocks
        ]
    return {**message, "content": blocks}


class Rebuilder:
    """The messages of one log by their hashes, and the requests made of them."""

    def __init__(self, maker: PartMaker, keeps_messages: bool = False) -> None:
        self._maker = maker
        self._parts: dict[str, tuple[LogPart, ...]] = {}
        self._candidates: list[tuple[str, list[Any], bool]] = []
        self._run: tuple[str, str, list[Any], bool] = ("", "", [], False)
        self._requests: dict[str, tuple[str, list[str], int]] = {}  # shape, messages, and how many of these are known
        self.shapes: dict[str, tuple[LogPart, ...]] = {}
        self.messages: dict[str, dict[str, Any]] | None = {} if keeps_messages else None
        self.shape_rows: dict[str, dict[str, Any]] = {}
        self._missing: set[str] = set()

    def add_row(self, role: str, message: dict[str, Any], is_summary: bool) -> None:
        """Add a row of the conversation. Rows of one role, or of one answer, are sent as one message."""
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            return
        identity = str(message.get("id")) if role == "assistant" else ""
        same = self._run[:2] == (role, identity)
        joined = [*self._run[2], *blocks] if same else list(blocks)
        self._run = role, identity, joined, is_summary or (same and self._run[3])
        self._candidates.append((role, joined, self._run[3]))
        if same and role == "user":  # a row can also be sent alone
            self._candidates.append((role, list(blocks), is_summary))

    def forget_rows(self) -> None:
        """Forget the rows since the last request, because this log does not describe requests."""
        self._candidates.clear()
        self._run = ("", "", [], False)

    def add_blob(self, digest: str, message: dict[str, Any]) -> None:
        if digest not in self._parts:
            is_summary = _starts_with_summary(message)
            self._parts[digest] = self._maker.message(message, is_summary)
            if self.messages is not None:
                self.messages[digest] = plain_message(message)

    def add_shape(self, digest: str, shape: dict[str, Any]) -> None:
        if digest in self.shapes:
            return
        if self.messages is not None:
            self.shape_rows[digest] = shape
        self.shapes[digest] = self._maker.shape(shape)

    def add_request(self, row: dict[str, Any]) -> bool:
        """Add a row `api-request`. Returns whether the request it starts from is known."""
        base, keep, tail = row.get("base"), row.get("keep"), row.get("tail")
        _, before, known = self._requests.get(base, _NO_REQUEST) if isinstance(base, str) else _NO_REQUEST
        count = keep if isinstance(keep, int) and keep > 0 else 0
        if count > len(before) or not isinstance(tail, list) or not isinstance(row.get("id"), str):
            return False
        if count + len(tail) > MOST_PARTS:
            return False
        hashes = [*before[:count], *(digest for digest in tail if isinstance(digest, str))]
        self._requests[row["id"]] = str(row.get("shapeHash")), hashes, min(known, count)
        if len(self._requests) > _MOST_BASES:  # the next one starts from one of the last
            del self._requests[next(iter(self._requests))]
        if any(digest not in self._parts for digest in hashes[count:]):
            self._hash_candidates()
        self._candidates.clear()
        if self._run[2]:
            self._candidates.append((self._run[0], self._run[2], self._run[3]))
        if len(self._parts) > _MOST_MESSAGES:
            self._forget_messages()
        return True

    def _forget_messages(self) -> None:
        """Forget the messages that are not in one of the last requests."""
        used = set(chain.from_iterable(hashes for _, hashes, _ in self._requests.values()))
        self._parts = {digest: parts for digest, parts in self._parts.items() if digest in used}
        if self.messages is not None:
            self.messages = {digest: message for digest, message in self.messages.items() if digest in used}

    def _hash_candidates(self) -> None:
        for role, blocks, is_summary in self._candidates:
            message = {"role": role, "content": blocks}
            plain = plain_message(message)
            digest = sha(canonical(plain))
            if digest not in self._parts:
                self._parts[digest] = self._maker.message(message, is_summary)
                if self.messages is not None:
                    self.messages[digest] = plain

    def request(self, ref: str) -> tuple[str, list[str]] | None:
        """Return a request's shape and the hashes of its messages, or None if it is unknown. A missing message is one unknown part."""
        shape, hashes, known = self._requests.get(ref, _NO_REQUEST)
        if ref not in self._requests or shape not in self.shapes:
            return None
        for digest in hashes[known:]:
            if digest not in self._parts:
                self._missing.add(digest)
                self._parts[digest] = (self._maker.missing(digest),)
        self._requests[ref] = shape, hashes, len(hashes)
        return shape, hashes

    def is_whole(self, hashes: Iterable[str]) -> bool:
        """Whether no message is missing."""
        return not self._missing or self._missing.isdisjoint(hashes)

    def parts_of(self, hashes: Iterable[str]) -> tuple[LogPart, ...]:
        """Return the parts of messages."""
        return tuple(chain.from_iterable(map(self._parts.__getitem__, hashes)))

    def count_parts(self, hashes: Iterable[str]) -> int:
        """Return how many parts messages have."""
        return sum(map(len, map(self._parts.__getitem__, hashes)))


def _starts_with_summary(message: dict[str, Any]) -> bool:
    content = message.get("content")
    first = (
        content[0].get("text") if isinstance(content, list) and content and isinstance(content[0], dict) else content
    )
    return isinstance(first, str) and first.startswith("This session is being continued from a previous conversation")


# Proof


def request_text(rebuilder: Rebuilder, row: dict[str, Any]) -> str:
    """Return a rebuilt request as it is hashed, to be compared with the row's `requestDigest`. Empty if it cannot be rebuilt."""
    found = rebuilder.request(str(row.get("id")))
    params = row.get("params")
    if found is None or rebuilder.messages is None or not isinstance(params, dict):
        return ""
    shape_hash, hashes = found
    if not rebuilder.is_whole(hashes):
        return ""
    body = {key: field for key, field in params.items() if key not in _UNSENT}
    body |= rebuilder.shape_rows[shape_hash]
    body["messages"] = [rebuilder.messages[digest] for digest in hashes]
    for control in row.get("cacheControl") or ():
        body = _with_breakpoint(body, control)
    return canonical(body)


def _with_breakpoint(body: dict[str, Any], control: Any) -> dict[str, Any]:
    """Return the body with a breakpoint at a path such as ["messages", 3, "content", 0]. Nothing that is shared is changed."""
    path, field = (control.get("path"), control.get("value")) if isinstance(control, dict) else (None, None)
    if not isinstance(path, list):
        return body

    def put(node: Any, steps: list[Any]) -> Any:
        if not steps:
            return {**node, "cache_control": field} if isinstance(node, dict) else node
        step, rest = steps[0], steps[1:]
        if isinstance(node, list) and isinstance(step, int) and step < len(node):
            return [*node[:step], put(node[step], rest), *node[step + 1 :]]
        if isinstance(node, dict) and step in node:
            return {**node, step: put(node[step], rest)}
        return node

    changed = put(body, path)
    return changed if isinstance(changed, dict) else body
