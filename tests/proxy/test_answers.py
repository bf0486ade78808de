"""Usage is read from every provider's responses, whatever pieces they arrive in; what is too long or broken is ignored."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest

from foreword.service.proxy import answers
from foreword.service.proxy.answers import UsageReader

JSON, STREAM = "application/json; charset=utf-8", "text/event-stream"
ANTHROPIC = {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 1}
OPENAI = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 80}, "output_tokens": 7}
CHAT = {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 80}, "completion_tokens": 7}
GEMINI = {"promptTokenCount": 100, "cachedContentTokenCount": 80, "candidatesTokenCount": 7}


def events(*contents):
    return b"".join(b"event: x\r\ndata: %s\r\n\r\n" % json.dumps(content).encode() for content in contents)


def read(content_type, content, size=5, encoding=""):
    reader = UsageReader(content_type, encoding)
    for start in range(0, len(content), size):
        reader.feed(content[start : start + size])
    tokens = reader.tokens()
    return tokens and (tokens.input, tokens.read, tokens.output)


CASES = [
    (JSON, json.dumps({"content": "x", "usage": {**ANTHROPIC, "output_tokens": 7}}).encode()),
    (
        STREAM,
        events(
            {"message": {"usage": ANTHROPIC}}, {"delta": "x"}, {"usage": {"output_tokens": 7, "input_tokens": None}}
        ),
    ),
    (STREAM, events({"type": "response.completed", "response": {"usage": OPENAI}})),
    (STREAM, events({"usage": None}, {"usage": CHAT}) + b"data: [DONE]\n\n"),
    (STREAM, events({"usageMetadata": {"promptTokenCount": 100}}, {"usageMetadata": GEMINI})),
    (STREAM, events({"usage": CHAT}).rstrip()),
    (JSON, json.dumps([{"usageMetadata": {"promptTokenCount": 1}}, {"usageMetadata": GEMINI}, 7]).encode()),
]


@pytest.mark.parametrize(("content_type", "content"), CASES)
def test_usage_is_found_in_every_format(content_type, content):
    for size in (1, 3, 100_000):
        assert read(content_type, content, size) == (100, 80, 7)
    assert read(content_type, gzip.compress(content), encoding="gzip") == (100, 80, 7)
    assert read(content_type, zlib.compress(content), encoding="deflate") == (100, 80, 7)


@pytest.mark.parametrize(
    ("content_type", "content", "encoding"),
    [
        (JSON, b"", ""),
        (JSON, b'{"usage": ', ""),
        (JSON, b'{"usage": {"input_tokens": "many"}}', ""),
        (JSON, b'{"usage": {"input_tokens": -1}}', ""),
        (JSON, b"[" * 100_000, ""),
        (JSON, b"not gzip", "gzip"),
        (JSON, CASES[0][1], "br"),
        (STREAM, b'data: {"usage": nonsense}\n\n', ""),
        (STREAM, b"\xff\xfe\n" * 10, ""),
    ],
)
def test_unreadable_content_is_ignored(content_type, content, encoding):
    assert read(content_type, content, 1000, encoding) is None


def test_only_lines_that_are_too_long_are_skipped(monkeypatch):
    monkeypatch.setattr(answers, "MAX_BODY", 1000)
    long_line = events({"usage": CHAT, "text": "x" * 2000})
    assert read(STREAM, long_line, 10) is None
    assert read(STREAM, long_line + events({"usage": CHAT}), 10) == (100, 80, 7)
    assert read(JSON, json.dumps({"text": "x" * 2000, "usage": CHAT}).encode(), 10) is None
    packed = gzip.compress(b'{"usage": {"prompt_tokens": 1}, "x": "' + b"x" * 10_000 + b'"}')
    assert len(packed) < 200 and read(JSON, packed, encoding="gzip") is None
