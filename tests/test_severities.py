"""A finding has one severity, whichever command reports it."""

import json

import pytest

from foreword.cli import main
from foreword.findings import CODES
from foreword.inspection.lint.table import BY_ID


def test_both_tables_agree():
    shared = CODES.keys() & BY_ID.keys()
    assert len(shared) > 5
    assert {code: CODES[code][0] for code in shared} == {code: BY_ID[code].severity for code in shared}


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"AGENTS.md": "Be brief\u202e.\n"}, "hidden-characters"),
        ({"AGENTS.md": "Be\u200b brief.\n"}, "hidden-characters"),
        ({".agents/skills/x/SKILL.md": "---\nname: x\n---\nBody\n"}, "skill-no-description"),
        ({".agents/skills/x/SKILL.md": "---\ndescription: Use it.\n---\nBody\n"}, "skill-name"),
        ({".agents/skills/x/SKILL.md": "---\nname: x\ndescription: Use\u200b it.\n---\nBody\n"}, "hidden-characters"),
    ],
)
def test_show_and_lint_agree(tree, capsys, monkeypatch, files, code):
    tree({"w/.git": None, "home": None, **{f"w/{name}": text for name, text in files.items()}})
    monkeypatch.setenv("HOME", tree.path("home"))
    severities = []
    for command in (["show"], ["lint", "--min-severity", "info"]):
        main([*command, tree.path("w"), "--tool", "read", "--json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        severities.append({finding["severity"] for finding in findings if finding["code"] == code})
    assert severities[0] == severities[1] and len(severities[0]) == 1


def test_an_unknown_provider_is_an_error_that_names_the_known_ones(tree, capsys):
    tree({"w/.git": None, "w/AGENTS.md": "Be brief."})
    assert main(["cache", tree.path("w"), "--provider", "acme"]) == 2
    assert (
        "'acme' caches a prompt is not known; known are anthropic, bedrock, gemini, openai" in capsys.readouterr().err
    )
