"""Mirrors in the user's and the caller's packs work like the shipped ones in `foreword agents`, `foreword why` and `foreword lint`."""

import json

import pytest

ACME = """
about = "Reads ACME.md."
mirrors = "Acme"
copies = "keep"
detected_by = [".acme/"]
sections = ["acme"]
[find]
acme = { files = ["root:ACME.md", "root:.acme/*.md"] }
[section]
acme = { list = "acme" }
"""
USER = "home/.config/foreword/prompts"


@pytest.fixture
def repository(tree):
    return tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/.acme/a.md": "A.", "w/ACME.md": "Be brief."})


def form_of(run, *arguments):
    return json.loads(run("agents", *arguments, "--json")[1])


def names_of(form):
    return [agent["name"] for agent in form["agents"]]


@pytest.mark.parametrize(
    ("file", "arguments", "expected"),
    [
        (f"{USER}/acme.toml", [], ["acme"]),
        ("team/acme.toml", ["--pack", "team=../team"], ["acme"]),
        ("team/acme.toml", [], []),
        ("w/.foreword/prompts/acme.toml", [], []),  # untrusted
        (f"{USER}/claude.toml", [], ["$user/claude"]),  # the name of a shipped mirror
    ],
)
def test_custom_mirrors_are_detected(run, tree, repository, file, arguments, expected):
    tree({file: ACME})
    assert names_of(form_of(run, *arguments)) == expected


def test_all_shows_custom_mirrors_that_are_not_detected(run, tree):
    tree({f"{USER}/acme.toml": ACME, f"{USER}/plain.toml": 'extends = "opal"\n', "w/AGENTS.md": "Root."})
    assert "$user/acme" in form_of(run)["others"]
    form = form_of(run, "--all")
    assert "claude" in names_of(form) and "acme" in names_of(form) and "plain" not in names_of(form)
    assert form["others"] == []


@pytest.mark.parametrize("text", ["mirrors = [", "mirrors = 'Bad'\nsections = ['x']\n", "find = 1\n"])
def test_an_invalid_custom_layout_is_a_finding(run, tree, repository, text):
    tree({f"{USER}/bad.toml": text, f"{USER}/acme.toml": ACME})
    form = form_of(run)
    assert names_of(form) == ["acme"]
    [problem] = form["findings"]
    assert problem["code"] == "agent-left-out" and "the layout '$user/bad' was left out" in problem["message"]


@pytest.mark.parametrize("path", ["ACME.md", ".acme"])
def test_why_names_custom_mirrors_that_read_a_path(run, tree, repository, path):
    tree({f"{USER}/acme.toml": ACME})
    assert "these agents do: acme\n" in run("why", ".", path)[1]


def test_why_does_not_name_the_layout_itself(run, tree, repository):
    tree({f"{USER}/acme.toml": ACME})
    assert "also read by" not in run("why", ".", "ACME.md", "--layout", "$user/acme")[1]


@pytest.mark.parametrize(
    ("file", "arguments", "expected"),
    [
        (f"{USER}/acme.toml", [], ["unmatched-rule"]),
        ("team/acme.toml", ["--pack", "team=../team"], ["unmatched-rule"]),
        ("w/.foreword/prompts/acme.toml", [], []),  # untrusted
    ],
)
def test_lint_uses_custom_mirrors(run, tree, repository, file, arguments, expected):
    rules = ACME.replace("acme = { files", 'acme = { where = { paths = "" }, files')
    tree({file: rules, "w/.acme/a.md": "---\npaths: lib/*.py\n---\nA.", "w/src/a.py": "pass"})
    findings = json.loads(run("lint", *arguments, "--json")[1])["findings"]
    assert [found["code"] for found in findings if "Acme" in found["message"]] == expected
