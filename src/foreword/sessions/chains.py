"""Join the logs of one session, and follow each thread from request to request. Pure."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .values import Event, LoggedRequest, LogPart, SessionLog

# A request collapsed if it read less than this share of the previous request's input, and the slack, from the cache.
SHARE, SLACK = 0.95, 256
# No provider accepts a request with more parts.
MOST_PARTS = 20_000
ENDLESS = f"a request with more than {MOST_PARTS:,} parts, of which only the tokens are known"


class PartLine:
    """The parts of requests, each of which is a beginning of the line.

    Most requests only add to the one before, so they share a line that grows. Questions about a beginning are answered without looking at
    all of its parts, because a session may have thousands of requests of thousands of parts.
    """

    __slots__ = ("_ends", "_firsts", "parts")

    def __init__(self, parts: Iterable[LogPart] = ()) -> None:
        self.parts = list(parts)
        self._ends = [0]  # the size of each beginning, as far as somebody has asked
        self._firsts: dict[str, int] = {}  # where the first part of each kind is

    def size(self, length: int) -> int:
        """Return the size of the first parts in bytes."""
        self._measure()
        return self._ends[length]

    def has(self, kind: str, length: int) -> bool:
        """Whether one of the first parts is of this kind."""
        self._measure()
        return self._firsts.get(kind, length) < length

    def _measure(self) -> None:
        count, total = len(self._ends) - 1, self._ends[-1]
        for index in range(count, len(self.parts)):
            part = self.parts[index]
            self._firsts.setdefault(part.kind, index)
            total += part.size
            self._ends.append(total)


class Step(NamedTuple):
    """A request and what came before it in its thread.

    Fields:
        request, previous: The two requests; `previous` is None for the first of a thread.
        line, length: The line that begins with the parts of the request, and their number.
        old_line, old_length: The same of the previous request.
        keep: How many parts they have in common from the start. -1 if that is not known.
        events: What happened between them.
        shared: How many parts it shares with the request before it in the log, which may be a request to compact.
    """

    request: LoggedRequest
    previous: LoggedRequest | None
    line: PartLine
    length: int
    old_line: PartLine
    old_length: int
    keep: int
    events: Sequence[Event]
    shared: int

    @property
    def parts(self) -> list[LogPart]:
        """All parts of the request."""
        return self.line.parts[: self.length]

    @property
    def old_parts(self) -> list[LogPart]:
        """All parts of the previous request."""
        return self.old_line.parts[: self.old_length]


def steps(log: SessionLog) -> Iterator[Step]:
    """Yield the requests of a log in the order of the log, each with the one before it in the same thread.

    A request to compact is part of its thread, but the next request is compared with the one before it. A thread whose requests have more
    parts than is possible is followed without them.
    """
    turns: dict[str, tuple[LoggedRequest, PartLine, int]] = {}
    composed: dict[str, tuple[PartLine, int]] = {}
    endless: set[str] = set()
    by_position: dict[int, list[Event]] = {}
    for event in log.events:
        by_position.setdefault(event.after, []).append(event)
    pending: dict[str, list[Event]] = {}
    for index, request in enumerate(log.requests):
        for event in by_position.get(index, ()):
            pending.setdefault(event.thread, []).append(event)
        before, known = composed.get(request.thread) or (PartLine(), 0)
        shared = min(max(request.keep, 0), known)
        if request.thread in endless or shared + len(request.tail) > MOST_PARTS:
            endless.add(request.thread)
            request, shared = request._replace(keep=-1, tail=(), made=""), 0
        line = _extended(before, known, shared, request)
        length = shared + len(request.tail)
        if request.made:
            composed[request.thread] = line, length
        previous, old, old_length = turns.get(request.thread) or (None, PartLine(), 0)
        if request.kind != "turn":
            yield Step(request, previous, line, length, old, old_length, -1, pending.get(request.thread, []), shared)
            continue
        events = pending.pop(request.thread, [])
        is_direct = old is before and old_length == known and request.keep >= 0
        keep = (
            -1
            if not _is_comparable(request, previous)
            else shared
            if is_direct
            else common(old.parts[:old_length], line.parts)
        )
        yield Step(request, previous, line, length, old, old_length, keep, events, shared)
        turns[request.thread] = request, line, length


def _extended(before: PartLine, length: int, shared: int, request: LoggedRequest) -> PartLine:
    """Return a line that begins with the parts of a request: that of the request before if nothing is removed from it."""
    if shared == length == len(before.parts):
        before.parts.extend(request.tail)
        return before
    return PartLine((*before.parts[:shared], *request.tail))


def _is_comparable(request: LoggedRequest, previous: LoggedRequest | None) -> bool:
    """Whether the parts of two requests are known in the same way."""
    if previous is None or not previous.made or not request.made:
        return False
    return request.keep >= 0 or previous.made == request.made


def common(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many entries two sequences have in common from the start."""
    if old == new[: len(old)]:
        return len(old)
    count = 0
    for before, after in zip(old, new):  # noqa: B905  one may be shorter
        if before != after:
            break
        count += 1
    return count


def is_collapse(request: LoggedRequest, previous: LoggedRequest | None, caching: str) -> bool:
    """Whether a request read much less from the cache than the previous one of its thread had put there."""
    if previous is None or request.kind != "turn" or previous.kind != "turn":
        return False
    return has_dropped(request, previous) and cached_tokens(previous, caching) > request.tokens.read


def has_dropped(request: LoggedRequest, previous: LoggedRequest) -> bool:
    """Whether a request read much less than all of the previous one."""
    return request.tokens.read < SHARE * previous.tokens.input - SLACK


def cached_tokens(request: LoggedRequest, caching: str) -> int:
    """Return how many of a request's tokens were in the cache after it.

    With breakpoints the log says what was written. Otherwise the provider keeps all of the input.
    """
    tokens = request.tokens
    return tokens.read + tokens.written if caching == "breakpoints" else tokens.input
