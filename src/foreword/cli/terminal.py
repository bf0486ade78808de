"""Print human-readable output: colours and tables on a terminal, plain text when piped."""

from __future__ import annotations

import os
import sys

from ..findings import merge_repeated
from ..text.lines import escape_controls, printable
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, TextIO

    from ..vocabulary import Finding, Severity
    from ..wire.forms import CountedTool, OwnPartForm
    from .arguments import Namespace

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "dim": "2", "bold": "1"}
# From most to least severe, with their colours.
SEVERITIES: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "dim"}


_DEFAULT_WIDTH = 80


def count_of(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal, which gets table headers and lines wrapped to its width."""
    return stream.isatty()


def shows_colours(stream: TextIO) -> bool:
    """Whether to print colours: on a terminal that is not dumb, or anywhere if `FORCE_COLOR` is set, but not if `NO_COLOR` is set."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    return forced not in ("", "0", "false") or (stream.isatty() and os.environ.get("TERM") != "dumb")


def terminal_width(stream: TextIO) -> int:
    """Return the terminal's width in columns: `COLUMNS` if it is set, otherwise what the terminal reports."""
    setting = os.environ.get("COLUMNS", "")
    if setting.isascii() and setting.isdecimal() and int(setting) > 0:
        return int(setting)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def terminal_height(stream: TextIO) -> int | None:
    """Return the terminal's height in lines, or None if the stream is not a terminal."""
    if not is_terminal(stream):
        return None
    try:
        return os.get_terminal_size(stream.fileno()).lines or None
    except (OSError, ValueError):
        return None


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Return the text in a colour, if the stream (by default standard output) supports colours."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and shows_colours(stream or sys.stdout) else text


def write(text: str) -> None:
    """Print text as UTF-8, regardless of the locale, with a final newline if it has none."""
    if not text:
        return
    data = text.encode("utf-8", "backslashreplace")
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode() if text.endswith("\n") else data.decode() + "\n")
    else:
        buffer.write(data if text.endswith("\n") else data + b"\n")


def write_text(text: str) -> None:
    """Print untrusted text, with control characters escaped if standard output is a terminal."""
    write(escape_for(sys.stdout, text))


def write_parts(text: str, passages: Sequence[tuple[int, str, int]]) -> None:
    """Print a prompt. Each passage is a tuple of its start, role and message number.

    On a terminal, each message has a heading; otherwise only the text is printed.
    """
    position = message = 0
    for start, role, number in passages if is_terminal(sys.stdout) else ():
        if number != message:
            if start:
                write_text(text[position:start].rstrip("\n"))
                write("\n")
            write(paint(f"[{role}]", "dim"))
            position, message = start, number
    write_text(text[position:])


def escape_for(stream: TextIO, text: str) -> str:
    """Return the text with control characters escaped if the stream is a terminal, otherwise unchanged."""
    return escape_controls(text, keep="\n\t") if stream.isatty() else text


