"""The command line. Each module implements one family of commands, which parse arguments, call a function and print the result.

To start fast, only the requested family is imported, and only the requested command's parser is built.
"""

from __future__ import annotations

import sys

from .commands import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_HELP = ("-h", "--help", "help")
_SUMMARY = "See what your coding agents read and cost, and build prompts of your own. Begin with `foreword agents`."
_USAGE = "foreword COMMAND [DIR] [options]      foreword COMMAND --help      foreword --version"
# The commands that print what the `listing` of an error names.
_LISTS = {
    "templates": "foreword template list",
    "conversations": "foreword conversation list",
    "prompts": "foreword conversation list --json",
    "keys": "foreword layouts NAME",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns 0 for success, 1 for an error finding with --strict, 2 for an invalid call."""
    args = sys.argv[1:] if arguments is None else arguments
    _open_streams()
    if arguments is None:
        import gc

        gc.disable()  # a command ends before there is garbage worth collecting
    try:
        try:
            return _run(args)
        finally:
            sys.stdout.flush()
            if arguments is None:
                gc.freeze()  # skip the collection at exit too
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has closed the pipe; without this, Python would fail again when it flushes at exit.
        sys.stdout = None
        return 141
    except OSError as error:
        if error.filename is not None:  # only stream errors have no file name
            raise
        _drop_broken_streams()
        return _report_error(f"the output could not be written: {error.strerror}")


def _open_streams() -> None:
    """Replace streams that the caller has closed with the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            import os

            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _drop_broken_streams() -> None:
    """Drop streams that cannot be written to, for example because the disk is full, so that Python does not fail again at exit."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, None)
    _open_streams()


def _run(arguments: list[str]) -> int:
    """Run a command or print help. An invalid call is reported in one sentence on standard error."""
    if arguments == ["--version"]:
        from .. import __version__

        print(f"foreword {__version__}")
        return 0
    from ..errors import ForewordError

    try:
        if not arguments or arguments[0] in _HELP:
            return _print_help("", 0 if arguments else 2)
        is_family = any(name.startswith(arguments[0] + " ") for name in COMMANDS)
        if is_family and (len(arguments) == 1 or arguments[1] in _HELP):
            return _print_help(arguments[0], 0 if arguments[1:] else 2)
        return _run_command(arguments)
    except ForewordError as error:
        return _report_error(str(error) + (f"; see {_LISTS[error.listing]}" if error.listing else ""))


def _run_command(arguments: list[str]) -> int:
    """Run a command, whose name may be one or two words. Only its family is imported."""
    word_count = 2 if " ".join(arguments[:2]) in COMMANDS else 1
    name = " ".join(arguments[:word_count])
    if name not in COMMANDS:
        _raise_unknown_command(arguments)
    family = family_of(name)
    from .options import parse_args

    parser, rest = family.parser_for(name), arguments[word_count:]
    if hasattr(family, "configured"):
        rest = family.configured(parser, rest)
    result: int = getattr(family, name.replace(" ", "_"))(parse_args(parser, rest))
    return result


def family_of(name: str) -> Any:
    """Return the module that implements a command."""
    module = f"foreword.cli.{COMMANDS[name][0]}"
    __import__(module)  # avoids loading `importlib`
    return sys.modules[module]


def _raise_unknown_command(arguments: list[str]) -> NoReturn:
    from ..errors import CallError, suggestion

    if arguments[0].startswith("-"):
        raise CallError(f"unknown option {arguments[0]!r}; options follow the command (see foreword --help)")
    actions = [name.partition(" ")[2] for name in COMMANDS if name.startswith(arguments[0] + " ")]
    if actions:
        action = arguments[1] if len(arguments) > 1 and not arguments[1].startswith("-") else ""
        raise CallError(f"unknown action {action!r} for foreword {arguments[0]}" + suggestion(action, actions))
    raise CallError(f"unknown command {arguments[0]!r}" + suggestion(arguments[0], COMMANDS))


def _print_help(family: str, status: int) -> int:
    """Print all commands in groups, or the actions of one family of commands."""
    from .terminal import is_terminal, paint, terminal_width, wrap_for

    stream = sys.stderr if status else sys.stdout
    usage = f"foreword {family} ACTION [options]      foreword {family} ACTION --help" if family else _USAGE
    is_narrow = is_terminal(stream) and terminal_width(stream) < len(usage)
    print(wrap_for(_SUMMARY, stream), "", *(usage.split("      ") if is_narrow else [usage]), sep="\n", file=stream)
    groups = _actions(family) if family else _groups()
    width = max(len(name) for rows in groups.values() for name, _ in rows)
    for title, rows in groups.items():
        print("", *([paint(title, "bold", stream)] if title else []), sep="\n", file=stream)
        for name, about in rows:
            print(wrap_for(f"  {name:<{width}}  {about}", stream, indent=width + 4), file=stream)
    return status


def _groups() -> dict[str, list[tuple[str, str]]]:
    """Return the commands of each group with their descriptions. A family of commands is one row."""
    from .commands import FAMILIES, GROUPS

    rows = {name: (name, row[1]) for name, row in COMMANDS.items()}
    rows |= {name: (f"{name} …", about) for name, about in FAMILIES.items()}
    return {title: [rows[name] for name in names] for title, names in GROUPS.items()}


def _actions(family: str) -> dict[str, list[tuple[str, str]]]:
    names = [name for name in COMMANDS if name.startswith(f"{family} ")]
    return {"": [(name.partition(" ")[2], COMMANDS[name][1]) for name in names]}


def _report_error(sentence: str) -> int:
    """Print an error message to standard error. Returns the exit status, 2."""
    from .terminal import escape_for, paint, wrap_for

    escaped = escape_for(sys.stderr, sentence.encode("utf-8", "backslashreplace").decode())
    try:
        print(wrap_for(f"{paint('foreword:', 'red', sys.stderr)} {escaped}", sys.stderr, indent=2), file=sys.stderr)
    except OSError:  # standard error is closed
        sys.stderr = None
    return 2
