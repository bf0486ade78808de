"""Sub-agents: one task, their own tools, and what they inherit."""

from contextlib import closing

import pytest

from foreword import Agent, CallError, Conversations, Tool
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import replace

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
TASK = "Find every caller of `checkout`."


@pytest.fixture
def project(tree, skill):
    return tree({
        "w/.git": None,
        "w/AGENTS.md": "Money is Decimal.\n",
        "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the tests."),
        "elsewhere/.git": None,
    })  # fmt: skip


def sub_agent(conversation, task=TASK, tools="read", **options):
    return conversation.sub_agent(task, [Tool(name) for name in tools.split()], **options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_task_replaces_the_base(project, open_conversation, layout):
    conversation = open_conversation(layout)
    first = conversation.turn("hi").system.splitlines()[0]
    text = sub_agent(conversation).system
    assert text.startswith(TASK)
    assert first == "<identity>" or first not in text
    assert "<identity>" not in text


@pytest.mark.parametrize("task", [" ", "\n\t"])
def test_a_blank_task_is_an_error(project, open_conversation, task):
    with pytest.raises(CallError, match="the task of a sub-agent is blank; say what it should do"):
        sub_agent(open_conversation("opal"), task)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_task_follows_the_base(project, open_conversation, layout):
    conversation = open_conversation(layout)
    first = conversation.turn("hi").system.splitlines()[1 if layout in ("foreword", "opal") else 0]
    text = sub_agent(conversation, append=True).system
    assert text.count(first) == 1
    assert text.index(first) < text.index(TASK)


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi"])
def test_the_task_follows_the_callers_base(project, open_conversation, layout):
    assert sub_agent(open_conversation(layout, base="You are Ada."), append=True).system.startswith(
        f"You are Ada.\n\n{TASK}"
    )
    assert sub_agent(open_conversation(layout, base="You are Ada.")).system.startswith(TASK)


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod"])
def test_context_is_inherited_unless_the_caller_opts_out(project, open_conversation, layout):
    conversation = open_conversation(layout)
    conversation.turn("hi")
    assert "Money is Decimal." in sub_agent(conversation).system
    text = sub_agent(conversation, with_context=False).system
    assert "Money is Decimal." not in text and "AGENTS.md" not in text


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_skills_are_inherited_unless_the_caller_opts_out(project, open_conversation, layout):
    conversation = open_conversation(layout)
    conversation.turn("hi")
    assert "Runs the tests." in sub_agent(conversation).system
    text = sub_agent(conversation, with_skills=False).system
    assert "Runs the tests." not in text and "kills>" not in text
    assert "Money is Decimal." in text


def test_context_is_the_parents_even_if_the_files_have_changed(project, open_conversation):
    open_conversation("opal").turn("hi")
    project({"w/AGENTS.md": "Money is float.\n"})
    assert "Money is Decimal." in sub_agent(open_conversation("opal")).system


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_parents_directory_does_not_leak(project, open_conversation, layout, append):
    conversation = open_conversation(layout)
    assert layout == "ion" or project.path("w") in conversation.turn("hi").system
    text = sub_agent(
        conversation, append=append, workspace=project.workspace("elsewhere"), with_context=False, with_skills=False
    ).system
    assert project.path("w") not in text
    assert layout == "ion" or (layout == "builder" and not append) or project.path("elsewhere") in text


def test_guidelines_match_the_sub_agents_tools(project, open_conversation):
    text = sub_agent(open_conversation("opal", tools="shell write_file"), tools="read_file shell").system
    assert "`read_file`" in text and "`write_file`" not in text


def test_a_sub_agent_has_no_plan(project, open_conversation):
    conversation = open_conversation("opal")
    assert "<planning>" in conversation.turn("hi").system
    for options in ({}, {"append": True}):
        assert (
            "<planning>" not in sub_agent(conversation, **options).system
            and "sessions" not in sub_agent(conversation, **options).system
        )


def test_session_plan_and_skill_are_not_inherited(project, open_conversation):
    conversation = open_conversation("ion", plan="1. Find the query.", skill="testing")
    assert "Find the query." in conversation.turn("hi").system
    text = sub_agent(conversation).system
    assert "Find the query." not in text and "# Active Skill" not in text


def test_the_parent_is_not_changed(project, open_conversation):
    conversation = open_conversation("opal", tools="shell")
    before = conversation.turn("hi")
    sub_agent(conversation)
    assert conversation.turn("hi") == replace(before, is_reused=True)


def test_the_parents_template_is_rendered_for_the_sub_agent(project, open_conversation):
    conversation = open_conversation("builder")
    conversation.shared.store.add_template(TemplateVersion(0, "Here: [prompt:cwd]"))
    conversation.turn("hi")
    text = sub_agent(conversation, append=True, workspace=project.workspace("elsewhere")).system
    assert project.short(text) == f"Here: /elsewhere\n\n{TASK}"


def test_an_untrusted_template_is_rendered_in_the_sandbox(project, open_conversation, monkeypatch):
    project({"w/.foreword/prompts/body.md": "Tools: {{ tools | length }}"})
    rendered = []
    from foreword.engine import sandbox

    monkeypatch.setattr(sandbox, "render", lambda *args, is_trusted, limit: rendered.append(is_trusted) or ())
    conversation = open_conversation("pod", set={"body.text": "$workspace/body"})
    sub_agent(conversation, append=True)
    assert rendered == [False, False, False]  # when it is opened, on its first turn, and for the sub-agent


@pytest.mark.parametrize(
    "folder", ["w/.foreword", "w/.agents", "w/.claude", "home/.foreword", "home/.agents", "home/.claude"]
)
def test_the_default_layout_finds_definitions_without_listing_them(tree, folder):
    text = "---\nname: reviewer\ndescription: Reviews changes\ntools: Read\n---\nReview it.\n"
    tree({"w/.git": None, "home": None, f"{folder}/agents/reviewer.md": text})
    with closing(Conversations(":memory:")) as conversations:
        conversation = conversations.open("t", tree.workspace("w"), Agent())
        assert "reviewer" not in conversation.turn("hi").system
        turn = conversation.sub_agent(definition="reviewer", tools=[Tool("read"), Tool("bash")])
        assert turn.system.startswith("Review it.\n") and [tool["name"] for tool in turn.tools] == ["read"]


@pytest.mark.parametrize(("folder", "rules"), [("", "Money is Decimal."), ("elsewhere", "Be brief.")])
def test_a_sub_agent_can_have_a_conversation_of_its_own(project, open_conversation, folder, rules):
    project({"elsewhere/AGENTS.md": "Be brief.\n"})
    parent = open_conversation()
    parent.turn("hi")
    with closing(Conversations(project.path("store.db"))) as conversations:
        again = conversations.open("t", project.workspace(), Agent(tools=[Tool("read")]))
        workspace = project.workspace(folder) if folder else None
        prepared = again.sub_agents.prepare(TASK, [Tool("read")], workspace=workspace)
        child = conversations.open_sub_agent("child", again, prepared)
        turn = child.stored.start_sub_agent(prepared, "Begin.", (), None)
        assert turn.system.startswith(TASK) and [row["content"] for row in turn.messages] == ["Begin."]
        assert child.turn("Go on.", turn.history).system == turn.system
        assert child.assembler.workspace.cwd == project.path(folder or "w")
        again_child = conversations.open_sub_agent("child", again, prepared)
        with pytest.raises(
            CallError, match="the conversation 'child' already exists; choose another id for the sub-agent"
        ):
            again_child.stored.start_sub_agent(prepared, "Begin.", (), None)
