"""Compare the instruction files that a session started with with those that the layout which mirrors the program would load."""

from __future__ import annotations

import os

from ..errors import ForewordError
from ..findings import finding
from ..text.lines import printable
from .question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sessions.joining import Session
    from ..sessions.pages import PagedTable
    from ..vocabulary import Finding
    from .session_query import KeptStep, SessionQuery


def compare_with_mirror(query: SessionQuery, session: Session, steps: PagedTable[KeptStep]) -> list[Finding]:
    """Return a finding for each file that only the program or only its mirror read. Files that were changed since do not count."""
    first = min((entry for entry in session.entries if not entry.thread), key=lambda entry: entry.time, default=None)
    reader = next((reader for reader in query.readers if session.agent == reader.AGENT), None)
    step = steps.get(first.key) if first is not None else None
    if first is None or step is None or not getattr(reader, "NAMES_FILES", False):
        return []
    read = {part.path for part in step.request.tail if part.kind == "file" and "\0" not in part.path}
    # Without files it is an old version, which did not log its instructions, or there are none.
    expected = _mirrored_files(query, session) if read and os.path.isdir(session.cwd) else None
    if expected is None:
        return []
    program = f"{session.agent} {session.version}".strip()
    return [
        *_findings(
            session, f"{program} read {{}}, which its mirror does not load", _only_in(read, expected, first.time)
        ),
        *_findings(
            session, f"{program} did not read {{}}, which its mirror loads", _only_in(expected, read, first.time)
        ),
    ]


def _findings(session: Session, sentence: str, paths: list[str]) -> list[Finding]:
    location = printable(session.path)
    return [
        finding("session-mirror-differs", f"{sentence.replace('{}', path)}; update the mirror", location)
        for path in paths
    ]


def _only_in(paths: set[str], others: set[str], time: float) -> list[str]:
    """Return the files that are only in the first set and have not been changed since a time."""
    known = {os.path.realpath(path) for path in others}
    return [printable(path) for path in sorted(paths) if os.path.realpath(path) not in known and _is_older(path, time)]


def _mirrored_files(query: SessionQuery, session: Session) -> set[str] | None:
    """Return the instruction files that the mirror loads in the session's folder, or None if it cannot be used."""
    fields = {"cwd": session.cwd, "home": query.home, "layout": f"$agents/{session.agent}"}
    try:
        prompt = Question(fields).prompt()
    except ForewordError:
        return None
    origins = (piece.origin for passage in prompt.passages for piece in passage.pieces)
    return {origin.path for origin in origins if origin.kind == "file"}


def _is_older(path: str, time: float) -> bool:
    """Whether a file exists and has not been changed since a time."""
    try:
        return os.stat(path).st_mtime < time
    except OSError:
        return False
