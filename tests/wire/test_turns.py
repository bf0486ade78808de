"""The JSON form of a turn: a client can build the same request from it as the library does."""

import json

import pytest

from foreword import Agent, Conversations, Tool, for_anthropic, for_openai_responses
from foreword.vocabulary import Turn
from foreword.wire.answers import turn_form


def rebuild(form):
    """Return the turn that a client can build from JSON."""
    spans = {}
    for row in form["sections"]:
        spans.setdefault(row["message"], []).append((row["start"], row["end"], row["lifetime"]))
    return Turn(
        form["conversation"],
        form["edition"],
        form["reused"],
        form["system"],
        form["messages"],
        form["tools"],
        spans.get(0, ()),
        root_end=form.get("root_end", 0),
        leading=[spans[number] for number in range(1, form.get("leading", 0) + 1)],
        model=form["model"],
        changes=form.get("changes", ()),
    )


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_client_sends_the_same_request_as_the_library(tree, role):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be kind.\n", "w/api/AGENTS.md": "Be brief.\n"})
    agent = Agent(tools=[Tool("read")], model="claude-opus-5")
    with Conversations() as conversations:
        options = {"assignments": [("section.instructions.role", role)]}
        conversation = conversations.open("t", tree.workspace("w/api"), agent, "foreword", **options)
        first = conversation.turn("Hello.")
        conversation.set_active_tools([Tool("read"), Tool("zap")])
        for turn in (first, conversation.turn("Go on.", first.history)):
            rebuilt = rebuild(json.loads(json.dumps(turn_form(turn))))
            for convert in (for_anthropic, for_openai_responses):
                assert convert(rebuilt) == convert(turn)
        assert turn.changes and turn.root_end and bool(turn.leading) == (role == "user")
        marked = [block for block in for_anthropic(first)["system"] if "cache_control" in block]
        assert len(marked) == (3 if role == "system" else 1)
