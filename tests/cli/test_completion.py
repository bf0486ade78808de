"""Completion: bash really completes, and the scripts of the other shells know every command and option."""

from __future__ import annotations

import json
import subprocess

import pytest

from foreword.cli import COMMANDS, family_of, main
from foreword.cli.completion import SHELLS
from foreword.packs import layout_names

# What bash does at the tab key: the words of the line so far, and the place of the last.
TAB = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_foreword; printf "%s\\n" "${COMPREPLY[@]}"'


@pytest.fixture
def script(capsys):
    def script(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return script


@pytest.fixture
def tab(script, tmp_path):
    (tmp_path / "completion.bash").write_text(script("bash"))
    (tmp_path / "tools.json").write_text("[]")
    (tmp_path / "shop").mkdir()

    def tab(*words):
        command = ["bash", "--norc", "-c", TAB, "bash", tmp_path / "completion.bash", "foreword", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return sorted(filter(None, done.stdout.splitlines()))

    return tab


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sho"], ["show"]),
        (["template", "re"], ["render", "restore"]),
        (["talk", "dr"], ["drift"]),
        (["show", "--lay"], ["--layout"]),
        (["why", "--al"], ["--all"]),
        (["show", "--layout", "op"], ["opal"]),
        (["show", "--layout", ""], sorted(layout_names())),
        (["show", "--tools", "too"], ["tools.json"]),
        (["show", "sh"], ["shop"]),
        (["completion", ""], sorted(SHELLS)),
        (["--ver"], ["--version"]),
        (["nothing-like-it"], []),
    ],
)
def test_bash_completes(tab, words, offered):
    assert tab(*words) == offered


def test_bash_completes_every_command(tab):
    assert tab("") == sorted({name.split()[0] for name in COMMANDS})


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_knows_every_command_and_option(script, shell):
    text = script(shell)
    words = {word for name in COMMANDS for word in name.split()}
    options = {
        option
        for name in COMMANDS
        for action in family_of(name).parser_for(name)._actions
        for option in action.option_strings
        if option.startswith("--")
    }
    dashes = "" if shell == "fish" else "--"
    assert sorted(word for word in words if word not in text) == []
    assert sorted(option for option in options if dashes + option[2:] not in text) == []


def test_json(script, capsys):
    assert main(["completion", "fish", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": "fish", "script": script("fish")}


def test_another_shell_is_refused(capsys):
    assert main(["completion", "nu"]) == 2
    assert capsys.readouterr().err == "foreword: no completion for the shell 'nu'; known: bash, fish, zsh\n"
