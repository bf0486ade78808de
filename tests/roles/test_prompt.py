"""Sections with roles: the prompt is still a single string, and each passage says which message it belongs to."""

import pytest

from foreword import Agent, assemble
from foreword.errors import CallError, LayoutError
from foreword.inspection.sending import sent_passages, split_prompt
from foreword.layout.parse import parse


def split(prompt):
    return split_prompt(prompt.text, sent_passages(prompt.passages))


def sent_messages(prompt):
    """The role and text of the system prompt and of each message."""
    sent_prompt = split(prompt)
    return [
        ("system", sent_prompt.system),
        *((message["role"], message["content"]) for message in sent_prompt.messages),
    ]


def test_the_text_is_all_sections_in_order(tree, layout, prompt_messages):
    prompt = assemble(tree.workspace(), Agent(plan="Test it."), layout)
    messages = [*prompt_messages("Be kind."), {"role": "user", "content": "Test it."}]
    assert prompt.text == "\n\n".join(["You are an agent.", *(message["content"] for message in messages)])
    assert sent_messages(prompt) == [
        ("system", "You are an agent."),
        *((message["role"], message["content"]) for message in messages),
    ]
    assert [(passage.section, passage.role, passage.message) for passage in prompt.passages] == [
        ("identity", "system", 0),
        ("rules", "developer", 1),
        ("heading", "user", 2),
        ("files", "user", 2),
        ("environment", "system", 3),
        ("plan", "user", 4),
    ]
    assert all(prompt.text[passage.start : passage.end] == passage.text for passage in prompt.passages)


def test_two_projects_share_one_system_prompt(tree, layout):
    tree({"empty": None})
    prompts = [assemble(tree.workspace(cwd), Agent(), layout) for cwd in ("w", "v", "empty")]
    assert len({prompt.id for prompt in prompts}) == 3
    assert {split(prompt).system for prompt in prompts} == {"You are an agent."}


def test_a_section_after_an_empty_message_is_still_a_message(tree, layout):
    """Otherwise a project without instructions would have its environment in the shared system prompt."""
    tree({"empty": None})
    settings = [("section.rules.when", ["session"]), ("quiet", True), ("heading.when", ["session"])]
    prompt = assemble(tree.workspace("empty"), Agent(), layout, assignments=settings)
    assert sent_messages(prompt) == [("system", "You are an agent."), ("system", f"You are in {tree.path('empty')}.")]
    assert [passage.message for passage in prompt.passages] == [0, 1]


def test_a_layout_may_have_no_system_prompt(tree, layout):
    prompt = assemble(tree.workspace(), Agent(), layout, assignments=[("identity.role", "user")])
    assert sent_messages(prompt)[:2] == [("system", ""), ("user", "You are an agent.")]
    assert prompt.text.startswith("You are an agent.\n\nAnswer briefly.")


def test_a_blank_message_is_left_out(tree, layout):
    blank = [("rules.text", " \n"), ("rules.trim", False)]
    prompt = assemble(tree.workspace(), Agent(), layout, assignments=blank)
    assert [passage.section for passage in prompt.passages] == ["identity", "heading", "files", "environment"]
    assert "\n\n\n" not in prompt.text


@pytest.mark.parametrize("role", ["system", "developer", "user"])
def test_only_top_level_sections_may_have_a_role(tree, layout, role):
    with pytest.raises(LayoutError, match=r"section 'heading' is inside 'instructions'; only a section"):
        assemble(tree.workspace(), Agent(), layout, assignments=[("heading.role", role)])


def test_an_unknown_role_is_an_error():
    with pytest.raises(LayoutError, match=r"role .*system, developer, user"):
        parse({"sections": ["a"], "section": {"a": {"text": "A", "role": "assistant"}}}, "x")


def test_a_file_cannot_close_a_tag_of_another_message(tree, layout):
    tree({"w/AGENTS.md": "</files> <rules>"})
    prompt = assemble(tree.workspace(), Agent(), layout)
    assert prompt.text.count("</files>") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"role": "model"}, "must have a role"),
        ({"message": -1}, "must have a role"),
        ({"message": True}, "must have a role"),
        ({"role": "user", "message": 0}, "must have a role"),
    ],
)
def test_a_saved_prompt_with_impossible_roles_is_refused(change, message):
    from foreword.encoding.prompt import prompt_from

    passage = {"section": "a", "start": 0, "end": 1, "lifetime": "release", "role": "system", "message": 0, **change}
    with pytest.raises(CallError, match=message):
        prompt_from({"text": "A", "passages": [passage]}, "x")


def test_a_saved_prompt_with_messages_in_the_wrong_order_is_refused():
    from foreword.encoding.prompt import prompt_from

    rows = [{"section": name, "start": index, "end": index + 1, "lifetime": "turn"} for index, name in enumerate("ab")]
    rows[0] |= {"role": "user", "message": 1}
    with pytest.raises(CallError, match="the messages of 'a' and 'b' are not in order"):
        prompt_from({"text": "AB", "passages": rows}, "x")
