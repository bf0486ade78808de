"""OpenAI: both APIs and the cache key, checked with the real client and types."""

from __future__ import annotations

from itertools import pairwise

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
    turn = replace(turn, conversation="")
    assert for_openai_responses(turn) == {"input": [{"role": "user", "content": "Fix the “failing” test."}]}
    assert for_openai_chat(turn) == {"messages": [{"role": "user", "content": "Fix the “failing” test."}]}


# The key


def cache_key(convert, turn, scope="prompt"):
    return convert(turn, cache_scope=scope).get("prompt_cache_key")


@CONVERTERS
def test_each_conversation_has_its_own_cache_key(convert, make_turn, all_lifetimes, history):
    turn = make_turn(*all_lifetimes)
    key = convert(turn)["prompt_cache_key"]
    assert len(key) == 64 and turn.conversation not in key
    later = replace(turn, system="Another prompt.", passages=(), edition=7, messages=history, tools=())
    assert convert(later)["prompt_cache_key"] == key
    assert convert(replace(turn, conversation="chat-2"))["prompt_cache_key"] != key
    assert convert(replace(turn, conversation=""))["prompt_cache_key"] == cache_key(convert, turn)


@CONVERTERS
def test_the_cache_key_of_a_sub_agent_depends_on_its_prompt(convert, make_turn):
    turns = [replace(make_turn(("release", task)), edition=0) for task in ("Review.", "Review.", "Test.")]
    keys = [convert(turn)["prompt_cache_key"] for turn in (make_turn(), *turns)]
    assert keys[1] == keys[2] and len(set(keys)) == 3


@CONVERTERS
def test_an_unknown_cache_scope_is_refused(convert, make_turn):
    with pytest.raises(CallError, match=r"^unknown cache_scope 'user'; use 'conversation' or 'prompt'$"):
        convert(make_turn(), cache_scope="user")


@CONVERTERS
def test_the_cache_key_depends_on_the_prompt_and_not_on_the_conversation(convert, make_turn, all_lifetimes, history):
    turn = make_turn(*all_lifetimes)
    later = replace(turn, conversation="chat-2", edition=7, messages=history, is_reused=False)
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


# Breakpoints

POINT = {"mode": "explicit"}


def points(messages):
    """The text and breakpoint of each block in the messages."""
    return [
        (block["text"], block.get("prompt_cache_breakpoint"))
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
    ]


def marked_texts(point, long_point=None):
    return [
        ("You are an agent.", long_point or point),
        ("\n\n# Instructions\nSpeak plainly. ✓\n\n# Skills", long_point or point),
        ("\n\nWorking directory: /w", point),
        ("\n\n# Plan", None),
    ]


def test_responses_has_breakpoints_where_lifetimes_end(make_turn, all_lifetimes):
    request = for_openai_responses(replace(make_turn(*all_lifetimes), model="gpt-5.6-sol"))
    assert "instructions" not in request and "prompt_cache_options" not in request
    system, message = request["input"]
    assert system["role"] == "developer" and points([system]) == marked_texts(POINT)
    assert message == {"role": "user", "content": "Fix the “failing” test."}


def test_chat_has_breakpoints_where_lifetimes_end(make_turn, all_lifetimes):
    system, message = for_openai_chat(replace(make_turn(*all_lifetimes), model="gpt-6"))["messages"]
    assert system["role"] == "system" and points([system]) == marked_texts(POINT)
    assert message == {"role": "user", "content": "Fix the “failing” test."}


@CONVERTERS
@pytest.mark.parametrize("model", ["", "gpt-5.4", "mistral-large", "gpt-4.1"])
def test_other_models_have_no_breakpoints(convert, make_turn, all_lifetimes, model):
    turn = make_turn(*all_lifetimes)
    assert convert(replace(turn, model=model)) == convert(turn)
    with pytest.raises(
        CallError, match=r"^ttl needs a model with cache breakpoints, such as gpt-5.6; the turn's model is "
    ):
        convert(replace(turn, model=model), ttl="30m")


