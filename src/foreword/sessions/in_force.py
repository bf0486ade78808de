"""Find out when an instruction was in the requests of a session, and how it was lost. Pure."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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


def find_spans(requests: Iterable[Sent], match: Match) -> list[Span]:
    """Return when each version of an instruction was in force, by thread and in order of time."""
    threads: dict[str, _ThreadSpans] = {}
    for request in requests:
        if request.thread not in threads:
            threads[request.thread] = _ThreadSpans(match)
        threads[request.thread].follow(request)
    spans = [span for thread in threads.values() for span in thread.spans()]
    return sorted(spans, key=lambda span: (span.first, span.last))


class _ThreadSpans:
    """Follows one thread. `_running` has for each version in the last request the first with it, the last, and the distance."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._spans: list[Span] = []
        self._running: dict[str, tuple[Sent, Sent, int]] = {}
        self._lines: dict[str, _MatchLine] = {}

    def follow(self, row: Sent) -> None:
        """Go on to the next request."""
        line = self._lines.setdefault(row.line, _MatchLine())
        line.move(row.shared, row.tail, self._match)
        if not row.number:
            return
        found, running = line.versions(row.tokens), self._running
        for version in [version for version in running if version not in found]:
            self._spans.append(_span(version, *running.pop(version), lost=_reason(row, found)))
        for version, distance in found.items():
            first = running[version][0] if version in running else row
            running[version] = first, row, distance

    def spans(self) -> list[Span]:
        """Return what was found, with the versions that were never lost."""
        return [*self._spans, *(_span(version, *state, lost=None) for version, state in self._running.items())]


class _MatchLine:
    """Where the parts of a thread's current request end, and which of them contain the instruction."""

    def __init__(self) -> None:
        self._ends = [0]
        self._found: list[tuple[int, str]] = []  # the number of a part, and the version in it

    def move(self, shared: int, tail: Sequence[LogPart], match: Match) -> None:
        """Go on to the next request, which shares its first parts with this one."""
        del self._ends[shared + 1 :]
        while self._found and self._found[-1][0] >= shared:
            self._found.pop()
        for part in tail:
            if version := match(part):
                self._found.append((len(self._ends) - 1, version))
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
