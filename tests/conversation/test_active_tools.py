"""Which tools an agent has: the ones passed with it, none, or the conversation's."""

from datetime import UTC, datetime

import pytest

from foreword import Agent, Assembler, CallError, Conversations, Extension, Tool, assemble

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
BASH = Tool("bash", "Runs.", "Run it", ["Quote."], {"type": "object"})
READ = Tool("read", "Reads.")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_known_conversation_keeps_its_tools(open_conversation, layout, tool_names):
    now = datetime(2026, 3, 7, tzinfo=UTC)
    first = open_conversation(layout, tools=[READ, BASH]).turn("hi", now=now)
    later = open_conversation(layout, tools=None).turn("hi", now=now)
    assert (later.edition, later.is_reused, later.system, later.tools) == (1, True, first.system, first.tools)
    assert later.messages == ({"role": "user", "content": "hi"},)
    assert open_conversation(layout, tools=None).drift(now).is_changed is False


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_new_conversation_without_tools_has_none(tree, open_conversation, layout):
    assert open_conversation(layout, tools=None).turn("hi").tools == ()
    now = datetime(2026, 3, 7, tzinfo=UTC)
    texts = [assemble(tree.workspace("w"), agent, layout, now=now).text for agent in (Agent(), Agent([]))]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("layout", ["opal", "pi"])
def test_an_empty_list_means_no_tools(open_conversation, layout):
    open_conversation(layout, tools=[BASH]).turn("hi")
    assert open_conversation(layout, tools=[]).turn("hi").tools == ()
    assert open_conversation(layout, tools=None).turn("hi").tools == ()


def test_inactive_tools_stay_inactive(open_conversation, contents):
    open_conversation("foreword", tools="bash read").turn("hi")
    history = open_conversation("foreword", tools=[]).turn("hi").history
    turn = open_conversation("foreword", tools=None).turn("hi", history)
    assert contents(turn.messages)[len(history) :] == ["hi"]
    conversation = open_conversation("foreword", tools=None)
    conversation.compact()
    assert conversation.turn("hi").tools == ()


def test_a_definition_that_changed_stays_changed(open_conversation, contents):
    open_conversation("foreword", tools=[READ]).turn("hi")
    history = open_conversation("foreword", tools=[Tool("read", "Reads it all."), BASH]).turn("hi").history
    conversation = open_conversation("foreword", tools=None)
    turn = conversation.turn("hi", history)
    assert contents(turn.messages)[len(history) :] == ["hi"]
    conversation.compact()
    turn = conversation.turn("hi")
    assert [tool["description"] for tool in turn.tools] == ["Runs.", "Reads it all."]
    assert "Quote." in turn.system


def test_a_gathered_prompt_keeps_snippets_and_guidelines(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    open_conversation("pi", tools=[BASH]).turn("hi")
    tree({"w/AGENTS.md": "Two."})
    turn = open_conversation("pi", tools=None).reload()
    assert "Two." in turn.system and "- bash: Run it" in turn.system and "- Quote." in turn.system


# set_active_tools


def test_known_tools_can_be_activated_by_name(open_conversation, tool_names):
    conversation = open_conversation("opal", tools=[READ, BASH])
    conversation.turn("hi")
    conversation.set_active_tools(["read"])
    assert tool_names(conversation.turn("hi").tools) == ["read"]
    conversation.set_active_tools(["bash", Tool("zap")])
    assert tool_names(conversation.turn("hi").tools) == ["bash", "zap"]
    conversation.set_active_tools(["zap", "read"])
    assert tool_names(conversation.turn("hi").tools) == ["read", "zap"]
    later = open_conversation("opal", tools=None)
    later.set_active_tools(["read"])
    assert [tool["description"] for tool in later.turn("hi").tools] == ["Reads."]
    later.set_active_tools([])
    assert later.turn("hi").tools == ()


def test_another_process_can_activate_an_inactive_tool(open_conversation, contents):
    open_conversation("foreword", tools=[READ, BASH]).turn("hi")
    open_conversation("foreword", tools=[READ]).turn("hi")
    conversation = open_conversation("foreword", tools=None)
    conversation.set_active_tools(["bash", "read"])
    assert contents(conversation.turn("hi").messages)[-2].endswith("All tools are active again.")


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (["red"], r"^unknown tool 'red'; known: bash, read\. Pass a Tool to define another one$"),
        ("read", r"^the active tools must be a list, not a single str$"),
        ([5], "^the active tools must be a list of Tool or of tool definitions, not of int$"),
    ],
)
def test_invalid_active_tools_are_an_error(open_conversation, tool_names, tools, message):
    conversation = open_conversation("opal", tools=[READ, BASH])
    with pytest.raises(CallError, match=message):
        conversation.set_active_tools(tools)
    assert tool_names(conversation.turn("hi").tools) == ["bash", "read"]


