"""What a person sees: colour and tables on a terminal, plain text when piped."""

from __future__ import annotations

import os
import sys

from ..findings import grouped
from ..text.lines import printable
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, TextIO

    from ..text.tokens import Count
    from ..vocabulary import Finding, Severity

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "dim": "2", "bold": "1"}
# The worst first, each with its colour.
SEVERITIES: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "dim"}


_USUAL_WIDTH = 80


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at the stream: then tables have a head, and lines fit the width."""
    return stream.isatty()


def has_colours(stream: TextIO) -> bool:
    """Whether the stream shows colours: a terminal does, unless it is a dumb one or `NO_COLOR` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns_of(stream: TextIO) -> int:
    """How wide the terminal is: what `COLUMNS` says, else what the terminal says."""
    named = os.environ.get("COLUMNS", "")
    if named.isascii() and named.isdecimal() and int(named) > 0:
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """The text in a colour, where a person looks at it."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and has_colours(stream or sys.stdout) else text


def write(text: str) -> None:
    """Print a text as UTF-8, byte by byte as it is, whatever the locale; with a line end if it has none."""
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
    """Print a text that others wrote: as it is, but on a terminal with its control characters shown, not carried out."""
    write(seen_by(sys.stdout, text))


def seen_by(stream: TextIO, text: str) -> str:
    """A text that others wrote, as it goes to a stream: byte by byte as it is, unless a terminal would obey it."""
    return visible(text, kept="\n\t") if stream.isatty() else text


def write_json(form: Any) -> None:
    """Print a value in its JSON form."""
    import json

    write(json.dumps(form, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def write_line(text: str, indent: int = 0) -> None:
    """Print a line; on a terminal it is wrapped between words, and its other lines are indented."""
    write(fitted(text, sys.stdout, indent))


def fitted(text: str, stream: TextIO, indent: int = 0) -> str:
    """The text as it goes to a stream: on a terminal in lines that fit, elsewhere as it is."""
    if not is_terminal(stream):
        return text
    from .columns import wrapped

    width = columns_of(stream)
    indent = min(indent, width // 2)
    return ("\n" + " " * indent).join(wrapped(text, width, width - indent))


def write_table(
    rows: Sequence[Sequence[str]],
    head: Sequence[str] = (),
    colours: Sequence[str] = (),
    right: Collection[int] = (),
    paths: Collection[int] = (),
    spare: Collection[int] = (),
    row_colours: Sequence[Mapping[int, str]] = (),
) -> None:
    """Print rows in columns. On a terminal the head is shown, columns have colours, and all fits the width.

    Numbers are aligned to the `right`; `paths` are shortened where others would be wrapped; columns that are `spare` are left
    out where there is no room for them. Where words would have to be broken, each row becomes a few lines. `row_colours` has
    the colours of cells that differ from those of their column.
    """
    from .columns import column_widths, is_too_wide, record_lines, table_lines

    if not rows:
        return
    rows = [[seen_by(sys.stdout, printable(cell)) for cell in row] for row in rows]
    is_shown = is_terminal(sys.stdout)
    width = columns_of(sys.stdout)
    if is_shown and spare and is_too_wide([*([head] if head else []), *rows], width):
        kept = [column for column in range(len(rows[0])) if column not in spare]
        new = {column: number for number, column in enumerate(kept)}
        write_table(
            [[row[column] for column in kept] for row in rows],
            [head[column] for column in kept] if head else (),
            [colours[column] for column in kept if column < len(colours)],
            [new[column] for column in right if column in new],
            [new[column] for column in paths if column in new],
            row_colours=[{new[column]: each for column, each in row.items() if column in new} for row in row_colours],
        )
        return
    widths = column_widths(head if is_shown else (), rows, width if is_shown else sys.maxsize, paths)
    lines: list[str] = []
    if head and is_shown and widths is not None:
        lines += table_lines(head, widths, lambda _, text: painted(text, "bold"), right)
    for number, row in enumerate(rows):
        own = row_colours[number] if row_colours else {}

        def paint(column: int, text: str, own: Mapping[int, str] = own) -> str:
            return painted(text, own.get(column) or (colours[column] if column < len(colours) else ""))

        if widths is None:
            lines += record_lines(head, row, width, paint, paths)
        else:
            lines += table_lines(row, widths, paint, right, paths)
    write("\n".join(lines))


def report(findings: Sequence[Finding], args: argparse.Namespace, every: bool = False) -> None:
    """Print findings to standard error, the worst first; infos are only counted, unless `every` one is wanted."""
    if not findings:
        return
    from .paths import paths_of

    paths = paths_of(args)
    for each in worst_first(grouped(findings)):
        if each.severity == "info" and not every:
            continue
        shown = replace(each, message=paths.in_text(seen_by(sys.stderr, each.message)), path=paths.short(each.path))
        write_error(painted_finding(shown, sys.stderr), indent=2)
    infos = sum(each.severity == "info" for each in findings)
    if infos and not every:
        write_error(painted(info_count(infos), SEVERITIES["info"], sys.stderr), indent=2)


def write_error(text: str, indent: int = 0) -> None:
    """Print a sentence to standard error, in lines that fit a terminal."""
    print(fitted(text, sys.stderr, indent).encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def info_count(count: int) -> str:
    """How many infos there are, and the command that shows them."""
    return "1 info; see it with foreword lint" if count == 1 else f"{count:,} infos; see them with foreword lint"


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings in the order in which a person wants to read them."""
    order = list(SEVERITIES)
    return sorted(findings, key=lambda each: order.index(each.severity))


def painted_finding(each: Finding, stream: TextIO) -> str:
    """A finding with its severity and code."""
    line = f"{each.path}:{each.line}: " if each.path and each.line and each.path not in each.message else ""
    severity = painted(each.severity, SEVERITIES[each.severity], stream)
    return f"{severity}: {line}{each.message} [{each.code}]"


def one_line(each: Finding) -> str:
    """A finding on one line of standard output, whatever it quotes."""
    return painted_finding(replace(each, message=visible(each.message.partition("\n")[0])), sys.stdout)


def visible(text: str, kept: str = "") -> str:
    """The text with control characters as `\\x1b`, so that none of them drives the terminal; `kept` are left as they are."""
    if text.isprintable():
        return text
    return "".join(f"\\x{ord(each):02x}" if _is_control(each) and each not in kept else each for each in text)


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"


def shown_time(time: str) -> str:
    """A time of the store: on a terminal to the minute, in the zone of the person who looks; elsewhere as it is."""
    if not is_terminal(sys.stdout):
        return time
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # no time was recorded
        return time


def told_count(count: Count) -> str:
    """A count with how sure it is."""
    return f"{count.count:,} tokens by {count.method}, {'exact' if count.exact else f'within {count.error:.0%}'}"
