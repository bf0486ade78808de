"""The two examples of every lint check in the table, which are also on its page, are correct."""

import json

import pytest

from foreword.inspection.lint.table import CHECKS


@pytest.fixture
def lint_example(tree, capsys, monkeypatch):
    """`lint_example(example)` returns the code, severity, path, line and message of each finding in its files."""
    from foreword.cli import main

    for name in ("XDG_CONFIG_HOME", "APPDATA", "PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tree.path("w"))

    def lint_example(example):
        tree({"w/.git/HEAD": "ref: refs/heads/main\n", **{f"w/{name}": text for name, text in example.files.items()}})
        main(["lint", "--json", "--min-severity", "info", "--home", tree.path("home"), *example.options])
        return json.loads(tree.short(capsys.readouterr().out))["findings"]

    return lint_example


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_bad_example_is_reported(check, lint_example):
    findings = [finding for finding in lint_example(check.bad) if finding["code"] == check.id]
    path = f"/w/{check.bad.path}" if check.bad.path else None
    assert [(finding["severity"], finding["path"], finding["line"]) for finding in findings] == [
        (check.severity, path, check.bad.line)
    ]
    assert check.bad.message_part in findings[0]["message"] and check.bad.message_part


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_good_example_is_not_reported(check, lint_example):
    assert [finding for finding in lint_example(check.good) if finding["code"] == check.id] == []
