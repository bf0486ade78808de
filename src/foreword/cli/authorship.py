"""Print who wrote each line of a prompt, for `foreword blame --git`."""

from __future__ import annotations

import sys

from ..text.lines import printable
from .columns import clip, display_width, pad, shorten_middle
from .terminal import describe_count, escape_for, report, write, write_error, write_json, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..programs.authorship import AuthoredLine, Authorship
    from .arguments import Namespace
    from .paths import ShortPaths

_AUTHOR_WIDTH = 16
_COMMIT_WIDTH = 8
_AGE_WIDTH = 4
_WIDTH = _AUTHOR_WIDTH + _COMMIT_WIDTH + _AGE_WIDTH + 2
_UNITS = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (7 * 86_400, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))


def write_authorship(args: Namespace) -> int:
    """Print the prompt with the author, commit and age of each line, or sums. Returns the exit status."""
    from ..programs.authorship import authorship, authorship_answer, sum_tokens
    from .options import status
    from .paths import paths_of

    question = args.question.with_fields(git=True, by=args.by)
    result = authorship(question)
    if args.json:
        write_json(authorship_answer(result, question))
    elif args.by:
        paths = paths_of(args)
        sums = sum_tokens(result, args.by, question)
        rows = [(paths.shorten(row.name), f"{row.lines:,}", f"{row.tokens:,}") for row in sums]
        write_table(rows, (args.by, "lines", "tokens"), right=(1, 2), paths=(0,))
        from ..text.tokens import estimate_count

        total = estimate_count(result.prompt.text, question.model, question.provider)
        write(describe_count(total.count, total.method, total.error, question.model))
    else:
        _write_lines(result, paths_of(args))
    if not args.json:
        for note in result.notes:
            write_error(note, indent=2)
        report(result.prompt.findings, args)
    return status(result.prompt.findings, args)


def _write_lines(result: Authorship, paths: ShortPaths) -> None:
    from .labels import label_of, write_labelled_lines

    rows = []
    for authored in result.lines:
        label = _label(authored, result.now)
        if not label:
            label = shorten_middle(label_of(authored.line.origin, authored.line.line, paths), _WIDTH)
        rows.append((authored.line.origin, escape_for(sys.stdout, label), authored.line.text))
    write_labelled_lines(rows)


def _label(authored: AuthoredLine, now: float) -> str:
    """Return the author, commit and age of a line, or empty if it does not come from the repository."""
    commit = authored.commit
    if commit is None:
        return ""
    if not commit.id:
        return pad("not committed", _WIDTH)
    author = printable(commit.author)
    author = author if display_width(author) <= _AUTHOR_WIDTH else clip(author, _AUTHOR_WIDTH - 1) + "…"
    return f"{pad(author, _AUTHOR_WIDTH)} {commit.id[:_COMMIT_WIDTH]} {format_age(now - commit.time):>{_AGE_WIDTH}}"


def format_age(seconds: float) -> str:
    """Return an age in its largest unit, in at most four characters: `3h`, `11mo`, `12y`. The future is `new`."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{min(int(seconds // size), 999 if len(unit) == 1 else 99)}{unit}"
    return "new"