def test_an_unknown_tool_is_an_error_even_without_any_tools(open_conversation):
    with pytest.raises(CallError, match="unknown tool 'x'; known: none"):
        open_conversation("opal").set_active_tools(["x"])


# Tools of extensions


@pytest.mark.parametrize(
    ("tools", "expected"),
    [(None, ["zap"]), ([], []), ([READ], ["read", "zap"]), ([Tool("zap", "Mine.")], ["zap"])],
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_extension_adds_tools(open_conversation, tool_names, layout, tools, expected):
    extension = Extension("zapper", tools=[Tool("zap", "Zaps.", guidelines=["Zap twice."])])
    conversation = open_conversation(layout, tools=tools, extensions=[extension])
    turn = conversation.turn("hi")
    assert tool_names(turn.tools) == expected
    assert conversation.turn("hi").is_reused
    assert open_conversation(layout, tools=tools, extensions=[extension]).turn("hi").is_reused


def test_an_extensions_tool_can_be_activated_by_name(open_conversation, tool_names):
    conversation = open_conversation("opal", tools=[], extensions=[Extension("zapper", tools=[Tool("zap")])])
    conversation.set_active_tools(["zap"])
    assert tool_names(conversation.turn("hi").tools) == ["zap"]


def test_two_extensions_cannot_add_the_same_tool():
    extensions = [Extension(name, tools=[Tool("zap")]) for name in ("a", "b")]
    with pytest.raises(CallError, match=r"^the extensions 'a' and 'b' both add a tool named 'zap'$"):
        Conversations(extensions=extensions)


# The caller's assembler


def test_opening_a_conversation_does_not_change_the_assembler(tree):
    def rule(names):
        return "Zap."

    prompts = Assembler(tree.workspace("w"), "opal")
    extension = Extension(
        "x", rules=[rule], packs={"acme": "/acme"}, variables={"ticket": lambda name, workspace: None}
    )
    conversations = Conversations(extensions=[extension])
    before = (prompts.rules, dict(prompts.packs), dict(prompts.variables))
    for id in "ab":
        turn = conversations.open_with(id, prompts, Agent([READ])).turn("hi")
        assert turn.system.count("Zap.") == 1
    assert (prompts.rules, prompts.packs, prompts.variables) == before
    assert "Zap." not in prompts.prompt(Agent([READ])).text


@pytest.mark.parametrize("layout", ["pod", "builder"])
@pytest.mark.parametrize("tools", [[], [Tool("other")]])
def test_a_layout_that_keeps_its_tools_reports_it(open_conversation, tool_names, layout, tools):
    open_conversation(layout, tools=[READ, BASH]).turn("hi")
    turn = open_conversation(layout, tools=tools).turn("go on")
    assert (tool_names(turn.tools), [finding.code for finding in turn.findings]) == (["bash", "read"], ["tools-kept"])
    assert open_conversation(layout, tools=None).turn("go on").findings == ()
