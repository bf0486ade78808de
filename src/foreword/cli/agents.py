"""`foreword agents`: a table that shows which instruction files each released agent reads."""

from __future__ import annotations

import os
import sys

from ..inspection.agents import LOADED_VERDICTS
from ..programs.subjects import is_folder
from ..text import regex
from ..vocabulary import replace
from .columns import GAP, display_width, pad, shorten_middle
from .folding import fold
from .options import add_dir_argument, new_parser, status
from .progress import CountedWork, Counter
from .terminal import (
    escape_for,
    paint,
    report,
    table_width,
    terminal_height,
    write,
    write_error,
    write_json,
    write_line,
    write_note,
    write_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..inspection.agents import AgentTable, AgentView, FileRow, Verdict
    from ..programs.agents import AgentReport
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "agents": (
        "What your agents read",
        "show which instruction files each released agent reads",
        "foreword agents . --all",
        "AgentsForm",
    ),
}

_COLOURS = {
    "loaded": "green",
    "cut": "yellow",
    "on-touch": "cyan",
    "shadowed": "yellow",
    "refused": "red",
    "unreadable": "red",
}
_LEGEND = {
    "shadowed": "shadowed: the agent takes another file instead; foreword why says which",
    "elsewhere": "elsewhere: only an agent that works in or below that folder reads it",
    "copy": "copy: the agent has the same text from another file",
}
_MIN_PATH_WIDTH = 28
_MAX_DIFFERENT_LINES = 20
_MAX_NOTES = 8
# The lines of each table besides its rows, and those that a compact table leaves for notes and the shell's prompt.
_LINES_AROUND = 5
_COMPACT_NOTES = 6
_TOKENS_ROW, _OWN_ROW = "tokens", "the agent's own"


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = add_dir_argument(
        new_parser(
            command, several_layouts="a layout to show instead of the agents that were detected; may be repeated"
        )
    )
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="PATH", help="show only these files, with a sentence about each agent"
    )
    parser.add_argument(
        "--all", action="store_true", help="show every agent, not only those that the repository seems to use"
    )
    about = "add what each file cost in the sessions of the last 30 days"
    parser.add_argument("--cost", action="store_true", help=about)
    parser.add_argument(
        "--format", default="text", choices=("text", "json", "markdown"), metavar="NAME", help="text, json or markdown"
    )
    return parser


def agents(args: Namespace) -> int:
    """`foreword agents [DIR] [PATH…]`; a first argument that is not a directory is a PATH."""
    from ..programs.agents import agent_report

    if not is_folder(args.dir):
        args.paths, args.dir = [args.dir, *args.paths], "."
    fields = {"cwd": args.dir, "layouts": args.layouts, "paths": args.paths, "all": args.all}
    with CountedWork("comparing agents"):
        result = agent_report(args.question.with_fields(**fields))
    if args.json or args.format == "json":
        from ..programs.questions import agents_answer

        write_json(agents_answer(result, _costs(result, args) if args.cost else None))
        return status(result.findings, args)
    if not result.table.agents:
        write_error("no known agent was detected in this repository; --all shows what every agent would read")
    elif args.format == "markdown":
        _write_markdown(result, args)
    elif result.paths:
        _write_sentences(result, args)
    else:
        _write_text(result, args)
    report(result.findings, args)
    return status(result.findings, args)


def _costs(result: AgentReport, args: Namespace) -> dict[str, float | None]:
    """Return what the files in the table cost in the last 30 days. A file that no session read is left out."""
    from ..programs.sessions import file_costs

    with Counter("reading logs") as progress:
        question = args.question.with_fields(cwd=args.dir, progress=progress)
        return file_costs(question, [row.path for row in result.table.rows])


def _short_path(path: str, result: AgentReport, home: str) -> str:
    """Return the path relative to the root, as `~/…` in the home directory, or absolute if it is in neither."""
    for folder, prefix in ((result.root, ""), (home, "~/")):
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return prefix + path[len(folder.rstrip("/")) + 1 :]
    return path


def _home_folder(args: Namespace) -> str:
    from .paths import paths_of

    return paths_of(args).home


def _cell(verdict: Verdict) -> str:
    if verdict.name == "cut":
        return f"cut {verdict.cut}%"
    return "on touch" if verdict.name == "on-touch" else verdict.name


