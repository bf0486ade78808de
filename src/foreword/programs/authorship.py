"""Find who wrote each line of a prompt, and when: `foreword blame --git`."""

from __future__ import annotations

import os

from ..errors import CallError
from ..inspection.origins import lines_of
from ..sources.environment import resolve_workspace
from ..sources.git import GitError, require_git
from ..sources.git_blame import UNCOMMITTED, blame_file
from ..sources.paths import is_inside
from ..sources.reader import Reader
from ..store import waits
from ..text.lines import printable
from ..text.tokens import estimator
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..inspection.origins import Line
    from ..sources.git import Git
    from ..sources.git_blame import Commit
    from ..vocabulary import Prompt
    from ..wire.git_forms import AuthoredLineForm, AuthorshipForm, AuthorSumForm, AuthorSumsForm
    from .question import Question

GROUPS = ("author", "file", "age")
NOT_COMMITTED = "not committed"
NOT_IN_GIT = "not from this repository"
_SOURCES = ("file", "skill", "resident", "template", "setting", "layout")
_DAY = 86_400
_MAX_SECONDS = 60
# The upper limits of the groups by age, in days.
_AGES = ((7, "less than a week"), (30, "less than a month"), (90, "less than 3 months"), (365, "less than a year"))
_OLDEST = "a year or more"


@value
class AuthoredLine:
    """A line of a prompt and its commit, which is None if the line does not come from a file in the repository."""

    line: Line
    commit: Commit | None


@value
class Authorship:
    """The lines of a prompt with their commits, the current time in seconds, and notes about what git could not determine."""

    prompt: Prompt
    lines: Sequence[AuthoredLine]
    now: float
    notes: Sequence[str] = ()


@value
class AuthorSum:
    """The tokens and lines of one author, file or age."""

    name: str
    tokens: int
    lines: int


def authorship(question: Question) -> Authorship:
    """Return the commit of each line of the question's prompt. Git runs once per file."""
    reader = Reader()
    workspace = resolve_workspace(question.workspace, reader)
    git = require_git(workspace, reader, "blame --git")
    prompt = question.checked_prompt()
    notes: list[str] = []
    lines = lines_of(prompt)
    paths = {line.origin.path for line in lines if line.origin and line.origin.kind in _SOURCES and line.line}
    commits = _all_commits(git, sorted(paths), notes)
    if os.path.lexists(os.path.join(git.repository.common, "shallow")):
        notes.append("the clone is shallow, so lines from before its oldest commit are attributed to that commit")
    now = question.now.timestamp() if question.now else _time()
    return Authorship(prompt, [AuthoredLine(line, _commit_of(line, commits)) for line in lines], now, notes)


def _all_commits(git: Git, paths: Sequence[str], notes: list[str]) -> dict[str, Sequence[Commit] | None]:
    """Return the commit of each line of these files. If git takes very long, the rest of the files have no authors."""
    commits: dict[str, Sequence[Commit] | None] = {}
    end = _time() + _MAX_SECONDS
    for number, path in enumerate(paths):
        if _time() > end:
            notes.append(f"git blame takes too long, so the last {len(paths) - number:,} files have no authors")
            break
        commits[path] = _commits_of(git, path, notes)
    return commits


def _commits_of(git: Git, path: str, notes: list[str]) -> Sequence[Commit] | None:
    """Return the commit of each line of a file: none if it is not tracked, and None if it is outside the repository.

    A link in the repository counts as the file that it leads to.
    """
    real, root = os.path.realpath(path), os.path.realpath(git.root)
    if not os.path.isabs(path) or not is_inside(real, root) or real == root:
        return None
    if not os.path.lexists(path):  # its name was changed to make it printable
        notes.append(f"{path} has no authors, because git blame is not run on a name with control characters")
        return None
    waits.announce("inspect")
    try:
        return blame_file(git, real[len(root.rstrip("/")) + 1 :]) or ()
    except GitError as error:
        notes.append(f"git blame failed on {printable(path)}: {error}")
        return None


def _commit_of(line: Line, commits: Mapping[str, Sequence[Commit] | None]) -> Commit | None:
    known = commits.get(line.origin.path) if line.origin else None
    if known is None or line.line is None:
        return None
    return known[line.line - 1] if line.line <= len(known) else UNCOMMITTED


def _time() -> float:
    import time

    return time.time()


# Sums


def sum_tokens(result: Authorship, by: str, question: Question) -> list[AuthorSum]:
    """Return the estimated tokens by author, file or age, the most first."""
    if by not in GROUPS:
        raise CallError(f"by must be one of {', '.join(GROUPS)}, not {by!r}")
    count = estimator(question.model, question.provider)
    tokens: dict[str, int] = {}
    lengths: dict[str, int] = {}
    for name, lines in _runs(result, by):
        tokens[name] = tokens.get(name, 0) + count("\n".join(lines))
        lengths[name] = lengths.get(name, 0) + len(lines)
    names = sorted(tokens, key=lambda name: (-tokens[name], name))
    return [AuthorSum(name, tokens[name], lengths[name]) for name in names]


def _runs(result: Authorship, by: str) -> Iterator[tuple[str, list[str]]]:
    """Yield adjacent lines of the same group. A separator belongs to the lines before it."""
    name, lines = "", [""][:0]
    for authored in result.lines:
        group = name if authored.line.origin is None and name else _group(authored, by, result.now)
        if group != name and lines:
            yield name, lines
            lines = []
        name = group
        lines.append(authored.line.text)
    if lines:
        yield name, lines


def _group(authored: AuthoredLine, by: str, now: float) -> str:
    commit, origin = authored.commit, authored.line.origin
    if by == "file" and origin:
        return origin.path or origin.kind
    if commit is None:
        return NOT_IN_GIT
    if not commit.id:
        return NOT_COMMITTED
    if by == "author":
        return printable(commit.author)
    days = (now - commit.time) / _DAY
    return next((label for limit, label in _AGES if days < limit), _OLDEST)


# JSON


def authorship_answer(result: Authorship, question: Question) -> AuthorshipForm | AuthorSumsForm:
    """Return the JSON form of the lines or, if the question has a field `by`, of the sums.

    `committed` is null for a line that does not come from the repository.
    """
    notes = list(result.notes)
    if by := question.fields.get("by"):
        return {"sums": [_sum_form(row) for row in sum_tokens(result, by, question)], "notes": notes}
    return {"lines": [_line_form(authored) for authored in result.lines], "notes": notes}


def _sum_form(row: AuthorSum) -> AuthorSumForm:
    return {"name": row.name, "tokens": row.tokens, "lines": row.lines}


def _line_form(authored: AuthoredLine) -> AuthoredLineForm:
    from ..wire.answers import line_form

    return {**line_form(authored.line), **_commit_form(authored.commit)}  # type: ignore[typeddict-item]


def _commit_form(commit: Commit | None) -> dict[str, str | bool | None]:
    known = commit if commit and commit.id else None
    return {
        "committed": None if commit is None else bool(commit.id),
        "commit": known.id if known else None,
        "author": known.author if known else None,
        "email": known.email if known else None,
        "time": _iso_time(known.time) if known else None,
    }


def _iso_time(seconds: int) -> str | None:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # a commit may have any time
        return None
