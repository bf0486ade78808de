"""Fields of tools: each provider gets those that it accepts, and a request that would lose one is an error."""

import warnings

import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from google.genai import types

from foreword import (
    Agent,
    CallError,
    Conversations,
    Tool,
    check_request,
    for_anthropic,
    for_gemini,
    for_openai_chat,
    for_openai_responses,
)
from foreword.providers import request_for
from foreword.providers.tool_fields import without_tool_fields
from foreword.vocabulary import replace
from foreword.vocabulary.tools import tool_definition, tool_from

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
EMPTY = {"type": "object", "properties": {}}
ALL_FIELDS = Tool(
    "read", "Reads.", schema=SCHEMA, server="fs", defer=True, strict=True, allowed_callers=["direct"], options={}
)
STRICT = Tool("read", schema=SCHEMA, strict=True)
CUSTOM = Tool("patch", "Patches.", type="custom", options={"format": {"type": "text"}})


def turn_with(make_turn, *tools):
    turn = make_turn(("release", "You are an agent."), tools=[tool_definition(tool) for tool in tools])
    return replace(turn, model="gpt-5.6")


@pytest.mark.parametrize(
    ("convert", "tool", "expected"),
    [
        (
            for_anthropic,
            ALL_FIELDS,
            {
                "name": "read",
                "description": "Reads.",
                "input_schema": SCHEMA,
                "strict": True,
                "defer_loading": True,
                "allowed_callers": ["direct"],
            },
        ),
        (
            for_anthropic,
            Tool("web_search", type="web_search_20250305", options={"max_uses": 5}, strict=False),
            {"type": "web_search_20250305", "name": "web_search", "strict": False, "max_uses": 5},
        ),
        (
            for_anthropic,
            Tool("browser", type="browser_toolset_20260801", options={"configs": {}}),
            {"type": "browser_toolset_20260801", "configs": {}},
        ),
        (
            for_anthropic,
            Tool("read", options={"input_examples": [{}]}),
            {"name": "read", "input_schema": EMPTY, "input_examples": [{}]},
        ),
        (
            for_openai_responses,
            ALL_FIELDS,
            {
                "type": "function",
                "name": "read",
                "description": "Reads.",
                "parameters": SCHEMA,
                "strict": True,
                "defer_loading": True,
                "allowed_callers": ["direct"],
            },
        ),
        (
            for_openai_responses,
            Tool("search", type="web_search", options={"search_context_size": "low"}),
            {"type": "web_search", "search_context_size": "low"},
        ),
        (
            for_openai_responses,
            CUSTOM,
            {"type": "custom", "name": "patch", "description": "Patches.", "format": {"type": "text"}},
        ),
        (
            for_openai_chat,
            STRICT,
            {"type": "function", "function": {"name": "read", "parameters": SCHEMA, "strict": True}},
        ),
        (
            for_openai_chat,
            CUSTOM,
            {
                "type": "custom",
                "custom": {"name": "patch", "description": "Patches.", "format": {"type": "text"}},
            },
        ),
        (
            for_gemini,
            Tool("read", schema=SCHEMA, strict=False, options={"response_json_schema": {"type": "string"}}),
            {
                "function_declarations": [
                    {
                        "name": "read",
                        "parameters_json_schema": SCHEMA,
                        "response_json_schema": {"type": "string"},
                    }
                ]
            },
        ),
        (
            for_gemini,
            Tool("search", type="google_search", options={"exclude_domains": ["a.example"]}),
            {"google_search": {"exclude_domains": ["a.example"]}},
        ),
    ],
)
def test_each_provider_gets_the_fields_of_a_tool(make_turn, is_typed, convert, tool, expected):
    turn = turn_with(make_turn, tool)
    request = convert(turn)
    tools = (request.get("config") or request)["tools"]
    tools = [{key: field for key, field in tool.items() if key != "cache_control"} for tool in tools]
    assert tools == [expected]
    assert check_request(request, turn) == []
    if convert is for_gemini:
        types.Tool.model_validate(tools[0])
        return
    kinds = {
        for_anthropic: (MessageCreateParamsNonStreaming, {"model": "m", "max_tokens": 8}),
        for_openai_responses: (ResponseCreateParamsNonStreaming, {"model": "m"}),
        for_openai_chat: (CompletionCreateParamsNonStreaming, {"model": "m"}),
    }
    kind, others = kinds[convert]
    assert is_typed({**request, **others}, kind)


