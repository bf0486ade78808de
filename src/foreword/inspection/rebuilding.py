"""Calculates what it costs to send another prompt: how much of the provider's cache is kept and lost, in tokens and in dollars. Pure.

`drift`, `cache`, `diff`, the HTTP API and the page all use `rebuild_cost`, so they never disagree. The cost is always that of the whole
request: a change loses the tools, the prompt and the messages after it.
"""

from __future__ import annotations

from ..text.words import common_prefix_length
from ..vocabulary import value
from .cache import PROMPT_SEGMENTS, count_kept, prompt_offset
from .diff import Cause, cause_of
from .prices import MILLION, CacheRule
from .subject import LastCall, OriginIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from .cache import Segment
    from .prices import Price, ProviderRules
    from .subject import Subject

    Basis = Literal["call", "messages", "prompt"]

_BASES = {
    "call": "from the last recorded call",
    "messages": "from the prompt and the messages, because no call is recorded",
    "prompt": "from the prompt, without messages, because no call is recorded",
}


def tokens_cached(last_call: LastCall, rules: ProviderRules, price: Price | None) -> int:
    """Return how many tokens the provider has cached since a call.

    A provider that caches any prefix has all of the input, whatever the call itself could read. With breakpoints, its report says how
    much. If it does not, the caller is assumed to set them.
    """
    if rules.caching == "breakpoints" and last_call.cached is not None:
        return last_call.cached
    tokens = max(last_call.input, last_call.cached or 0)
    return tokens - tokens % rules.step if tokens >= _minimum(price) else 0


def is_expired(last_call: LastCall | None, rules: ProviderRules, now: float) -> bool:
    """Whether the provider has probably dropped the cache by now. False if the lifetime or the call is not known."""
    return last_call is not None and 0 < rules.lifetime < now - last_call.time


@value
class CachedPart:
    """The cached tokens of one part of a request: how many the provider can still read, and how many it has to write again.

    Fields:
        of: The part: `tools`, `prompt` or `history`.
        tokens_kept: How many of its cached tokens the provider can still read.
        tokens_lost: How many of its cached tokens it has to process and write again.
    """

    of: str
    tokens_kept: int
    tokens_lost: int


@value
class RebuildCost:
    """What sending another prompt costs more than sending the same one again.

    Fields:
        tokens_kept: How many cached tokens the provider can still read.
        tokens_lost: How many cached tokens it has to process and write again, messages included.
        cost: What that costs in US dollars. None if the model's price is unknown.
        basis: What the tokens are counted from: the last recorded `call`, the `messages`, or only the `prompt`, if nothing else is known.
        is_expired: Whether the last recorded call is so long ago that the provider has probably dropped its cache.
        rule: The caching rule that the numbers follow.
        parts: The same tokens by part of the request, in the order in which the provider reads them. Empty if none are lost.
    """

    tokens_kept: int
    tokens_lost: int
    cost: float | None = None
    basis: Basis = "prompt"
    is_expired: bool = False
    rule: CacheRule = CacheRule()
    parts: Sequence[CachedPart] = ()

    def describe(self) -> str:
        """Return a phrase such as `lose about 4,499 cached tokens ($0.0155), counted from the last recorded call (…)`."""
        money = "" if self.cost is None else f" (${self.cost:.4f})"
        return f"lose about {self.tokens_lost:,} cached tokens{money}, counted {self.counted()} ({self.rule})"

    def counted(self) -> str:
        """Return what the tokens are counted from, for a sentence."""
        expired = "; the provider has probably dropped its cache since then" if self.is_expired else ""
        return _BASES[self.basis] + expired


def rebuild_cost(
    old: Sequence[Segment],
    new: Sequence[Segment],
    rules: ProviderRules,
    price: Price | None,
    count: Callable[[str], int],
    *,
    last_call: LastCall | None = None,
    message_tokens: int = 0,
    now: float = 0,
    rule: CacheRule | None = None,
) -> RebuildCost:
    """Return what it costs to send the new request after the old one.

    With `last_call`, its tokens are those that are cached. Otherwise they are those of the old request, and of messages with
    `message_tokens` tokens after it.
    """
    total, _, cached = count_kept(old, old, rules, price, count)
    kept = count_kept(old, new, rules, price, count)[2]
    basis: Basis = "prompt"
    if last_call is not None:
        basis, cached = "call", tokens_cached(last_call, rules, price)
    elif message_tokens:
        is_long_enough = total + message_tokens >= _minimum(price)
        basis, cached = "messages", (cached or total) + message_tokens if is_long_enough else 0
    elif any(segment.argument == "messages" for segment in old):
        basis = "messages"
    kept = cached if _only_adds_messages(old, new) else min(kept, cached)
    lost = cached - kept
    dollars = lost * (price.write - price.read) / MILLION if price else None
    parts = _cached_parts(old, kept, cached, basis != "prompt", count) if lost else ()
    return RebuildCost(kept, lost, dollars, basis, is_expired(last_call, rules, now), rule or CacheRule(), parts)


