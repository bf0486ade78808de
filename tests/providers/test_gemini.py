"""Gemini, checked with the real client and types."""

from __future__ import annotations

import warnings

import pytest

with warnings.catch_warnings():
    # The SDK's own source has an invalid escape, which causes a warning when it is first compiled.
    warnings.simplefilter("ignore")
    from google import genai
    from google.genai import types

from foreword.providers.gemini import for_gemini
from foreword.vocabulary import replace


@pytest.fixture
def client(provider):
    options = types.HttpOptions(base_url=provider.url)
    with genai.Client(api_key="none", http_options=options) as client:
        yield client


def test_a_turn_is_converted(make_turn, all_lifetimes, schema):
    turn = make_turn(*all_lifetimes)
    assert for_gemini(turn) == {
        "config": {
            "system_instruction": turn.system,
            "tools": [
                {
                    "function_declarations": [
                        {
                            "name": "read_file",
                            "description": "Reads a file – all of it.",
                            "parameters_json_schema": schema,
                        },
                        {"name": "status"},
                    ]
                }
            ],
        },
        "contents": [{"role": "user", "parts": [{"text": "Fix the “failing” test."}]}],
    }


CALL = {"function_call": {"name": "status", "args": {}}}
RESULT = {"function_response": {"name": "status", "response": {"output": "clean"}}}


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"role": "assistant", "content": "a"}, {"role": "model", "parts": [{"text": "a"}]}),
        ({"role": "system", "content": "a"}, {"role": "user", "parts": [{"text": "a"}]}),
        (
            {"role": "user", "content": ["a", {"type": "text", "text": "b"}, RESULT]},
            {"role": "user", "parts": [{"text": "a"}, {"text": "b"}, RESULT]},
        ),
        ({"role": "assistant", "content": [CALL]}, {"role": "model", "parts": [CALL]}),
        ({"role": "model", "parts": [CALL]}, {"role": "model", "parts": [CALL]}),
        ({"role": "assistant", "parts": [CALL]}, {"role": "model", "parts": [CALL]}),
    ],
)
def test_a_message_is_converted(make_turn, message, content):
    assert for_gemini(make_turn(messages=[message]))["contents"] == [content]
    assert types.Content.model_validate(content).model_dump(exclude_none=True) == content


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"type": "function_call", "name": "status"}, {"type": "function_call", "name": "status"}),
        ({"role": "tool", "content": None}, {"role": "tool", "content": None}),
        ({"role": "user", "content": [{"type": "text"}]}, {"role": "user", "parts": [{"type": "text"}]}),
    ],
)
def test_what_only_another_api_understands_is_not_changed(make_turn, message, content):
    assert for_gemini(make_turn(messages=[message]))["contents"] == [content]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_prompt_is_left_out(make_turn, blank):
    request = for_gemini(replace(make_turn(tools=()), system=blank))
    assert request == {"config": {}, "contents": [{"role": "user", "parts": [{"text": "Fix the “failing” test."}]}]}


# With the client


def test_the_client_accepts_the_request(provider, client, make_turn, all_lifetimes, history):
    request = for_gemini(make_turn(*all_lifetimes, messages=history))
    response = client.models.generate_content(**request, model="gemini-4")
    assert response.text == "Done."
    assert provider.last_request["contents"] == request["contents"]
    assert provider.last_request["systemInstruction"]["parts"] == [{"text": request["config"]["system_instruction"]}]
    tools = [types.Tool.model_validate(tool) for tool in provider.last_request["tools"]]
    assert [tool.model_dump(exclude_none=True) for tool in tools] == request["config"]["tools"]


def test_two_turns_of_a_conversation_send_the_same_prefix(provider, client, make_turn, all_lifetimes, history):
    for count in (1, 3, 6):
        client.models.generate_content(
            **for_gemini(make_turn(*all_lifetimes, messages=history[:count])), model="gemini-4"
        )
    for key in ("tools", "systemInstruction"):
        assert provider.value_of(key, 0) == provider.value_of(key, 1) == provider.value_of(key, 2)
    lists = [provider.value_of("contents", number) for number in range(3)]
    assert lists[1].startswith(lists[0][:-1] + ",") and lists[2].startswith(lists[1][:-1] + ",")


def test_the_same_turn_gives_the_same_bytes(provider, client, make_turn, all_lifetimes):
    for _ in range(2):
        client.models.generate_content(**for_gemini(make_turn(*all_lifetimes)), model="gemini-4")
    assert provider.bodies[0] == provider.bodies[1]


def test_the_request_matches_the_types_of_the_sdk(make_turn, all_lifetimes, history):
    request = for_gemini(make_turn(*all_lifetimes, messages=history))
    config = types.GenerateContentConfig.model_validate(request["config"])
    contents = [types.Content.model_validate(content) for content in request["contents"]]
    assert config.model_dump(exclude_none=True) == request["config"]
    assert [content.model_dump(exclude_none=True) for content in contents] == request["contents"]


def test_a_caller_can_add_to_the_config(provider, client, make_turn):
    request = for_gemini(make_turn())
    request["config"]["temperature"] = 0.5
    client.models.generate_content(**request, model="gemini-4")
    assert provider.last_request["generationConfig"] == {"temperature": 0.5}
