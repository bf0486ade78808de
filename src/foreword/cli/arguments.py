"""The adapter to argparse: the only file that uses its private parts."""

from __future__ import annotations

import sys

from ..errors import CallError, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn


def _without_translations() -> None:
    """Import argparse with a stand-in for gettext, which costs more than argparse; our messages are not translated."""
    if "argparse" in sys.modules or "gettext" in sys.modules:
        return
    gettext = type(sys)("gettext")
    vars(gettext).update(gettext=str, ngettext=lambda one, many, number: one if number == 1 else many)
    sys.modules["gettext"] = gettext
    try:
        import argparse  # noqa: F401
    finally:
        del sys.modules["gettext"]


_without_translations()
import argparse  # noqa: E402
from argparse import SUPPRESS, Action, HelpFormatter, Namespace  # noqa: E402

__all__ = ["SUPPRESS", "Action", "HelpFormatter", "Namespace", "Parser"]
# If argparse was imported earlier, it would still look up a translation of every message.
argparse._ = str  # type: ignore[attr-defined]


class Parser(argparse.ArgumentParser):
    """A parser that reports an invalid call in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise CallError(f"{message} (see {self.prog} --help)")

    def actions(self) -> list[Action]:
        """The options and arguments, in the order in which they were added."""
        return self._actions

    def options_first(self, arguments: list[str]) -> list[str]:
        """The same arguments in the one order that argparse understands: it rejects an option between NAME and DIR."""
        options: list[str] = []
        positional: list[str] = []
        remaining = iter(arguments)
        for arg in remaining:
            if arg == "--":
                positional += remaining
            elif arg.startswith("-") and arg.lstrip("-")[:1].isalpha():
                options += [arg, *self._value_of(arg, remaining)]
            else:
                positional.append(arg)
        separator = ["--"] if any(arg.startswith("-") for arg in positional) else []
        return options + separator + positional

    def _value_of(self, option: str, remaining: Iterator[str]) -> Iterator[str]:
        """The next argument, if the option takes a value that does not already follow `=`."""
        name, equals, _ = option.partition("=")
        action = self._option_string_actions.get(name)
        if action is None:
            self.error(f"unknown option {name!r}{suggestion(name, self._option_string_actions)}")
        if action.nargs != 0 and not equals:
            value = next(remaining, "--")
            if value == "--":
                self.error(f"{name} needs a value, {action.metavar or action.dest.upper()}")
            yield value
