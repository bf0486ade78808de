"""`foreword agents`: a table of instruction files and released agents."""

from __future__ import annotations

import sys

from ..inspection.agents import LOADED
from ..programs.subjects import is_folder
from ..vocabulary import replace
from .columns import GAP, middle_cut, padded, width_of
from .options import new_parser, status, with_dir
from .terminal import (
    columns_of,
    is_terminal,
    painted,
    report,
    seen_by,
    write,
    write_error,
    write_json,
    write_line,
    write_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.agents import AgentTable, Verdict
    from ..programs.agents import AgentReport
    from .arguments import Namespace, Parser

_COLOURS = {
    "loaded": "green",
    "cut": "yellow",
    "on-touch": "cyan",
    "shadowed": "yellow",
    "refused": "red",
    "unreadable": "red",
}
_LEGEND = {
    "elsewhere": "elsewhere: only an agent that works in or below that folder reads it",
    "copy": "copy: the agent has the same text from another file",
}
_USUAL_WIDTH = 80
_NARROWEST_PATH = 28


def parser_for(command: str) -> Parser:
    """The parser of the command."""
    parser = with_dir(
        new_parser(
            command, several_layouts="a layout to show instead of the agents that were detected; may be repeated"
        )
    )
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="PATH", help="only these files, with a sentence about each agent"
    )
    parser.add_argument(
        "--all", action="store_true", help="every agent, not only those that the repository seems to use"
    )
    parser.add_argument(
        "--format", default="text", choices=("text", "json", "markdown"), metavar="NAME", help="text, json or markdown"
    )
    return parser


def agents(args: Namespace) -> int:
    """`foreword agents [DIR] [PATH…]`; a first argument that is not a directory is a PATH."""
    from ..programs.agents import agent_report
    from ..programs.questions import agents_answer

    if not is_folder(args.dir):
        args.paths, args.dir = [args.dir, *args.paths], "."
    fields = {"cwd": args.dir, "layouts": args.layouts, "paths": args.paths, "all": args.all}
    found = agent_report(args.question.with_fields(**fields))
    if args.json or args.format == "json":
        write_json(agents_answer(found))
        return status(found.findings, args)
    if not found.table.agents:
        write_error("the repository shows no sign of a known agent; --all shows what every agent would read")
    elif args.format == "markdown":
        _write_markdown(found, args)
    elif found.paths:
        _write_sentences(found, args)
    else:
        _write_text(found, args)
    sys.stdout.flush()
    report(found.findings, args)
    return status(found.findings, args)


def _short(path: str, found: AgentReport, home: str) -> str:
    """A path relative to the root, `~/…` in the home directory, absolute elsewhere."""
    for start, instead in ((found.root, ""), (home, "~/")):
        if start and path.startswith(start.rstrip("/") + "/"):
            return instead + path[len(start.rstrip("/")) + 1 :]
    return path


def _home(args: Namespace) -> str:
    from .paths import paths_of

    return paths_of(args).home


def _cell(verdict: Verdict) -> str:
    if verdict.name == "cut":
        return f"cut {verdict.cut}%"
    return "on touch" if verdict.name == "on-touch" else verdict.name


def _notes(found: AgentReport, shown: Sequence[str]) -> list[str]:
    """Lines below the table: the patterns for which files wait, and what the rarer verdicts mean."""
    lines: dict[str, None] = {}
    for row, path in zip(found.table.rows, shown, strict=True):
        for verdict in row.verdicts:
            if verdict.name == "on-touch" and verdict.target:
                lines[f"on touch: {path} waits for {verdict.target}"] = None
    names = {verdict.name for row in found.table.rows for verdict in row.verdicts}
    return [*lines, *(text for name, text in _LEGEND.items() if name in names)]


# Text


def _write_text(found: AgentReport, args: Namespace) -> None:
    home = _home(args)
    shown = [seen_by(sys.stdout, _short(row.path, found, home)) for row in found.table.rows]
    width = _width()
    for number, columns in enumerate(_divided(found.table, shown, width)):
        if number:
            write("\n")
        _write_columns(found.table, shown, columns, width)
    if found.table.rows:
        write("\n")
    for line in _notes(found, shown):
        write_line(line, indent=2)
    error = found.table.agents[0].tokens.error
    write_line(f"tokens: an estimate, within {error:.0%}, of the instructions in each prompt")
    if found.others:
        write_line(f"not shown: {', '.join(found.others)} (--all shows them)", indent=2)


