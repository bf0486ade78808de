"""Fixtures that run commands in this process, as a user would type them in the workspace `w`."""

import json
import types
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from foreword.cli import main


@pytest.fixture
def run(tree, capsys, monkeypatch):
    """`run("show", "--layout", "ion")` returns the exit status, standard output and standard error."""
    monkeypatch.setenv("HOME", tree.path("home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tree.path("w"))

    def run(*arguments):
        status = main(list(arguments))
        captured = capsys.readouterr()
        return status, tree.short(captured.out), tree.short(captured.err)

    return run


def mismatches(content, form, path="it"):
    """Differences between a JSON value and its type: extra keys, missing keys, values of the wrong type."""
    if form is Any:
        return []
    if is_typeddict(form):
        if not isinstance(content, dict):
            return [f"{path} is not an object"]
        hints = get_type_hints(form, include_extras=True)
        required = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
        problems = [f"{path} has {key!r}" for key in content.keys() - hints.keys()]
        problems += [f"{path} lacks {key!r}" for key in required - content.keys()]
        for key in content.keys() & hints.keys():
            hint = hints[key]
            problems += mismatches(
                content[key], get_args(hint)[0] if get_origin(hint) is NotRequired else hint, f"{path}.{key}"
            )
        return problems
    if get_origin(form) is list:
        if not isinstance(content, list):
            return [f"{path} is not a list"]
        return [
            mismatch
            for index, item in enumerate(content)
            for mismatch in mismatches(item, get_args(form)[0], f"{path}[{index}]")
        ]
    if get_origin(form) in (Union, types.UnionType):
        attempts = [mismatches(content, option, path) for option in get_args(form)]
        return min(attempts, key=len)
    form = get_origin(form) or form  # the keys of a plain dict are not checked
    allowed = (int, float) if form is float else form
    is_valid = isinstance(content, allowed) and (form is bool or not isinstance(content, bool))
    return [] if is_valid else [f"{path} is {type(content).__name__}, not {form}"]


@pytest.fixture(scope="session")
def fits():
    """`fits(content, Form)` returns every place where printed JSON does not match its type."""
    return mismatches


@pytest.fixture
def shop_with_a_skill(tree, skill, monkeypatch):
    """The workspace `w`: a repository with an AGENTS.md and a skill."""
    for name in ("FOREWORD_STORE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tree(
        {"w/.git": None, "w/AGENTS.md": "# Shop\n\nRun `make test`.\n", "w/.agents/skills/ship/SKILL.md": skill("ship")}
    )


@pytest.fixture
def run_json(run, fits):
    """`run_json(Form, *arguments)` runs a command with `--json` that must succeed, checks its output against the type and returns it."""

    def run_json(form, *arguments):
        status, out, err = run(*arguments, "--json")
        assert (status, err) == (0, "")
        content = json.loads(out)
        assert fits(content, form) == []
        return content

    return run_json


@pytest.fixture
def save_output(tree, monkeypatch, capsys):
    """`save_output("x.json", "show")` saves what a command prints with `--json`, byte for byte."""

    def save_output(name, *arguments):
        monkeypatch.chdir(tree.path("w"))
        monkeypatch.setenv("HOME", tree.path("home"))
        assert main([*arguments, "--json"]) == 0
        tree({f"w/{name}": capsys.readouterr().out})
        return name

    return save_output