def _cached_parts(
    request: Sequence[Segment], kept: int, cached: int, has_history: bool, count: Callable[[str], int]
) -> list[CachedPart]:
    """Divide the cached tokens among the parts of a request. The last part has those that are left, because `cached` may be a provider's count."""
    texts: dict[str, str] = {}
    for segment in request:
        if segment.argument != "messages":
            name = "prompt" if segment.argument in PROMPT_SEGMENTS else segment.argument
            texts[name] = texts.get(name, "") + segment.text
    sizes = [(name, count(text)) for name, text in texts.items()]
    if has_history:
        sizes.append(("history", cached))
    parts, start = [], 0
    for index, (name, size) in enumerate(sizes, 1):
        end = cached if index == len(sizes) else min(start + size, cached)
        kept_until = max(start, min(kept, end))
        parts.append(CachedPart(name, kept_until - start, end - kept_until))
        start = end
    return parts


def _only_adds_messages(old: Sequence[Segment], new: Sequence[Segment]) -> bool:
    """Whether the new request is the old one, possibly with more messages at the end."""
    return [segment.text for segment in new[: len(old)]] == [segment.text for segment in old] and all(
        segment.argument == "messages" for segment in new[len(old) :]
    )


def _minimum(price: Price | None) -> int:
    return price.minimum or 0 if price else 0


# The first difference


@value
class FirstDifference:
    """Where two requests first differ: the argument, the section, tool or message within it, the offset, and the causes."""

    argument: str
    name: str
    offset: int
    causes: Sequence[Cause] = ()


@value
class CacheReuse:
    """How much of a request a provider can reuse from its cache of the previous one.

    `total` counts all its tokens, `shared` those before the first difference, and `rebuild` says what the difference costs.
    """

    provider: str
    total: int
    shared: int
    rebuild: RebuildCost
    first: FirstDifference | None


def cache_reuse(
    old: tuple[Subject, Sequence[Segment]],
    new: tuple[Subject, Sequence[Segment]],
    rules: ProviderRules,
    price: Price | None,
    count: Callable[[str], int],
    now: float = 0,
) -> CacheReuse:
    """Return how much of the old request a provider reuses for the new one."""
    total, shared, _ = count_kept(old[1], new[1], rules, price, count)
    rebuild = rebuild_cost(old[1], new[1], rules, price, count, last_call=old[0].last_call, now=now)
    return CacheReuse(rules.name, total, shared, rebuild, _first_difference(old, new))


def _first_difference(
    old: tuple[Subject, Sequence[Segment]], new: tuple[Subject, Sequence[Segment]]
) -> FirstDifference | None:
    """Return where the requests first differ, or None if they are equal, or if one only appends messages to the other."""
    before, after = ("".join(segment.text for segment in request[1]) for request in (old, new))
    start = common_prefix_length(before, after)
    if start in (len(before), len(after)) and all(
        _argument_at(request[1], start) in ("messages", "") for request in (old, new)
    ):
        return None
    subject, segments = new if start < len(after) else old
    position = sent = 0
    for segment in segments:
        if start < position + len(segment.text):
            if segment.argument not in PROMPT_SEGMENTS:
                cause = Cause("tool" if segment.argument == "tools" else "message", segment.name)
                return FirstDifference(segment.argument, segment.name, start - position, [cause])
            return _difference_in_prompt(
                subject, segment.argument, prompt_offset(subject.prompt, sent + start - position + 1) - 1
            )
        position += len(segment.text)
        sent += len(segment.text) if segment.argument in PROMPT_SEGMENTS else 0
    return None


def _argument_at(segments: Sequence[Segment], position: int) -> str:
    """Return the argument that the segment at this offset belongs to, or empty if the offset is past the end."""
    for index, segment in enumerate(segments):
        if position < len(segment.text):
            is_role = index + 1 < len(segments) and segments[index + 1].argument == "leading"
            return "leading" if is_role else segment.argument
        position -= len(segment.text)
    return ""


def _difference_in_prompt(subject: Subject, argument: str, offset: int) -> FirstDifference:
    spans = OriginIndex(subject.prompt).find(offset, offset + 1)
    if not spans:
        return FirstDifference(argument, "", offset)
    causes = [cause_of(span) for span in spans if span.origin.kind]
    return FirstDifference(argument, spans[0].section, offset, causes)
