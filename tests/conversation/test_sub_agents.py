"""Sub-agents: one task, their own tools, and what they inherit."""

import pytest

from foreword import Tool
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import replace

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
TASK = "Find every caller of `checkout`."


@pytest.fixture
def place(tree, skill):
    return tree({
        "w/.git": None,
        "w/AGENTS.md": "Money is Decimal.\n",
        "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the tests."),
        "elsewhere/.git": None,
    })  # fmt: skip


def sub(talk, task=TASK, tools="read", **options):
    return talk.sub_agent(task, [Tool(name) for name in tools.split()], **options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_task_replaces_the_base(place, opened, layout):
    talk = opened(layout)
    first = talk.turn("hi").system.splitlines()[0]
    text = sub(talk).system
    assert text.startswith(TASK)
    assert first == "<identity>" or first not in text
    assert "<identity>" not in text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_task_follows_the_base(place, opened, layout):
    talk = opened(layout)
    first = talk.turn("hi").system.splitlines()[1 if layout in ("foreword", "opal") else 0]
    text = sub(talk, append=True).system
    assert text.count(first) == 1
    assert text.index(first) < text.index(TASK)


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi"])
def test_the_task_follows_the_callers_base(place, opened, layout):
    assert sub(opened(layout, base="You are Ada."), append=True).system.startswith(f"You are Ada.\n\n{TASK}")
    assert sub(opened(layout, base="You are Ada.")).system.startswith(TASK)


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod"])
def test_context_is_inherited_or_not(place, opened, layout):
    talk = opened(layout)
    talk.turn("hi")
    assert "Money is Decimal." in sub(talk).system
    text = sub(talk, with_context=False).system
    assert "Money is Decimal." not in text and "AGENTS.md" not in text


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_skills_are_inherited_or_not(place, opened, layout):
    talk = opened(layout)
    talk.turn("hi")
    assert "Runs the tests." in sub(talk).system
    text = sub(talk, with_skills=False).system
    assert "Runs the tests." not in text and "kills>" not in text
    assert "Money is Decimal." in text


def test_context_is_the_parents_even_if_the_files_have_changed(place, opened):
    opened("opal").turn("hi")
    place({"w/AGENTS.md": "Money is float.\n"})
    assert "Money is Decimal." in sub(opened("opal")).system


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_parents_directory_does_not_leak(place, opened, layout, append):
    talk = opened(layout)
    assert layout == "ion" or place.path("w") in talk.turn("hi").system
    text = sub(
        talk, append=append, workspace=place.workspace("elsewhere"), with_context=False, with_skills=False
    ).system
    assert place.path("w") not in text
    assert layout == "ion" or (layout == "builder" and not append) or place.path("elsewhere") in text


def test_guidelines_are_those_of_the_sub_agents_tools(place, opened):
    text = sub(opened("opal", tools="shell write_file"), tools="read_file shell").system
    assert "`read_file`" in text and "`write_file`" not in text


def test_a_sub_agent_has_no_plan(place, opened):
    talk = opened("opal")
    assert "<planning>" in talk.turn("hi").system
    for options in ({}, {"append": True}):
        assert "<planning>" not in sub(talk, **options).system and "sessions" not in sub(talk, **options).system


def test_session_plan_and_skill_are_not_inherited(place, opened):
    talk = opened("ion", plan="1. Find the query.", skill="testing")
    assert "Find the query." in talk.turn("hi").system
    text = sub(talk).system
    assert "Find the query." not in text and "# Active Skill" not in text


def test_the_parent_is_not_changed(place, opened):
    talk = opened("opal", tools="shell")
    before = talk.turn("hi")
    sub(talk)
    assert talk.turn("hi") == replace(before, is_reused=True)


def test_the_template_of_the_parent_is_rendered_for_the_sub_agent(place, opened):
    talk = opened("builder")
    talk.shared.store.add_template(TemplateVersion(0, "Here: [prompt:cwd]"))
    talk.turn("hi")
    text = sub(talk, append=True, workspace=place.workspace("elsewhere")).system
    assert place.short(text) == f"Here: /elsewhere\n\n{TASK}"


def test_an_untrusted_template_is_rendered_in_the_sandbox(place, opened, monkeypatch):
    place({"w/.foreword/prompts/body.md": "Tools: {{ tools | length }}"})
    seen = []
    from foreword.engine import sandbox

    monkeypatch.setattr(sandbox, "render", lambda *args, is_trusted, limit: seen.append(is_trusted) or ())
    talk = opened("pod", set={"body.text": "$workspace/body"})
    sub(talk, append=True)
    assert seen == [False, False]