def _notes(result: AgentReport, short_paths: Sequence[str]) -> list[str]:
    """Return the notes below the table: which patterns activate files "on touch", why rules are never sent, and what other verdicts mean."""
    waiting, has_nested = _waiting_files(result, short_paths)
    lines = [line for target, paths in waiting.items() for line in _waiting_notes(list(paths), target)]
    verdicts = [verdict for row in result.table.rows for verdict in row.verdicts]
    if has_nested:
        lines.append(
            f"on touch: {'others are' if lines else 'it is'} added when the agent reads a file in or below that folder"
        )
    names = {verdict.name for verdict in verdicts}
    legend = (text for name, text in _LEGEND.items() if name in names)
    return [*lines, *_notes_on_unsent_rules(result, short_paths), *legend]


def _waiting_files(result: AgentReport, short_paths: Sequence[str]) -> tuple[dict[str, dict[str, None]], bool]:
    """Return the files that wait for a touch, by pattern, and whether others wait for a file in their own folder."""
    waiting: dict[str, dict[str, None]] = {}
    has_nested = False
    for row, path in zip(result.table.rows, short_paths, strict=True):
        for verdict in row.verdicts:
            is_nested = verdict.target in ("", f"{path.rpartition('/')[0]}/**")
            if verdict.name == "on-touch" and not is_nested:
                waiting.setdefault(verdict.target, {})[path] = None
            has_nested = has_nested or (verdict.name == "on-touch" and is_nested)
    return waiting, has_nested


def _waiting_notes(paths: Sequence[str], target: str) -> list[str]:
    """Return a note for each of the files that wait for this pattern, or one for all if they are many."""
    if len(paths) > 2:
        return [f"on touch: {paths[0]} and {len(paths) - 1} more wait for {target}"]
    return [f"on touch: {path} waits for {target}" for path in paths]


def _notes_on_unsent_rules(result: AgentReport, short_paths: Sequence[str]) -> list[str]:
    """Return why rules for certain paths are never sent."""
    notes = (
        f"never: {path}: {verdict.reason}"
        for row, path in zip(result.table.rows, short_paths, strict=True)
        for verdict in row.verdicts
        if verdict.name == "never" and verdict.reason
    )
    return list(dict.fromkeys(notes))


# Text


def _write_text(result: AgentReport, args: Namespace) -> None:
    home = _home_folder(args)
    short_paths = [escape_for(sys.stdout, _short_path(row.path, result, home)) for row in result.table.rows]
    if args.cost:
        from .session_words import money

        costs = _costs(result, args)
        short_paths = [
            f"{path} ({money(costs[row.path])})" if row.path in costs else path
            for path, row in zip(short_paths, result.table.rows, strict=True)
        ]
    width = table_width()
    table, labels, folded = fold(result.table, short_paths, _cell)
    tables = _split_columns(table, labels, width)
    height = terminal_height(sys.stdout)
    if height and len(tables) > 1 and len(tables) * (len(labels) + _LINES_AROUND) > height:
        _write_compact(table, labels, result.others, width, height)
        return
    for index, columns in enumerate(tables):
        if index:
            write("\n")
        _write_columns(table, labels, columns, width)
    if result.table.rows:
        write("\n")
    _write_notes(result, short_paths, folded)


def _write_notes(result: AgentReport, short_paths: Sequence[str], folded: Sequence[str]) -> None:
    """Print what the words of the table mean, which rows it leaves out, and which agents."""
    notes = _notes(result, short_paths)
    for line in (*folded, *notes[:_MAX_NOTES]):
        write_note(line)
    if len(notes) > _MAX_NOTES:
        write_note(f"{len(notes) - _MAX_NOTES} more notes (--format markdown prints them)")
    error = result.table.agents[0].tokens.error
    write_note(f"{_TOKENS_ROW}: an estimate, within {error:.0%}, of the instructions in each prompt")
    if _has_own_parts(result.table):
        write_note(f"{_OWN_ROW}: its prompt and tools, as recorded for that version")
    for note in _version_notes(result.table.agents):
        write_note(note)
    if result.others:
        write_note(f"not shown: {', '.join(result.others)} (--all shows them)")


