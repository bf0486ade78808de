"""Where notices are inserted into a caller's list of messages."""

import pytest

from foreword.conversation.notices import calls_since, mark_sent, retired_hashes, with_notices, without_retired
from foreword.conversation.state import State


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]}
CHAT_CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
CHAT_RESULT = {"role": "tool", "tool_call_id": "1", "content": "r"}
ITEM_CALL, ITEM_RESULT = {"type": "function_call", "call_id": "1"}, {"type": "function_call_output", "call_id": "1"}
TOOL_OFF = {"text": "off", "at": 2}


@pytest.mark.parametrize(
    ("messages", "notices", "expected"),
    [
        ([user("a"), assistant("b"), user("c")], [TOOL_OFF], [user("a"), assistant("b"), user("off"), user("c")]),
        ([user("a"), assistant("b")], [TOOL_OFF], [user("a"), assistant("b"), user("off")]),  # as it was first sent
        ([user("c")], [TOOL_OFF], [user("off"), user("c")]),  # too short: before the last message
        ([], [TOOL_OFF], [user("off")]),
        ([user("off"), user("c")], [TOOL_OFF], [user("off"), user("c")]),  # already present, at any position
        ([user("x\n\noff\n\ny")], [TOOL_OFF], [user("x\n\noff\n\ny")]),  # merged with other text by the caller
        ([assistant("off"), user("c"), user("d")], [TOOL_OFF], [assistant("off"), user("c"), user("off"), user("d")]),
        (
            [{"role": "user", "content": [{"type": "text", "text": "off"}]}],
            [TOOL_OFF],
            [{"role": "user", "content": [{"type": "text", "text": "off"}]}],
        ),
        # The same text again, later: both are needed.
        (
            [user("off"), user("on"), user("c")],
            [{"text": "off", "at": 0}, {"text": "on", "at": 1}, {"text": "off", "at": 2}],
            [user("off"), user("on"), user("off"), user("c")],
        ),
        (
            [user("a"), user("b")],
            [{"text": "off", "at": 1}, {"text": "on", "at": 3}],
            [user("a"), user("off"), user("b"), user("on")],
        ),
        # Never between a call and its result: providers reject that.
        ([CALL, RESULT], [{"text": "off", "at": 9}], [user("off"), CALL, RESULT]),
        ([CHAT_CALL, CHAT_RESULT, CHAT_RESULT], [TOOL_OFF], [user("off"), CHAT_CALL, CHAT_RESULT, CHAT_RESULT]),
        (
            [user("a"), ITEM_CALL, ITEM_CALL, ITEM_RESULT, ITEM_RESULT],
            [{"text": "off", "at": 9}],
            [user("a"), user("off"), ITEM_CALL, ITEM_CALL, ITEM_RESULT, ITEM_RESULT],
        ),
        ([RESULT], [{"text": "off", "at": 9}], [user("off"), RESULT]),
        ([user("a")], [], [user("a")]),
    ],
)
def test_a_notice_is_inserted_at_its_position(messages, notices, expected):
    before = list(messages)
    assert with_notices(messages, notices) == expected
    assert messages == before


def test_an_inserted_notice_keeps_its_position():
    notices = [{"text": "one", "at": 1}, {"text": "two", "at": 3}]
    messages = [user(str(number)) for number in range(6)]
    inserted = with_notices(messages, notices)
    assert with_notices(inserted, notices) == inserted
    assert with_notices([*messages, user("6")], notices)[: len(inserted)] == inserted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (State(), State()),
        (State(notices=[TOOL_OFF]), State(notices=[TOOL_OFF])),
        (
            State(unsent=[{"text": "x"}], announced={"one": "h"}),
            State(notices=[{"text": "x", "at": 2}], announced={"one": "h"}),
        ),
        (
            State(unsent=[{"text": "x"}, {"text": "y", "skill": "s"}], notices=[TOOL_OFF]),
            State(notices=[TOOL_OFF, {"text": "x", "at": 3}, {"text": "y", "skill": "s", "at": 4}]),
        ),
    ],
)
def test_an_unsent_notice_is_sent_after_the_messages(before, after):
    assert mark_sent(before, [user("a"), assistant("b")]) == after


def test_long_notices_are_all_kept():
    skill = {"text": "s" * 40_000, "at": 0, "skill": "s"}
    old, new = {"text": "o" * 20_000, "at": 1}, {"text": "n" * 20_000}
    state = mark_sent(State(notices=[skill, old], unsent=[new], announced={"one": "h"}), [])
    assert [notice["text"][0] for notice in state.notices] == ["s", "o", "n"]
    assert state.announced == {"one": "h"}


def test_announcements_of_earlier_editions_are_removed():
    state = State(notices=[{"text": "old news", "at": 1, "change": {}}, {"text": "a skill", "at": 2, "skill": "s"}])
    retired = State(retired=retired_hashes(state))
    rows = [{"role": role, "content": text} for role, text in (("user", "hi"), ("user", "old news"), ("assistant", "old news"), ("user", "a skill"))]  # fmt: skip
    assert without_retired(rows, retired) == [rows[0], rows[2], rows[3]]


@pytest.mark.parametrize("has_notice", [False, True])
def test_the_calls_that_sent_an_announcement_are_counted(has_notice):
    notice = {"text": "news", "at": 2, "change": {}}
    rows = [{"role": role, "content": role} for role in ("user", "assistant", "user", "assistant", "user", "assistant", "user")]  # fmt: skip
    messages = with_notices(rows, [notice]) if has_notice else rows
    assert calls_since(messages, [notice, {"text": "skill", "at": 0, "skill": "s"}]) == [("news", 2)]


def test_notices_keep_their_order_in_a_short_list():
    """A later notice may revoke an earlier one."""
    notices = [{"at": 5, "text": "bash is new"}, {"at": 9, "text": "bash is off"}]
    result = with_notices([{"role": "user", "content": "hi"}], notices)
    assert [message["content"] for message in result if message["content"] != "hi"] == ["bash is new", "bash is off"]
