"""Calls that would fail later, or silently, are rejected immediately."""

import re

import pytest

from foreword import (
    Access,
    Agent,
    CallError,
    Conversation,
    Conversations,
    Document,
    Extension,
    LayoutError,
    Scope,
    Tool,
    Workspace,
    assemble,
    for_anthropic,
    for_gemini,
    for_openai_chat,
    for_openai_responses,
    watch,
)
from foreword.engine.assembler import Assembler
from foreword.extensions import Resources
from foreword.vocabulary import Finding, Prompt, replace
from foreword.vocabulary.tool_forms import tool_rows

READ, WRITE = Tool("read"), Tool("write")


# Sequences


@pytest.mark.parametrize(
    "tools",
    [
        [READ, WRITE],
        (READ, WRITE),
        (tool for tool in (READ, WRITE)),
        map(Tool, ["read", "write"]),
        {"read": READ, "write": WRITE}.values(),
        iter([READ, WRITE]),
    ],
    ids=["list", "tuple", "generator", "map", "view", "iterator"],
)
def test_any_iterable_with_an_order_is_kept_as_a_tuple(tools):
    agent = Agent(tools=tools)
    assert agent.tools == (READ, WRITE)
    assert agent.tools == (READ, WRITE), "it can be read again"
    assert hash(agent) == hash(Agent(tools=[READ, WRITE]))
    prompt = assemble(Workspace(".", home=""), replace(agent, model="m"), layout="pi")
    assert "- read" in prompt.text


SEQUENCES = [
    (Agent, {}, "tools", [READ]),
    (Agent, {}, "docs", [("label", "/path")]),
    (Tool, {"name": "read"}, "guidelines", ["Do."]),
    (Scope, {}, "allow", [Access("/a")]),
    (Scope, {}, "deny", [Access("/a")]),
    (Extension, {"name": "x"}, "rules", [print]),
    (Extension, {"name": "x"}, "checks", [print]),
    (Resources, {}, "skills", ["/skills"]),
    (Prompt, {"layout": "", "text": "", "passages": ()}, "findings", [Finding("drift", "info", "")]),
]


@pytest.mark.parametrize(("kind", "others", "field", "entries"), SEQUENCES)
def test_every_sequence_of_a_public_value_is_read_once(kind, others, field, entries):
    value = kind(**others, **{field: (entry for entry in entries)})
    assert getattr(value, field) == tuple(entries)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("text", "must be a list, not a single str"),
        (b"text", "must be a list, not a single bytes"),
        ({"a"}, "must be a list or another ordered iterable, not set"),
        (frozenset("a"), "must be a list or another ordered iterable, not frozenset"),
        ({"a": 1}, "must be a list or another ordered iterable, not dict"),
        (3, "must be a list, not int"),
        (print, "must be a list, not builtin_function_or_method"),
    ],
)
@pytest.mark.parametrize(("kind", "others", "field", "entries"), SEQUENCES)
def test_a_sequence_without_an_order_is_rejected(kind, others, field, entries, wrong, message):
    with pytest.raises(CallError) as raised:
        kind(**others, **{field: wrong})
    assert str(raised.value) == f"{kind.__name__}.{field} {message}"


@pytest.mark.parametrize(
    "tool", [Tool("read"), Tool("read", "Reads."), Tool(name="read"), Tool(description="Reads.", name="read")]
)
def test_the_fields_of_a_value_are_in_order_no_matter_how_it_is_created(tool):
    """Only then do the dictionaries of all instances share their keys."""
    assert tuple(vars(tool)) == Tool.__match_args__


@pytest.mark.parametrize(
    ("value", "field"), [(Agent(), "model"), (READ, "name"), (Scope(), "allow"), (Workspace(), "cwd")]
)
def test_a_field_of_a_value_can_be_neither_set_nor_deleted(value, field):
    before = getattr(value, field)
    with pytest.raises(AttributeError, match="is immutable"):
        delattr(value, field)
    with pytest.raises(AttributeError, match="is immutable"):
        setattr(value, field, "x")
    assert getattr(value, field) == before


def test_assignments_may_come_from_a_generator():
    pairs = (pair for pair in [("budget.total", 5000)])
    assert Assembler(assignments=pairs).assignments == (("budget.total", 5000),)


