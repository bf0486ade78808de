"""Record what the provider says about each call, and explain why it read less from its cache than the call before."""

from __future__ import annotations

import time

from ..encoding.edition import target_of
from ..errors import CallError, StoreError, expect
from ..findings import finding
from ..inspection.prices import MILLION
from ..providers.usage import reported_tokens
from ..store.usage import CallUsage, UsageRow
from ..text.tokens import estimate_for
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from ..inspection.prices import Price, Prices, ProviderRules
    from ..providers.usage import ReportedTokens
    from ..store.contract import Store
    from ..vocabulary import Edition, Finding
    from .editions import Editions

# No provider caches less than this, so smaller numbers mean nothing.
_MIN_CACHED = 1024
_ENOUGH_OF_THE_PROMPT = 0.8


@value
class Usage:
    """What the calls of an edition used, as the provider reported.

    Fields:
        edition: The number of the edition.
        calls: How many calls were recorded.
        input: All input tokens, cached or not.
        read: How many of them were read from the provider's cache.
        written: How many of them were written to it.
        output: The output tokens.
        cost: What the input cost, in US dollars. None if the model's price is unknown.
        call: The input, read, written and output tokens of the last call.
        findings: What is wrong with the last call, such as a collapsed cache.
        hit_rate: The share of the input that was read from the cache, from 0 to 1. None without any input.
    """

    edition: int
    calls: int
    input: int
    read: int
    written: int
    output: int
    cost: float | None = None
    call: tuple[int, int, int, int] = (0, 0, 0, 0)
    findings: Sequence[Finding] = ()

    @property
    def hit_rate(self) -> float | None:
        """The share of the input that was read from the cache, from 0 to 1. None without any input."""
        return self.read / self.input if self.input else None


def usage_of(number: int, row: UsageRow, call: CallUsage | None = None, findings: Sequence[Finding] = ()) -> Usage:
    """The counters of an edition."""
    last = (call.input, call.read, call.written, call.output) if call else (0, 0, 0, 0)
    return Usage(number, row.calls, row.input, row.read, row.written, row.output, row.cost, last, findings)


def stored_usage(store: Store, id: str, number: int) -> Usage | None:
    """The counters of an edition. None if nothing was recorded, or while the store is down."""
    try:
        row = store.usage(id, number)
    except StoreError:
        return None
    return usage_of(number, row) if row else None


def record_usage(
    editions: Editions, id: str, usage: object, model: str, prices: Callable[[], Prices], now: datetime | None
) -> Usage:
    """Add a call to the counters of the edition in use. While the store is down, the call is not counted."""
    expect("the model", model, str)
    tokens = reported_tokens(usage)
    edition, _ = editions.current(id)
    if edition is None:
        raise CallError(f"the conversation {id!r} has no edition yet; its first turn creates one")
    target = target_of(edition)
    model = model or target.model
    rules, price, _ = prices().rule_for(target.provider, model)
    moment = int(now.timestamp() if now else time.time())
    call = CallUsage(
        tokens.input, tokens.read, tokens.written, tokens.output, _cost(tokens, rules, price if model else None), moment
    )
    try:
        row = editions.store.add_usage(id, edition.number, call)
        cause = _collapse(editions.store, id, edition, row, call, tokens.lifetime or rules.lifetime)
    except StoreError as error:
        alone = UsageRow(0, 0, 0, 0, 0, None)
        return usage_of(edition.number, alone, call, [finding("store-down", f"{error}; the call was not counted")])
    return usage_of(edition.number, row, call, [finding("cache-collapse", cause)] if cause else ())


def _cost(tokens: ReportedTokens, rules: ProviderRules, price: Price | None) -> float | None:
    """What the input of a call cost, in US dollars."""
    if price is None:
        return None
    plain = tokens.input - tokens.read - tokens.written
    long_price = rules.long_write * price.input or price.write
    short = tokens.written - tokens.written_long
    dollars = plain * price.input + tokens.read * price.read + short * price.write + tokens.written_long * long_price
    return dollars / MILLION


def _collapse(store: Store, id: str, edition: Edition, row: UsageRow, call: CallUsage, lifetime: int) -> str:
    """A sentence about a call that read less than half of what the call before had left in the cache. Otherwise empty."""
    cached, moment, before = row.cached_before, row.time_before, None
    if row.calls == 1 and edition.number > 1:
        earlier = store.usage(id, edition.number - 1)
        if earlier is None:
            return ""
        cached, moment = earlier.cached, earlier.time
        before = store.edition(id, edition.number - 1)
    if cached < _MIN_CACHED or not call.input or call.read * 2 >= cached:
        return ""
    cause = _cause(edition, before, call.read, call.time - moment, lifetime)
    return (
        f"the provider read {call.read:,} of the {cached:,} tokens that the call before had left in its cache: {cause}"
    )


def _cause(edition: Edition, before: Edition | None, read: int, elapsed: int, lifetime: int) -> str:
    """The most probable reason why cached tokens were not read."""
    if 0 < lifetime < elapsed:
        return f"{_minutes(elapsed)} had passed, and it keeps them for {_minutes(lifetime)}"
    if before is not None:
        parts = (("tools", edition.tools != before.tools), ("prompt", edition.system != before.system))
        changed = " and ".join(name for name, is_changed in parts if is_changed) or "inputs"
        return f"edition {edition.number} changed the {changed}"
    target = target_of(edition)
    prompt = estimate_for(target.model, target.provider)(edition.system + edition.tools)
    if read >= max(prompt * _ENOUGH_OF_THE_PROMPT, _MIN_CACHED):
        return "the prompt and the tools were read, so the messages before the new ones are different, as after a compaction"
    return (
        f"edition {edition.number} is unchanged, so the caller sent something else (other tools, another order, changed text),"
        " or the provider dropped them early"
    )


def _minutes(seconds: int) -> str:
    minutes = round(seconds / 60)
    return f"{minutes:,} minute{'' if minutes == 1 else 's'}" if seconds < 7200 else f"{round(seconds / 3600):,} hours"
