"""An existing conversation opened with another layout: stored inputs belong to the layout they were gathered for."""

import itertools
from datetime import UTC, datetime

import pytest

from foreword import Tool

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
# Layouts that replace an edition of another layout on every turn, on a turn with different tools, or only on request.
EVERY_TURN = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)
REPLACES_EVERY_TURN, REPLACES_FOR_TOOLS = ("ion", "opal"), ("foreword", "pi")


@pytest.fixture
def project(tree, skill):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.agents/skills/testing/SKILL.md": skill("testing")})
    return tree


@pytest.mark.parametrize(("old", "new"), list(itertools.product(LAYOUTS, LAYOUTS)))
@pytest.mark.parametrize("tools", ["read", "bash"])
def test_another_layout_replaces_the_edition_only_if_its_step_allows(project, open_conversation, old, new, tools):
    first = open_conversation(old, tools="read").turn("hi", now=EVERY_TURN)
    conversation = open_conversation(new, tools=tools)
    turn = conversation.turn("hi", now=EVERY_TURN)
    is_new = old != new and (new in REPLACES_EVERY_TURN or (new in REPLACES_FOR_TOOLS and tools != "read"))
    if is_new:
        alone = open_conversation(new, "alone", tools=tools, session="t").turn("hi", now=EVERY_TURN)
        assert (turn.edition, turn.is_reused, turn.system, turn.tools) == (2, False, alone.system, alone.tools)
        assert (turn.messages, conversation.shared.store.current("t").layout) == (alone.messages, f"$std/{new}")
        assert open_conversation(new, tools=tools).turn("hi", now=EVERY_TURN).is_reused
    elif old != new:
        assert (turn.edition, turn.is_reused, turn.system) == (1, True, first.system)


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(LAYOUTS, 2)))
def test_a_sub_agent_uses_the_requested_layout(project, open_conversation, old, new):
    open_conversation(old, tools="read").turn("hi")
    turn = open_conversation(new, tools="read").sub_agent("Count the files.", now=EVERY_TURN)
    assert (
        turn.system
        == open_conversation(new, "alone", tools="read").sub_agent("Count the files.", now=EVERY_TURN).system
    )


@pytest.mark.parametrize("on", [{"on.tools": "warn"}, {"on.tools": "warn", "on.turn": "warn"}])
def test_warn_keeps_the_edition_and_reports_what_the_other_layout_would_change(project, open_conversation, on):
    first = open_conversation("foreword", tools="read").turn("hi")
    turn = open_conversation("pi", tools="bash", set=on).turn("hi")
    assert (turn.edition, turn.system) == (1, first.system)
    (message,) = [finding.message for finding in turn.findings if finding.code == "drift"]
    assert "section 'instructions' removed" in message and "tool bash added; tool read removed" in message


def test_a_layout_with_a_new_lookup_gathers_again(project, open_conversation):
    one = 'extends = "opal"\n'
    two = f'{one}sections = ["notes"]\n[find.notes]\nfiles = ["cwd:NOTES.md"]\n[section.notes]\nlist = "notes"\nitem = "{{text}}"\n'
    project({"w/NOTES.md": "Noted.", "mine.toml": one})
    open_conversation(project.path("mine.toml"), tools="read").turn("hi")
    project({"mine.toml": two})
    conversation = open_conversation(project.path("mine.toml"))
    conversation.set_active_tools([Tool("zap")])
    assert conversation.turn("hi").system == "Noted."
