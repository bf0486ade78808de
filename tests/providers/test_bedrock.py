"""Bedrock's Converse: its form, its cache points, and what comparisons read from it.

The forms in the first test were accepted by the validator of botocore 1.44.3.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from foreword import CallError
from foreword.providers.bedrock import for_bedrock
from foreword.providers.request_parts import parse_request
from foreword.vocabulary import replace

CLAUDE = "us.anthropic.claude-sonnet-5-v1:0"
POINT = {"cachePoint": {"type": "default"}}


def test_a_turn_is_converted(make_turn, all_lifetimes, schema):
    turn = replace(make_turn(*all_lifetimes), model=CLAUDE)
    assert for_bedrock(turn) == {
        "system": [
            {"text": "You are an agent."},
            POINT,
            {"text": "\n\n# Instructions\nSpeak plainly. ✓\n\n# Skills"},
            POINT,
            {"text": "\n\nWorking directory: /w"},
            POINT,
            {"text": "\n\n# Plan"},
        ],
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "read_file",
                        "description": "Reads a file – all of it.",
                        "inputSchema": {"json": schema},
                    }
                },
                {"toolSpec": {"name": "status", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
            ]
        },
        "messages": [{"role": "user", "content": [{"text": "Fix the “failing” test."}, POINT]}],
    }


@pytest.mark.parametrize(
    ("model", "breakpoints", "count"),
    [
        ("", None, 0),
        ("meta.llama4-maverick-17b-instruct-v1:0", None, 0),
        (CLAUDE, None, 4),
        ("anthropic.claude-opus-5-v1:0", None, 4),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-5-v1:0", None, 4),
        ("amazon.nova-pro-v1:0", None, 4),
        (CLAUDE, 0, 0),
        (CLAUDE, 1, 1),
        (CLAUDE, 2, 2),
        ("my-own-profile", 4, 4),
    ],
)
def test_cache_points_are_set_for_models_that_accept_them(make_turn, all_lifetimes, model, breakpoints, count):
    request = for_bedrock(replace(make_turn(*all_lifetimes), model=model), breakpoints=breakpoints)
    blocks = [*request["system"], *request["messages"][-1]["content"]]
    assert blocks.count(POINT) == count
    assert (request["messages"][-1]["content"][-1] == POINT) == (count > 0)


def test_lifetimes_are_sent(make_turn, all_lifetimes):
    request = for_bedrock(replace(make_turn(*all_lifetimes), model=CLAUDE), ttl="mixed")
    blocks = [*request["system"], *request["messages"][-1]["content"]]
    assert [block["cachePoint"]["ttl"] for block in blocks if "cachePoint" in block] == ["1h", "1h", "5m", "5m"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ttl": "30m"}, "unknown ttl '30m'; use '5m', '1h', 'mixed' or None"),
        ({"breakpoints": 5}, "breakpoints must be a number from 0 to 4 or None, not 5"),
        ({"breakpoints": True}, "breakpoints must be a number from 0 to 4 or None, not True"),
    ],
)
def test_invalid_options_are_refused(make_turn, options, message):
    with pytest.raises(CallError, match=message):
        for_bedrock(make_turn(), **options)


def test_roles_alternate_and_the_prefix_is_kept(make_turn, history):
    """Everything that the model did not write is the user's, and each request begins with the previous one."""
    messages = [{"role": "developer", "content": "d"}, *history, {"role": "user", "content": [{"toolResult": {}}]}]
    turn = make_turn(("project", "p"))
    sent = [for_bedrock(replace(turn, messages=messages[:end]))["messages"] for end in (2, 5, 8)]
    assert [message["role"] for message in sent[-1]] == ["user", "assistant", "user", "assistant", "user"]
    assert sent[-1][0]["content"] == [{"text": "d"}, {"text": "Fix the “failing” test."}]
    assert sent[-1][-1]["content"] == [{"text": "Thanks."}, {"toolResult": {}}]
    assert all(after[: len(before)] == before for before, after in pairwise(sent))


def test_tools_of_the_provider_and_strict_tools(make_turn):
    tools = [{"name": "nova_grounding", "type": "systemTool"}, {"name": "a", "strict": True}]
    assert for_bedrock(make_turn(tools=tools))["toolConfig"]["tools"] == [
        {"systemTool": {"name": "nova_grounding"}},
        {"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "object", "properties": {}}}, "strict": True}},
    ]
    with pytest.raises(CallError, match="Bedrock"):
        for_bedrock(make_turn(tools=[{"name": "a", "defer": True}]))


def test_a_request_is_compared_like_any_other(make_turn, all_lifetimes, schema):
    """The parts are those of the same request to another provider; cache points are not part of the text."""
    turn = replace(make_turn(*all_lifetimes), model=CLAUDE)
    parts = parse_request({**for_bedrock(turn), "modelId": CLAUDE})
    assert (parts.system, parts.messages) == (turn.system, (("user", "Fix the “failing” test."),))
    assert [(tool["name"], tool["schema"]) for tool in parts.tools] == [("read_file", schema), ("status", {})]
    assert (dict(parts.settings), len(parts.breakpoints)) == ({"model": f'"{CLAUDE}"'}, 4)
    without = parse_request(for_bedrock(turn, breakpoints=0))
    assert (without.system, without.messages, without.breakpoints) == (parts.system, parts.messages, ())


def test_other_requests_are_read_as_they_are():
    for request in (
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": 3},
        {"system": [1], "messages": [2]},
    ):
        try:
            parse_request(request)
        except CallError as error:
            assert "must be a list" in str(error)
