"""Anthropic and Bedrock refuse blank text, which a model's answer may contain, so it is left out of their requests."""

import pytest

from foreword import for_anthropic, for_bedrock, for_openai_chat

HI = {"role": "user", "content": "Hi"}
BLANK = {"type": "text", "text": " \n"}
CALL = {"type": "tool_use", "id": "1", "name": "read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": ""}


@pytest.mark.parametrize("blank", ["", " \n", [], [BLANK], [{**BLANK, "citations": None}], None])
def test_an_empty_answer_of_the_model_is_left_out(make_turn, blank):
    messages = [HI, {"role": "assistant", "content": blank}, {"role": "user", "content": "Go on."}]
    turn = make_turn(messages=messages, tools=())
    assert for_anthropic(turn)["messages"] == [HI, messages[2]]
    assert for_bedrock(turn)["messages"] == [{"role": "user", "content": [{"text": "Hi"}, {"text": "Go on."}]}]
    assert for_openai_chat(turn)["messages"][-3:] == messages  # this provider accepts it


def test_blank_text_beside_other_blocks_is_left_out(make_turn):
    messages = [
        HI,
        {"role": "assistant", "content": [BLANK, CALL]},
        {"role": "user", "content": [RESULT, BLANK]},
    ]
    turn = make_turn(messages=messages, tools=())
    expected = [HI, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}]
    assert for_anthropic(turn)["messages"] == expected
    contents = [message["content"] for message in for_bedrock(turn)["messages"]]
    assert contents == [[{"text": "Hi"}], [CALL], [RESULT]]


def test_blank_text_in_the_result_of_a_tool_is_left_out(make_turn):
    full = {"type": "text", "text": "full"}
    asked = {"role": "assistant", "content": [CALL]}
    result = {"role": "user", "content": [{**RESULT, "content": [BLANK, full]}]}
    turn = make_turn(messages=[HI, asked, result], tools=())
    assert for_anthropic(turn)["messages"][-1]["content"] == [{**RESULT, "content": [full]}]
    own = {"toolUseId": "1", "content": [{"text": " "}, {"text": "full"}], "status": "success"}
    turn = make_turn(messages=[HI, {"role": "user", "content": [{"toolResult": own}]}], tools=())
    assert for_bedrock(turn)["messages"][-1]["content"][-1] == {"toolResult": {**own, "content": [{"text": "full"}]}}
    assert own["content"][0] == {"text": " "}  # the caller's message is as before


def test_every_request_still_begins_with_the_previous_one(make_turn):
    messages = [HI, {"role": "assistant", "content": [BLANK]}, HI, {"role": "assistant", "content": "a"}, HI]
    requests = [for_anthropic(make_turn(messages=messages[:count]))["messages"] for count in (1, 3, 5)]
    assert [len(request) for request in requests] == [1, 2, 4]
    assert requests[1][:1] == requests[0] and requests[2][:2] == requests[1]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": "", "signature": "x"}]},
    ],
)
def test_a_message_with_anything_else_is_kept(make_turn, message):
    assert for_anthropic(make_turn(messages=[HI, message], tools=()))["messages"] == [HI, message]
