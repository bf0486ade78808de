"""The system prompt of a `before_agent_start` hook lasts until the user's next prompt, in every process."""

import pytest

from foreword import Conversations, Extension, Tool
from foreword.errors import StoreError
from foreword.extensions import Start
from foreword.store import open_store

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "done"}]}


@pytest.fixture
def hook():
    """An extension that changes the prompt, and the messages it was called with."""
    messages = []

    def start(prompt, message, about):
        messages.append(message)
        return Start(prompt=f"{prompt}\n\nNow: {message}")

    return Extension("now", before_agent_start=start), messages


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ten_calls_for_one_user_request_have_the_same_system_prompt(open_conversation, hook, layout):
    extension, messages = hook
    conversation = open_conversation(layout, extensions=[extension])
    turn = conversation.turn("fix it")
    systems = [turn.system]
    for _ in range(10):
        turn = conversation.turn(messages=[*turn.history, RESULT])
        systems.append(turn.system)
    assert len(set(systems)) == 1 and systems[0].endswith("\n\nNow: fix it")
    assert messages == ["fix it"]
    assert conversation.turn("next", turn.history).system.endswith("\n\nNow: next")
    assert messages == ["fix it", "next"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_another_process_uses_the_same_system_prompt(open_conversation, hook, layout):
    first = open_conversation(layout, extensions=[hook[0]]).turn("fix it")
    assert open_conversation(layout).turn(messages=first.history).system == first.system
    next_turn = open_conversation(layout).turn("next")
    assert "Now:" not in next_turn.system  # a process without the extension, and a new prompt
    assert "Now:" not in open_conversation(layout, extensions=[hook[0]]).turn().system


def test_the_next_user_request_restores_the_system_prompt(open_conversation):
    starts = [Start(prompt="Other."), None]
    conversation = open_conversation(
        "pi", extensions=[Extension("once", before_agent_start=lambda *args: starts.pop(0))]
    )
    assert [conversation.turn("one").system, conversation.turn().system] == ["Other.", "Other."]
    base = conversation.turn("two").system
    assert base == conversation.shared.prompt("t") == conversation.turn().system != "Other."


def test_an_empty_system_prompt_lasts_too(open_conversation):
    conversation = open_conversation(
        "pi", extensions=[Extension("x", before_agent_start=lambda *args: Start(prompt=""))]
    )
    assert [conversation.turn("hi").system, conversation.turn().system] == ["", ""]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "user", "content": "mine"}], "mine"),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}], "a"),
        ([{"role": "user", "content": "mine"}, {"role": "assistant", "content": "x"}], "mine"),
        ([], ""),
    ],
)
def test_new_prompt_marks_a_new_message_in_the_callers_list(open_conversation, hook, messages, expected):
    extension, prompts = hook
    conversation = open_conversation("pi", extensions=[extension])
    turn = conversation.turn(messages=messages, new_prompt=True)
    assert prompts == [expected]
    assert turn.messages == tuple(messages)
    assert conversation.turn(messages=messages).system == turn.system
    assert prompts == [expected]


def test_a_hooks_system_prompt_outlasts_a_new_edition(tree, open_conversation, hook):
    conversation = open_conversation("pi", tools="read", extensions=[hook[0]])
    first = conversation.turn("fix it")
    conversation.set_active_tools([Tool("bash")])
    second = conversation.turn(messages=first.history)
    assert (second.edition, second.system) == (2, first.system)
    assert conversation.construct().system == conversation.shared.prompt("t") != first.system
    assert conversation.turn(messages=first.history).system == first.system


def test_a_hooks_system_prompt_outlasts_a_compaction(open_conversation, hook):
    conversation = open_conversation("foreword", extensions=[hook[0]])
    first = conversation.turn("fix it")
    assert conversation.compact(messages=first.history).system == first.system
    assert conversation.turn().system == first.system
    assert hook[1] == ["fix it"]


def test_a_hook_that_changes_nothing_writes_nothing(open_conversation):
    conversation = open_conversation(
        "pi", extensions=[Extension("x", before_agent_start=lambda prompt, *_: Start(prompt=prompt))]
    )
    conversation.turn("hi")
    assert conversation.shared.store.current("t").state == "{}"


class ReadOnly:
    """A store that can fail on writes."""

    def __init__(self, store):
        self.store, self.is_down = store, False

    def __getattr__(self, name):
        return getattr(self.store, name)

    def save_state(self, *args):
        if self.is_down:
            raise StoreError("the store is down")
        return self.store.save_state(*args)


def test_while_the_store_is_down_this_process_remembers_the_prompt(tree, hook, url):
    store = ReadOnly(open_store(url))
    conversation = Conversations(store, [hook[0]]).open("t", tree.workspace("w"), None, "pi")
    conversation.turn("one")
    store.is_down = True
    turn = conversation.turn("two")
    assert turn.system.endswith("Now: two")
    assert "store-down" in [finding.code for finding in turn.findings]
    assert conversation.turn().system == turn.system
    store.is_down = False
    assert conversation.turn().system == turn.system
    assert Conversations(url).open("t", tree.workspace("w"), None, "pi").turn().system == turn.system
    conversation.shared.store.close()
