"""The command line: one file per family of commands; each parses, calls, prints.

Only the family that is asked for is imported, and only its own options are made: start-up is a feature.
"""

from __future__ import annotations

import sys

from .commands import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_HELP = ("-h", "--help", "help")
_USAGE = "foreword COMMAND [DIR] [options]      foreword COMMAND --help      foreword --version"


def main(arguments: list[str] | None = None) -> int:
    """Run one command. 0 all is well; 1 with --strict and an error finding; 2 a wrong call, said in one sentence."""
    args = sys.argv[1:] if arguments is None else arguments
    _open_streams()
    try:
        try:
            return _run(args, is_process=arguments is None)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; Python must not fail again when it flushes at the end.
        sys.stdout = None
        return 141
    except OSError as error:
        if error.filename is not None:  # what goes wrong with a stream has no name
            raise
        _give_up_streams()
        return _refuse(f"what was to be printed could not be written: {error.strerror}")


def _open_streams() -> None:
    """A stream that the caller has closed is nothing to read, and nobody who reads."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            import os

            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _give_up_streams() -> None:
    """Let go of a stream that takes no more, as on a full disk; else Python would fail again at the end."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, None)
    _open_streams()


def _run(args: list[str], is_process: bool) -> int:
    if args == ["--version"]:
        from ..version import __version__

        print(f"foreword {__version__}")
        return 0
    if is_process:
        import gc

        gc.disable()  # a command is over before there is rubbish worth collecting
    from ..errors import ForewordError

    try:
        if not args or args[0] in _HELP:
            return _help(COMMANDS, _USAGE, 0 if args else 2)
        actions = {name: row for name, row in COMMANDS.items() if name.startswith(args[0] + " ")}
        if actions and (len(args) == 1 or args[1] in _HELP):
            usage = f"foreword {args[0]} ACTION [options]      foreword {args[0]} ACTION --help"
            return _help(actions, usage, 0 if args[1:] else 2)
        return _command(args)
    except ForewordError as error:
        return _refuse(str(error))


def _command(args: list[str]) -> int:
    """Find the family of the command, of one word or two, and let it read its arguments and do its work."""
    words = 2 if " ".join(args[:2]) in COMMANDS else 1
    name = " ".join(args[:words])
    if name not in COMMANDS:
        _unknown(args)
    family = family_of(name)
    from .options import read

    result: int = getattr(family, name.replace(" ", "_"))(read(family.parser_for(name), args[words:]))
    return result


def family_of(name: str) -> Any:
    """The module that a command lives in."""
    from importlib import import_module

    return import_module(f"foreword.cli.{COMMANDS[name][0]}")


def _unknown(args: list[str]) -> NoReturn:
    from ..errors import CallError, suggestion

    if args[0].startswith("-"):
        raise CallError(
            f"no option {args[0]!r}{suggestion(args[0], ())}; options follow a command (see foreword --help)"
        )
    actions = [name.partition(" ")[2] for name in COMMANDS if name.startswith(args[0] + " ")]
    if actions:
        action = args[1] if len(args) > 1 and not args[1].startswith("-") else ""
        raise CallError(f"foreword {args[0]} has no action {action!r}" + suggestion(action, actions))
    raise CallError(f"no command {args[0]!r}" + suggestion(args[0], COMMANDS))


def _help(commands: dict[str, tuple[str, str]], usage: str, status: int) -> int:
    """All commands, or the actions of one: asked for, or instead of a call that names none."""
    from .terminal import columns_of, fitted, is_terminal

    stream = sys.stderr if status else sys.stdout
    is_narrow = is_terminal(stream) and columns_of(stream) < len(usage)
    lines = [
        "Assembles the system prompt of coding agents, and can say where every character came from.",
        "",
        *(usage.split("      ") if is_narrow else [usage]),
        "",
    ]
    width = max(map(len, commands))
    print("\n".join(fitted(line, stream) for line in lines), file=stream)
    for name, (_, about) in commands.items():
        print(fitted(f"  {name:<{width}}  {about}", stream, indent=width + 4), file=stream)
    return status


def _refuse(sentence: str) -> int:
    from .terminal import fitted, painted, seen_by

    shown = seen_by(sys.stderr, sentence.encode("utf-8", "backslashreplace").decode())
    try:
        print(fitted(f"{painted('foreword:', 'red', sys.stderr)} {shown}", sys.stderr, indent=2), file=sys.stderr)
    except OSError:  # there is nobody to tell
        sys.stderr = None
    return 2
