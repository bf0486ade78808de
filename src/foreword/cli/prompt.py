"""Commands that assemble a prompt and tell about it: show, why, blame, tokens."""

from __future__ import annotations

import sys

from ..vocabulary import replace
from ..wire.counting import counted_form
from .options import as_in_a_conversation, assembler, new_parser, status, with_dir
from .terminal import (
    columns_of,
    has_colours,
    is_terminal,
    painted,
    report,
    seen_by,
    write,
    write_error,
    write_json,
    write_table,
    write_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..encoding.forms import PromptForm
    from ..vocabulary import Candidate, Origin, Prompt
    from .options import Parser
    from .paths import Paths

_FATES = {"used": "green", "cut": "yellow", "unreadable": "red", "binary": "red", "refused": "red", "untrusted": "red"}
_LEAST_LABEL = 20
_LONGEST_BAR, _SHORTEST_BAR = 40, 8


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    parser = with_dir(new_parser(command))
    if command == "why":
        about = "only candidates at or below this path, or of this name"
        parser.add_argument("path", nargs="?", default="", metavar="PATH", help=about)
        parser.add_argument("--all", action="store_true", help="files that are not there as well")
    return parser


def show(args: argparse.Namespace) -> int:
    """`foreword show [DIR]`"""
    return write_prompt(_prompt(args), args)


def write_prompt(prompt: Prompt, args: argparse.Namespace) -> int:
    """Print a prompt, and its findings to standard error; the exit status."""
    if args.json:
        write_json(_form(prompt, args))
    else:
        write_text(prompt.text)
        sys.stdout.flush()
        report(prompt.findings, args)
    return status(prompt.findings, args)


def why(args: argparse.Namespace) -> int:
    """`foreword why [DIR] [PATH]`; a single argument that is a file is the PATH."""
    if not args.path and _is_file(args.dir):
        args.path, args.dir = args.dir, "."
    prompt = _prompt(args)
    candidates = [each for each in prompt.candidates if _is_meant(each.path, args.path, args.dir)]
    if args.path and not any(each.fate != "absent" for each in candidates):
        candidates = _explained(candidates, args)
    if args.json:
        from ..encoding.prompt import candidate_form

        write_json([candidate_form(each) for each in candidates])
        return status(prompt.findings, args)
    from .paths import paths_of

    paths = paths_of(args)
    shown = [each for each in candidates if args.all or args.path or each.fate != "absent"]
    write_table(
        [(each.fate, each.layer, paths.short(each.path), paths.in_text(each.reason)) for each in shown],
        ("fate", "layer", "file", "reason"),
        ("", "", "", "dim"),
        paths=(2,),
        row_colours=[{0: _FATES.get(each.fate, "dim")} for each in shown],
    )
    hidden = len(candidates) - len(shown)
    if hidden:
        places = "1 more place" if hidden == 1 else f"{hidden} more places"
        write_error(f"{places} had no such file (--all shows {'it' if hidden == 1 else 'them'})")
    if not candidates:
        write_error("nothing was considered")
    report(prompt.findings, args)
    return status(prompt.findings, args)


def blame(args: argparse.Namespace) -> int:
    """`foreword blame [DIR]`"""
    prompt = _prompt(args)
    from ..inspection.origins import lines_of

    lines = lines_of(prompt)
    if args.json:
        from ..wire.answers import line_form

        write_json([line_form(line) for line in lines])
        return status(prompt.findings, args)
    from .paths import paths_of

    paths = paths_of(args)
    _write_blame(
        [(line.origin, seen_by(sys.stdout, _label(line.origin, line.line, paths)), line.text) for line in lines]
    )
    sys.stdout.flush()
    report(prompt.findings, args)
    return status(prompt.findings, args)


def _write_blame(lines: Sequence[tuple[Origin | None, str, str]]) -> None:
    """Each line with its label. On a terminal labels take a third of the width at most, and long lines are wrapped beside them."""
    from .columns import middle_cut, padded, width_of, wrapped

    is_shown, room = is_terminal(sys.stdout), columns_of(sys.stdout)
    width = max((width_of(label) for _, label, _ in lines), default=0)
    width = min(width, max(room // 3, _LEAST_LABEL)) if is_shown else width
    for origin, label, text in lines:
        colour = "cyan" if origin and origin.kind == "file" else "dim"
        shown = wrapped(seen_by(sys.stdout, text), room - width - 3) if is_shown else [text]
        for number, line in enumerate(shown):
            place = padded("" if number else middle_cut(label, width), width)
            write(f"{painted(place, colour)} │ {line}".rstrip())


def tokens(args: argparse.Namespace) -> int:
    """`foreword tokens [DIR]`"""
    prompt = _prompt(args)
    form = _form(prompt, args)
    if args.json:
        how = {key: form["tokens"][key] for key in ("method", "exact", "error")}
        keys = ("section", "start", "end", "lifetime", "tokens")
        passages = [{key: content for key, content in each.items() if key in keys} | how for each in form["passages"]]
        write_json({"tokens": form["tokens"], "passages": passages})
        return status(prompt.findings, args)
    rows = [(each["section"], each["lifetime"], f"{each['tokens']:,}") for each in form["passages"]]
    bars = _bars([each["tokens"] for each in form["passages"]], rows)
    write_table(
        [(*row, bar) for row, bar in zip(rows, bars, strict=True)],
        ("section", "lifetime", "tokens", ""),
        ("", "dim", "", "cyan"),
        right=(2,),
    )
    whole = form["tokens"]
    sure = "exact" if whole["exact"] else f"within {whole['error']:.0%}"
    write(f"{whole['count']:,} tokens by {whole['method']}, {sure}")
    sys.stdout.flush()
    report(prompt.findings, args)
    return status(prompt.findings, args)


def _bars(counts: Sequence[int], rows: Sequence[Sequence[str]]) -> list[str]:
    """A bar for each count, the longest as long as the terminal has room for beside the rows."""
    from .columns import GAP, width_of

    longest = _LONGEST_BAR
    if is_terminal(sys.stdout):
        beside = sum(max((width_of(row[column]) for row in rows), default=0) + GAP for column in range(3))
        longest = min(max(columns_of(sys.stdout) - beside, _SHORTEST_BAR), _LONGEST_BAR)
    sign, most = "█" if has_colours(sys.stdout) else "#", max(counts, default=1) or 1
    return [sign * max(round(count / most * longest), 1 if count else 0) for count in counts]


def _prompt(args: argparse.Namespace) -> Prompt:
    """The prompt, with a finding for each file that was not read because of the capital letters of its name."""
    from ..programs.explain import WrongCase

    prompts = assembler(args)
    prompt = prompts.prompt(as_in_a_conversation(args.agent, prompts, args), args.clock)
    known = {(each.code, each.path) for each in prompt.findings}
    more = [each for each in WrongCase().findings(prompt.candidates) if (each.code, each.path) not in known]
    return replace(prompt, findings=(*prompt.findings, *more)) if more else prompt


def _is_file(name: str) -> bool:
    import os

    from ..sources.environment import absolute

    path = absolute(name, os.environ)
    return os.path.lexists(path) and not os.path.isdir(path)


def _explained(absent: Sequence[Candidate], args: argparse.Namespace) -> list[Candidate]:
    """What is to be said of a path that names no file which was considered."""
    import os

    from ..programs.explain import explain
    from ..sources.environment import absolute

    paths = [absolute(os.path.join(args.dir, args.path), os.environ), absolute(args.path, os.environ)]
    path = next((each for each in paths if os.path.lexists(each)), paths[0])
    if absent and not os.path.lexists(path):
        return [replace(each, reason=each.reason or "there is no such file; it would be read") for each in absent]
    prompts = assembler(args)
    return [*absent, explain(prompts, path, as_in_a_conversation(args.agent, prompts, args))]


def _form(prompt: Prompt, args: argparse.Namespace) -> PromptForm:
    return counted_form(prompt, args.model, args.provider)


def _is_meant(path: str, wanted: str, cwd: str) -> bool:
    if not wanted:
        return True
    import os

    from ..sources.environment import absolute
    from ..sources.paths import is_inside

    return (
        os.path.basename(path) == wanted
        or is_inside(path, absolute(os.path.join(cwd, wanted), os.environ))
        or is_inside(path, absolute(wanted, os.environ))
    )


def _label(origin: Origin | None, line: int | None, paths: Paths) -> str:
    if origin is None:
        return ""
    path = paths.short(origin.path)
    place = f"{path}:{line}" if line else path
    return (
        place
        if origin.kind in ("file", "builtin", "layout", "skill", "template")
        else f"{origin.kind} {place}".rstrip()
    )
