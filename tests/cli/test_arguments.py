"""The parser of a command's arguments, and the argparse parser that describes them."""

import subprocess
import sys

import pytest

from foreword.cli import family_of
from foreword.cli.arguments import Parser
from foreword.cli.commands import COMMANDS
from foreword.cli.help import argparse_parser
from foreword.errors import CallError


def parser():
    result = Parser(prog="foreword x", description="Do it.", epilog="Example: foreword x 1")
    result.add_argument("--json", action="store_true", help="print JSON", group="output")
    result.add_argument("--tool", action="append", default=[], metavar="NAME", help="a tool")
    result.add_argument("--turns", type=int, default=3, metavar="N", help="how many")
    result.add_argument("--by", default="", choices=("day", "file"), metavar="NAME", help="the order")
    result.add_argument("--serve", default=None, metavar="[HOST:PORT]", help="an address")
    result.add_argument("--with", default="", dest="extra", help="more")
    result.add_argument("id", metavar="ID", help="the id")
    result.add_argument("dir", nargs="?", metavar="DIR", help="the folder")
    result.add_argument("paths", nargs="*", metavar="PATH", help="files")
    result.set_defaults(dir=".", after=())
    return result


DEFAULTS = {"json": False, "tool": [], "turns": 3, "by": "", "serve": None, "extra": "", "help": False} | {
    "id": "7", "dir": ".", "paths": [], "after": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (["7"], {}),
        (["7", "src", "a", "b"], {"dir": "src", "paths": ["a", "b"]}),
        (["--json", "7", "--turns", "5", "src"], {"json": True, "turns": 5, "dir": "src"}),
        (["7", "--tool", "a", "--tool=b"], {"tool": ["a", "b"]}),
        (["7", "--turns=1", "--turns=2"], {"turns": 2}),
        (["7", "--turns", "-1"], {"turns": -1}),
        (["7", "--tool=-x", "--tool", "-", "--tool", "- x"], {"tool": ["-x", "-", "- x"]}),
        (["7", "--by", "day"], {"by": "day"}),
        (["7", "--serve"], {"serve": ""}),
        (["7", "--serve", "::1:80"], {"serve": "::1:80"}),
        (["--serve", "7"], {"serve": ""}),
        (["7", "--with", "x"], {"extra": "x"}),
        (["7", "-"], {"dir": "-"}),
        (["7", "--", "--json", "--"], {"dir": "--json", "paths": ["--"]}),
    ],
)
def test_options_and_arguments_are_assigned(arguments, values):
    assert vars(parser().parse_args(arguments)) == DEFAULTS | values


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: ID"),
        (["7", "--nope"], "unknown option '--nope'; known: --by, --help, --json, --serve, --tool, --turns, --with, -h"),
        (["7", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["7", "--json=yes"], "--json takes no value; remove '=yes'"),
        (["7", "--turns"], "--turns needs a value, N"),
        (["7", "--with", "--"], "--with needs a value, EXTRA"),
        (["7", "--tool", "--json"], "--tool needs a value, NAME"),
        (["7", "--tool", "--with=a b"], "--tool needs a value, NAME"),
        (["7", "--tool", "-x"], "--tool needs a value, NAME; write --tool='-x' if that is the value"),
        (["7", "--turns", "many"], "--turns must be a whole number, not 'many'"),
        (["7", "--by", "size"], "--by must be one of day, file, not 'size'"),
        (["7", "--by="], "--by must be one of day, file, not ''"),
    ],
)
def test_an_invalid_call_is_an_error(arguments, sentence):
    with pytest.raises(CallError) as error:
        parser().parse_args(arguments)
    assert str(error.value) == f"{sentence} (see foreword x --help)"


def test_optional_arguments_leave_words_for_the_required_ones_after_them():
    result = Parser(prog="foreword x")
    result.add_argument("before", nargs="?", default="none")
    result.add_argument("files", nargs="*")
    result.add_argument("last")
    found = [vars(result.parse_args(words)) for words in (["a"], ["a", "b"], ["a", "b", "c"])]
    assert not any(values.pop("help") for values in found)
    assert found == [
        {"before": "none", "files": [], "last": "a"},
        {"before": "a", "files": [], "last": "b"},
        {"before": "a", "files": ["b"], "last": "c"},
    ]


def test_more_words_than_arguments_are_an_error():
    result = Parser(prog="foreword x")
    result.add_argument("one")
    with pytest.raises(CallError, match="unrecognized arguments: b c"):
        result.parse_args(["a", "b", "c"])


@pytest.mark.parametrize("arguments", [["--turns", "many", "--help"], ["--nope", "-h"], ["--tool", "--help"]])
def test_help_is_shown_even_if_other_arguments_are_invalid(arguments):
    assert parser().parse_args(arguments).help


def test_help_after_two_hyphens_is_an_argument():
    assert vars(parser().parse_args(["7", "--", "--help"])) == DEFAULTS | {"dir": "--help"}


def test_help_lists_the_options_by_group():
    out = argparse_parser(parser()).format_help()
    assert out.startswith("usage: foreword x [options] ID [DIR] [PATH ...]\n\nDo it.\n")
    assert [line for line in out.splitlines() if line.endswith(":")] == ["positional arguments:", "options:", "output:"]


@pytest.mark.parametrize("command", COMMANDS)
def test_argparse_knows_the_same_options_and_arguments(command):
    ours = family_of(command).parser_for(command)
    described = argparse_parser(ours)._actions
    assert [_row(each) for each in described] == [_row(each) for each in ours.actions()]


def _row(argument):
    nargs = None if argument.nargs == 0 else argument.nargs  # argparse has 0 for an option without a value
    return tuple(argument.option_strings), argument.dest, nargs, argument.metavar, argument.help


def test_a_prompt_is_built_without_the_slowest_modules(tree):
    """Importing these took a third of the time of `foreword show`."""
    tree(
        {
            "w/.git": None,
            "w/AGENTS.md": "Be brief.",
            "w/.agents/skills/testing/SKILL.md": "---\nname: testing\ndescription: Runs the tests.\n---\n",
            "w/tools.json": '[{"name": "shell", "schema": {"type": "object", "required": ["command"]}}]',
        }
    )
    code = (
        "import sys; from foreword.cli import main; status = main(sys.argv[1:]);"
        " loaded = {'argparse', 're', 'json', 'enum', 'functools', 'collections'} & {*sys.modules};"
        " assert not loaded, loaded; sys.exit(status)"
    )
    command = [sys.executable, "-I", "-c", code, "show", ".", "--home", ".", "--tools", "tools.json"]
    result = subprocess.run(command, cwd=tree.path("w"), capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Be brief." in result.stdout and "Runs the tests." in result.stdout