def write_json(form: Any) -> None:
    """Print a value as JSON."""
    import json

    write(json.dumps(form, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def announce(form: Any, text: str, is_json: bool) -> None:
    """Print where a server listens, as JSON or as text, and flush: the server runs until it is stopped."""
    if is_json:
        write_json(form)
    else:
        write(text)
    sys.stdout.flush()


def write_line(text: str, indent: int = 0) -> None:
    """Print a line. On a terminal it is wrapped, with every line but the first indented."""
    write(wrap_for(text, sys.stdout, indent))


def table_width() -> int:
    """Return the width of tables and of the notes below them, which is also limited if the output is not a terminal."""
    return terminal_width(sys.stdout) if is_terminal(sys.stdout) else _DEFAULT_WIDTH


def write_note(text: str) -> None:
    """Print a note below a table, wrapped to the table's width."""
    from .columns import wrap

    write("\n  ".join(wrap(text, table_width(), table_width() - 2)))


def wrap_for(text: str, stream: TextIO, indent: int = 0) -> str:
    """Return the text, wrapped to the width if the stream is a terminal, otherwise unchanged."""
    if not is_terminal(stream):
        return text
    from .columns import wrap

    width = terminal_width(stream)
    indent = min(indent, width // 2)
    return ("\n" + " " * indent).join(wrap(text, width, width - indent))


def write_table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    colours: Sequence[str] = (),
    right: Collection[int] = (),
    paths: Collection[int] = (),
    optional: Sequence[int] = (),
    row_colours: Sequence[Mapping[int, str]] = (),
    always_header: bool = False,
) -> None:
    """Print rows in columns. On a terminal, the table fits the width and has a header and colours.

    Columns in `right` are right-aligned, those in `paths` are shortened instead of wrapped, and those in `optional` are dropped one after
    the other until there is room. `colours` are per column; `row_colours` override them for individual cells. `always_header` also prints the header in
    a pipe, for text that people read there and programs do not.
    """
    from .tables import Table

    if not rows:
        return
    if always_header and not is_terminal(sys.stdout):
        rows = [header, *rows]
    cells = [[escape_for(sys.stdout, printable(cell)) for cell in row] for row in rows]
    table = Table(paint, cells, header, colours, right, paths, row_colours)
    if not is_terminal(sys.stdout):
        write("\n".join(table.plain_lines()))
        return
    width = terminal_width(sys.stdout)
    fitted = table
    for count in range(1, len(optional) + 1):
        if not fitted.is_wider_than(width):
            break
        fitted = table.without_columns(optional[:count])
    write("\n".join(fitted.fitted_lines(width)))


def report(findings: Sequence[Finding], args: Namespace, with_infos: bool = False) -> None:
    """Print findings to standard error, most severe first. Infos are only counted, unless `with_infos` is set."""
    if not findings:
        return
    from .paths import paths_of

    paths = paths_of(args)
    for finding in worst_first(merge_repeated(findings)):
        if finding.severity == "info" and not with_infos:
            continue
        shortened = replace(
            finding, message=paths.shorten_in(escape_for(sys.stderr, finding.message)), path=paths.shorten(finding.path)
        )
        write_error(format_finding(shortened, sys.stderr), indent=2)
    infos = sum(finding.severity == "info" for finding in findings)
    if infos and not with_infos:
        write_error(paint(describe_infos(infos, args), SEVERITIES["info"], sys.stderr), indent=2)


def write_error(text: str, indent: int = 0) -> None:
    """Print a message to standard error, wrapped if that is a terminal. Standard output is flushed first, to keep the order."""
    sys.stdout.flush()
    print(wrap_for(text, sys.stderr, indent).encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def describe_infos(count: int, args: Namespace) -> str:
    """Return how many infos there are, and the command that lists them."""
    folder = f" {args.dir}" if getattr(args, "dir", ".") != "." else ""
    layout = f" --layout {args.layout}" if args.layout else ""
    return f"{count:,} {'info' if count == 1 else 'infos'}; see foreword lint{printable(folder + layout)} --min-severity info"


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, most severe first."""
    order = list(SEVERITIES)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def format_finding(finding: Finding, stream: TextIO) -> str:
    """Return a finding with its severity, location and code."""
    numbers = [str(number) for number in (finding.line, finding.column) if number]
    is_named = finding.path in finding.message and not finding.column
    location = "" if is_named or not finding.path else ":".join([finding.path, *numbers]) + ": "
    severity = paint(finding.severity, SEVERITIES[finding.severity], stream)
    return f"{severity}: {location}{finding.message} [{finding.code}]"


def finding_line(finding: Finding) -> str:
    """Return the finding as one line for standard output, with only the first line of its message."""
    return format_finding(replace(finding, message=escape_controls(finding.message.partition("\n")[0])), sys.stdout)


def format_time(time: str) -> str:
    """Return a stored time, converted to local time and rounded to the minute on a terminal."""
    if not is_terminal(sys.stdout):
        return time
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # the time was not recorded
        return time


def describe_count(count: int, method: str, error: float, model: str) -> str:
    """Return a token count with its method, and with its accuracy if a model was specified."""
    accuracy = f", within {error:.0%}" if error else ", exact"
    return f"{count:,} tokens by {method}{accuracy if model else ''}"


def describe_own_part(own: OwnPartForm) -> str:
    """Return what a mirrored program sends in addition to what its layout shows."""
    return f"{own['prompt'] + own['tools']:,} more are {own['program']}'s own: {own['prompt']:,} of prompt, {own['tools']:,} of tools"


def describe_tools(tools: Sequence[CountedTool]) -> str:
    """Return the number of tools and the tokens of their definitions, in total and by MCP server."""
    from ..wire.counting import counts_by_server

    by_server = counts_by_server(tools)
    total = f"{len(tools):,} tool{'' if len(tools) == 1 else 's'}, {sum(tool['tokens'] for tool in tools):,} tokens"
    if not any(by_server):
        return total
    largest = sorted(by_server.items(), key=lambda row: -row[1][1])
    parts = [f"{server or 'without a server'} {tokens:,}" for server, (_, tokens) in largest]
    return f"{total}: {', '.join(parts)}"
