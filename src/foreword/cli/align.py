"""`foreword align`: show the fewest changes after which every agent reads every instruction once, write them, or check for them."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..programs.align.notes import MAX_LISTED, listed
from ..programs.align.upkeep import RECORD
from ..text.lines import printable
from .columns import clip
from .options import OPTIONS, add_dir_argument, new_parser
from .terminal import (
    count_of,
    is_terminal,
    paint,
    report,
    terminal_width,
    write,
    write_error,
    write_json,
    write_line,
    write_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..programs.align.model import AgentReading, Alignment, FileChange
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "align": (
        "lint",
        "find the fewest changes after which every agent reads every instruction once",
        "foreword align . --agent claude",
        "AlignForm",
    ),
}

_SHARED = ("--json", "--home", "--now", "--settings")
_MAX_LINES = 8  # of a change


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = add_dir_argument(new_parser(command, without=[name for name, _ in OPTIONS if name not in _SHARED]))
    about = "an agent (claude, codex, …) to add to those that are detected; may be repeated"
    parser.add_argument("--agent", action="append", default=[], dest="agents", metavar="NAME", help=about)
    about = "merge the agents' own files into AGENTS.md, which keeps every line once, and remove them"
    parser.add_argument("--merge", action="store_true", help=about)
    about = "make AGENTS.md, rules and skills from .rulesync, .ruler or a file, which stays the source"
    parser.add_argument("--from", default="", dest="origin", metavar="SOURCE", help=about)
    about = "make links to the sources instead of files with an import or a copy, where an agent then reads them once"
    parser.add_argument("--links", action="store_true", help=about)
    parser.add_argument("--write", action="store_true", help="write the changes")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if something is to be changed")
    parser.add_argument("--force", action="store_true", help="also change files with changes that are not committed")
    return parser


def align(args: Namespace) -> int:
    """`foreword align [DIR]`"""
    from ..programs.align.plan import plan_alignment
    from ..programs.align.write import write_changes

    if args.write and args.check:
        raise CallError("--write and --check exclude each other; --check writes nothing")
    alignment = plan_alignment(args.question, args.agents, merge=args.merge, origin=args.origin, links=args.links)
    if args.write:
        write_changes(alignment, force=args.force)
    if args.json:
        from ..programs.align.answer import align_answer

        write_json(align_answer(alignment))
    else:
        _write_text(alignment, args)
    return 1 if args.check and alignment.changes else 0


def _write_text(alignment: Alignment, args: Namespace) -> None:
    if not alignment.sources:
        write_line("there is no AGENTS.md with text, so there is nothing to align", indent=2)
    elif not alignment.agents:
        write_line("no agent is detected here; name one: foreword align --agent claude", indent=2)
    else:
        _write_agents(alignment)
    groups = _alike(alignment.changes)
    if groups:
        write("\n")
    for changes in groups:
        _write_changes(changes)
    report(alignment.findings, args, with_infos=True)
    if not alignment.changes:
        write_error("nothing to change")
    elif args.write:
        write_error(f"{count_of(len(alignment.changes), 'file')} changed")
    else:
        all_files = "; --json lists every file" if any(len(changes) > MAX_LISTED for changes in groups) else ""
        write_error(
            f"nothing was written; to make {_these(alignment)}, run: {_command(args)} --write{all_files}", indent=2
        )


def _command(args: Namespace) -> str:
    """Return the call that made this plan, for another one with the same options."""
    from shlex import quote

    words = ["foreword", "align", *([] if args.dir in ("", ".") else [args.dir])]
    words += [word for name in args.agents for word in ("--agent", name)]
    words += [f"--{name}" for name in ("merge", "links") if getattr(args, name)]
    words += ["--from", args.origin] if args.origin else []
    return printable(" ".join(map(quote, words)))


def _these(alignment: Alignment) -> str:
    count = len(alignment.changes)
    return "this change" if count == 1 else f"these {count} changes"


def _write_agents(alignment: Alignment) -> None:
    count = len(alignment.sources)
    rows = [
        (
            agent.name,
            agent.program,
            *(_describe(reading[agent.name], count) for reading in (alignment.before, alignment.after)),
        )
        for agent in alignment.agents
    ]
    write_table(rows, ("agent", "program", "before", "after"), optional=(1,))


def _describe(reading: AgentReading, count: int) -> str:
    states = (("missed", reading.missing), ("repeated", reading.repeated), ("cut", reading.cut))
    problems = ", ".join(f"{len(paths):,} {word}" for word, paths in states if paths)
    return f"reads {len(reading.read):,} of {count:,}" + (f"; {problems}" if problems else "")


def _alike(changes: Sequence[FileChange]) -> list[list[FileChange]]:
    """Return the changes, those together that are made to several files for the same reason."""
    found: dict[tuple[str, ...], list[FileChange]] = {}
    for change in changes:
        found.setdefault((change.action, *change.agents, change.reason), []).append(change)
    return list(found.values())


def _write_changes(changes: Sequence[FileChange]) -> None:
    change, paths = changes[0], listed([change.path for change in changes])
    agents = f" for {', '.join(change.agents)}" if change.agents else ""
    lines = _diff(change)
    is_same = all(_diff(other) == lines for other in changes[1:])
    size = "" if is_same else f" ({count_of(sum(map(len, map(_diff, changes))), 'line')})"
    write_line(f"{paint(change.action, 'bold')} {paths}{agents}: {printable(change.reason)}{size}", indent=2)
    for line in lines[:_MAX_LINES] if is_same else ():
        shown = clip(printable(line), terminal_width(sys.stdout) - 2) if is_terminal(sys.stdout) else printable(line)
        write_line(f"  {paint(shown, 'green' if line[0] == '+' else 'red')}")
    if is_same and len(lines) > _MAX_LINES:
        write_line(paint(f"  … {count_of(len(lines) - _MAX_LINES, 'more line')}", "dim"))


def _diff(change: FileChange) -> list[str]:
    """Return the lines that a change adds and removes, without those that say nothing by themselves, such as brackets.

    Nothing is returned where the reason says it all: for files that are removed, for copies, and for the list of changed keys.
    """
    if change.action == "link":
        return [f"+{change.path} → {change.text}"]
    if (
        change.action == "remove"
        or change.path == RECORD
        or "<!-- Generated by foreword align from " in (change.text or "")
    ):
        return []
    from difflib import unified_diff

    old, new = (change.before or "").splitlines(), (change.text or "").splitlines()
    rows = list(unified_diff(old, new, lineterm="", n=0))[2:]
    return [row for row in rows if not row.startswith("@@") and row[1:].strip(" \t{}[],")]
