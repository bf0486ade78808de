"""Find out when an instruction was in the requests of a session, and how it was lost. Pure."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .values import LogPart

    Match = Callable[[LogPart], str]  # returns the version of the instruction that a part contains, or empty


class Sent(NamedTuple):
    """A request: its number, when it was sent, its thread, its parts, its tokens, and whether a compaction came before it."""

    number: int
    time: float
    thread: str
    parts: Sequence[LogPart]
    tokens: int
    is_compacted: bool


class Span(NamedTuple):
    """Consecutive requests of a thread that contain one version of an instruction.

    `distance` is how many tokens came after it in the last of them. `lost` says why the next request does not have it, and is None if
    there is no next request.
    """

    thread: str
    first: int
    last: int
    start: float
    end: float
    version: str
    distance: int
    lost: str | None


def find_spans(requests: Sequence[Sent], match: Match) -> list[Span]:
    """Return when each version of an instruction was in force, by thread and in order of time."""
    threads: dict[str, list[Sent]] = {}
    for request in requests:
        threads.setdefault(request.thread, []).append(request)
    spans = [span for rows in threads.values() for span in _thread_spans(rows, match)]
    return sorted(spans, key=lambda span: (span.first, span.last))


def _thread_spans(rows: Sequence[Sent], match: Match) -> list[Span]:
    spans: list[Span] = []
    running: dict[str, tuple[Sent, Sent, int]] = {}
    known: dict[str, str] = {}
    for row in rows:
        found = _versions(row, match, known)
        for version in [version for version in running if version not in found]:
            spans.append(_span(version, *running.pop(version), lost=_reason(row, found)))
        for version, distance in found.items():
            first = running[version][0] if version in running else row
            running[version] = first, row, distance
    return [*spans, *(_span(version, *state, lost=None) for version, state in running.items())]


def _versions(row: Sent, match: Match, known: dict[str, str]) -> dict[str, int]:
    """Return the versions in a request, each with its distance from the end in tokens."""
    total = sum(part.size for part in row.parts) or 1
    found: dict[str, int] = {}
    after = 0
    for part in reversed(row.parts):
        key = f"{part.kind}|{part.path}|{part.hash}"
        if key not in known:
            known[key] = match(part)
        if known[key] and known[key] not in found:
            found[known[key]] = round(after / total * row.tokens)
        after += part.size
    return found


def _reason(row: Sent, found: dict[str, int]) -> str:
    if row.is_compacted:
        return "compaction"
    return "file" if found else "message"


def _span(version: str, first: Sent, last: Sent, distance: int, lost: str | None) -> Span:
    return Span(first.thread, first.number, last.number, first.time, last.time, version, distance, lost)
