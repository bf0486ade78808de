"""Invalid calls to the library immediately raise an error with one sentence."""

from pathlib import Path

import pytest

from foreword import Agent, Assembler, CallError, Conversations, Tool, Workspace, assemble


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assemble("."), "the workspace must be Workspace, not str"),
        (lambda: assemble(layout=3), "the layout must be a string or a path, not int"),
        (
            lambda: assemble(assignments={"on.turn": "warn"}),
            "assignments must be a list or another ordered iterable, not dict",
        ),
        (lambda: assemble(agent=[Tool("read")]), "the agent must be Agent, not list"),
        (lambda: Agent(tools=["read"]), "Agent.tools must be a list of Tool, not of str"),
        (lambda: assemble(agent=Agent(base=Path("me.md"))), "Agent.base must be str or Document, not PosixPath"),
        (lambda: assemble(agent=Agent(plan=3)), "Agent.plan must be str or Document, not int"),
        (lambda: Conversations(3), "the store must be a string or a path, not int"),
        (
            lambda: Conversations(extensions=[print]),
            "extensions must be a list of Extension, not of builtin_function_or_method",
        ),
    ],
)
def test_an_argument_of_the_wrong_type_is_an_error_that_names_it(call, message):
    with pytest.raises(CallError) as raised:
        call()
    assert str(raised.value) == message


@pytest.fixture
def conversations():
    conversations = Conversations()
    yield conversations
    conversations.close()


@pytest.mark.parametrize(
    ("opened", "message"),
    [
        ({"id": 42}, "the id of a conversation must be str, not int"),
        ({"id": "42", "agent": "read"}, "the agent must be Agent, not str"),
        ({"id": "42", "workspace": "."}, "the workspace must be Workspace, not str"),
    ],
)
def test_opening_a_conversation_checks_types(conversations, opened, message):
    with pytest.raises(CallError) as raised:
        conversations.open(**opened)
    assert str(raised.value) == message


def test_a_turn_rejects_a_tool_of_the_wrong_type(conversations):
    conversation = conversations.open("42", Workspace(".", home=""))
    with pytest.raises(CallError, match="unknown tool 'read'; known: none"):
        conversation.set_active_tools(["read"])


def test_a_prompt_needs_an_agent():
    with pytest.raises(CallError, match="the agent must be Agent, not str"):
        Assembler(Workspace(".", home="")).prompt("read")


@pytest.mark.parametrize("prefix", ["std", "user", "workspace", "", "a/b"])
def test_a_pack_that_no_address_can_name_is_an_error(tmp_path, prefix):
    with pytest.raises(CallError, match=r"choose another name|is not a valid pack name"):
        assemble(Workspace(str(tmp_path)), layout="pod", packs={prefix: str(tmp_path)})
