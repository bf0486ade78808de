"""A known conversation opened with another layout: stored inputs belong to the layout they were gathered for."""

import itertools
from datetime import UTC, datetime

import pytest

from foreword import Tool

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
# Which layouts replace an edition of another layout: on every turn, on a turn with different tools, only on request.
NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)
ALWAYS, FOR_TOOLS = ("ion", "opal"), ("foreword", "pi")


@pytest.fixture
def place(tree, skill):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.agents/skills/testing/SKILL.md": skill("testing")})
    return tree


@pytest.mark.parametrize(("made", "asked"), list(itertools.product(LAYOUTS, LAYOUTS)))
@pytest.mark.parametrize("tools", ["read", "bash"])
def test_every_pair_of_layouts(place, opened, made, asked, tools):
    first = opened(made, tools="read").turn("hi", now=NOW)
    talk = opened(asked, tools=tools)
    turn = talk.turn("hi", now=NOW)
    is_new = made != asked and (asked in ALWAYS or (asked in FOR_TOOLS and tools != "read"))
    if is_new:
        alone = opened(asked, "alone", tools=tools, session="t").turn("hi", now=NOW)
        assert (turn.edition, turn.is_reused, turn.system, turn.tools) == (2, False, alone.system, alone.tools)
        assert (turn.messages, talk.shared.store.current("t").layout) == (alone.messages, f"$std/{asked}")
        assert opened(asked, tools=tools).turn("hi", now=NOW).is_reused
    elif made != asked:
        assert (turn.edition, turn.is_reused, turn.system) == (1, True, first.system)


@pytest.mark.parametrize(("made", "asked"), list(itertools.permutations(LAYOUTS, 2)))
def test_a_sub_agent_uses_the_requested_layout(place, opened, made, asked):
    opened(made, tools="read").turn("hi")
    turn = opened(asked, tools="read").sub_agent("Count the files.", now=NOW)
    assert turn.system == opened(asked, "alone", tools="read").sub_agent("Count the files.", now=NOW).system


@pytest.mark.parametrize("on", [{"on.tools": "warn"}, {"on.tools": "warn", "on.turn": "warn"}])
def test_warn_keeps_the_edition_and_reports_what_the_other_layout_would_change(place, opened, on):
    first = opened("foreword", tools="read").turn("hi")
    turn = opened("pi", tools="bash", set=on).turn("hi")
    assert (turn.edition, turn.system) == (1, first.system)
    (told,) = [each.message for each in turn.findings if each.code == "drift"]
    assert "section 'instructions' removed" in told and "tool bash added; tool read removed" in told


def test_a_layout_with_a_new_find_gathers_again(place, opened):
    one = 'extends = "opal"\n'
    two = f'{one}sections = ["notes"]\n[find.notes]\nfiles = ["cwd:NOTES.md"]\n[section.notes]\nof = "notes"\nitem = "{{text}}"\n'
    place({"w/NOTES.md": "Noted.", "mine.toml": one})
    opened(place.path("mine.toml"), tools="read").turn("hi")
    place({"mine.toml": two})
    talk = opened(place.path("mine.toml"))
    talk.set_active_tools([Tool("zap")])
    assert talk.turn("hi").system == "Noted."
