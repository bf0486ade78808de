"""Join the logs of one session, and follow each thread from request to request. Pure."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .values import Event, LoggedRequest, LogPart, SessionLog

# A request collapsed if it read less than this share of the previous request's input, and the slack, from the cache.
SHARE, SLACK = 0.95, 256


class Step(NamedTuple):
    """A request and what came before it in its thread.

    Fields:
        request, previous: The two requests; `previous` is None for the first of a thread.
        parts: All parts of the request.
        old_parts: All parts of the previous request.
        keep: How many parts they have in common from the start. -1 if that is not known.
        events: What happened between them.
    """

    request: LoggedRequest
    previous: LoggedRequest | None
    parts: list[LogPart]
    old_parts: Sequence[LogPart]
    keep: int
    events: Sequence[Event]


def steps(log: SessionLog) -> Iterator[Step]:
    """Yield the requests of a log in the order of the log, each with the one before it in the same thread.

    A request to compact is part of its thread, but the next request is compared with the one before it.
    """
    state: dict[str, tuple[LoggedRequest, list[LogPart]]] = {}
    by_position: dict[int, list[Event]] = {}
    for event in log.events:
        by_position.setdefault(event.after, []).append(event)
    pending: dict[str, list[Event]] = {}
    for index, request in enumerate(log.requests):
        for event in by_position.get(index, ()):
            pending.setdefault(event.thread, []).append(event)
        previous, old = state.get(request.thread, (None, []))
        events = pending.pop(request.thread, [])
        if request.kind != "turn":
            yield Step(request, previous, list(request.tail), old, -1, events)
            pending[request.thread] = events
            continue
        keep = _common(old, request.tail) if request.keep < 0 else min(request.keep, len(old))
        parts = [*old[:keep], *request.tail] if request.keep >= 0 else list(request.tail)
        is_comparable = bool(previous and previous.made and request.made) and (
            request.keep >= 0 or previous.made == request.made if previous else False
        )
        yield Step(request, previous, parts, old, keep if is_comparable else -1, events)
        state[request.thread] = request, parts


def _common(old: Sequence[LogPart], new: Sequence[LogPart]) -> int:
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
    if request.tokens.read >= SHARE * previous.tokens.input - SLACK:
        return False
    return cached_tokens(previous, caching) > request.tokens.read


def cached_tokens(request: LoggedRequest, caching: str) -> int:
    """Return how many of a request's tokens were in the cache after it.

    With breakpoints the log says what was written. Otherwise the provider keeps all of the input.
    """
    tokens = request.tokens
    return tokens.read + tokens.written if caching == "breakpoints" else tokens.input