@pytest.mark.parametrize(
    ("convert", "model", "tool", "message"),
    [
        (
            for_gemini,
            "",
            STRICT,
            "Gemini cannot enforce a tool's schema, but the tool 'read' sets strict=True; remove it, or leave out the tool",
        ),
        (for_gemini, "", Tool("read", defer=True), "Gemini cannot defer tools, but the tool 'read' sets defer=True; "),
        (
            for_gemini,
            "",
            Tool("search", "Searches.", type="google_search"),
            "Gemini describes its own tools itself, but the tool 'search' sets description='Searches.'; ",
        ),
        (
            for_openai_chat,
            "gpt-5.6",
            Tool("search", type="web_search"),
            "Chat Completions has no tools of this type, but the tool 'search' sets type='web_search'; use for_openai_responses, or",
        ),
        (
            for_openai_chat,
            "gpt-5.6",
            Tool("read", allowed_callers=["programmatic"]),
            "Chat Completions cannot restrict who calls a tool, but the tool 'read' sets allowed_callers=['programmatic']; use",
        ),
        (
            for_openai_responses,
            "gpt-4.1",
            Tool("read", defer=True),
            "the turn's model 'gpt-4.1' cannot defer tools, but the tool 'read' sets defer=True; set the agent's model to one",
        ),
    ],
)
def test_a_field_that_would_be_lost_is_an_error(make_turn, convert, model, tool, message):
    turn = replace(turn_with(make_turn, tool), model=model)
    with pytest.raises(CallError) as raised:
        convert(turn)
    assert str(raised.value).startswith(message)


def test_predictions_leave_out_what_a_provider_does_not_accept(make_turn):
    turn = turn_with(make_turn, ALL_FIELDS)
    plain = replace(turn, tools=[without_tool_fields(tool) for tool in turn.tools])
    assert request_for("gemini", turn) == for_gemini(plain)
    assert request_for("anthropic", turn) == for_anthropic(turn)


def test_a_change_to_one_field_is_noticed(make_turn):
    turn = turn_with(make_turn, STRICT)
    request = for_anthropic(turn)
    request["tools"][0]["strict"] = False
    [found] = check_request(request, turn)
    assert found.message == "the caller changed the definition of tool `read` at position 1"


def test_a_conversation_keeps_the_fields_of_its_tools(tree):
    tree({"w/.git/HEAD": ""})
    own = Tool("web_search", snippet="Searches.", type="web_search_20250305", options={"max_uses": 5})
    with Conversations() as conversations:
        conversations.open("t", tree.workspace("w"), Agent(tools=[ALL_FIELDS, own, Tool("ls")])).turn("Hello.")
        conversation = conversations.open("t", tree.workspace("w"), Agent())
        turn = conversation.turn("Go on.")
        assert [tool_from(row) for row in turn.tools] == [
            Tool("ls", schema={}),
            replace(ALL_FIELDS, options=None),
            replace(own, snippet="", schema={}),
        ]
        assert conversation.agent.tools is None
        assert turn.is_reused
        assert turn.tools[0] == {"name": "ls", "description": "", "schema": {}}


def test_a_tools_mcp_server_may_change_without_a_notice(tree):
    tree({"w/.git/HEAD": ""})
    with Conversations() as conversations:
        conversations.open("t", tree.workspace("w"), Agent(tools=[Tool("read")])).turn("Hello.")
        turn = conversations.open("t", tree.workspace("w"), Agent(tools=[Tool("read", server="fs")])).turn("Go on.")
        assert (turn.is_reused, turn.messages) == (True, ({"role": "user", "content": "Go on."},))
