"""Questions as mappings: `--json` prints what the function returns, and an invalid question is an error."""

import json

import pytest

from foreword import Agent, Conversations, Tool, shipped_tools
from foreword.cli import main
from foreword.errors import CallError
from foreword.programs.questions import ANSWERS, answer
from foreword.wire.answers import turn_form

NOW = "2026-03-07T08:55:05-06:00"
TOOLS = [{"name": "read", "description": "Reads a file.", "schema": {"type": "object"}}, {"name": "shell"}]


@pytest.fixture
def workspace(tree, skill, monkeypatch):
    tree({
        "w/.git": None,
        "w/AGENTS.md": "Run `make test` first.\n",
        "w/sub/AGENTS.md": "Two.\n",
        "w/sub/agents.md": "Skipped.\n",
        "w/sub/.agents/skills/testing/SKILL.md": skill("testing", body="Run them."),
        "w/plan.md": "1. Look around.\n",
        "w/tools.json": json.dumps(TOOLS),
        "w/scope.json": '{"allow": [{"path": "src"}], "deny": [{"path": "src/secret"}]}',
        "w/saved.json": json.dumps({"text": "Old.", "tools": []}),
        "home": None,
    })  # fmt: skip
    monkeypatch.chdir(tree.path("w"))
    return tree


def fields(workspace, **other_fields):
    return {
        "cwd": workspace.path("w/sub"),
        "home": workspace.path("home"),
        "store": f"sqlite:///{workspace.path('none.db')}",
        "now": NOW,
        "layout": "opal",
        "tools": TOOLS,
        "model": "gpt-5",
        "plan": {"path": workspace.path("w/plan.md"), "text": "1. Look around.\n"},
        "scope": {"allow": [{"path": "src"}], "deny": [{"path": "src/secret"}]},
        **other_fields,
    }


def run_json(workspace, capsys, command, *arguments):
    options = f"--home={workspace.path('home')} --store=sqlite:///{workspace.path('none.db')} --now={NOW} --layout=opal"
    options += " --tools=tools.json --model=gpt-5 --plan=plan.md --scope=scope.json --json"
    main([command, *arguments, *options.split()])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("command", "arguments", "other_fields"),
    [
        ("show", ["W/sub"], {}),
        ("why", ["W/sub"], {}),
        ("why", ["W/sub", "OPAL.md"], {"path": "OPAL.md"}),
        ("touch", ["W", "sub/x.py"], {"cwd": "W", "paths": ["sub/x.py"], "how": "read"}),
        ("blame", ["W/sub"], {}),
        ("lock", ["W/sub", "--check"], {}),
        ("tokens", ["W/sub"], {}),
        ("layouts", ["ion"], {"name": "ion"}),
        ("skills", ["W/sub"], {}),
        ("skill", ["testing", "W/sub"], {"name": "testing"}),
        ("diff", ["W", "W/sub"], {"old": "W", "new": "W/sub"}),
        ("diff", ["saved.json", "W/sub"], {"old": "saved.json", "new": "W/sub"}),
        ("cache", ["W/sub"], {}),
        ("cache", ["W", "W/sub", "--turns", "5"], {"old": "W", "new": "W/sub", "turns": 5}),
        ("diff", ["W/sub", "--layout", "ion"], {"old": "W/sub", "layouts": ["ion", "opal"]}),
        ("agents", ["W"], {"cwd": "W"}),
        (
            "agents",
            ["W", "AGENTS.md", "--layout", "ion"],
            {"cwd": "W", "paths": ["AGENTS.md"], "layouts": ["ion", "opal"]},
        ),
        ("lint", ["W/sub", "--min-severity", "warning"], {"min_severity": "warning"}),
    ],
)
def test_json_prints_what_the_function_returns(workspace, capsys, command, arguments, other_fields):
    def with_path(name):
        return name.replace("W", workspace.path("w")) if isinstance(name, str) and name.startswith("W") else name

    question = fields(workspace, **{name: with_path(value) for name, value in other_fields.items()})
    answered = json.loads(json.dumps(answer(command, question)))
    command = "skills" if command == "skill" else command  # one command lists the skills or shows one
    assert run_json(workspace, capsys, command, *map(with_path, arguments)) == answered


def test_every_question_is_tested():
    tested = {row[0] for row in test_json_prints_what_the_function_returns.pytestmark[0].args[1]}
    assert tested | {"review"} == set(ANSWERS)  # a review needs commits: see tests/service/test_git_questions.py


