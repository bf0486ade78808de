"""Messages in the form of another provider are refused where their calls and results would be lost."""

from __future__ import annotations

import json

import pytest

from foreword import Agent, Conversations, Workspace, for_bedrock, for_gemini
from foreword.errors import CallError
from foreword.providers import request_for

CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "function": {"name": "read", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "the text of the file"}
ITEM = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
PARTS = {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]}


@pytest.fixture
def turn(tmp_path):
    def take(*messages):
        conversation = Conversations(":memory:").open("c", Workspace(str(tmp_path), home=str(tmp_path)), Agent())
        return conversation.turn(messages=[{"role": "user", "content": "Go on."}, *messages])

    return take


@pytest.mark.parametrize(
    ("convert", "message", "field"),
    [
        (for_bedrock, CALL, "tool_calls"),
        (for_bedrock, RESULT, "tool_call_id"),
        (for_bedrock, ITEM, "call_id"),
        (for_bedrock, PARTS, "parts"),
        (for_gemini, CALL, "tool_calls"),
        (for_gemini, RESULT, "tool_call_id"),
    ],
)
def test_a_message_that_would_be_lost_is_an_error(turn, convert, message, field):
    with pytest.raises(
        CallError, match=rf"^{convert.__name__}: a message has '{field}', .* so it would be lost; write calls"
    ):
        convert(turn(message))


@pytest.mark.parametrize("provider", ["bedrock", "gemini"])
def test_a_prediction_counts_it_as_text(turn, provider):
    request = request_for(provider, turn(CALL, RESULT))
    assert "the text of the file" in json.dumps(request)


def test_messages_in_the_own_form_pass(turn):
    use = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "read", "input": {}}}]}
    assert for_bedrock(turn(use))["messages"][-1]["content"] == use["content"]
    assert for_gemini(turn(PARTS))["contents"][-1] == PARTS
