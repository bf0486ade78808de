"""Reduce logs to what the answers need: an entry for each request, with its cost and its collapse. Pure."""

from __future__ import annotations

from typing import NamedTuple

from .causes import find_cause
from .chains import ENDLESS, cached_tokens, is_collapse, steps
from .costs import cost_of
from .pages import Pages
from .surprises import Surprises
from .values import TokenCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .chains import Step
    from .costs import ModelRule, RateCard, Rates
    from .values import LoggedRequest, SessionLog

    Visit = Callable[[Step, "Entry"], None]


class Collapse(NamedTuple):
    """A drop in the cached part of a request, its cause, the tokens that were cached and not read again, and what that cost."""

    cause: str
    path: str
    line: int | None
    name: str
    pause: float | None
    tokens: int
    cost: int | None
    evidence: str
    lost: TokenCounts  # the tokens that were paid again, by kind


class Entry(NamedTuple):
    """One request, reduced to figures."""

    key: str
    thread: str
    time: float
    model: str
    tokens: TokenCounts
    cost: int | None
    kind: str
    exactness: str
    made: str
    own_cost: float | None
    collapse: Collapse | None


class LogRecord(NamedTuple):
    """One log, reduced to figures."""

    log: SessionLog  # without its requests
    entries: Sequence[Entry]


def reduce_log(
    log: SessionLog, card: RateCard, provider: str, visit: Visit | None = None, texts: Mapping[str, str] | None = None
) -> LogRecord:
    """Return the entries of a log. `visit` is called with each request and what it was made of."""
    entries: Pages[Entry] = Pages()
    cached_models = {request.model for request in log.requests if request.tokens.read or request.tokens.written}
    surprises = Surprises()
    is_endless = False
    for logged, step in zip(log.requests, steps(log), strict=True):
        surprises.follow(step)
        request = step.request
        is_endless = is_endless or request.made != logged.made
        rule = card.rule(request.model, provider, request.time)
        collapse = _collapse(step, rule, texts)
        if collapse and collapse.cause in ("provider", "unknown") and request.model not in cached_models:
            collapse = None  # the provider has no cache, or does not report it
        entry = _entry(request, rule, collapse)
        entries.append(entry)
        if visit is not None:
            visit(step, entry)
    endless = [("session-log-cut", ENDLESS)] if is_endless else []
    problems = (*log.problems, *surprises.problems(log), *endless)
    return LogRecord(log._replace(requests=(), problems=problems), entries.plain())


def reduce_figures(log: SessionLog, card: RateCard, provider: str, known: Sequence[Entry] = ()) -> LogRecord | None:
    """Return the entries of a log that was read without what its requests were made of.

    `known` are the entries of its first requests. None if the cache collapsed after them, because the cause is in the parts.
    """
    entries: Pages[Entry] = Pages()
    previous: dict[str, LoggedRequest] = {}
    for index, request in enumerate(log.requests):
        if index < len(known) and known[index].tokens == request.tokens:
            entries.append(known[index])
        else:
            rule = card.rule(request.model, provider, request.time)
            if is_collapse(request, previous.get(request.thread), rule.caching):
                return None
            entries.append(_entry(request, rule, None))
        previous[request.thread] = request
    return LogRecord(log._replace(requests=()), entries.plain())


def _entry(request: LoggedRequest, rule: ModelRule, collapse: Collapse | None) -> Entry:
    cost = None if rule.rates is None else cost_of(request.tokens, rule.rates)
    return Entry(
        request.key, request.thread, request.time, request.model, request.tokens, cost, request.kind, request.exactness,
        request.made, request.own_cost, collapse,
    )  # fmt: skip


def _collapse(step: Step, rule: ModelRule, texts: Mapping[str, str] | None) -> Collapse | None:
    request, previous = step.request, step.previous
    if previous is None or not is_collapse(request, previous, rule.caching):
        return None
    cause = find_cause(step, rule, texts)
    tokens = cached_tokens(previous, rule.caching) - request.tokens.read
    lost = _paid_again(request.tokens, tokens)
    cost = None if rule.rates is None else max(_extra_cost(lost, rule.rates), 0)
    return Collapse(cause.cause, cause.path, cause.line, cause.name, cause.pause, tokens, cost, cause.evidence, lost)


def _paid_again(tokens: TokenCounts, lost: int) -> TokenCounts:
    """Return which tokens of a request are those that were lost: the first that were not read."""
    written = min(lost, tokens.written)
    return TokenCounts(min(lost - written, tokens.fresh), written, 0, 0, min(written, tokens.long))


def _extra_cost(lost: TokenCounts, rates: Rates) -> int:
    """Return how much more these tokens cost than if they had been read from the cache."""
    return cost_of(lost, rates) - (lost.fresh + lost.written) * rates.read