def test_a_saved_prompt_can_be_passed_as_a_value(workspace):
    difference = answer("diff", fields(workspace, old={"name": "before", "text": "Old."}, new={"text": "New."}))
    assert (difference["old"]["name"], difference["new"]["name"], difference["changed"]) == (
        "before",
        "the saved prompt",
        True,
    )


def test_a_saved_prompt_keeps_its_tools(workspace, capsys):
    saved = answer("show", fields(workspace))
    fewer = answer("diff", fields(workspace, old=saved, new={**saved, "tools": saved["tools"][:1]}))
    assert [tool["name"] for tool in saved["tools"]] == ["read", "shell"]
    assert (fewer["changed"], fewer["tools"]["removed"]) == (True, ["shell"])


@pytest.mark.parametrize(
    ("command", "wrong", "message"),
    [
        ("shwo", {}, "unknown question 'shwo'; did you mean 'show'?"),
        ("show", {"layuot": "ion"}, "unknown field 'layuot'; did you mean 'layout'?"),
        ("show", {"path": "AGENTS.md"}, "unknown field 'path'"),
        ("show", {"now": "yesterday"}, "now must be an ISO 8601 time"),
        ("show", {"layout": "opel"}, "opel"),
        ("show", {"cwd": "/does/not/exist"}, "/does/not/exist does not exist"),
        ("show", {"tools": [{"title": "x"}]}, "tools"),
        ("show", {"scope": []}, "scope"),
        ("skill", {"name": "nope"}, "nope"),
        ("diff", {"old": "."}, "diff needs new"),
        ("cache", {"turns": -1}, "turns must be a number from 0"),
        ("lint", {"min_severity": "fatal"}, "min_severity must be one of"),
        ([], {}, "unknown question []"),
        ("cache", {"new": "."}, "cache needs both old and new"),
        ("diff", {"old": 1, "new": "."}, "old must be a prompt's name or a saved prompt, not 1"),
        ("show", {"set": 1}, "set must be a list of strings, not 1"),
        ("show", {"set": "budget=1"}, "set must be a list of strings, not 'budget=1'"),
        ("show", {"base": {"path": 1, "text": "b"}}, "path must be a string, not 1"),
        ("show", {"base": {"path": "a", "text": "b", "x": 1}}, "unknown key 'x'"),
        ("why", {"path": 1}, "path must be a string, not 1"),
        ("skill", {"name": ["a"]}, "name must be a string, not ['a']"),
        ("lint", {"disable": [None]}, "disable must be a list of strings, not [None]"),
        ("cache", {"turns": "many"}, "turns must be a whole number, not 'many'"),
        ("show", {1: 2}, "unknown field 1"),
    ],
)
def test_an_invalid_question_is_an_error(workspace, command, wrong, message):
    with pytest.raises(CallError) as error:
        answer(command, {"cwd": workspace.path("w"), "home": workspace.path("home"), **wrong})
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("provider", "model", "tools", "is_kept"),
    [
        ("anthropic", "claude-opus-5", [], True),
        ("anthropic", "claude-sonnet-5", [], False),
        ("anthropic", "claude-sonnet-5", ["use_tool"], True),
        ("openai", "gpt-5", [], False),
        ("openai", "gpt-5", ["use_tool"], True),
        ("gemini", "gemini-3.8-flash", ["use_tool"], True),
    ],
)
def test_the_price_of_a_late_tool_depends_on_the_model(workspace, provider, model, tools, is_kept):
    first_tools = [Tool("read"), *(tool for name in tools for tool in shipped_tools(name))]
    with Conversations() as conversations:
        conversation = conversations.open("t", workspace.workspace("w"), Agent(tools=first_tools, model=model))
        first = conversation.turn("Hello.")
        conversation.set_active_tools([*first_tools, Tool("late")])
        second = conversation.turn("Go on.", first.history)
    turns = {"old": dict(turn_form(first)), "new": dict(turn_form(second))}
    for named in ({"model": model}, {}):
        form = answer("cache", {"cwd": workspace.path("w"), "home": workspace.path("home"), **turns, **named})
        [row] = [row for row in form["providers"] if row["provider"] == provider]
        assert (row["first"] and row["first"]["of"]) == (None if is_kept else "tools")
