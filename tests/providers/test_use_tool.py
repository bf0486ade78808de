"""Late tools that the model calls with `use_tool`: the tools of a request stay the same, whatever the provider and the model."""

import itertools
import json

import pytest

from foreword import (
    Agent,
    Conversations,
    Tool,
    check_request,
    for_anthropic,
    for_gemini,
    for_openai_chat,
    for_openai_responses,
    shipped_tools,
)
from foreword.vocabulary import replace

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
TOOLS = {
    "read": Tool("read", "Reads."),
    "issue": Tool("issue", "Opens an issue.", schema=SCHEMA),
    "zap": Tool("zap", "Zaps."),
    "own": Tool("own", type="custom"),
    **{tool.name: tool for tool in shipped_tools("use_tool")},
}
ANSWER = {"role": "assistant", "content": "Yes."}
DEFINITION = '{"name":"issue","description":"Opens an issue.","parameters":' + json.dumps(
    SCHEMA, sort_keys=True, separators=(",", ":")
)


@pytest.fixture
def take_turns(tree):
    """`take_turns(model, *tools)` returns the turns of a conversation, one for each list of tools."""
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be kind.\n"})

    def take_turns(model, *tools, history=()):
        turns, history = [], list(history)
        with Conversations() as conversations:
            for names in tools:
                agent = Agent(tools=[TOOLS[name] for name in names.split()], model=model)
                turns.append(conversations.open("t", tree.workspace("w"), agent).turn("Go on.", history))
                history = [*turns[-1].history, ANSWER]
        return turns

    return take_turns


def names_in(request):
    tools = request.get("tools") or request["config"]["tools"]
    flat = [row for tool in tools for row in tool.get("function_declarations", [tool])]
    return [tool.get("function", tool)["name"] for tool in flat]


def messages_in(request):
    return next(request[key] for key in ("messages", "input", "contents") if key in request)


@pytest.mark.parametrize(
    ("model", "convert"),
    [
        ("gpt-5.6-sol", for_openai_chat),
        ("gpt-5", for_openai_chat),
        ("some-server", for_openai_chat),
        ("gpt-5", for_openai_responses),
        ("gemini-3-pro", for_gemini),
        ("claude-sonnet-5", for_anthropic),
        ("claude-sonnet-5.5", lambda turn: for_anthropic(turn, betas=False)),
    ],
)
def test_a_late_tool_keeps_every_byte_of_the_prefix(take_turns, model, convert):
    turns = take_turns(model, "read use_tool", "issue read use_tool", "read use_tool", "issue read use_tool zap")
    requests = [convert(turn) for turn in turns]
    for old, new in itertools.pairwise(requests):
        assert {**old, messages_key(old): 0, "tool_choice": 0} == {**new, messages_key(new): 0, "tool_choice": 0}
        assert json.dumps(without_breakpoints(messages_in(new))).startswith(
            json.dumps(without_breakpoints(messages_in(old)))[:-1]
        )
    assert names_in(requests[-1]) == ["read", "use_tool"]
    announced = json.dumps(messages_in(requests[-1])).replace("\\", "")
    assert announced.count(DEFINITION) == announced.count('{"name":"zap"') == 1
    assert "not active from now on, so do not call them: `issue`" in announced
    for turn, old, new in zip(turns[1:], requests, requests[1:], strict=False):
        assert check_request(new, turn, old) == []
    [finding] = turns[1].findings
    assert finding.message.startswith("tools added late: issue; their definitions cost about ")
    assert finding.message.endswith(" tokens; the prefix is kept")


def messages_key(request):
    return next(key for key in ("messages", "input", "contents") if key in request)


def without_breakpoints(content):
    if isinstance(content, dict):
        return {key: without_breakpoints(field) for key, field in content.items() if key != "cache_control"}
    return [without_breakpoints(part) for part in content] if isinstance(content, list) else content


@pytest.mark.parametrize(
    ("model", "convert", "block"),
    [
        ("claude-sonnet-5.5", for_anthropic, "tool_addition"),
        ("gpt-5.6-sol", for_openai_responses, "additional_tools"),
    ],
)
def test_a_provider_that_can_add_tools_does_so(take_turns, model, convert, block):
    _, turn = take_turns(model, "read use_tool", "issue read use_tool")
    request = convert(turn)
    assert block in json.dumps(request) and "Call them with" not in json.dumps(request)


