"""Read the usage in a provider's response as it passes through: JSON or an event stream, compressed or not.

Only data that may contain usage is parsed. Everything else is discarded immediately, and data that cannot be read is ignored.
"""

from __future__ import annotations

import json
import zlib

from ...errors import CallError
from ...providers.usage import reported_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...providers.usage import ReportedTokens

MAX_BODY = 32 * 1024 * 1024
_USAGE_KEYS = ("usage", "usageMetadata", "usage_metadata")
_WRAPPERS = ("message", "response")  # Anthropic's and OpenAI's events nest the message under one of these keys
DECODABLE = ("gzip", "deflate")  # encodings that the standard library can decompress


def decoder(encoding: str) -> Any:
    """Return an object that decompresses this encoding, or None if there is nothing to decompress."""
    if encoding in ("", "identity"):
        return None
    return zlib.decompressobj(zlib.MAX_WBITS | 32 if encoding in ("gzip", "x-gzip") else zlib.MAX_WBITS)


class UsageReader:
    """Finds the usage in a response whose content arrives in pieces."""

    def __init__(self, content_type: str, encoding: str) -> None:
        self._is_stream = "event-stream" in content_type
        self._is_readable = encoding in ("", "identity", "x-gzip", *DECODABLE)
        self._decoder = decoder(encoding) if self._is_readable else None
        self._buffer = bytearray()
        self._is_skipping = False
        self._usage: dict[str, Any] = {}

    def feed(self, content: bytes) -> None:
        """Read a piece of the content."""
        if not self._is_readable:
            return
        try:
            while content:
                self._add(self._decoder.decompress(content, MAX_BODY) if self._decoder else content)
                content = self._decoder.unconsumed_tail if self._decoder else b""
        except zlib.error:
            self._is_readable = False
            self._buffer.clear()

    def _add(self, content: bytes) -> None:
        self._buffer += content
        if self._is_stream and b"\n" in content:  # otherwise a long line would be copied with every piece of it
            self._read_lines()
        if len(self._buffer) > MAX_BODY:  # too long to keep; in a stream, only this line is skipped
            self._buffer.clear()
            self._is_skipping, self._is_readable = True, self._is_stream

    def _read_lines(self) -> None:
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            if self._is_skipping:
                self._is_skipping = False
            elif line.startswith(b"data:") and b'"usage' in line:
                self._read_json(line[5:])

    def _read_json(self, text: bytes) -> None:
        try:
            usages = list(_usages(json.loads(text)))
        except (ValueError, RecursionError):
            return
        for usage in usages:
            # Anthropic sends the input tokens first and the output tokens last.
            self._usage |= {key: count for key, count in usage.items() if count is not None}

    def tokens(self) -> ReportedTokens | None:
        """Return the usage once the whole response has been read, or None if it contained none."""
        if self._is_readable and self._buffer:
            self._buffer += b"\n"
            if self._is_stream:
                self._read_lines()
            else:
                self._read_json(bytes(self._buffer))
        self._buffer.clear()
        try:
            return reported_tokens(self._usage) if self._usage else None
        except CallError:
            return None


def _usages(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the usage in a response or in an event. Gemini streams a JSON list of responses unless it is asked for events."""
    if isinstance(content, list):
        for entry in content:
            yield from _usages(entry) if isinstance(entry, dict) else ()
    elif isinstance(content, dict):
        yield from (content[key] for key in _USAGE_KEYS if isinstance(content.get(key), dict))
        for wrapper in _WRAPPERS:
            inner = content.get(wrapper)
            if isinstance(inner, dict):
                yield from (inner[key] for key in _USAGE_KEYS if isinstance(inner.get(key), dict))
