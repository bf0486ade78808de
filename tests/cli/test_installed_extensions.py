"""Extensions from installed packages: real metadata and entry points on the path of a real process."""

import json
import os
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from foreword.extensions import installed

CODE = """
from foreword.extensions import Extension, Start
from foreword.vocabulary import Finding

def check(prompt):
    if "swordfish" in prompt.text:
        yield Finding("house-password", "error", "the prompt tells the password", "/AGENTS.md", 1)

def start(prompt, message, about):
    return Start(f"{prompt} For {message}.", "Said by a package.")

strict = Extension("strict", before_agent_start=start, checks=[check])

def make():
    return strict
"""


@pytest.fixture
def run_with(tree):
    """`run_with(entries, *arguments)` runs a command with one installed package that has these entry points."""
    tree({
        "w/AGENTS.md": "The password is swordfish.",
        "site/strict.py": CODE,
        "site/strict-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: strict\nVersion: 1.0\n",
    })  # fmt: skip

    def run_with(entries, *arguments):
        tree({"site/strict-1.0.dist-info/entry_points.txt": f"[foreword]\n{entries}\n"})
        result = subprocess.run(
            [sys.executable, "-m", "foreword", *arguments, "--home", tree.path("home")],
            cwd=tree.path("w"),
            env={**os.environ, "PYTHONPATH": tree.path("site")},
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in result.stderr
        return result.returncode, json.loads(result.stdout)

    return run_with


@pytest.mark.parametrize("entry", ["strict = strict:strict", "strict = strict:make"])
def test_turns_and_lint_call_an_extension(tree, run_with, entry):
    _, turn = run_with(entry, "conversation", "turn", "t", "--message", "Hi", "--store", tree.path("t.db"), "--json")
    assert [message["content"] for message in turn["messages"]] == ["Hi", "Said by a package."]
    assert [finding["code"] for finding in turn["findings"] if finding["severity"] == "error"] == ["house-password"]
    assert turn["system"].endswith(" For Hi.")
    tree({"w/mine.json": '[{"role": "user", "content": "Mine"}]'})
    turn_command = ("conversation", "turn", "t", "--messages", "mine.json", "--store", tree.path("t.db"), "--json")
    assert run_with(entry, *turn_command)[1]["system"].endswith(" For Hi.")
    assert run_with(entry, *turn_command, "--new-prompt")[1]["system"].endswith(" For Mine.")
    status, report = run_with(entry, "lint", "--json")
    (password_finding,) = [finding for finding in report["findings"] if finding["code"] == "house-password"]
    assert (status, password_finding["path"], password_finding["line"]) == (1, "/AGENTS.md", 1)
    _, sarif = run_with(entry, "lint", "--format", "sarif")
    assert "house-password" in [result["ruleId"] for result in sarif["runs"][0]["results"]]


@pytest.mark.parametrize(
    "entry", ["broken = nowhere:x", "broken = strict:nothing", "broken = json:dumps", "broken = os:sep"]
)
def test_a_broken_extension_is_reported_once_and_the_command_continues(tree, run_with, entry):
    _, turn = run_with(entry, "conversation", "turn", "t", "--store", tree.path("t.db"), "--json")
    assert "swordfish" in turn["system"]
    assert [finding["code"] for finding in turn["findings"]].count("extension-failed") == 1
    _, repeated = run_with(entry, "conversation", "turn", "t", "--store", tree.path("t.db"), "--json")
    assert [finding["code"] for finding in repeated["findings"]].count("extension-failed") == 1
    _, report = run_with(entry, "lint", "--json")
    assert [finding["code"] for finding in report["findings"]].count("extension-failed") == 1


@pytest.mark.parametrize("loaded", [lambda: 5, lambda: None])
def test_an_entry_point_that_returns_something_else_says_so(monkeypatch, loaded):
    entry = SimpleNamespace(name="broken", value="package:make", load=lambda: loaded)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
    (extension,) = installed()
    for call in (lambda: extension.context([], None), lambda: extension.checks[0](None)):
        with pytest.raises(TypeError, match=r"^package:make is not an Extension and does not return one$"):
            call()
