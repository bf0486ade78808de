"""The private parts of argparse that the adapter uses exist, and its replacement for gettext is harmless."""

import argparse
import subprocess
import sys

from foreword.cli.arguments import Parser


def test_the_private_attributes_exist():
    parser = argparse.ArgumentParser()
    option = parser.add_argument("--layout")
    assert parser._option_string_actions["--layout"] is option
    assert parser._actions[-1] is option
    assert callable(argparse._)


def test_only_the_adapter_imports_argparse():
    from pathlib import Path

    from foreword import cli

    users = {path.name for path in Path(cli.__path__[0]).glob("*.py") if "import argparse" in path.read_text()}
    assert users == {"arguments.py"}


def test_gettext_is_not_loaded_but_can_be_imported_later():
    code = (
        "import sys, foreword.cli.arguments; assert 'gettext' not in sys.modules; import gettext; gettext.translation"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_actions_are_in_order():
    parser = Parser(prog="foreword x", add_help=False)
    parser.add_argument("--one")
    parser.add_argument("two")
    assert [action.dest for action in parser.actions()] == ["one", "two"]