# Invalid values


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Agent(tools=["read"]), "Agent.tools must be a list of Tool, not of str"),
        (
            lambda: Agent(tools=[READ, Tool("read", "again")]),
            "two tools are named 'read'; a model calls a tool by its name, so names must be unique",
        ),
        (lambda: Agent(role="subagent"), "Agent.role must be 'main' or 'sub', not 'subagent'"),
        (lambda: Agent(provider="antropic"), "unknown provider 'antropic'; did you mean 'anthropic'?"),
        (lambda: Agent(provider="Open-AI"), "unknown provider 'Open-AI'; did you mean 'openai'?"),
        (lambda: Agent(provider=None), "Agent.provider must be str, not NoneType"),
        (lambda: Agent(model="m\ud800"), "the model cannot be encoded as UTF-8: 'm\\ud800' has a lone surrogate"),
        (lambda: Agent(scope=[Access("/p")]), "Agent.scope must be Scope, not list"),
        (
            lambda: Agent(docs=["README.md"]),
            "Agent.docs must be a list of pairs (name, content); 'README.md' is not one",
        ),
        (lambda: Agent(base=b"text"), "Agent.base must be str or Document, not bytes"),
        (lambda: Agent(skill=["review"]), "Agent.skill must be str or Skill, not list"),
        (lambda: Access("/p", "rw"), "Access.permission must be 'read' or 'write', not 'rw'"),
        (lambda: Scope(allow=["/p"]), "Scope.allow must be a list of Access, not of str"),
        (lambda: Workspace(None), "Workspace.cwd must be a string or a path, not NoneType"),
        (lambda: Workspace(environment=["A=b"]), "Workspace.environment must be a mapping such as a dict, not list"),
        (
            lambda: Tool("read", schema={"enum": {1}}),
            "the schema of the tool 'read' cannot be encoded as JSON: Object of type set is not JSON serializable",
        ),
        (
            lambda: Tool("read", schema='{"type": "object"}'),
            "the schema of the tool 'read' must be a mapping (JSON Schema), not str; parse it with json.loads",
        ),
        (lambda: Tool("read", description=None), "the description of the tool 'read' must be str, not NoneType"),
        (lambda: Tool("read", guidelines=[1]), "the guidelines of the tool 'read' must be a list of str, not of int"),
        (lambda: Tool(3), "the name of a tool must be str, not int"),
        (lambda: Tool("read", strict=1), "strict of the tool 'read' must be bool, not int"),
        (lambda: Tool("read", defer=None), "defer of the tool 'read' must be bool, not NoneType"),
        (lambda: Tool("read", allowed_callers="direct"), "Tool.allowed_callers must be a list, not a single str"),
        (
            lambda: Tool("read", server="a\x1b"),
            "the server of the tool 'read' must not contain control characters: 'a\\x1b'",
        ),
        (
            lambda: Tool("search", type="web search"),
            "the type of the tool 'search' may contain only letters, digits, '_', '-' and '.', not 'web search'",
        ),
        (
            lambda: Tool("read", type="function"),
            "the type of the tool 'read' must be empty for a function that you define, not 'function'",
        ),
        (
            lambda: Tool("search", type="web_search", schema={"type": "object"}),
            "the tool 'search' has the type 'web_search', so the provider defines its schema; remove the schema, or the type if you"
            " define the tool",
        ),
        (
            lambda: Tool("read", options={"defer_loading": True}),
            "the options of the tool 'read' contain 'defer_loading'; use Tool.defer instead",
        ),
        (
            lambda: Tool("read", options={"parameters": {}}),
            "the options of the tool 'read' contain 'parameters'; use Tool.schema instead",
        ),
        (
            lambda: Tool("read", options=[1]),
            "the options of the tool 'read' must be a mapping (fields of the provider's tool), not list",
        ),
    ],
)
def test_an_invalid_value_is_rejected(call, message):
    with pytest.raises(CallError) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["", " ", "read file", "lesen!", "größe", "a/b", "x" * 129, "read\n", "r\ud800"])
def test_a_tool_that_no_provider_accepts_is_rejected(name):
    with pytest.raises(CallError, match="no provider accepts a tool named"):
        Tool(name)


