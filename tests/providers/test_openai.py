"""OpenAI: both APIs and the cache key, checked with the real client and types."""

from __future__ import annotations

import pytest
from openai import OpenAI
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

from foreword import CallError
from foreword.providers.openai import for_openai_chat, for_openai_responses
from foreword.vocabulary import replace

CONVERTERS = pytest.mark.parametrize("convert", [for_openai_responses, for_openai_chat])
EMPTY = {"type": "object", "properties": {}}


@pytest.fixture
def client(provider):
    with OpenAI(base_url=f"{provider.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def send(client):
    """Send a turn with the client through one of the APIs, and return the text of the response."""

    def send(convert, turn, **options):
        if convert is for_openai_responses:
            return client.responses.create(**convert(turn, **options), model="gpt-6").output_text
        return client.chat.completions.create(**convert(turn, **options), model="gpt-6").choices[0].message.content

    return send


def test_a_turn_is_converted_for_responses(make_turn, all_lifetimes, schema):
    turn = make_turn(*all_lifetimes)
    assert for_openai_responses(turn, cache_key="k") == {
        "instructions": turn.system,
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Reads a file – all of it.",
                "parameters": schema,
                "strict": False,
            },
            {"type": "function", "name": "status", "parameters": EMPTY, "strict": False},
        ],
        "input": [{"role": "user", "content": "Fix the “failing” test."}],
        "prompt_cache_key": "k",
    }


def test_a_turn_is_converted_for_chat(make_turn, all_lifetimes, schema):
    turn = make_turn(*all_lifetimes)
    assert for_openai_chat(turn, cache_key="k") == {
        "tools": [
            {
                "type": "function",
                "function": {"name": "read_file", "description": "Reads a file – all of it.", "parameters": schema},
            },
            {"type": "function", "function": {"name": "status", "parameters": EMPTY}},
        ],
        "messages": [
            {"role": "system", "content": turn.system},
            {"role": "user", "content": "Fix the “failing” test."},
        ],
        "prompt_cache_key": "k",
    }


CALL = {"type": "function_call", "call_id": "c", "name": "status", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "clean"}]}
IMAGE = {"type": "input_image", "image_url": "data:,", "detail": "auto"}


@pytest.mark.parametrize(
    ("message", "item"),
    [
        ({"role": "developer", "content": "A tool came."}, {"role": "developer", "content": "A tool came."}),
        (
            {"role": "user", "content": ["a", {"type": "text", "text": "b"}, IMAGE]},
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}, IMAGE],
            },
        ),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        ),
        (CALL, CALL),
        (OUTPUT, OUTPUT),
    ],
)
def test_a_message_is_converted_for_responses(make_turn, message, item):
    assert for_openai_responses(make_turn(messages=[message]))["input"] == [item]


def test_chat_messages_pass_unchanged(make_turn, history):
    result = {"role": "tool", "tool_call_id": "c", "content": "clean"}
    assert for_openai_chat(make_turn(messages=(*history, result)))["messages"] == [*history, result]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_prompt_is_left_out(make_turn, blank):
    turn = replace(make_turn(tools=()), system=blank)
    assert for_openai_responses(turn) == {"input": [{"role": "user", "content": "Fix the “failing” test."}]}
    assert for_openai_chat(turn) == {"messages": [{"role": "user", "content": "Fix the “failing” test."}]}


# The key


def cache_key(convert, turn):
    return convert(turn).get("prompt_cache_key")


@CONVERTERS
def test_the_cache_key_depends_on_the_prompt_and_not_on_the_conversation(convert, make_turn, all_lifetimes, history):
    turn = make_turn(*all_lifetimes)
    later = replace(turn, conversation="talk-2", edition=7, messages=history, is_reused=False)
    assert cache_key(convert, turn) == cache_key(convert, later)
    assert len(cache_key(convert, turn)) == 64


@CONVERTERS
def test_text_that_lasts_a_turn_does_not_change_the_cache_key(convert, make_turn, all_lifetimes):
    lasting, plan = all_lifetimes[:-1], all_lifetimes[-1:]
    turns = [make_turn(*lasting, *end, separator="\n---\n") for end in (plan, (), [("turn", "# Other plan")])]
    turns.append(replace(turns[1], system=turns[1].system + "\n\nSummarise."))
    assert len({cache_key(convert, turn) for turn in turns}) == 1


@CONVERTERS
def test_longer_lasting_text_changes_the_cache_key(convert, make_turn, all_lifetimes):
    turn = make_turn(*all_lifetimes)
    others = [
        make_turn(("release", "You are another agent."), *all_lifetimes[1:]),
        make_turn(*all_lifetimes[:-2], ("conversation", "Working directory: /v")),
        replace(turn, tools=turn.tools[:1]),
        replace(turn, tools=turn.tools[::-1]),
    ]
    assert len({cache_key(convert, other) for other in [turn, *others]}) == 5


@CONVERTERS
def test_without_lasting_text_there_is_no_cache_key(convert, make_turn):
    assert cache_key(convert, make_turn(("turn", "Now."), tools=())) is None
    assert (
        cache_key(convert, make_turn(("turn", "Now.")))
        == cache_key(convert, make_turn())
        != cache_key(convert, make_turn(("release", "Now.")))
    )


@CONVERTERS
def test_the_caller_can_pass_a_cache_key(convert, make_turn, all_lifetimes):
    turn = make_turn(*all_lifetimes)
    assert convert(turn, cache_key="k" * 64)["prompt_cache_key"] == "k" * 64
    assert "prompt_cache_key" not in convert(turn, cache_key="")
    with pytest.raises(CallError, match=r"has 65 characters; at most 64 are accepted$"):
        convert(turn, cache_key="k" * 65)


# With the client


@CONVERTERS
def test_the_client_sends_the_request_unchanged(convert, provider, send, make_turn, all_lifetimes, history):
    turn = make_turn(*all_lifetimes, messages=history)
    assert send(convert, turn) == "Done."
    assert provider.last_request == {**convert(turn), "model": "gpt-6"}


@CONVERTERS
def test_two_turns_of_a_conversation_send_the_same_prefix(convert, provider, send, make_turn, all_lifetimes, history):
    for count in (1, 3, 6):
        send(convert, make_turn(*all_lifetimes, messages=history[:count]))
    messages_key = "input" if convert is for_openai_responses else "messages"
    for key in {"tools", "instructions", "prompt_cache_key"} & provider.last_request.keys():
        assert provider.value_of(key, 0) == provider.value_of(key, 1) == provider.value_of(key, 2)
    lists = [provider.value_of(messages_key, number) for number in range(3)]
    assert lists[1].startswith(lists[0][:-1] + ",") and lists[2].startswith(lists[1][:-1] + ",")


@CONVERTERS
def test_the_same_turn_gives_the_same_bytes(convert, provider, send, make_turn, all_lifetimes):
    for _ in range(2):
        send(convert, make_turn(*all_lifetimes))
    assert provider.bodies[0] == provider.bodies[1]


@pytest.mark.parametrize(
    ("convert", "request_type"),
    [
        (for_openai_responses, ResponseCreateParamsNonStreaming),
        (for_openai_chat, CompletionCreateParamsNonStreaming),
    ],
)
def test_the_request_matches_the_types_of_the_sdk(is_typed, convert, request_type, make_turn, all_lifetimes, history):
    request = {**convert(make_turn(*all_lifetimes, messages=history)), "model": "gpt-6"}
    assert is_typed(request, request_type)
    assert not is_typed({**request, "tolls": []}, request_type)
