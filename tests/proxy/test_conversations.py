"""Fingerprints and conversations: the first difference is named, requests are matched to conversations, and no text is stored."""

from __future__ import annotations

import pytest

from foreword.providers.usage import ReportedTokens
from foreword.service.proxy.conversations import MAX_CONVERSATIONS, SeenConversations
from foreword.service.proxy.fingerprint import difference, fingerprint
from foreword.service.proxy.observer import CallReport, endpoint_of, model_in

KEY = b"key"
SYSTEM = "You are an agent. " * 100


def request(*texts, tools="abc", system=SYSTEM, **others):
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]
    definitions = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
    return fingerprint({"model": "m", "tools": definitions, "system": system, "messages": messages, **others}, KEY)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (request("a"), request("a", "b", "c"), None),
        (request("a"), request("a"), None),
        (request("a", tools="abc"), request("a", tools="cab"), "moved tool `c` from position 3 to 1"),
        (request("a", tools="abc"), request("a", tools="ab"), "removed tool `c` from position 3"),
        (request("a", tools="ab"), request("a", tools="abc"), "added tool `c` at position 3"),
        (request("a"), request("a", system=SYSTEM[:1030] + "!"), "changed the system prompt after character 1,024"),
        (request("a"), request("a", model="n"), "changed model"),
        (request("a"), request("a", thinking={"type": "enabled"}), "changed thinking"),
        (request("a", "b", "c"), request("a", "x", "c"), "changed message 2 (assistant)"),
        (request("a", "b", "c"), request("a"), "removed message 2 (assistant)"),
        (request("a", cache_control={"type": "ephemeral"}), request("a"), None),
    ],
)
def test_the_first_difference_is_named(old, new, what):
    found = difference(old, new)
    assert (found and found.what) == what
    assert found is None or found.tokens_lost > 0


def test_an_earlier_difference_loses_more_tokens():
    old = request("a" * 500, "b" * 500)
    news = (request("x", tools="xbc"), request("x", tools="abx"), request("x", system=SYSTEM[:600]), request("x"))
    lost = [difference(old, new).tokens_lost for new in news]
    assert lost == sorted(set(lost), reverse=True)


def test_a_fingerprint_contains_no_text_and_depends_on_its_key():
    body = {"system": "hunter2", "messages": [{"role": "user", "content": "hunter2"}], "prompt_cache_key": "hunter2"}
    one, other = fingerprint(body, KEY), fingerprint(body, b"other")
    assert "hunter2" not in repr(one)
    assert one.system[0].hash != other.system[0].hash


def test_names_are_made_safe_to_print():
    assert fingerprint({"model": "m\x1b[2J\n", "messages": []}, KEY).model == "m?[2J?"


def names(seen, *requests, endpoint="anthropic"):
    return [seen.observe(endpoint, each).conversation for each in requests]


def test_a_request_continues_the_conversation_with_the_most_messages_in_common():
    seen = SeenConversations()
    assert names(seen, request("a"), request("b"), request("a", "1", "2"), request("b", "3", "4")) == [
        "#1",
        "#2",
        "#1",
        "#2",
    ]
    assert names(seen, request("a", "1", "2", "5")) == ["#1"]
    assert names(seen, request("a"), endpoint="openai-chat") == ["#3"]


@pytest.mark.parametrize(
    ("new", "is_same"),
    [
        (request("a", "b", "c", tools="cab"), True),
        (request("a", "b", "c", system="Now. " + SYSTEM), True),  # a clock at the start
        (request("a", "b", "c", tools="", system="Now. " + SYSTEM), True),
        (request("x", "b", "c"), True),  # the first message was edited
        (request("a", tools="", system="Write a title."), False),
        (request("x", "y", "z"), False),
    ],
)
def test_a_changed_request_continues_its_conversation_but_a_title_request_does_not(new, is_same):
    seen = SeenConversations()
    assert names(seen, request("a", "b", "c"), new) == ["#1", "#1" if is_same else "#2"]


def test_a_program_can_name_its_conversations():
    seen = SeenConversations()
    first, second = (seen.observe("anthropic", request(text), "main") for text in "ax")
    assert (first.conversation, second.call, second.difference.what) == ("main", 2, "changed message 1 (user)")
    assert names(seen, request("x")) == ["#2"]  # others do not continue it


def test_the_oldest_conversations_are_forgotten():
    seen = SeenConversations()
    names(seen, *(request(f"first {number}") for number in range(MAX_CONVERSATIONS + 5)))
    assert len(seen._conversations) == MAX_CONVERSATIONS
    assert seen.add_usage("#1", ReportedTokens(10, 5, 0, 1)) is None


def test_usage_is_added_up_per_conversation():
    seen = SeenConversations()
    names(seen, request("a"))
    assert [seen.add_usage("#1", ReportedTokens(100, read, 0, 1)) for read in (0, 50)] == [0, 0.25]
    assert seen.add_usage("#1", ReportedTokens(0, 0, 0, 0)) == 0.25


@pytest.mark.parametrize(
    ("method", "target", "endpoint", "model"),
    [
        ("POST", "/v1/messages", "anthropic", ""),
        ("POST", "/v1/messages?beta=true", "anthropic", ""),
        ("POST", "/v1/messages/count_tokens", "", ""),
        ("GET", "/v1/messages", "", ""),
        ("POST", "/openai/v1/responses/", "openai-responses", ""),
        ("POST", "/v1/chat/completions", "openai-chat", ""),
        ("POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini", "gemini-2.5-pro"),
        ("POST", "/v1beta/models/gemini-2.5-pro:countTokens", "", "gemini-2.5-pro"),
    ],
)
def test_model_endpoints_are_recognised(method, target, endpoint, model):
    assert (endpoint_of(method, target), model_in(target)) == (endpoint, model)


def test_a_report_is_one_line():
    report = CallReport(
        "anthropic", 200, "#1", 7, "claude-opus-5", 5, "moved tool `x` from position 9 to 3", 31_402, ReportedTokens(36_000, 900, 35_000, 20), 0.5
    )  # fmt: skip
    assert report.line() == (
        "#1 call 7 · claude-opus-5 · 36,000 tokens in, 20 out · 3% read from the cache (50% so far) · 5 breakpoints, 4 allowed"
        " · moved tool `x` from position 9 to 3; about 31,402 tokens lost"
    )
    assert CallReport("anthropic", 502, problem="cannot connect").line() == "anthropic · status 502 · cannot connect"
    assert report.form() == {
        "endpoint": "anthropic", "status": 200, "conversation": "#1", "call": 7, "model": "claude-opus-5", "input": 36_000, "read": 900,
        "written": 35_000, "output": 20, "hit_rate": 0.025, "total_hit_rate": 0.5, "breakpoints": 5,
        "changed": "moved tool `x` from position 9 to 3", "tokens_lost": 31_402, "problem": None,
    }  # fmt: skip