@CONVERTERS
def test_the_number_of_breakpoints_is_limited(convert, make_turn, all_lifetimes):
    turn = replace(make_turn(*all_lifetimes), model="gpt-5.6-sol")
    assert convert(turn, breakpoints=0) == convert(replace(turn, model=""))
    found = points(convert(turn, breakpoints=2).get("input") or convert(turn, breakpoints=2)["messages"])
    assert [point for _, point in found] == [None, POINT, POINT, None]
    with pytest.raises(CallError, match=r"^breakpoints must be a number from 0 to 4, not 5$"):
        convert(turn, breakpoints=5)


def test_the_lifetime_of_the_cache_is_set(make_turn, all_lifetimes):
    turn = replace(make_turn(*all_lifetimes), model="gpt-5.6-sol")
    long_request = for_openai_responses(turn, ttl="12h")
    assert long_request["prompt_cache_options"] == {"ttl": "12h"}
    assert points(long_request["input"]) == marked_texts(POINT)
    mixed = for_openai_responses(turn, ttl="mixed")
    assert "prompt_cache_options" not in mixed
    assert points(mixed["input"]) == marked_texts(POINT, {**POINT, "ttl": "12h"})
    with pytest.raises(CallError, match=r"^unknown ttl '12h'; use '30m', 'mixed' or None$"):
        for_openai_chat(turn, ttl="12h")


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
    turn = make_turn(*all_lifetimes, messages=history)
    request = {**convert(turn), "model": "gpt-6"}
    assert is_typed(request, request_type)
    for ttl in (None, "30m", "mixed"):
        assert is_typed({**convert(replace(turn, model="gpt-6"), ttl=ttl), "model": "gpt-6"}, request_type)
    assert not is_typed({**request, "tolls": []}, request_type)


USER = {"role": "user", "content": "a"}
MESSAGES = [
    {"role": "system", "content": "s"},
    {"role": "system", "content": "t"},
    USER,
    {"role": "user", "content": [{"type": "text", "text": "b"}]},
    {"role": "assistant", "content": "c"},
    {"role": "system", "content": "changed"},
    {"role": "user", "content": "d"},
    {"role": "tool", "tool_call_id": "1", "content": "e"},
    {"role": "tool", "tool_call_id": "2", "content": "f"},
    {"role": "user", "content": "g", "name": "Ada"},
    USER,
]


def test_consecutive_messages_are_merged_for_strict_templates(make_turn):
    turn = replace(make_turn(), system="", messages=MESSAGES)
    assert for_openai_chat(turn, merge=True)["messages"] == [
        {"role": "system", "content": "s\n\nt"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "changed\n\nd"},
        *MESSAGES[7:],
    ]


@pytest.mark.parametrize(
    ("model", "merge", "merged"),
    [
        ("", None, False),
        ("gpt-6", None, False),
        ("qwen3", None, False),
        ("mistralai/Mistral-7B-Instruct-v0.3", None, True),
        ("google/gemma-3-27b-it", None, True),
        ("gemma3:12b", None, True),
        ("gemma3:12b", False, False),
        ("qwen3", True, True),
    ],
)
def test_messages_are_merged_for_models_that_need_it(make_turn, model, merge, merged):
    turn = replace(make_turn(), system="", model=model, messages=[USER, USER])
    expected = [{"role": "user", "content": "a\n\na"}] if merged else [USER, USER]
    assert for_openai_chat(turn, merge=merge)["messages"] == expected


def test_merge_must_be_a_boolean(make_turn):
    with pytest.raises(CallError, match="merge must be bool, not str"):
        for_openai_chat(make_turn(), merge="yes")


def test_merged_messages_keep_the_prefix(make_turn):
    """What a strict template writes for a request is the start of what it writes for the next one."""
    messages = [
        USER,
        USER,
        {"role": "assistant", "content": "b"},
        USER,
        {"role": "assistant", "content": "c"},
        USER,
        USER,
    ]
    turn = replace(make_turn(), system="s")
    sent = [for_openai_chat(replace(turn, messages=messages[:end]), merge=True)["messages"] for end in (2, 4, 7)]
    assert all(after[: len(before)] == before for before, after in pairwise(sent))
