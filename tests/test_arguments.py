"""A call that would go wrong later, or silently, is refused at once: one table over the public signatures."""

import pytest

from foreword import Access, Agent, CallError, Extension, Scope, Tool, Workspace, assemble
from foreword.engine import Assembler
from foreword.extensions import Resources
from foreword.vocabulary import Finding, Prompt, replace

READ, WRITE = Tool("read"), Tool("write")


# Sequences


@pytest.mark.parametrize(
    "tools",
    [
        [READ, WRITE],
        (READ, WRITE),
        (each for each in (READ, WRITE)),
        map(Tool, ["read", "write"]),
        {"read": READ, "write": WRITE}.values(),
        iter([READ, WRITE]),
    ],
    ids=["list", "tuple", "generator", "map", "view", "iterator"],
)
def test_any_iterable_with_an_order_is_kept_as_a_tuple(tools):
    agent = Agent(tools=tools)
    assert agent.tools == (READ, WRITE)
    assert agent.tools == (READ, WRITE), "a second look sees the same"
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
    made = kind(**others, **{field: (each for each in entries)})
    assert getattr(made, field) == tuple(entries)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("text", "must be a list, not one text"),
        (b"text", "must be a list, not one run of bytes"),
        ({"a"}, "must be a list or another iterable with an order, not set"),
        (frozenset("a"), "must be a list or another iterable with an order, not frozenset"),
        ({"a": 1}, "must be a list or another iterable with an order, not dict"),
        (3, "must be a list, not int"),
        (print, "must be a list, not builtin_function_or_method"),
    ],
)
@pytest.mark.parametrize(("kind", "others", "field", "entries"), SEQUENCES)
def test_a_sequence_without_an_order_is_refused(kind, others, field, entries, wrong, says):
    with pytest.raises(CallError) as caught:
        kind(**others, **{field: wrong})
    assert str(caught.value) == f"{kind.__name__}.{field} {says}"


@pytest.mark.parametrize(
    ("made", "field"), [(Agent(), "model"), (READ, "name"), (Scope(), "allow"), (Workspace(), "cwd")]
)
def test_a_field_of_a_value_can_be_neither_set_nor_deleted(made, field):
    before = getattr(made, field)
    with pytest.raises(AttributeError, match="is a value"):
        delattr(made, field)
    with pytest.raises(AttributeError, match="is a value"):
        setattr(made, field, "x")
    assert getattr(made, field) == before


def test_assignments_from_a_generator_are_made():
    pairs = (each for each in [("budget.total", 5000)])
    assert Assembler(assignments=pairs).assignments == (("budget.total", 5000),)


# What a value refuses


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Agent(tools=["read"]), "Agent.tools must be a list of Tool, not of str"),
        (
            lambda: Agent(tools=[READ, Tool("read", "again")]),
            "two tools are named 'read'; a model knows a tool by its name, so each has its own",
        ),
        (lambda: Agent(role="subagent"), "Agent.role must be 'main' or 'sub', not 'subagent'"),
        (lambda: Agent(provider="antropic"), "unknown provider 'antropic'; did you mean 'anthropic'?"),
        (lambda: Agent(provider="Open-AI"), "unknown provider 'Open-AI'; did you mean 'openai'?"),
        (lambda: Agent(provider=None), "Agent.provider must be str, not NoneType"),
        (lambda: Agent(model="m\ud800"), "the model cannot be written as UTF-8: 'm\\ud800' holds half a character"),
        (lambda: Agent(scope=[Access("/p")]), "Agent.scope must be Scope, not list"),
        (
            lambda: Agent(docs=["README.md"]),
            "Agent.docs must be a list of pairs (name, content); 'README.md' is not one",
        ),
        (lambda: Agent(base=b"text"), "Agent.base must be str or Document, not bytes"),
        (lambda: Agent(skill=["review"]), "Agent.skill must be str or Skill, not list"),
        (lambda: Access("/p", "rw"), "Access.permission must be 'read' or 'write', not 'rw'"),
        (lambda: Scope(allow=["/p"]), "Scope.allow must be a list of Access, not of str"),
        (lambda: Workspace(None), "Workspace.cwd must be str, not NoneType"),
        (lambda: Workspace(environment=["A=b"]), "Workspace.environment must be a mapping such as a dict, not list"),
        (
            lambda: Tool("read", schema='{"type": "object"}'),
            "the schema of the tool 'read' must be a mapping (JSON Schema), not str; parse it with json.loads",
        ),
        (lambda: Tool("read", description=None), "the description of the tool 'read' must be str, not NoneType"),
        (lambda: Tool("read", guidelines=[1]), "the guidelines of the tool 'read' must be a list of str, not of int"),
        (lambda: Tool(3), "the name of a tool must be str, not int"),
    ],
)
def test_a_value_refuses_what_cannot_be_right(call, says):
    with pytest.raises(CallError) as caught:
        call()
    assert str(caught.value) == says


@pytest.mark.parametrize("name", ["", " ", "read file", "lesen!", "größe", "a/b", "x" * 129, "read\n", "r\ud800"])
def test_a_tool_that_no_provider_accepts_is_refused(name):
    with pytest.raises(CallError, match="no provider accepts a tool named"):
        Tool(name)


@pytest.mark.parametrize("name", ["read", "fs.read", "mcp__files__read", "ns:read", "Read-2", "x" * 128])
def test_a_tool_that_some_provider_accepts_is_accepted(name):
    assert Tool(name).name == name


@pytest.mark.parametrize(
    "provider", ["", "anthropic", "OpenAI", "gemini", "deepseek", "bedrock", "acme", "azure-openai"]
)
def test_a_provider_that_resembles_no_known_one_is_accepted(provider):
    assert Agent(provider=provider).provider == provider
