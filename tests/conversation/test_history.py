"""Messages to send, the history to keep, and notices for callers who keep their own list."""

import pytest

from foreword import Extension

TOOL_OFF = "Tools that are not active from now on, so do not call them: `bash`. All others are active."
EXECUTION = {"role": "execution", "command": "ls", "output": "a", "excluded": True}


def user(text):
    return {"role": "user", "content": text}


def test_a_reminder_from_a_context_hook_is_sent_with_each_call_and_not_in_the_history(open_conversation, contents):
    reminder = Extension("x", context=lambda messages, about: [*messages, user("Remember.")])
    conversation = open_conversation("pi", extensions=[reminder])
    turn = conversation.turn("hi")
    for number in range(6):
        turn = conversation.turn(messages=[*turn.history, {"role": "assistant", "content": str(number)}])
    assert contents(turn.messages) == ["hi", *map(str, range(6)), "Remember."]
    assert contents(turn.history) == ["hi", *map(str, range(6))]


def test_changes_by_a_context_hook_are_not_in_the_history(open_conversation, contents):
    def tidy(messages, about):
        messages[0]["content"][0]["text"] = "…"
        return messages[:1]

    own_messages = [{"role": "user", "content": [{"type": "text", "text": "secret"}]}]
    turn = open_conversation("pi", extensions=[Extension("x", context=tidy)]).turn("hi", own_messages)
    assert turn.messages == ({"role": "user", "content": [{"type": "text", "text": "…"}]},)
    assert turn.history == ({"role": "user", "content": [{"type": "text", "text": "secret"}]}, user("hi"))


def test_the_callers_messages_are_unchanged_in_the_history(open_conversation, contents):
    own_messages = [{"role": "summary", "content": "Before."}, EXECUTION]
    turn = open_conversation("pi").turn("hi", own_messages)
    assert turn.messages == (user("Before."), user("hi"))
    assert turn.history == (*own_messages, user("hi"))


@pytest.mark.parametrize("layout", ["foreword", "builder", "pod"])
def test_the_request_for_a_summary_is_not_in_the_history(open_conversation, layout):
    assert open_conversation(layout).compact(messages=[user("hi")]).history == (user("hi"),)


@pytest.mark.parametrize("new_process", [False, True])
def test_a_notice_is_inserted_again_where_it_was_first_sent(open_conversation, contents, tool_names, new_process):
    conversation = open_conversation("foreword", tools="bash read")
    own_messages = [user("one"), {"role": "assistant", "content": "two"}]
    conversation.turn(messages=own_messages)
    sent = []
    for number in range(3):
        if new_process or not number:
            conversation = open_conversation("foreword", tools="read")
        turn = conversation.turn(messages=own_messages)
        sent.append(contents(turn.messages))
        assert tool_names(turn.tools) == ["bash", "read"]
        assert len([text for text in sent[-1] if text.endswith(TOOL_OFF)]) == 1
        own_messages = [*own_messages, user(f"more {number}"), {"role": "assistant", "content": f"done {number}"}]
    assert sent[0][-1].endswith(TOOL_OFF)
    assert sent[1][: len(sent[0])] == sent[0]
    assert sent[2][: len(sent[1])] == sent[1]


def test_in_a_shorter_list_a_notice_comes_before_the_last_message(open_conversation, contents):
    own_messages = [user(str(number)) for number in range(8)]
    conversation = open_conversation("foreword", tools="bash read")
    conversation.turn(messages=own_messages)
    conversation = open_conversation("foreword", tools="read")
    conversation.turn(messages=own_messages)
    assert contents(conversation.turn("hi").messages)[1:] == ["hi"]
    assert contents(conversation.turn(messages=own_messages[:3]).messages)[3:] == ["2"]


def test_callers_who_keep_the_history_see_a_notice_once(open_conversation, contents):
    history = open_conversation("foreword", tools="bash read").turn("hi").history
    for _ in range(3):
        history = open_conversation("foreword", tools="read").turn("hi", history).history
    assert len([text for text in contents(history) if text.endswith(TOOL_OFF)]) == 1


def test_a_changed_section_is_inserted_again_too(tree, open_conversation, contents):
    for text in ("One.", "Two.", "Two."):
        tree({"w/.git": None, "w/AGENTS.md": text})
        turn = open_conversation("foreword", set={"on.turn": "announce"}).turn("hi")
    assert "Two." not in turn.system and "Two." in contents(turn.messages)[0]


def test_a_notice_between_turns_is_sent_by_the_next_turn_of_any_process(open_conversation, contents):
    open_conversation("foreword", tools="bash read").turn("hi")
    open_conversation("foreword", tools="read").reload()
    open_conversation("foreword", tools="bash", set={"on.reload": "keep"}).reload()
    turn = open_conversation("foreword", tools="bash").turn("hi")
    assert "`read`" in contents(turn.messages)[0] or turn.edition > 1


def test_a_compaction_removes_the_notices(open_conversation, contents):
    open_conversation("foreword", tools="bash read").turn("hi")
    conversation = open_conversation("foreword", tools="read")
    conversation.turn("hi")
    assert contents(conversation.compact(messages=[user("hi")]).messages)[0].endswith(
        TOOL_OFF
    )  # so the prefix stays cached
    assert contents(conversation.turn("hi").messages) == ["hi"]
