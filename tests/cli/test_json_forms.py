"""The JSON of every command matches its published schema exactly, without missing or extra keys."""

import json

import pytest
from jsonschema import Draft202012Validator

from foreword.cli import family_of, main
from foreword.cli.commands import COMMANDS
from foreword.cli.schema import schema_of

CONVERSATION = ["42", "W"]
ARGUMENTS = {
    "show": ["W"],
    "why": ["W"],
    "blame": ["W"],
    "tokens": ["W"],
    "diff": ["W", "W/sub"],
    "cache": ["W"],
    "lint": ["W"],
    "agents": ["W"],
    "trust": ["W"],
    "lock": ["W"],
    "layouts": [],
    "skills": ["W"],
    "conversation turn": CONVERSATION,
    "conversation compact": CONVERSATION,
    "conversation reload": CONVERSATION,
    "conversation show": ["42"],
    "conversation list": [],
    "conversation drift": CONVERSATION,
    "conversation touch": ["42", "W", "x.py"],
    "touch": ["W", "x.py"],
    "store verify": [],
    "store stats": [],
    "store migrate": [],
    "store forget": ["42"],
    "store prune": [],
    "store backup": ["backup.db"],
    "store restore": ["saved.db"],
    "template show": [],
    "template set": ["W/template.md"],
    "template check": ["W/template.md", "W"],
    "template render": ["W/template.md", "W"],
    "template history": [],
    "template restore": ["0"],
    "template list": [],
    "template label": ["staging", "1"],
    "template delete": ["support"],
    "template variables": [],
    "sessions": ["W"],
    "align": ["W"],
    "schema": ["show"],
    "completion": ["bash"],
}
# These run until they are stopped: they are tested in test_watch_command.py, tests/service, tests/proxy and tests/mcp_server.
ENDLESS_COMMANDS = {"watch", "serve", "proxy", "mcp"}
# These need a repository with commits: they are tested in test_review_command.py and tests/effect.
GIT_COMMANDS = {"review", "effect"}


def fits(form, command):
    """Whether a value matches the schema of a command's output."""
    return Draft202012Validator(schema_of(command)).is_valid(form)


def test_every_command_has_a_schema():
    assert set(ARGUMENTS) == set(COMMANDS) - ENDLESS_COMMANDS - GIT_COMMANDS
    for command in COMMANDS:
        Draft202012Validator.check_schema(schema_of(command))


@pytest.fixture
def run_json(tree, capsys, monkeypatch):
    """`run_json(*arguments)` returns the JSON of a command, in a workspace with a skill, a template and a conversation 42."""
    skill = "---\nname: testing\ndescription: Tests.\n---\nRun them."
    tree({"w/.git": None, "w/AGENTS.md": "One.", "w/sub/AGENTS.md": "Two.", "w/template.md": "At [prompt:cwd] [no:x]."})
    tree({"w/.agents/skills/testing/SKILL.md": skill, "home": None})
    monkeypatch.chdir(tree.path("w"))

    def run_json(command, arguments):
        arguments = [
            argument.replace("W", tree.path("w"), 1) if argument.startswith("W") else argument for argument in arguments
        ]
        options = {"--home": tree.path("home"), "--store": f"sqlite:///{tree.path('s.db')}", "--tool": "read"}
        known = {name for action in family_of(command).parser_for(command).actions() for name in action.option_strings}
        passed = [word for name, value in options.items() if name in known for word in (name, value)]
        main([*command.split(), *arguments, "--json", *passed])
        return json.loads(capsys.readouterr().out)

    run_json("conversation turn", ["42", "W"])
    run_json("template set", ["W/template.md"])
    run_json("template set", ["W/template.md", "--name", "support"])
    run_json("template label", ["staging", "1"])
    run_json("store backup", ["saved.db"])
    return run_json


@pytest.mark.parametrize("command", ARGUMENTS)
def test_output_matches_its_schema(run_json, command):
    assert fits(run_json(command, ARGUMENTS[command]), command)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("layouts", ["pi"]),
        ("skills", ["testing", "W"]),
        ("cache", ["W", "W/sub"]),
        ("template label", ["staging", "--remove"]),
    ],
)
def test_other_output_matches_the_schema_too(run_json, command, arguments):
    assert fits(run_json(command, arguments), command)


def test_missing_and_extra_keys_do_not_match():
    candidate = {"path": "/w/A.md", "layer": "project", "fate": "used", "reason": "", "target": None}
    candidate |= {"readers": [], "advice": ""}
    assert fits([candidate], "why")
    assert not fits([{**candidate, "more": 1}], "why")
    assert not fits([{"path": "/w/A.md"}], "why")


def test_the_schema_of_an_unknown_command_is_an_error(capsys):
    assert main(["schema", "shwo"]) == 2
    assert "did you mean 'show'" in capsys.readouterr().err
    assert main(["schema"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(COMMANDS)
