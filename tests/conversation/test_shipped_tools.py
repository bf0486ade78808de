"""The tools that prompts name: their definitions, and what `call_tool` returns and refuses."""

import json

import pytest
from jsonschema import Draft202012Validator

from foreword import Agent, CallError, Conversations, MissingError, Tool, shipped_tools
from foreword.conversation.shipped_tools import _ARGUMENTS

SKILL = "---\nname: testing\ndescription: Tests.\n---\nRun `make`.\n"


@pytest.fixture
def open_conversation(tree):
    tree({"w/.git/HEAD": "", "w/.agents/skills/testing/SKILL.md": SKILL})
    with Conversations() as conversations:

        def open_conversation(agent=None, layout="foreword"):
            return conversations.open("t", tree.workspace("w"), agent or Agent(), layout)

        yield open_conversation


def test_definitions_match_the_arguments_that_are_accepted():
    assert {tool.name: set(tool.schema["properties"]) for tool in shipped_tools()} == {
        name: set(arguments) for name, arguments in _ARGUMENTS.items()
    }
    assert [tool.name for tool in shipped_tools("write_plan", "use_tool")] == ["write_plan", "use_tool"]
    with pytest.raises(CallError, match="the name of a tool must be str, not list"):
        shipped_tools(["use_skill"])
    with pytest.raises(CallError, match="no tool 'use_skil' is shipped; did you mean 'use_skill'"):
        shipped_tools("use_skil")


@pytest.mark.parametrize(
    ("name", "arguments", "is_valid"),
    [
        ("use_skill", {"name": "testing"}, True),
        ("use_skill", {}, False),
        ("use_skill", {"name": 1}, False),
        ("use_skill", {"name": "testing", "why": "x"}, False),
        ("read_plan", {}, True),
        ("read_plan", {"name": "x"}, False),
        ("write_plan", {"plan": ""}, True),
        ("write_plan", {}, False),
        ("use_tool", {"name": "zap", "arguments": {"any": ["thing"]}}, True),
        ("use_tool", {"name": "zap", "arguments": "x"}, False),
        ("use_tool", {"name": "zap"}, False),
        ("use_tool", {"arguments": {}}, False),
        ("use_tool", {"name": "zap", "arguments": {}, "why": "x"}, False),
    ],
)
def test_a_schema_accepts_what_the_tool_does(name, arguments, is_valid):
    (tool,) = shipped_tools(name)
    assert Draft202012Validator(tool.schema).is_valid(arguments) is is_valid


@pytest.mark.parametrize("arguments", [{"name": "testing"}, '{"name": "testing"}'])
def test_a_skill_is_loaded_by_an_agent_that_does_not_list_the_tool(open_conversation, arguments):
    conversation = open_conversation()
    assert "Run `make`." in conversation.call_tool("use_skill", arguments)
    assert conversation.call_tool("use_skill", arguments) == "The skill 'testing' is already active."


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "read_file",
            {},
            "call_tool cannot run 'read_file'; it runs use_skill, read_plan, write_plan, and your program runs the agent's other tools",
        ),
        ("use_tool", {}, "call_tool cannot run 'use_tool'; resolve_call returns the tool that the model means"),
        ("use_skill", {}, "use_skill: the key 'name' is missing"),
        ("use_skill", {"skill": "testing"}, "use_skill: unknown key 'skill'; known: name"),
        ("use_skill", {"name": 3}, "use_skill: name must be a string that is not blank, not 3"),
        ("use_skill", ["testing"], "use_skill must be an object, not ['testing']"),
        ("use_skill", "testing", "use_skill: the arguments are not valid JSON: 'testing'"),
        ("use_skill", "[" * 100_000, f"use_skill: the arguments are not valid JSON: '{'[' * 78}…"),
        ("use_skill", {"name": "ghost"}, "no skill 'ghost'; known: testing"),
        ("read_plan", {"name": "x"}, "read_plan: unknown key 'name'"),
        ("write_plan", {"plan": "x" * 65_537}, "write_plan: the plan has 65,537 characters; the limit is 65,536"),
    ],
)
def test_errors_say_what_would_be_right(open_conversation, name, arguments, message):
    with pytest.raises(CallError) as caught:
        open_conversation().call_tool(name, arguments)
    assert str(caught.value) == message
    assert isinstance(caught.value, MissingError) == (name == "read_file" or "ghost" in message)


