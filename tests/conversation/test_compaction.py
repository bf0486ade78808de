"""The request for a summary, in every layout: it is the longest request of a conversation, so it should be served from the cache."""

import pytest

from foreword import for_anthropic, for_openai_chat
from foreword.errors import StoreError

HISTORY = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]
LAYOUTS_THAT_ASK_IN_A_MESSAGE = ["foreword", "ion", "opal", "pi", "pod"]


@pytest.fixture
def project(tree):
    return tree({"w/.git": None, "w/AGENTS.md": "Be kind."})


@pytest.mark.parametrize("layout", LAYOUTS_THAT_ASK_IN_A_MESSAGE)
@pytest.mark.parametrize("is_edited", [False, True])
def test_the_request_is_a_message_after_the_history(project, open_conversation, layout, is_edited):
    conversation = open_conversation(layout, tools="read bash")
    turn = conversation.turn(messages=HISTORY)
    if is_edited:
        project({"w/AGENTS.md": "Be brief."})
    request = conversation.compact(messages=turn.history)
    asked = {"role": "user", "content": conversation.layout.wording["compaction"]}
    assert (request.system, request.tools, request.edition) == (turn.system, turn.tools, turn.edition)
    assert request.messages == (*turn.messages, asked)
    assert request.history == turn.history


@pytest.mark.parametrize("layout", LAYOUTS_THAT_ASK_IN_A_MESSAGE)
def test_the_providers_request_begins_like_the_one_before(project, open_conversation, layout):
    conversation = open_conversation(layout, tools="read bash")
    turn = conversation.turn(messages=HISTORY)
    request = conversation.compact(messages=turn.history)
    before, after = for_openai_chat(turn), for_openai_chat(request)
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert for_anthropic(request)["system"] == for_anthropic(turn)["system"]


def test_builder_asks_in_a_new_system_prompt(project, open_conversation):
    conversation = open_conversation("builder")
    turn = conversation.turn(messages=HISTORY)
    project({"w/AGENTS.md": "Be brief."})
    request = conversation.compact(messages=turn.history)
    fresh = turn.system.replace("Be kind.", "Be brief.")
    assert request.system == f"{fresh}\n\n{conversation.layout.wording['compaction']}"
    assert (request.messages, conversation.turn("hi").system) == (turn.messages, fresh)


def test_a_layout_that_says_nothing_about_compaction_asks_in_a_message(project, open_conversation):
    project({"w/own.toml": 'sections = ["base"]\n[section.base]\ntext = "Base."\n[wording]\ncompaction = "Sum up."\n'})
    request = open_conversation(project.path("w/own.toml")).compact(messages=HISTORY)
    assert (request.system, request.messages[-1]) == ("Base.", {"role": "user", "content": "Sum up."})


@pytest.mark.parametrize(
    ("failing", "consequence"),
    [
        (("save_state",), "until it is back, only this process knows of the compaction"),
        (("current", "save_state"), "this process continues with the edition it knows"),
    ],
)
def test_a_compaction_without_the_store_says_once_what_that_means(
    project, open_conversation, monkeypatch, failing, consequence
):
    def fail(*_, **__):
        raise StoreError("the store is down")

    conversation = open_conversation("foreword", tools="read")
    turn = conversation.turn(messages=HISTORY)
    conversation.touch(["a.py"])
    with monkeypatch.context() as patch:
        for name in failing:
            patch.setattr(conversation.shared.store, name, fail)
        request = conversation.compact(messages=turn.history)
    assert (request.system, request.edition) == (turn.system, turn.edition)
    (found,) = [found for found in request.findings if found.code == "store-down"]
    assert consequence in found.message