def _write_compact(table: AgentTable, labels: Sequence[str], others: Sequence[str], width: int, height: int) -> None:
    """Print the table with one letter for each verdict, so that it fits one screen, and how to get the words."""
    from .compact_agents import compact_lines

    notes = ["--format markdown, or a pipe, prints words, versions and tokens; foreword agents PATH explains one file"]
    if others:
        notes.append(f"not shown: {', '.join(others)} (--all shows them)")
    for line in compact_lines(table, labels, _COLOURS, width, height - _COMPACT_NOTES):
        write(line)
    for note in notes:
        write_note(note)


def _version_notes(views: Sequence[AgentView]) -> list[str]:
    """Return a sentence for each agent of which another version is installed than the mirrored one."""
    from ..sources.installed_programs import installed_version

    path, notes = os.environ.get("PATH", ""), []
    for layout in (view.layout for view in views if "command" in view.layout.program):
        program, _, mirrored = layout.mirrors.rpartition(" ")
        installed = installed_version(layout.program["command"], path)
        if installed and installed != mirrored:
            notes.append(f"{layout.name}: this is what {program} {mirrored} does; {installed} is installed")
    return notes


def _split_columns(table: AgentTable, short_paths: Sequence[str], width: int) -> list[list[int]]:
    """Split the agents' columns evenly into as many tables as the width requires."""
    widths = [_column_width(table, column) + GAP for column in range(len(table.agents))]
    longest = max(map(display_width, (_longest_label(table), *short_paths)))
    room = max(width - min(longest, _MIN_PATH_WIDTH), max(widths))
    size = len(widths)
    while any(sum(widths[start : start + size]) > room for start in range(0, len(widths), size)):
        size -= 1
    size = -(-len(widths) // -(-len(widths) // size))
    columns = list(range(len(widths)))
    return [columns[start : start + size] for start in range(0, len(widths), size)]


def _column_width(table: AgentTable, column: int) -> int:
    cells = [_cell(row.verdicts[column]) for row in table.rows]
    view = table.agents[column]
    return max(map(display_width, (view.name, _version(view), f"{view.tokens.count:,}", _own_tokens(view), *cells)))


def _version(view: AgentView) -> str:
    """Return the version that a layout mirrors. A mirror without one was made from the program's documentation."""
    version = view.layout.mirrors.rpartition(" ")[2]
    return version if "." in version else "from docs" if version else ""


def _longest_label(table: AgentTable) -> str:
    return _OWN_ROW if _has_own_parts(table) else _TOKENS_ROW


def _has_own_parts(table: AgentTable) -> bool:
    return any(view.own for view in table.agents)


def _own_tokens(view: AgentView) -> str:
    """Return the tokens of a program's own prompt and tools, or a question mark if they are not known."""
    return f"{view.own.total:,}" if view.own else "?"


def _write_columns(table: AgentTable, short_paths: Sequence[str], columns: Sequence[int], width: int) -> None:
    widths = [_column_width(table, column) for column in columns]
    room = max(width - sum(widths) - GAP * len(widths), _MIN_PATH_WIDTH)
    path_width = min(max(map(display_width, (_longest_label(table), *short_paths))), room)

    def line(label: str, cells: Iterable[str], colours: Sequence[str], label_colour: str = "") -> str:
        parts = [paint(pad(cell, size), colour) for cell, size, colour in zip(cells, widths, colours, strict=True)]
        return (
            (" " * GAP).join((paint(pad(shorten_middle(label, path_width), path_width), label_colour), *parts)).rstrip()
        )

    views = [table.agents[column] for column in columns]
    bold, dim, plain = (["bold"] * len(views), ["dim"] * len(views), [""] * len(views))
    write(line("file", [view.name for view in views], bold, "bold"))
    if any(versions := [_version(view) for view in views]):
        write(line("", versions, dim))
    for path, row in zip(short_paths, table.rows, strict=True):
        verdicts = [row.verdicts[column] for column in columns]
        write(line(path, map(_cell, verdicts), [_COLOURS.get(verdict.name, "dim") for verdict in verdicts]))
    write(line(_TOKENS_ROW, [f"{view.tokens.count:,}" for view in views], plain, "bold"))
    if _has_own_parts(table):
        write(line(_OWN_ROW, map(_own_tokens, views), plain, "dim"))


def _write_sentences(result: AgentReport, args: Namespace) -> None:
    from ..inspection.agent_rules import describe_verdict
    from .paths import paths_of

    paths, home = paths_of(args), _home_folder(args)
    for index, row in enumerate(result.table.rows):
        if index:
            write("\n")
        write_line(paint(escape_for(sys.stdout, _short_path(row.path, result, home)), "bold"))
        write_table(
            [
                (f"  {view.name}", _cell(verdict), paths.shorten_in(describe_verdict(view, row.path, verdict)))
                for view, verdict in zip(result.table.agents, row.verdicts, strict=True)
            ],
            colours=("", "", "dim"),
            row_colours=[{1: _COLOURS.get(verdict.name, "dim")} for verdict in row.verdicts],
        )


def write_comparison(result: AgentReport, args: Namespace) -> None:
    """Print the files that two agents load differently, and how many files both load."""
    loaded = [row for row in result.table.rows if any(verdict.name in LOADED_VERDICTS for verdict in row.verdicts)]
    same = [row for row in loaded if all(verdict.name == "loaded" for verdict in row.verdicts)]
    different = [row for row in loaded if row not in same]
    write("\n")
    if different:
        home = _home_folder(args)
        short_paths = [escape_for(sys.stdout, _short_path(row.path, result, home)) for row in different]
        table = replace(result.table, rows=different)
        _write_columns(table, short_paths, range(len(table.agents)), table_width())
        write("\n")
    both = f"{len(same):,} file{' is' if len(same) == 1 else 's are'} loaded by both"
    write_line(both if same else "no file is loaded by both")
    _write_texts(result, args, loaded)


def _write_texts(result: AgentReport, args: Namespace, rows: Sequence[FileRow]) -> None:
    """For each file that both agents load, print the lines that only one of them gets."""
    from ..inspection.agent_texts import compare_texts

    paths = [row.path for row in rows if all(verdict.name in LOADED_VERDICTS for verdict in row.verdicts)]
    old, new = result.table.agents
    for difference in compare_texts(old, new, paths):
        path = escape_for(sys.stdout, _short_path(difference.path, result, _home_folder(args)))
        write_line(f"\n{paint(path, 'bold')}: the text differs; only {old.name} has -, only {new.name} has +")
        for line in difference.lines[:_MAX_DIFFERENT_LINES]:
            write_line(paint(escape_for(sys.stdout, line), "red" if line[0] == "-" else "green"), indent=2)
        more = len(difference.lines) - _MAX_DIFFERENT_LINES
        if more > 0:
            write_line(f"… {more:,} more line{'' if more == 1 else 's'}")


# Markdown


def _write_markdown(result: AgentReport, args: Namespace) -> None:
    from ..inspection.agent_rules import describe_verdict

    home = _home_folder(args)
    short_paths = [_short_path(row.path, result, home) for row in result.table.rows]
    if result.paths:
        for path, row in zip(short_paths, result.table.rows, strict=True):
            write(f"{_code(path)}\n")
            for view, verdict in zip(result.table.agents, row.verdicts, strict=True):
                write(f"- **{view.name}** {_escape(describe_verdict(view, row.path, verdict))}\n")
        return
    rows = [["file", *(view.name for view in result.table.agents)], ["---" for _ in (0, *result.table.agents)]]
    rows += [
        [_code(path).replace("|", "\\|"), *map(_cell, row.verdicts)]
        for path, row in zip(short_paths, result.table.rows, strict=True)
    ]
    rows.append([f"**{_TOKENS_ROW}**", *(f"{view.tokens.count:,}" for view in result.table.agents)])
    if _has_own_parts(result.table):
        rows.append([_OWN_ROW, *map(_own_tokens, result.table.agents)])
    for cells in rows:
        write(f"| {' | '.join(cells)} |\n")
    notes = _notes(result, short_paths)
    if notes:
        write("\n" + "".join(f"- {_escape(line)}\n" for line in notes))


def _code(text: str) -> str:
    """Return the text as a code span, between more backticks than it contains in a row."""
    longest = max(map(len, regex.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _escape(text: str) -> str:
    return regex.sub(r"[\\`*_|<\[\]]", r"\\\g<0>", text)
