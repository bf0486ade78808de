"""Find out when an instruction was in the requests of a session, and how it was lost. Pure."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .values import LogPart

    Match = Callable[[LogPart], str]  # returns the version of the instruction that a part contains, or empty


class Sent(NamedTuple):
    """A request: its number (0 if it is not in question), when it was sent, its thread and tokens, and whether a compaction came before it.

    `shared` is how many parts it has in common with the request before it in the list that has the same `line`; then comes `tail`.
    """

    number: int
    time: float
    thread: str
    tokens: int
    is_compacted: bool
    line: str
    shared: int
    tail: Sequence[LogPart]


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
    known: dict[LogPart, str] = {}
    lines: dict[str, _MatchLine] = {}
    for row in rows:
        line = lines.setdefault(row.line, _MatchLine())
        line.move(row.shared, row.tail, match, known)
        if not row.number:
            continue
        found = line.versions(row.tokens)
        for version in [version for version in running if version not in found]:
            spans.append(_span(version, *running.pop(version), lost=_reason(row, found)))
        for version, distance in found.items():
            first = running[version][0] if version in running else row
            running[version] = first, row, distance
    return [*spans, *(_span(version, *state, lost=None) for version, state in running.items())]


class _MatchLine:
    """Where the parts of a thread's current request end, and which of them contain the instruction."""

    def __init__(self) -> None:
        self._ends = [0]
        self._found: list[tuple[int, str]] = []  # the number of a part, and the version in it

    def move(self, shared: int, tail: Sequence[LogPart], match: Match, known: dict[LogPart, str]) -> None:
        """Go on to the next request, which shares its first parts with this one."""
        del self._ends[shared + 1 :]
        while self._found and self._found[-1][0] >= shared:
            self._found.pop()
        for part in tail:
            if part not in known:
                known[part] = match(part)
            if known[part]:
                self._found.append((len(self._ends) - 1, known[part]))
            self._ends.append(self._ends[-1] + part.size)

    def versions(self, tokens: int) -> dict[str, int]:
        """Return the versions in the request, each with its distance from the end in tokens."""
        total = self._ends[-1]
        last = {version: index for index, version in self._found}
        return {
            version: round((total - self._ends[index + 1]) / (total or 1) * tokens) for version, index in last.items()
        }


def _reason(row: Sent, found: dict[str, int]) -> str:
    if row.is_compacted:
        return "compaction"
    return "file" if found else "message"


def _span(version: str, first: Sent, last: Sent, distance: int, lost: str | None) -> Span:
    return Span(first.thread, first.number, last.number, first.time, last.time, version, distance, lost)
