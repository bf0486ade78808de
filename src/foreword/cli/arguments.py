"""An adapter for argparse: the only file that uses its private attributes."""

from __future__ import annotations

import sys

from ..errors import CallError, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def _import_argparse_without_gettext() -> None:
    """Import argparse with a stub for gettext, which takes longer to import than argparse; our messages are not translated."""
    if "argparse" in sys.modules or "gettext" in sys.modules:
        return
    gettext = type(sys)("gettext")
    vars(gettext).update(gettext=str, ngettext=lambda singular, plural, count: singular if count == 1 else plural)
    sys.modules["gettext"] = gettext
    try:
        import argparse  # noqa: F401
    finally:
        del sys.modules["gettext"]


_import_argparse_without_gettext()
import argparse  # noqa: E402
from argparse import SUPPRESS, Action, HelpFormatter, Namespace  # noqa: E402

__all__ = ["SUPPRESS", "Action", "HelpFormatter", "Namespace", "Parser"]
# If argparse was imported earlier, it would still look up a translation of every message.
argparse._ = str  # type: ignore[attr-defined]


class Parser(argparse.ArgumentParser):
    """A parser that raises `CallError` with a one-sentence message for an invalid call."""

    default_dir = "."

    def error(self, message: str) -> NoReturn:
        raise CallError(f"{message} (see {self.prog} --help)")

    def format_help(self) -> str:
        """Return the help. The usage names only the arguments, because the options are listed below it."""
        formatter = self._get_formatter()
        arguments = [formatter._format_args(each, each.dest) for each in self._get_positional_actions()]
        self.usage = " ".join([self.prog, "[options]", *arguments]).replace("%", "%%")
        return super().format_help()

    def actions(self) -> list[Action]:
        """Return the options and arguments, in the order in which they were added."""
        return self._actions

    def options_first(self, arguments: list[str]) -> list[str]:
        """Return the same arguments with the options first, because argparse rejects an option between NAME and DIR."""
        options: list[str] = []
        positional: list[str] = []
        remaining = list(arguments)
        while remaining:
            arg = remaining.pop(0)
            if arg == "--":
                positional += remaining
                break
            if arg.startswith("-") and arg.lstrip("-")[:1].isalpha():
                options += self._with_value(arg, remaining)
            else:
                positional.append(arg)
        separator = ["--"] if any(arg.startswith("-") for arg in positional) else []
        return options + separator + positional

    def _with_value(self, option: str, remaining: list[str]) -> list[str]:
        """Return the option with its value, if it takes one and `=` does not already supply it.

        A metavar in brackets marks an optional value, which is an address: anything that ends in a colon and a number.
        """
        name, equals, _ = option.partition("=")
        action = self._option_string_actions.get(name)
        if action is None:
            self.error(f"unknown option {name!r}{suggestion(name, self._option_string_actions)}")
        if action.nargs == 0 or equals:
            return [option]
        metavar = str(action.metavar or action.dest.upper())
        if metavar.startswith("["):
            is_address = bool(remaining) and remaining[0].rpartition(":")[2].isdecimal() and ":" in remaining[0]
            return [f"{name}={remaining.pop(0) if is_address else ''}"]
        if not remaining or remaining[0] == "--":
            self.error(f"{name} needs a value, {metavar}")
        return [option, remaining.pop(0)]
