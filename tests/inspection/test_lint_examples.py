"""Every check of lint keeps to the two examples beside it in the table, which are also those of its page."""

import json

import pytest

from foreword.inspection.lint.table import CHECKS


@pytest.fixture
def told(tree, capsys, monkeypatch):
    """`told(example)` gives what lint finds in its files: code, severity, path and line, and its sentence."""
    from foreword.cli import main

    for name in ("XDG_CONFIG_HOME", "APPDATA", "PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tree.path("w"))

    def told(example):
        tree({"w/.git/HEAD": "ref: refs/heads/main\n", **{f"w/{name}": text for name, text in example.files.items()}})
        main(["lint", "--json", "--home", tree.path("home"), *example.options])
        return json.loads(tree.short(capsys.readouterr().out))["findings"]

    return told


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_bad_example_is_found(check, told):
    found = [each for each in told(check.bad) if each["code"] == check.id]
    path = f"/w/{check.bad.path}" if check.bad.path else None
    assert [(each["severity"], each["path"], each["line"]) for each in found] == [
        (check.severity, path, check.bad.line)
    ]
    assert check.bad.say in found[0]["message"] and check.bad.say


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_good_example_is_not(check, told):
    assert [each for each in told(check.good) if each["code"] == check.id] == []
