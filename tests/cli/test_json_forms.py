"""The JSON of every command matches its type exactly, without missing or extra keys."""

import json
from typing import get_type_hints

import msgspec
import pytest

from foreword.cli import family_of, main
from foreword.cli.commands import COMMANDS
from foreword.encoding import forms as stored
from foreword.wire import forms, git_forms, store_forms
from foreword.wire.conversation_forms import ConversationForm

CONVERSATION = ["42", "W"]
TYPES = {
    "show": (["W"], forms.ShowForm),
    "why": (["W"], list[stored.CandidateForm]),
    "blame": (["W"], list[forms.LineForm]),
    "tokens": (["W"], forms.CountedForm),
    "diff": (["W", "W/sub"], forms.DifferenceForm),
    "cache": (["W"], forms.CacheForm),
    "lint": (["W"], forms.LintForm),
    "agents": (["W"], forms.AgentsForm),
    "trust": (["W"], git_forms.TrustForm),
    "lock": (["W"], git_forms.LockForm),
    "layouts": ([], list[forms.LayoutRowForm]),
    "skills": (["W"], list[forms.SkillForm]),
    "skill": (["testing", "W"], forms.MessageForm),
    "talk turn": (CONVERSATION, forms.TurnForm),
    "talk compact": (CONVERSATION, forms.TurnForm),
    "talk reload": (CONVERSATION, forms.TurnForm),
    "talk show": (["42"], forms.EditionForm),
    "talk list": ([], list[ConversationForm]),
    "talk drift": (CONVERSATION, forms.DriftForm),
    "talk touch": (["42", "W", "x.py"], forms.TouchedForm),
    "touch": (["W", "x.py"], forms.TouchedForm),
    "store verify": ([], store_forms.FaultsForm),
    "store stats": ([], store_forms.StatsForm),
    "store migrate": ([], store_forms.SchemaForm),
    "store forget": (["42"], store_forms.ForgottenForm),
    "store prune": ([], store_forms.PrunedForm),
    "template show": ([], forms.TemplateForm),
    "template set": (["W/template.md"], forms.VersionForm),
    "template check": (["W/template.md", "W"], forms.CheckForm),
    "template render": (["W/template.md", "W"], forms.ShowForm),
    "template history": ([], list[forms.VersionForm]),
    "template restore": (["0"], forms.VersionForm),
    "template list": ([], list[store_forms.TemplateNameForm]),
    "template label": (["staging", "1"], store_forms.MoveForm),
    "template unlabel": (["staging"], store_forms.MoveForm),
    "template delete": (["support"], store_forms.DeletedTemplateForm),
    "template variables": ([], forms.VariablesForm),
    "completion": (["bash"], forms.CompletionForm),
}
# These run until they are stopped: they are tested in test_watch_command.py, tests/service, tests/proxy and tests/mcp_server.
ENDLESS_COMMANDS = {"watch", "serve", "proxy", "mcp"}
# This needs a repository with commits: it is tested in test_review_command.py.
GIT_COMMANDS = {"review"}


def fits(form, kind):
    """Whether a value matches a type, with no extra keys."""
    return msgspec.to_builtins(msgspec.convert(form, kind)) == form


def test_every_command_has_a_type():
    assert set(TYPES) == set(COMMANDS) - ENDLESS_COMMANDS - GIT_COMMANDS


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

    run_json("talk turn", ["42", "W"])
    run_json("template set", ["W/template.md"])
    run_json("template set", ["W/template.md", "--name", "support"])
    run_json("template label", ["staging", "1"])
    return run_json


@pytest.mark.parametrize("command", TYPES)
def test_output_matches_its_type(run_json, command):
    arguments, kind = TYPES[command]
    assert fits(run_json(command, arguments), kind)


def test_a_layout_matches_its_type(run_json):
    assert fits(run_json("layouts", ["pi"]), forms.LayoutForm)


def test_missing_and_extra_keys_do_not_match():
    candidate = {"path": "/w/A.md", "layer": "project", "fate": "used", "reason": "", "target": None}
    assert fits(candidate, stored.CandidateForm) and set(get_type_hints(stored.CandidateForm)) == set(candidate)
    assert not fits({**candidate, "more": 1}, stored.CandidateForm)
    with pytest.raises(msgspec.ValidationError):
        fits({"path": "/w/A.md"}, stored.CandidateForm)
