"""Asks git who wrote each line of a file, once per file."""

from __future__ import annotations

from ..vocabulary import value
from .git import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .git import Git

TIMEOUT = 30
_BLAME = ("blame", "--incremental", "--root", "--no-textconv", "--ignore-revs-file=")
_UNTRACKED = ("no such path", "no such ref: HEAD", "bad revision 'HEAD'", "is outside repository")


@value
class Commit:
    """A commit: its id, the author's name and address, and the time in seconds. `id` is empty for a line that is not committed."""

    id: str
    author: str = ""
    email: str = ""
    time: int = 0


UNCOMMITTED = Commit("")


def blame_file(git: Git, path: str) -> Sequence[Commit] | None:
    """Return the commit of each line of a file, or None if git does not track it. `path` is relative to the root.

    Raises a GitError if git fails.
    """
    try:
        # `--root`: the first commit is a commit like any other. Filters and textconv programs are never run. An empty file of revisions
        # to ignore clears those that the repository's configuration names; git may still fail if it cannot parse them.
        output = git.run(*_BLAME, "--", path, timeout=TIMEOUT)
    except GitError as error:
        if any(reason in error.stderr for reason in _UNTRACKED):
            return None
        raise
    return parse_blame(output)


def parse_blame(output: bytes) -> list[Commit]:
    """Return the commit of each line from the output of `git blame --incremental`."""
    commits: dict[bytes, Commit] = {}
    fields: dict[bytes, bytes] = {}
    spans: list[tuple[int, int, Commit]] = []
    start = b""
    for line in output.split(b"\n"):
        if not start:
            start = line
            continue
        key, _, content = line.partition(b" ")
        fields[key] = content
        if key == b"filename":
            id, _, first, count = start.split(b" ")
            if id not in commits:
                commits[id] = _commit(id, fields)
            spans.append((int(first), int(count), commits[id]))
            start, fields = b"", {}
    lines = [UNCOMMITTED] * (max((begin + length for begin, length, _ in spans), default=1) - 1)
    for begin, length, commit in spans:
        lines[begin - 1 : begin - 1 + length] = [commit] * length
    return lines


def _commit(id: bytes, fields: dict[bytes, bytes]) -> Commit:
    if not id.strip(b"0"):
        return UNCOMMITTED
    author, email = (fields.get(key, b"").decode("utf-8", "replace") for key in (b"author", b"author-mail"))
    seconds = fields.get(b"author-time", b"0")
    return Commit(id.decode(), author, email.strip("<>"), int(seconds) if seconds.isdigit() else 0)
