"""Invalid calls exit with status 2 and print one sentence on standard error that says what would be valid."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from foreword.cli import family_of, main
from foreword.cli.commands import COMMANDS, FAMILIES
from foreword.cli.help import argparse_parser

PROMPT_COMMANDS = ["show", "why", "blame", "tokens"]
COMMANDS_WITH_DIR = [*PROMPT_COMMANDS, "skills"]
EVERY_COMMAND = [[command] for command in PROMPT_COMMANDS] + [["skills", "a"]]


@pytest.fixture
def error_of(tree, run, skill):
    """`error_of(*arguments)` runs a command that must fail, and returns its error message."""
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.agents/skills/a/SKILL.md": skill("a")})

    def error_of(*arguments):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("foreword: ") and err.endswith("\n") and err.count("\n") == 1
        assert "Traceback" not in err and "Error" not in err
        return err.removeprefix("foreword: ").removesuffix("\n")

    return error_of


# The call itself


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sho"], "unknown command 'sho'; did you mean 'show'?"),
        (["zzz"], "unknown command 'zzz'; known: agents, align, blame, "),
        ([""], "unknown command ''"),
        (["--json"], "unknown option '--json'"),
        (["--version", "x"], "unknown option '--version'"),
        (["show", "--nope"], "unknown option '--nope'; did you mean '--scope'? (see foreword show --help)"),
        (["show", "--layot", "pi"], "unknown option '--layot'; did you mean '--layout'?"),
        (["show", "--layot=pi"], "unknown option '--layot'; did you mean '--layout'?"),
        (["show", "-x"], "unknown option '-x'; known: "),
        (["show", ".", "extra"], "unrecognized arguments: extra"),
        (["show", "--lay", "ion"], "unknown option '--lay'; did you mean '--layout'?"),
        (["show", "--layout"], "--layout needs a value, NAME|FILE"),
        (["show", ".", "--layout", "--", "ion"], "--layout needs a value, NAME|FILE"),
        (["show", "--layout", ""], "--layout needs a value, NAME|FILE; it is empty"),
        (["show", "--scope", "a.json", "--scope", ""], "--scope needs a value, FILE; it is empty"),
        (["show", "--scope", "a.json", "--scope="], "--scope needs a value, FILE; it is empty"),
        (["show", "--model", "--doc=Guide=my guide.md"], "--model needs a value, MODEL"),
        (["show", "--json=yes"], "--json takes no value; remove '=yes'"),
        (["serve", "--new-token", ""], "--new-token needs a name of letters, digits, - and _, not ''"),
        (["serve", "--new-token", 'a"b'], "--new-token needs a name of letters, digits, - and _, not 'a\"b'"),
        (["serve", "--servers", "x.json"], "unknown option '--servers'"),
        (["store", "stats", "--layout", "pi"], "unknown option '--layout'; known: --help, --home, --json, "),
        (["template", "list", "--model", "m"], "unknown option '--model'"),
        (["completion", "bash", "--store", "s"], "unknown option '--store'"),
    ],
)
def test_an_invalid_command_or_option_is_an_error(error_of, arguments, sentence):
    assert sentence in error_of(*arguments)


@pytest.mark.parametrize(
    ("arguments", "moved"),
    [
        (["why", ".", "AGENTS.md", "--all"], ["why", ".", "--all", "AGENTS.md"]),
        (["diff", ".", ".", "--json"], ["diff", ".", "--json", "."]),
        (
            ["template", "check", "AGENTS.md", ".", "--syntax=jinja"],
            ["template", "check", "AGENTS.md", "--syntax", "jinja", "."],
        ),
        (["cache", ".", ".", "--turns", "3"], ["cache", ".", "--turns", "3", "--", "."]),
    ],
)
def test_options_and_arguments_come_in_any_order(run, tree, arguments, moved):
    tree({"w/AGENTS.md": "Be brief."})
    first = run(*arguments)
    assert first[0] == 0
    assert run(*moved) == first


def test_arguments_after_two_dashes_are_not_options(run, tree):
    tree({"w/-json/AGENTS.md": "Be brief."})
    assert "Be brief." in run("show", "--layout", "opal", "--", "-json")[1]


def test_ctrl_c_before_a_command_starts(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("foreword.cli._run", interrupted)
    assert main(["show"]) == 130


def test_without_a_command_the_commands_are_listed(run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert [name for name in ("show", "why", "blame", "tokens", "layouts", "skills") if name not in err] == []


def test_help_lists_the_commands(run):
    for arguments in (["--help"], ["-h"], ["help"]):
        status, out, err = run(*arguments)
        assert (status, err) == (0, "") and "show" in out


# DIR


# The one argument of `why` may be a file, and that of `tokens` a saved prompt.
@pytest.mark.parametrize(
    ("command", "directory", "words"),
    [(command, directory, "does not exist") for command in EVERY_COMMAND for directory in ("nowhere", "nowhere/deep")]
    + [
        (command, "AGENTS.md", "is not a directory")
        for command in EVERY_COMMAND
        if command not in (["why"], ["tokens"])
    ],
)
def test_a_path_that_is_not_a_directory_is_an_error(error_of, command, directory, words):
    sentence = error_of(*command, directory)
    assert directory in sentence and words in sentence


def test_a_directory_that_is_a_broken_link_is_an_error(error_of, tree):
    tree({"w/link": Path("nowhere")})
    assert "link" in error_of("show", "link")


def test_a_missing_home_is_an_error(error_of):
    assert "nowhere" in error_of("show", "--home", "nowhere")


# Layouts, keys and settings


@pytest.mark.parametrize("command", [*EVERY_COMMAND, ["layouts"]], ids=" ".join)
def test_an_unknown_layout_is_an_error(error_of, command):
    assert error_of(*command, "--layout", "opel").startswith("unknown layout 'opel'; did you mean 'opal'?")


@pytest.mark.parametrize(
    ("file", "arguments", "address"),
    [
        ("home/.config/foreword/prompts/opel.toml", (), "$user/opel"),
        ("w/.foreword/prompts/opel.toml", (), "$workspace/opel"),
        ("team/opel.toml", ("--pack", "team=../team"), "$team/opel"),
    ],
)
def test_a_custom_layout_without_its_prefix_is_suggested(error_of, tree, file, arguments, address):
    tree({file: 'extends = "opal"\n'})
    error = error_of("show", "--layout", "opel", *arguments)
    assert error.strip() == f"unknown layout 'opel'; did you mean '{address}'?"


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("zzz", "known: builder, claude, codex"),
        ("./nowhere.toml", "the file does not exist"),
        ("mine.toml", "the file does not exist"),
        ("$user/nowhere", "the file does not exist"),
        ("$workspace/nowhere", "the file does not exist"),
        ("$acme/review", "unknown pack 'acme'; known packs: agents, std, user, workspace"),
        ("$std/nowhere", "unknown layout 'nowhere'"),
        ("$std", "is not a valid address"),
        ("$user/../x", "cannot contain"),
        ("$user/a\\b", "backslash"),
        ("./", "directory"),
        ("./AGENTS.md", "is not valid TOML"),
    ],
)
def test_an_invalid_layout_is_an_error(error_of, layout, words):
    assert words in error_of("show", "--layout", layout)


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("nothing", "--set needs KEY=VALUE, not 'nothing'"),
        ("=x", "--set needs KEY=VALUE"),
        ("", "--set needs KEY=VALUE"),
        ("nope=1", "unknown key 'nope'"),
        ("skills.validaton=strict", "did you mean 'skills.validation'?"),
        ("skills.validation=loose", "must be one of strict, lenient, not 'loose'"),
        ("skills.budget=many", "must be a whole number above zero, not 'many'"),
        ("skills.budget=0", "must be a whole number above zero, not 0"),
        ("skills.budget=-5", "must be a whole number above zero"),
        ("skills.budget=true", "must be a whole number above zero"),
        ("sections=identity,nope", "names 'nope'"),
        ("section.nope.text=x", "nope"),
        ("section.identity.nope=x", "nope"),
        ("find.project.walk=sideways", "must be one of root, checkout, git, git-or-root"),
        ("find.project.files=nowhere:AGENTS.md", "is not a pattern"),
        ("environment.text={nope}", "unknown field '{nope}'"),
        ("environment.text={cwd", "unpaired '{'"),
        ("environment.wrap=<x>", "needs '{}' exactly once"),
        ("on.turn=sometimes", "must be one of keep"),
        ("on.never=keep", "never"),
        ("join=5", "must be a string, not 5"),
    ],
)
def test_an_invalid_setting_is_an_error(error_of, assignment, words):
    assert words in error_of("show", "--set", assignment)


@pytest.mark.parametrize("option", ["layout", "settings", "tools", "base", "plan", "scope", "store"])
def test_a_file_without_a_name_is_an_error(error_of, option):
    assert error_of("show", f"--{option}", "").startswith(f"--{option} needs a value, ")
    assert error_of("show", f"--{option}=").startswith(f"--{option} needs a value, ")


@pytest.mark.parametrize(
    ("pack", "words"),
    [
        ("team=nowhere", "the directory does not exist"),
        ("team=AGENTS.md", "the directory does not exist"),
        ("user=.", "is reserved"),
    ],
)
def test_an_invalid_pack_is_an_error(error_of, pack, words):
    assert words in error_of("show", "--pack", pack)


@pytest.mark.parametrize("value", ["foo=ok", ":x=ok", "x:=ok", "x:y"])
def test_a_value_for_an_unknown_variable_is_an_error(tree, error_of, value):
    tree({"w/t": "[foo:bar]"})
    assert "--value must be type:name=TEXT" in error_of("template", "render", "t", "--value", value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml", "is not valid TOML"),
        ("nope = 1", "unknown key 'nope'"),
        ("skills.validaton = 'strict'", "did you mean 'skills.validation'?"),
        ("layout = 5", "layout must be a string, not 5"),
        ("layout = 'opel'", "did you mean 'opal'?"),
        ("for = 1", "for must be a table of tables"),
        (b"\xff", "0xff at offset 0"),
    ],
)
@pytest.mark.parametrize("setting_file", ["the caller's", "the user's"])
def test_invalid_settings_are_an_error(error_of, tree, text, words, setting_file):
    if setting_file == "the user's":
        tree({"home/.config/foreword/foreword.toml": text})
        assert words in error_of("show")
    else:
        tree({"w/mine.toml": text})
        assert words in error_of("show", "--settings", "mine.toml")


def test_missing_settings_are_an_error(error_of):
    assert error_of("show", "--settings", "nowhere.toml") == "the settings file 'nowhere.toml' does not exist"


# Tools


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json", "not valid JSON (line 1, column 1)"),
        ("", "not valid JSON"),
        ("[{]", "not valid JSON"),
        ("{}", "must contain a list of tools"),
        ('"read"', "must contain a list of tools"),
        ("5", "must contain a list of tools"),
        ("null", "must contain a list of tools"),
        ('["read"]', "tool 1 must be an object, not 'read'"),
        ("[{}]", "tool 1: the key 'name' is missing"),
        ('[{"name": "a"}, {"name": 5}]', "tool 2: name must be a string that is not blank, not 5"),
        ('[{"name": ""}]', "tool 1: name must be a string that is not blank"),
        ('[{"name": "a", "snippet": 5}]', "snippet must be a string"),
        ('[{"name": "a", "description": []}]', "description must be a string"),
        ('[{"name": "a", "guidelines": "x"}]', "guidelines must be a list of strings"),
        ('[{"name": "a", "guidelines": [5]}]', "guidelines must be a list of strings"),
        ('[{"name": "a", "schema": []}]', "schema must be an object"),
        ('[{"name": "a", "schema": 5}]', "schema must be an object"),
        ('[{"name": "a", "nope": 5}]', "unknown key 'nope'"),
        pytest.param("[" * 100_000, "not valid JSON", id="deep"),
        (b"\xff\xfe[]", "UTF-16"),
    ],
)
def test_an_invalid_tools_file_is_an_error(error_of, tree, text, words):
    tree({"w/tools.json": text})
    sentence = error_of("show", "--tools", "tools.json")
    assert sentence.startswith("--tools tools.json: ") and words in sentence


@pytest.mark.parametrize("option", ["--tools", "--base", "--plan", "--scope"])
@pytest.mark.parametrize(("path", "words"), [("nowhere", "the file does not exist"), (".", "it is a directory")])
def test_a_path_that_is_not_a_file_is_an_error(error_of, option, path, words):
    sentence = error_of("show", option, path)
    assert sentence.startswith(f"{option} {path}: ") and words in sentence


# Times, scopes, documentation, tools by name


@pytest.mark.parametrize(
    "now", ["yesterday", "2026-13-01", "2026-03-07T25:00", "12:00", "1741337705", "2026-03-07T08:55:05 CST", " ", ""]
)
def test_an_invalid_time_is_an_error(error_of, now):
    assert error_of("show", "--now", now).startswith("--now must be a time")


@pytest.mark.parametrize("command", [*EVERY_COMMAND, ["layouts"]], ids=" ".join)
def test_every_command_validates_its_options(error_of, command):
    assert error_of(*command, "--now", "yesterday").startswith("--now must be a time")
    assert error_of(*command, "--tools", "nowhere").startswith("--tools nowhere: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "must be"),
        ("not json", "not valid JSON"),
        ('{"allowed": []}', "unknown key 'allowed'; did you mean 'allow'?"),
        ('{"allow": {}}', "allow must be a list"),
        ('{"deny": "x"}', "deny must be a list"),
        ('{"allow": ["/p"]}', "allow 1 must be an object, not '/p'"),
        ('{"allow": [{}]}', "allow 1: the key 'path' is missing"),
        ('{"allow": [{"path": ""}]}', "allow 1: path must be a string that is not blank"),
        (
            '{"allow": [{"path": "/p"}, {"path": "/p", "permission": "execute"}]}',
            "allow 2: permission must be one of read, write",
        ),
        ('{"allow": [{"path": "/p", "recursive": "yes"}]}', "allow 1: recursive must be true or false"),
        ('{"allow": [{"path": "/p", "permissions": "read"}]}', "permissions"),
    ],
)
def test_an_invalid_scope_is_an_error(error_of, tree, text, words):
    tree({"w/scope.json": text})
    sentence = error_of("show", "--scope", "scope.json")
    assert sentence.startswith("--scope scope.json") and words in sentence


@pytest.mark.parametrize("doc", ["Manual", "=path", "Manual=", " = ", ""])
def test_invalid_documentation_is_an_error(error_of, doc):
    assert error_of("show", "--doc", doc) == f"--doc must be LABEL=PATH, not {doc!r}"


@pytest.mark.parametrize("tool", ["", " "])
def test_a_tool_without_a_name_is_an_error(error_of, tool):
    assert error_of("show", "--tool", tool) == "--tool needs a value, NAME; it is blank"


def test_an_unknown_skill_is_an_error(error_of):
    assert error_of("show", "--layout", "ion", "--skill", "b").startswith("no skill 'b'")


# The real script


@pytest.mark.parametrize(
    "arguments", [["zzz"], ["show", "nowhere"], ["show", "--now", "x"], ["show", "--layout", "zzz"], []]
)
def test_the_script_exits_with_status_two(tree, arguments):
    result = subprocess.run(
        [sys.executable, "-m", "foreword", *arguments],
        cwd=tree.path("w"),
        env={**os.environ, "HOME": tree.path("home")},
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stdout) == (2, "") and result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("arguments", [["show"], ["skills"], ["show", "--layout", "./mine.toml"], ["show", "."]])
def test_a_deleted_working_directory_is_an_error(tree, arguments):
    command = 'cd "$0" && rmdir "$0" && exec "$@"'
    result = subprocess.run(
        ["bash", "-c", command, tree({"gone": None}).path("gone"), sys.executable, "-m", "foreword", *arguments],
        env={**os.environ, "HOME": tree.path("home")},
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1) and result.stderr.startswith(
        "foreword: "
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["show", "tokens --json", "diff - .", "cache --tool read", "--version"])
def test_a_closed_stream_causes_no_traceback(tree, command, closed):
    result = subprocess.run(
        ["bash", "-c", f'"$0" -m foreword {command} {closed}', sys.executable],
        cwd=tree.path("w"),
        env={**os.environ, "HOME": tree.path("home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (result.returncode, "Traceback" in result.stderr) == (0, False)


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("full", [">/dev/full", "2>/dev/full"])
@pytest.mark.parametrize(
    "command",
    ["show", "show --json", "tokens", "lint --min-severity info", "--version", "--help", "show --help", "zzz"],
)
def test_a_full_disk_causes_no_traceback(tree, command, full, buffered):
    result = subprocess.run(
        ["bash", "-c", f'"$0" -m foreword {command} {full}', sys.executable],
        cwd=tree.path("w"),
        env={**os.environ, "HOME": tree.path("home"), "PYTHONUNBUFFERED": buffered},
        capture_output=True,
        text=True,
    )
    assert result.returncode in (0, 2)
    if full == ">/dev/full":
        assert (result.returncode, result.stderr.count("\n")) == (2, 1) and result.stderr.startswith("foreword: ")


@pytest.mark.parametrize("group", ["conversation", "template", "store"])
@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_a_command_with_actions_lists_them(group, words, capsys):
    """On standard output with --help; on standard error if the action is missing, as for `foreword` alone."""
    assert main([group, *words]) == (0 if words else 2)
    captured = capsys.readouterr()
    listing, other = (captured.out, captured.err) if words else (captured.err, captured.out)
    rows = [line.split("  ")[1] for line in listing.splitlines() if line.startswith("  ")]
    assert rows == [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")] and other == ""


def test_a_commands_help_is_printed(tree):
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "foreword", "show", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (result.returncode, result.stderr) == (0, "") and "--layout" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 80


def test_control_characters_in_an_argument_are_escaped(error_of):
    assert error_of("show", os.fsdecode(b"\xff")).startswith("the working directory \\xff does not exist")


@pytest.mark.parametrize("options", [["--skill", "x"], ["--tool", "read"], ["--model", "x"]])
def test_serve_rejects_options_that_belong_to_a_request(error_of, options):
    assert f"unknown option {options[0]!r}" in error_of("serve", *options)


@pytest.mark.parametrize("budget", ["1__0", "_1", "1_", "[" * 3_000, "²"])
def test_a_value_that_only_looks_like_a_number_or_a_list_is_an_error(tree, run, budget):
    status, _, err = run("show", tree.path("w"), "--set", f"budget={budget}")
    assert (status, err.count("\n")) == (2, 1)


def test_a_null_scope_is_an_error(tree, run):
    tree({"scope.json": "null"})
    status, _, err = run("show", tree.path("w"), "--scope", tree.path("scope.json"))
    assert (status, err.endswith("must be an object, not null\n")) == (2, True)


@pytest.mark.parametrize("wrap", ["1", "{x = 1}", "[]"])
def test_a_section_that_the_layout_does_not_list_is_not_checked(tree, run, wrap):
    tree({"l.toml": f'extends = "$std/opal"\n[section.x]\nwrap = {wrap}\n'})
    status, _, err = run("show", tree.path("w"), "--layout", tree.path("l.toml"))
    assert (status, "Traceback" in err) == (0, False)


def test_the_help_fits_on_one_screen_and_lists_every_command_once(run):
    _, out, _ = run("--help")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert sorted(listed) == sorted({name.split()[0] for name in COMMANDS}) and len(out.splitlines()) <= 40
    assert set(FAMILIES) == {name.split()[0] for name in COMMANDS if " " in name}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_commands_help_starts_with_its_own_options_and_ends_with_an_example(command):
    out = argparse_parser(family_of(command).parser_for(command)).format_help()
    assert out.index("options:") < out.index("output:")
    example = " ".join(out.partition("Example: ")[2].split())
    assert example == COMMANDS[command][2]
    words = shlex.split(example)[1 + len(command.split()) :]
    family_of(command).parser_for(command).split(words)  # raises an error for an unknown option


@pytest.mark.parametrize(
    ("environment", "has_colour"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_in_a_pipe_are_printed_only_if_forced(run, monkeypatch, environment, has_colour):
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    assert ("\x1b[1m" in run("--help")[1]) == has_colour