@pytest.mark.parametrize(
    "tools",
    [
        ("read", "issue read"),
        ("read", "issue read use_tool"),  # it is late itself
        ("read use_tool", "read", "issue read"),  # it is not active
    ],
)
def test_without_use_tool_from_the_start_a_late_tool_is_in_the_list(take_turns, tools):
    assert "issue" in names_in(for_openai_chat(take_turns("gpt-5", *tools)[-1]))


def test_a_tool_of_the_same_name_with_other_parameters_is_not_used(take_turns, monkeypatch):
    monkeypatch.setitem(TOOLS, "use_tool", Tool("use_tool", schema={"type": "object", "properties": {"x": {}}}))
    _, turn = take_turns("gpt-5", "read use_tool", "issue read use_tool")
    assert names_in(for_openai_chat(turn)) == ["read", "use_tool", "issue"]


def test_a_tool_that_the_provider_runs_stays_in_the_list(take_turns):
    _, turn = take_turns("gpt-5", "read use_tool", "issue own read use_tool")
    request = for_openai_chat(turn)
    assert [tool["type"] for tool in request["tools"]] == ["function", "function", "custom"]
    assert [message["content"] for message in request["messages"] if "issue" in message["content"]] == [
        f"New tools are available from now on: `issue`. Call them with `use_tool`. Their definitions:\n\n{DEFINITION}}}"
    ]
    assert any("the prefix after them" in finding.message for finding in turn.findings)


def test_a_compaction_makes_a_late_tool_an_ordinary_one(tree):
    tree({"w/.git/HEAD": ""})
    with Conversations() as conversations:
        agent = Agent(tools=[TOOLS["read"], TOOLS["use_tool"]], model="gemini-3-pro")
        conversation = conversations.open("t", tree.workspace("w"), agent)
        first = conversation.turn("Hello.")
        conversation.set_active_tools([*agent.tools, TOOLS["issue"]])
        second = conversation.turn("Go on.", [*first.history, ANSWER])
        assert names_in(for_gemini(second)) == ["read", "use_tool"]
        conversation.compact(messages=second.history)
        request = for_gemini(conversation.turn("Go on.", [{"role": "user", "content": "A summary."}]))
        assert names_in(request) == ["issue", "read", "use_tool"]
        assert DEFINITION not in json.dumps(request)
        assert conversation.resolve_call("issue", {"title": "x"}) == ("issue", {"title": "x"})


INNER = {"name": "issue", "arguments": {"title": "x"}}
AS_JSON = '{"name":"issue","arguments":{"title":"x"}}'


@pytest.mark.parametrize(
    ("convert", "call", "sent"),
    [
        (
            for_openai_chat,
            {
                "role": "assistant",
                "tool_calls": [{"id": "1", "function": {"name": "issue", "arguments": '{"title": "x"}'}}],
            },
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "use_tool", "arguments": AS_JSON}}]},
        ),
        (
            for_openai_chat,
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "issue", "arguments": "{"}}]},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "1", "function": {"name": "use_tool", "arguments": '{"name":"issue","arguments":"{"}'}}
                ],
            },
        ),
        (
            for_openai_chat,
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "read", "arguments": "{}"}}]},
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "read", "arguments": "{}"}}]},
        ),
        (
            for_openai_responses,
            {"type": "function_call", "call_id": "1", "name": "issue", "arguments": '{"title": "x"}'},
            {"type": "function_call", "call_id": "1", "name": "use_tool", "arguments": AS_JSON},
        ),
        (
            for_anthropic,
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "1", "name": "issue", "input": {"title": "x"}}],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "use_tool", "input": INNER}]},
        ),
        (
            for_gemini,
            {"role": "model", "parts": [{"function_call": {"name": "issue", "args": {"title": "x"}}}]},
            {"role": "model", "parts": [{"function_call": {"name": "use_tool", "args": INNER}}]},
        ),
        (
            for_gemini,
            {"role": "user", "parts": [{"functionResponse": {"name": "issue", "response": {"result": "#1"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "use_tool", "response": {"result": "#1"}}}]},
        ),
    ],
)
def test_earlier_calls_of_a_late_tool_are_sent_as_calls_of_use_tool(take_turns, convert, call, sent):
    _, turn = take_turns("claude-sonnet-5", "read use_tool", "issue read use_tool")
    request = convert(replace(turn, messages=[*turn.messages, call]))
    assert without_breakpoints(messages_in(request))[-1] == sent
