"""Agents are read from one mapping, and every field of `Agent` can be set wherever agents come from."""

import json

import pytest

from foreword.cli.options import OPTIONS, new_parser, parse_args
from foreword.encoding.agent import KEYS, agent_form, agent_from
from foreword.errors import CallError
from foreword.service.bodies import AgentBody, DriftQuery
from foreword.vocabulary import Access, Agent, Document, Resident, Scope, Tool

# A JSON value for each key, and the resulting field of the agent.
EXAMPLES = {
    "tools": (
        [
            {"name": "read", "snippet": "s", "server": "fs", "defer": True, "strict": False, "allowed_callers": ["direct"]},
            {"name": "search", "type": "web_search", "options": {"max_uses": 5}, "schema": None},
        ],
        (
            Tool("read", snippet="s", server="fs", defer=True, strict=False, allowed_callers=["direct"]),
            Tool("search", type="web_search", options={"max_uses": 5}),
        ),
    ),
    "model": ("m", "m"),
    "provider": ("openai", "openai"),
    "sub_agent": (True, "sub"),
    "session": ("s", "s"),
    "base": ("b", "b"),
    "skill": ("k", "k"),
    "plan": ("p", "p"),
    "scope": ({"allow": [{"path": "/p"}], "deny": [{"path": "/q"}]}, Scope((Access("/p", "write"),), (Access("/q", "read"),))),
    "language": ("fr", "fr"),
    "docs": ([["Manual", "/m"]], (("Manual", "/m"),)),
    "servers": ({"gh": "Use gh."}, {"gh": "Use gh."}),
    "residents": (
        [{"kind": "workflow", "slug": "deploy", "description": "How we deploy"}],
        (Resident("deploy", "How we deploy", kind="workflow"),),
    ),
}  # fmt: skip
# Keys whose option takes a file, and options with a different name than their key.
FILE_KEYS = ("tools", "base", "plan", "scope", "servers")
OPTION_NAMES = {"docs": "--doc", "residents": "--resident"}


def test_every_key_has_an_example():
    assert EXAMPLES.keys() == KEYS.keys()


@pytest.mark.parametrize("key", KEYS)
def test_a_key_sets_its_field(key):
    content, expected = EXAMPLES[key]
    field, _ = KEYS[key]
    agent = agent_from({key: content})
    assert getattr(agent, field) == expected != getattr(Agent(), field)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_an_option_of_every_command(key, tmp_path):
    content, expected = EXAMPLES[key]
    option = OPTION_NAMES.get(key, f"--{key.replace('_', '-')}")
    assert option in dict(OPTIONS)
    text = content
    if key in FILE_KEYS:
        path = tmp_path / "file"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        text = str(path)
    elif key == "docs":
        text = "=".join(content[0])
    elif key == "residents":
        text = "workflow:deploy=How we deploy"
    args = parse_args(new_parser("show"), [option] if content is True else [option, text])
    value = getattr(args.question.agent, KEYS[key][0])
    assert (value.text if isinstance(value, Document) else value) == expected


@pytest.mark.parametrize("form", [AgentBody, DriftQuery])
def test_every_key_is_in_requests(form):
    assert set(KEYS) <= set(form.__struct_fields__)


@pytest.mark.parametrize("key", [key for key in KEYS if key not in ("tools", "model", "provider")])
def test_a_key_is_stored_as_it_was_read(key):
    agent = agent_from({key: EXAMPLES[key][0]})
    assert agent_from(agent_form(agent, "conversation")) == agent


NESTED: list = []
for _ in range(100_000):
    NESTED = [NESTED]


def test_the_first_of_several_tools_with_the_same_name_is_used():
    rows = [{"name": "a", "description": "1"}, {"name": "b"}, {"name": "a", "description": "2"}]
    assert agent_from({"tools": rows}).tools == (Tool("a", "1"), Tool("b"))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"modle": "x"}, "an agent has no key 'modle'; did you mean 'model'?"),
        ({"model": 5}, "model must be a string, not a number"),
        ({"sub_agent": "yes"}, "sub_agent must be true or false, not a string"),
        ({"tools": {"name": "a"}}, 'tools: the tools must be a list such as [{"name": …}], not an object'),
        ({"tools": [{}]}, "tools: tool 1: the key 'name' is missing"),
        ({"tools": [{"name": "a", "args": {}}]}, "tools: tool 1: unknown key 'args'; known: allowed_callers, defer, description, guidelines, loads_skills, name, options, schema, server, snippet, strict, type"),
        ({"scope": {"allow": [{"path": "/p", "permission": "run"}]}}, "scope: allow 1: permission must be one of read, write, not 'run'"),
        ({"docs": [NESTED]}, "docs must be a list of pairs (label, path); a value that is nested too deeply is not one"),
        ({"docs": [["x" * 5000]]}, f"docs must be a list of pairs (label, path); ['{'x' * 77}… is not one"),
        ({"docs": [["Manual"]]}, "docs must be a list of pairs (label, path); ['Manual'] is not one"),
    ],
)  # fmt: skip
def test_an_agent_that_cannot_be_read_is_an_error(mapping, message):
    with pytest.raises(CallError) as raised:
        agent_from(mapping)
    assert str(raised.value) == message


def test_an_error_uses_the_name_that_the_caller_knows():
    with pytest.raises(CallError, match=r"^--tools t\.json: tool 1 must be an object"):
        agent_from({"tools": [5]}, {"tools": "--tools t.json"})
