"""Agent fields that a call leaves out keep the values from the conversation's edition."""

import pytest

from foreword import Agent, Conversations, Document, Scope, Tool
from foreword.encoding.edition import target_of
from foreword.vocabulary import Access

FULL_AGENT = {
    "model": "claude-sonnet-4-5",
    "provider": "anthropic",
    "base": Document("/texts/base.md", "You are Ada.", hash="1f"),
    "language": "German",
    "role": "sub",
    "session": "s-1",
    "scope": Scope([Access("/w", "write")], [Access("/w/secret")]),
    "docs": (("Manual", "/docs"),),
}


def last_agent(conversation):
    edition = target_of(conversation.shared.store.current(conversation.id))
    return edition.model, edition.provider, edition.agent


@pytest.mark.parametrize("call", ["reload", "construct", "turn", "compact"])
@pytest.mark.parametrize("layout", ["pi", "opal", "ion"])
def test_fields_that_are_left_out_are_kept(tree, open_conversation, layout, call):
    first = open_conversation(layout, tools=None, **FULL_AGENT)
    text, before = first.construct().system, last_agent(first)
    tree({"w/AGENTS.md": "# New rule"})
    getattr(open_conversation(layout, tools=None), call)()
    later = open_conversation(layout, tools=None)
    system = later.construct().system
    assert ("You are Ada." in text, "You are Ada." in system, "New rule" in system) == (True, True, True)
    assert last_agent(later) == before


def test_a_field_that_is_passed_replaces_the_stored_one(open_conversation):
    open_conversation("pi", tools=None, **FULL_AGENT).turn("hi")
    later = open_conversation("pi", tools=None, base="You are Bob.", language="French")
    assert "You are Bob." in later.reload().system
    model, _, agent = last_agent(later)
    assert (model, agent["base"], agent["language"], agent["session"]) == (
        "claude-sonnet-4-5",
        "You are Bob.",
        "French",
        "s-1",
    )


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        ({}, ("claude-sonnet-4-5", "anthropic")),
        ({"model": "claude-sonnet-4-5"}, ("claude-sonnet-4-5", "anthropic")),
        ({"provider": "anthropic"}, ("claude-sonnet-4-5", "anthropic")),
        ({"model": "gpt-5"}, ("gpt-5", "")),
        ({"provider": "openai"}, ("", "openai")),
    ],
)
def test_a_model_is_kept_only_with_its_provider(tree, open_conversation, passed, expected):
    open_conversation("pi", tools=None, model="claude-sonnet-4-5", provider="anthropic").turn("hi")
    tree({"w/AGENTS.md": "# New rule"})
    later = open_conversation("pi", tools=None, **passed)
    later.construct()
    assert last_agent(later)[:2] == expected


def test_a_plan_and_a_skill_are_active_only_while_they_are_passed(open_conversation):
    open_conversation("foreword", plan="1. Test.").turn("hi")
    later = open_conversation("foreword")
    later.construct()
    assert "plan" not in last_agent(later)[2]


def test_a_sub_agent_inherits_the_fields_of_the_edition(tree, url):
    with Conversations(url) as conversations:
        workspace = tree.workspace("w")
        conversations.open("t", workspace, Agent(base="You are Ada."), "pi").turn("hi")
        turn = conversations.open("t", workspace, layout="pi").sub_agent("Review.", [Tool("read")], append=True)
    assert "You are Ada." in turn.system