@pytest.mark.parametrize("name", ["read", "fs.read", "mcp__files__read", "ns:read", "Read-2", "x" * 128])
def test_a_tool_that_some_provider_accepts_is_accepted(name):
    assert Tool(name).name == name


@pytest.mark.parametrize(
    "provider", ["", "anthropic", "OpenAI", "gemini", "deepseek", "bedrock", "acme", "azure-openai"]
)
def test_an_unknown_provider_is_accepted(provider):
    assert Agent(provider=provider).provider == provider


# Invalid calls


class SdkMessage:
    """A message as the SDKs of providers return it: an object with attributes."""

    role, content = "assistant", "Yes."

    def model_dump(self):
        return {"role": self.role, "content": self.content}


HERE = Workspace(".", home="")
HELLO = {"role": "user", "content": "hi"}
ROLES = "user, assistant, system, developer, tool, function, model, summary, branch_summary, execution, custom"


@pytest.fixture
def conversations():
    with Conversations() as conversations:
        yield conversations


@pytest.fixture
def conversation(conversations):
    return conversations.open("t", HERE)


HISTORIES = [
    (HELLO, "messages must be a list or another ordered iterable, not dict"),
    ("hi", "messages must be a list, not a single str"),
    (["hi"], 'message 1 must be a mapping, not str, such as {"role": "user", "content": "…"}'),
    ([HELLO, SdkMessage()], "message 2 must be a mapping, not SdkMessage; pass message.model_dump()"),
    ([{"content": "hi"}], f"message 1 has no role; known roles: {ROLES}"),
    ([{"role": None, "content": "hi"}], f"message 1 has no role; known roles: {ROLES}"),
    ([{"role": "asistant", "content": "hi"}], "message 1 has the unknown role 'asistant'; did you mean 'assistant'?"),
    ([{"role": "user"}], "message 1 (user) has no content"),
    ([{"role": "user", "content": 3}], "the content of message 1 must be a string or a list, not int"),
]


@pytest.mark.parametrize(("history", "message"), HISTORIES)
@pytest.mark.parametrize("call", ["turn", "compact", "sub_agent"])
def test_a_history_that_cannot_be_sent_to_a_model_is_rejected(conversation, call, history, message):
    arguments = ("Count.",) if call == "sub_agent" else ()
    with pytest.raises(CallError) as raised:
        getattr(conversation, call)(*arguments, messages=history)
    assert str(raised.value) == message


