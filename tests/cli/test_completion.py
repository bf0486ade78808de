"""Completion in real shells; the scripts know every command and option."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from foreword.cli import family_of, main
from foreword.cli.commands import COMMANDS
from foreword.cli.completion import SHELLS
from foreword.packs.packs import layout_names, mirror_names

# What bash does when the tab key is pressed: pass the words of the line so far, and the index of the last.
TAB = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_foreword; printf "%s\\n" "${COMPREPLY[@]}"'


# A zsh key binding that writes the current line to a file.
ZSHRC = """
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -u -D
record() { print -r -- "$BUFFER" >> $ZDOTDIR/recorded; BUFFER= }
zle -N record
bindkey '^T' record
"""
COMPLETED = {
    "sho": "show",
    "template res": "template restore",
    "conversation dr": "conversation drift",
    "show --lay": "show --layout",
    "show --layout opa": "show --layout opal",
    "show --tools too": "show --tools tools.json",
    "show sh": "show shop",
    "layouts opa": "layouts opal",
    "diff sh": "diff shop",
    "diff shop too": "diff shop tools.json",
    "cache sh": "cache shop",
    "cache shop too": "cache shop tools.json",
    "lint --disable missing-f": "lint --disable missing-file",
    "lint --format sa": "lint --format sarif",
    "completion fi": "completion fish",
    "nothing-like-it": "nothing-like-it",
}


@pytest.fixture
def script(capsys):
    def script(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return script


@pytest.fixture
def complete(script, tmp_path):
    (tmp_path / "completion.bash").write_text(script("bash"))
    (tmp_path / "tools.json").write_text("[]")
    (tmp_path / "shop").mkdir()

    def complete(*words):
        command = ["bash", "--norc", "-c", TAB, "bash", tmp_path / "completion.bash", "foreword", *words]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0 and result.stderr == "", result.stderr
        return sorted(filter(None, result.stdout.splitlines()))

    return complete


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sho"], ["show"]),
        (["template", "re"], ["render", "restore"]),
        (["conversation", "dr"], ["drift"]),
        (["show", "--lay"], ["--layout"]),
        (["why", "--al"], ["--all"]),
        (["show", "--layout", "opa"], ["opal"]),
        (["show", "--layout", ""], sorted((*layout_names(), *mirror_names()))),
        (["show", "--tools", "too"], ["tools.json"]),
        (["show", "sh"], ["shop"]),
        (["layouts", ""], sorted((*layout_names(), *mirror_names()))),
        (["diff", "sh"], ["shop"]),
        (["diff", "shop", ""], ["completion.bash", "shop", "tools.json"]),
        (["lint", "--disable", "missing-"], ["missing-file", "missing-script", "missing-target", "missing-tool"]),
        (["completion", ""], sorted(SHELLS)),
        (["--ver"], ["--version"]),
        (["nothing-like-it"], []),
    ],
)
def test_bash_completes(complete, words, offered):
    assert complete(*words) == offered


def test_bash_completes_every_command(complete):
    assert complete("") == sorted({name.split()[0] for name in COMMANDS})


def in_bash(complete, script, folder):
    return [complete_line(line, complete(*line.split())) for line in COMPLETED]


def in_fish(complete, script, folder):
    (folder / "completion.fish").write_text(script("fish"))
    code = 'source completion.fish; for line in $argv; complete -C "foreword $line"; echo .; end'
    command = ["fish", "--no-config", "-c", code, *COMPLETED]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=empty_home(folder))
    assert result.stderr == ""
    offers = [[line.partition("\t")[0] for line in part.splitlines()] for part in result.stdout.split(".\n")[:-1]]
    return [
        complete_line(line, [offer for offer in offered if offer])
        for line, offered in zip(COMPLETED, offers, strict=True)
    ]


def in_zsh(complete, script, folder):
    """Type each line, the tab key and the recording key in a terminal."""
    import pty

    (folder / "z").mkdir()
    (folder / "z/.zshrc").write_text(ZSHRC)
    (folder / "z/_foreword").write_text(script("zsh"))
    terminal, child = pty.openpty()
    zsh = subprocess.Popen(
        ["zsh", "-d", "-i"], cwd=folder, stdin=child, stdout=child, stderr=child, env=empty_home(folder)
    )
    os.close(child)
    os.write(terminal, ("".join(f"foreword {line}\t\x14" for line in COMPLETED) + "exit\n").encode())
    while read_terminal(terminal):
        pass
    os.close(terminal)
    zsh.wait()
    return [line.removeprefix("foreword ") for line in (folder / "z/recorded").read_text().splitlines()]


def complete_line(line, offered):
    """The line with its last word completed by the shell."""
    return " ".join([*line.split()[:-1], *offered]) if offered else line


def read_terminal(terminal):
    """Return a terminal's output, or an empty result once the terminal is closed."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def empty_home(folder):
    return {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "ZDOTDIR": str(folder / "z"), "TERM": "dumb"}


@pytest.mark.parametrize("in_shell", [in_bash, in_fish, in_zsh], ids=["bash", "fish", "zsh"])
def test_a_shell_completes_lines(in_shell, complete, script, tmp_path):
    name = in_shell.__name__.removeprefix("in_")
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    lines = [line.rstrip(" /") for line in in_shell(complete, script, tmp_path)]
    assert dict(zip(COMPLETED, lines, strict=True)) == COMPLETED


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_completes_every_command_and_option(script, shell):
    text = script(shell)
    words = {word for name in COMMANDS for word in name.split()}
    options = {
        option
        for name in COMMANDS
        for action in family_of(name).parser_for(name).actions()
        for option in action.option_strings
        if option.startswith("--")
    }
    dashes = "" if shell == "fish" else "--"
    assert sorted(word for word in words if word not in text) == []
    assert sorted(option for option in options if dashes + option[2:] not in text) == []


def test_zsh_completes_nothing_beside_help(script):
    assert script("zsh").count('"(- : *)"{-h,--help}') >= len(COMMANDS)


def test_the_script_can_be_printed_as_json(script, capsys):
    assert main(["completion", "fish", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": "fish", "script": script("fish")}


def test_an_unknown_shell_is_rejected(capsys):
    assert main(["completion", "nu"]) == 2
    assert capsys.readouterr().err == "foreword: unknown shell 'nu'; known: bash, fish, zsh\n"


def test_without_its_extra_it_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert (
        capsys.readouterr().err
        == "foreword: completion needs a package that is not installed (shtab); run make setup\n"
    )