def _divided(table: AgentTable, shown: Sequence[str], width: int) -> list[list[int]]:
    """The columns of agents, in as many tables as the width needs, each with about as many columns."""
    widths = [_column_width(table, column) + GAP for column in range(len(table.agents))]
    longest = max(map(width_of, ("tokens", *shown)))
    room = max(width - min(longest, _NARROWEST_PATH), max(widths))
    size = len(widths)
    while any(sum(widths[start : start + size]) > room for start in range(0, len(widths), size)):
        size -= 1
    size = -(-len(widths) // -(-len(widths) // size))
    columns = list(range(len(widths)))
    return [columns[start : start + size] for start in range(0, len(widths), size)]


def _column_width(table: AgentTable, column: int) -> int:
    cells = [_cell(row.verdicts[column]) for row in table.rows]
    return max(map(width_of, (table.agents[column].name, f"{table.agents[column].tokens.count:,}", *cells)))


def _write_columns(table: AgentTable, shown: Sequence[str], columns: Sequence[int], width: int) -> None:
    widths = [_column_width(table, column) for column in columns]
    room = max(width - sum(widths) - GAP * len(widths), _NARROWEST_PATH)
    first = min(max(map(width_of, ("tokens", *shown))), room)

    def line(start: str, cells: Sequence[str], colours: Sequence[str], colour: str = "") -> str:
        parts = [painted(padded(cell, wide), each) for cell, wide, each in zip(cells, widths, colours, strict=True)]
        return (" " * GAP).join((painted(padded(middle_cut(start, first), first), colour), *parts)).rstrip()

    plain = ["" for _ in columns]
    write(line("file", [table.agents[column].name for column in columns], ["bold" for _ in columns], "bold"))
    for path, row in zip(shown, table.rows, strict=True):
        verdicts = [row.verdicts[column] for column in columns]
        write(
            line(
                path,
                [_cell(verdict) for verdict in verdicts],
                [_COLOURS.get(verdict.name, "dim") for verdict in verdicts],
            )
        )
    write(line("tokens", [f"{table.agents[column].tokens.count:,}" for column in columns], plain, "bold"))


def _write_sentences(found: AgentReport, args: Namespace) -> None:
    from ..inspection.agent_rules import sentence_of
    from .paths import paths_of

    paths, home = paths_of(args), _home(args)
    for number, row in enumerate(found.table.rows):
        if number:
            write("\n")
        write_line(painted(seen_by(sys.stdout, _short(row.path, found, home)), "bold"))
        write_table(
            [
                (f"  {view.name}", _cell(verdict), paths.in_text(sentence_of(view, row.path, verdict)))
                for view, verdict in zip(found.table.agents, row.verdicts, strict=True)
            ],
            colours=("", "", "dim"),
            row_colours=[{1: _COLOURS.get(verdict.name, "dim")} for verdict in row.verdicts],
        )


def write_comparison(found: AgentReport, args: Namespace) -> None:
    """Print the files that only one of two agents loads, and how many both load."""
    loaded = [row for row in found.table.rows if any(verdict.name in LOADED for verdict in row.verdicts)]
    same = [row for row in loaded if all(verdict.name == "loaded" for verdict in row.verdicts)]
    different = [row for row in loaded if row not in same]
    write("\n")
    if different:
        home = _home(args)
        shown = [seen_by(sys.stdout, _short(row.path, found, home)) for row in different]
        table = replace(found.table, rows=different)
        _write_columns(table, shown, range(len(table.agents)), _width())
        write("\n")
    both = f"{len(same):,} file{' is' if len(same) == 1 else 's are'} loaded by both"
    write_line(both if same else "no file is loaded by both")


def _width() -> int:
    return columns_of(sys.stdout) if is_terminal(sys.stdout) else _USUAL_WIDTH


# Markdown


def _write_markdown(found: AgentReport, args: Namespace) -> None:
    from ..inspection.agent_rules import sentence_of

    home = _home(args)
    shown = [_short(row.path, found, home) for row in found.table.rows]
    if found.paths:
        for path, row in zip(shown, found.table.rows, strict=True):
            write(f"`{_escaped(path)}`\n")
            for view, verdict in zip(found.table.agents, row.verdicts, strict=True):
                write(f"- **{view.name}** {_escaped(sentence_of(view, row.path, verdict))}\n")
        return
    rows = [["file", *(view.name for view in found.table.agents)], ["---" for _ in (0, *found.table.agents)]]
    rows += [[f"`{path}`", *map(_cell, row.verdicts)] for path, row in zip(shown, found.table.rows, strict=True)]
    rows.append(["**tokens**", *(f"{view.tokens.count:,}" for view in found.table.agents)])
    for cells in rows:
        write(f"| {' | '.join(map(_escaped, cells))} |\n")
    notes = _notes(found, shown)
    if notes:
        write("\n" + "".join(f"- {_escaped(line)}\n" for line in notes))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
