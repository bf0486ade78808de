"""Writes the help of a command with argparse, and gives other programs its options as an argparse parser."""

from __future__ import annotations

import argparse
import os
import sys

from .terminal import is_terminal, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .arguments import Argument, Parser


class _ArgparseParser(argparse.ArgumentParser):
    def format_help(self) -> str:
        """Return the help. The usage names only the arguments, because the options are listed below it."""
        formatter = self._get_formatter()
        arguments = [formatter._format_args(each, each.dest) for each in self._get_positional_actions()]
        self.usage = " ".join([self.prog, "[options]", *arguments]).replace("%", "%%")
        return super().format_help()


def argparse_parser(parser: Parser) -> argparse.ArgumentParser:
    """Return an argparse parser with the same options and arguments."""
    result = _ArgparseParser(
        prog=parser.prog,
        description=parser.description,
        epilog=parser.epilog,
        formatter_class=_formatter,
        add_help=False,
    )
    groups: dict[str, Any] = {"": result}
    for argument in parser.actions():
        if argument.group not in groups:
            groups[argument.group] = result.add_argument_group(argument.group)
        groups[argument.group].add_argument(*argument.option_strings or (argument.dest,), **_fields_of(argument))
    return result


def _fields_of(argument: Argument) -> dict[str, Any]:
    """Return what `add_argument` needs to describe an argument."""
    fields: dict[str, Any] = {"help": argument.help}
    if argument.dest == "help":
        fields["action"] = "help"
    elif isinstance(argument.action, str) and argument.action:
        fields["action"] = argument.action
    else:
        fields["nargs"] = argument.nargs
    if argument.option_strings:
        fields["dest"] = argument.dest
    if not argument.is_flag:
        fields |= {"metavar": argument.metavar, "choices": argument.choices or None}
    return fields


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter with the terminal's width."""
    has_width = is_terminal(sys.stdout) or os.environ.get("COLUMNS", "")
    width = terminal_width(sys.stdout) - 2 if has_width else 78
    return argparse.HelpFormatter(prog, width=width, max_help_position=32)