def test_messages_that_a_provider_accepts_are_accepted(conversation):
    history = [
        HELLO,
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "model", "parts": [{"text": "Yes."}]},
        {"type": "function_call_output", "call_id": "1", "output": "x"},
        {"role": "assistant", "content": [SdkMessage()]},
    ]
    assert list(conversation.turn("", iter(history)).messages) == history


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.turn([HELLO]), "the message must be a string, not list; pass earlier messages as messages=[…]"),
        (lambda t: t.turn(HELLO), "the message must be a string, not dict; pass earlier messages as messages=[…]"),
        (lambda t: t.turn(None), "the message must be a string, not NoneType"),
        (lambda t: t.turn("hi", now="2026-03-07"), "now must be a datetime, not str"),
        (lambda t: t.compact([HELLO]), "the message must be a string, not list; pass earlier messages as messages=[…]"),
        (lambda t: t.construct("2026"), "now must be a datetime, not str"),
        (lambda t: t.reload("2026"), "now must be a datetime, not str"),
        (lambda t: t.drift("2026"), "now must be a datetime, not str"),
        (lambda t: t.preview("text"), "the template must be Document, not str"),
        (
            lambda t: t.send_message(HELLO),
            "the message must be a string, not dict; pass earlier messages as messages=[…]",
        ),
        (lambda t: t.use_skill(["tidy"]), "the name of a skill must be str, not list"),
        (lambda t: t.add_resources(["/skills"]), "the resources must be Resources, not list"),
        (lambda t: t.sub_agent(Document("a", "b")), "the task must be str, not Document"),
        (lambda t: t.sub_agent("Count.", ["read"]), "tools must be a list of Tool, not of str"),
        (lambda t: t.sub_agent("Count.", workspace="."), "the workspace must be Workspace, not str"),
        (lambda t: Conversations().open("", HERE), "the id of a conversation must have 1 to 512 characters, not 0"),
        (lambda t: Conversations().open(7, HERE), "the id of a conversation must be str, not int"),
        (lambda t: Conversations().get(""), "the id of a conversation must have 1 to 512 characters, not 0"),
        (
            lambda t: Conversations().construct("", HERE),
            "the id of a conversation must have 1 to 512 characters, not 0",
        ),
        (lambda t: Conversations().open("x", HERE, []), "the agent must be Agent, not list"),
        (lambda t: Conversations().open_with("x", HERE), "the assembler must be Assembler, not Workspace"),
        (lambda t: Conversations(extensions=Extension("x")), "extensions must be a list, not Extension"),
        (lambda t: assemble(""), "the workspace must be Workspace, not str"),
        (lambda t: assemble(HERE, {}), "the agent must be Agent, not dict"),
        (lambda t: assemble(HERE, now="2026"), "now must be a datetime, not str"),
        (lambda t: assemble(HERE, layout=None), "the layout must be a string or a path, not NoneType"),
        (lambda t: assemble(HERE, settings=["x"]), "the settings must be a string or a path, not list"),
        (lambda t: assemble(HERE, packs=["x"]), "packs must be a mapping such as a dict, not list"),
        (lambda t: assemble(HERE, packs={"x": None}), "the folder of a pack must be a string or a path, not NoneType"),
        (lambda t: assemble(HERE, rules=["Do."]), "a rule or variable must be a function, not str"),
        (
            lambda t: assemble(HERE, assignments=["a=b"]),
            "assignments must be a list of pairs (name, content); 'a=b' is not one",
        ),
        (lambda t: Assembler(HERE, skill_folders="skills"), "skill_folders must be a list, not a single str"),
        (lambda t: Assembler(HERE, variables={"x": 1}), "a rule or variable must be a function, not int"),
        (lambda t: watch(".", on_change=print), "the workspace must be Workspace, not str"),
        (lambda t: watch(HERE, [], on_change=print), "the agent must be Agent, not list"),
    ],
)
def test_a_call_that_would_fail_later_is_rejected(conversation, call, message):
    with pytest.raises(CallError) as raised:
        call(conversation)
    assert str(raised.value) == message


@pytest.mark.parametrize("function", [for_anthropic, for_gemini, for_openai_chat, for_openai_responses])
@pytest.mark.parametrize("wrong", [Prompt("", "text", ()), {"system": "text"}, "text", None])
def test_a_request_is_built_from_a_turn(function, wrong):
    with pytest.raises(CallError, match=f"^{function.__name__} takes a Turn, .*, not {type(wrong).__name__}$"):
        function(wrong)


# Public names


def test_the_class_of_a_conversation_is_public(conversation):
    assert isinstance(conversation, Conversation)


def test_conversations_close_their_store():
    class Store:
        is_closed = False

        def publish(self): ...

        def listen(self, forget): ...

        def close(self):
            self.is_closed = True

    store = Store()
    with Conversations(store) as conversations:
        assert not conversations.store.is_closed
    assert store.is_closed


def test_blank_fields_of_an_agent_count_as_empty():
    assert Agent(model=" ", session="\n", language="\t") == Agent()


@pytest.mark.parametrize(("key", "hint"), [("", ""), ("zzzz", ""), ("skils.bytes", "; did you mean 'skills.bytes'?")])
def test_an_unknown_key_is_refused_with_the_most_similar_one(key, hint):
    with pytest.raises(LayoutError, match=f"^unknown key {key!r} in this layout{re.escape(hint)}$"):
        assemble(Workspace(".", home=""), layout="opal", assignments=[(key, "x")])


@pytest.mark.parametrize(
    ("definition", "tool"),
    [
        ({"type": "custom", "name": "patch"}, {"name": "patch", "type": "custom"}),
        (
            {"type": "custom", "name": "a", "input_schema": {"type": "object"}},
            {"name": "a", "schema": {"type": "object"}},
        ),
        (
            {"type": "bash_1", "name": "a", "parameters": {}},
            {"name": "a", "type": "bash_1", "options": {"parameters": {}}},
        ),
    ],
)
def test_a_custom_tool_is_a_function_only_with_a_schema(definition, tool):
    assert tool_rows(definition) == [tool]
