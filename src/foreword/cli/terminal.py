"""Print for people: colours and tables on a terminal, plain text when piped."""

from __future__ import annotations

import os
import sys

from ..findings import merge_repeated
from ..text.lines import printable
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, TextIO

    from ..vocabulary import Finding, Severity
    from .arguments import Namespace

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "dim": "2", "bold": "1"}
# From worst to mildest, with their colours.
SEVERITIES: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "dim"}


_DEFAULT_WIDTH = 80


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal, on which tables have a header and lines fit the width."""
    return stream.isatty()


def has_colours(stream: TextIO) -> bool:
    """Whether the stream shows colours: a terminal does, unless it is dumb or `NO_COLOR` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns_of(stream: TextIO) -> int:
    """The width of the terminal: `COLUMNS`, otherwise what the terminal reports."""
    setting = os.environ.get("COLUMNS", "")
    if setting.isascii() and setting.isdecimal() and int(setting) > 0:
        return int(setting)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """The text in a colour, if the stream shows colours."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and has_colours(stream or sys.stdout) else text


def write(text: str) -> None:
    """Print text as UTF-8, whatever the locale, with a final newline if it has none."""
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
    """Print untrusted text. A terminal gets its control characters escaped."""
    write(seen_by(sys.stdout, text))


def write_parts(text: str, passages: Sequence[tuple[int, str, int]]) -> None:
    """Print a prompt, whose passages are each a start, a role and the number of a message.

    A terminal gets a heading before each message; everything else gets the text alone.
    """
    at = message = 0
    for start, role, number in passages if is_terminal(sys.stdout) else ():
        if number != message:
            if start:
                write_text(text[at:start].rstrip("\n"))
                write("\n")
            write(painted(f"[{role}]", "dim"))
            at, message = start, number
    write_text(text[at:])


def seen_by(stream: TextIO, text: str) -> str:
    """Untrusted text for a stream: unchanged, but with control characters escaped for a terminal."""
    return visible(text, keep="\n\t") if stream.isatty() else text


def write_json(form: Any) -> None:
    """Print a value as JSON."""
    import json

    write(json.dumps(form, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def write_line(text: str, indent: int = 0) -> None:
    """Print a line; on a terminal it is wrapped, and later lines are indented."""
    write(fitted(text, sys.stdout, indent))


def fitted(text: str, stream: TextIO, indent: int = 0) -> str:
    """Text for a stream: wrapped to the width of a terminal, otherwise unchanged."""
    if not is_terminal(stream):
        return text
    from .columns import wrapped

    width = columns_of(stream)
    indent = min(indent, width // 2)
    return ("\n" + " " * indent).join(wrapped(text, width, width - indent))


def write_table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    colours: Sequence[str] = (),
    right: Collection[int] = (),
    paths: Collection[int] = (),
    spare: Collection[int] = (),
    row_colours: Sequence[Mapping[int, str]] = (),
) -> None:
    """Print rows in columns. On a terminal they fit the width and have a header and colours.

    Columns in `right` are aligned to the right, those in `paths` are shortened rather than wrapped, and those in `spare` are
    dropped if there is no room. `row_colours` overrides the `colours` of columns for single cells.
    """
    from .tables import Table

    if not rows:
        return
    cells = [[seen_by(sys.stdout, printable(cell)) for cell in row] for row in rows]
    table = Table(painted, cells, header, colours, right, paths, row_colours)
    if not is_terminal(sys.stdout):
        write("\n".join(table.plain_lines()))
        return
    width = columns_of(sys.stdout)
    table = table.without(spare) if spare and table.is_wider_than(width) else table
    write("\n".join(table.fitted_lines(width)))


def report(findings: Sequence[Finding], args: Namespace, every: bool = False) -> None:
    """Print findings to standard error, the worst first. Infos are only counted, unless `every` is set."""
    if not findings:
        return
    from .paths import paths_of

    paths = paths_of(args)
    for finding in worst_first(merge_repeated(findings)):
        if finding.severity == "info" and not every:
            continue
        shown = replace(
            finding, message=paths.in_text(seen_by(sys.stderr, finding.message)), path=paths.short(finding.path)
        )
        write_error(painted_finding(shown, sys.stderr), indent=2)
    infos = sum(finding.severity == "info" for finding in findings)
    if infos and not every:
        write_error(painted(info_count(infos, args), SEVERITIES["info"], sys.stderr), indent=2)


def write_error(text: str, indent: int = 0) -> None:
    """Print a sentence to standard error, wrapped to the width of a terminal."""
    print(fitted(text, sys.stderr, indent).encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def info_count(count: int, args: Namespace) -> str:
    """The number of infos, and the command that lists them."""
    folder = f" {args.dir}" if getattr(args, "dir", ".") != "." else ""
    layout = f" --layout {args.layout}" if args.layout else ""
    return f"{count:,} {'info' if count == 1 else 'infos'}; see foreword lint{printable(folder + layout)}"


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, from worst to mildest."""
    order = list(SEVERITIES)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def painted_finding(finding: Finding, stream: TextIO) -> str:
    """A finding with its severity, location and code."""
    place = ""
    if finding.path and finding.line and (finding.column or finding.path not in finding.message):
        place = f"{finding.path}:{finding.line}:{f'{finding.column}:' if finding.column else ''} "
    severity = painted(finding.severity, SEVERITIES[finding.severity], stream)
    return f"{severity}: {place}{finding.message} [{finding.code}]"


def one_line(finding: Finding) -> str:
    """A finding on one line of standard output, even if it quotes several."""
    return painted_finding(replace(finding, message=visible(finding.message.partition("\n")[0])), sys.stdout)


def visible(text: str, keep: str = "") -> str:
    """The text with control characters escaped, such as `\\x1b`, except those in `keep`."""
    if text.isprintable():
        return text
    return "".join(
        f"\\x{ord(character):02x}" if _is_control(character) and character not in keep else character
        for character in text
    )


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"


def shown_time(time: str) -> str:
    """A stored time: on a terminal to the minute in the local zone, otherwise unchanged."""
    if not is_terminal(sys.stdout):
        return time
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # the time was not recorded
        return time


def count_sentence(count: int, method: str, error: float, model: str) -> str:
    """A token count with its method, and with its accuracy if a model was named."""
    accuracy = f", within {error:.0%}" if error else ", exact"
    return f"{count:,} tokens by {method}{accuracy if model else ''}"