def test_a_plan_is_kept_and_returns_after_a_compaction(open_conversation):
    conversation = open_conversation()
    first = conversation.turn("Hello.")
    assert conversation.call_tool("read_plan") == "There is no plan yet."
    assert conversation.call_tool("write_plan", {"plan": "1. Look."}) == "The plan has been saved."
    assert open_conversation().call_tool("read_plan", None) == "1. Look."
    second = conversation.turn("Go on.", first.history)
    assert (second.system, second.is_reused) == (first.system, True)
    conversation.compact(messages=second.history)
    assert "<plan>\n1. Look.\n</plan>" in conversation.turn("Go on.").system
    assert open_conversation().call_tool("read_plan") == "1. Look."
    assert conversation.call_tool("write_plan", {"plan": ""}) == "The plan has been deleted."
    assert conversation.call_tool("read_plan", json.dumps({})) == "There is no plan yet."


def test_a_plan_that_the_program_sets_can_only_be_read(open_conversation):
    conversation = open_conversation(Agent(plan="Mine."))
    assert conversation.call_tool("read_plan") == "Mine."
    with pytest.raises(CallError, match="the program sets the plan"):
        conversation.call_tool("write_plan", {"plan": "Yours."})


def test_a_layout_without_a_section_for_the_plan_reports_nothing(open_conversation):
    conversation = open_conversation(layout="opal")
    conversation.call_tool("write_plan", {"plan": "1. Look."})
    assert conversation.turn("Hello.").findings == ()
    assert conversation.call_tool("read_plan") == "1. Look."


# use_tool


ISSUE = Tool(
    "open_issue",
    schema={
        "type": "object",
        "properties": {"title": {"type": "string"}, "votes": {"type": "integer"}, "odd": True},
        "required": ["title"],
        "additionalProperties": False,
    },
)


@pytest.fixture
def with_issues(open_conversation):
    """A conversation whose tool `open_issue` was added late, and whose tool `old` was removed."""
    search = Tool("search", type="web_search_20250305")
    conversation = open_conversation(Agent(tools=[*shipped_tools("use_tool"), Tool("old"), search]))
    first = conversation.turn("Hello.")
    conversation.set_active_tools([*shipped_tools("use_tool"), search, ISSUE, Tool("zap")])
    conversation.turn("Go on.", first.history)
    return conversation


@pytest.mark.parametrize(
    ("name", "arguments", "call"),
    [
        (
            "use_tool",
            {"name": "open_issue", "arguments": {"title": "x", "odd": 1}},
            ("open_issue", {"title": "x", "odd": 1}),
        ),
        ("use_tool", '{"name": "open_issue", "arguments": "{\\"title\\": \\"x\\"}"}', ("open_issue", {"title": "x"})),
        ("use_tool", {"name": "zap"}, ("zap", {})),
        ("open_issue", '{"title": 1}', ("open_issue", {"title": 1})),  # the provider has checked it
        ("unknown", None, ("unknown", {})),  # it may be the program's own
    ],
)
def test_the_tool_inside_a_call_of_use_tool_is_returned(with_issues, name, arguments, call):
    assert with_issues.resolve_call(name, arguments) == call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "use_tool: the key 'name' is missing"),
        ([], "use_tool must be an object, not []"),
        ("{", "use_tool: the arguments are not valid JSON: '{'"),
        ({"name": "open_isue"}, "use_tool: no tool 'open_isue'; did you mean 'open_issue'?"),
        ({"name": "old"}, "the tool 'old' is not active; do not call it again until a message says that it is"),
        ({"name": "use_tool"}, "use_tool cannot call 'use_tool'; call it directly"),
        ({"name": "search"}, "use_tool cannot call 'search'; call it directly"),
        ({"name": "open_issue"}, "open_issue: the argument 'title' is missing"),
        ({"name": "open_issue", "arguments": [1]}, "open_issue: the arguments must be an object, not [1]"),
        ({"name": "open_issue", "arguments": {"title": 1}}, "open_issue: title must be a string, not 1"),
        (
            {"name": "open_issue", "arguments": {"title": "x", "votes": True}},
            "open_issue: votes must be a whole number, not True",
        ),
        (
            {"name": "open_issue", "arguments": {"title": "x", "titel": "x"}},
            "open_issue: unknown argument 'titel'; did you mean 'title'?",
        ),
    ],
)
def test_a_wrong_call_of_use_tool_is_explained(with_issues, arguments, message):
    with pytest.raises(CallError) as caught:
        with_issues.resolve_call("use_tool", arguments)
    assert str(caught.value) == message


def test_a_call_of_an_inactive_tool_is_refused(with_issues):
    with pytest.raises(CallError, match="the tool 'old' is not active"):
        with_issues.resolve_call("old", {})
