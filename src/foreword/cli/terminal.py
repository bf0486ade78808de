"""What a person sees: colour and tables on a terminal, plain text when piped."""

from __future__ import annotations

import os
import sys

from ..findings import grouped
from ..vocabulary import printable, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TextIO

    from ..tokens import Count
    from ..vocabulary import Finding, Severity

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "dim": "2", "bold": "1"}
# The worst first, each with its colour.
SEVERITIES: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "dim"}


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at the stream. `NO_COLOR` and a dumb terminal count as no."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """The text in a colour, where a person looks at it."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and is_terminal(stream or sys.stdout) else text


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


def write_table(
    rows: Sequence[Sequence[str]], head: Sequence[str] = (), colours: Sequence[str] = (), right: Iterable[int] = ()
) -> None:
    """Print rows in columns. The last column is never padded; on a terminal the head is shown and columns have colours."""
    if not rows:
        return
    shown = is_terminal(sys.stdout)
    rows = [[printable(cell) for cell in row] for row in rows]
    lines = [list(head), *map(list, rows)] if head and shown else list(map(list, rows))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    numbers = set(right)
    text: list[str] = []
    for number, line in enumerate(lines):
        cells = []
        for column, cell in enumerate(line):
            is_last = column == len(line) - 1
            padded = (
                cell.rjust(widths[column]) if column in numbers else cell if is_last else cell.ljust(widths[column])
            )
            colour = "bold" if head and shown and number == 0 else colours[column] if column < len(colours) else ""
            cells.append(painted(padded, colour) if colour else padded)
        text.append("  ".join(cells).rstrip())
    write("\n".join(text))


def report(findings: Sequence[Finding]) -> None:
    """Print findings to standard error, the worst first."""
    for each in worst_first(grouped(findings)):
        line = painted_finding(replace(each, message=seen_by(sys.stderr, each.message)), sys.stderr)
        print(line.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


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


def short(path: str, folder: str = "") -> str:
    """A path as a person calls it: from the working directory or from the home directory on."""
    home = os.path.expanduser("~").rstrip("/")
    if folder and path.startswith(folder.rstrip("/") + "/"):
        return path[len(folder.rstrip("/")) + 1 :]
    return "~" + path[len(home) :] if home and path.startswith(home + "/") else path


def told_count(count: Count) -> str:
    """A count with how sure it is."""
    return f"{count.count:,} tokens by {count.method}, {'exact' if count.exact else f'within {count.error:.0%}'}"
