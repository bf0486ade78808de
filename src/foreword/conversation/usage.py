"""Record the usage that the provider reports for each call, and explain calls that read too little from its cache."""

from __future__ import annotations

import time

from ..encoding.edition import target_of
from ..errors import ForgottenError, MissingError, StoreError, expect, show
from ..findings import finding
from ..inspection.prices import MILLION
from ..inspection.subject import LastCall
from ..providers.usage import reported_tokens
from ..store.usage import CallUsage, UsageRow
from ..text.models import is_same_model
from ..text.tokens import estimator
from ..vocabulary import value
from .editions import store_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from ..inspection.prices import Price, Prices, ProviderRules
    from ..providers.usage import ReportedTokens
    from ..store.contract import Store
    from ..store.usage import DailyUsage
    from ..vocabulary import Edition, Finding
    from .editions import Editions

# No provider caches fewer tokens than this, so smaller numbers say nothing about the cache.
_MIN_CACHED = 1024
# If at least this share of the prompt's estimated tokens was read, the prompt itself was still cached.
_MIN_PROMPT_SHARE = 0.8


@value
class Usage:
    """The tokens that the calls of an edition or a conversation used, as reported by the provider.

    >>> conversation = Conversations().open("42", Workspace("."), layout="foreword")
    >>> turn = conversation.turn("Hello")
    >>> conversation.record_usage({"input_tokens": 120, "output_tokens": 7}).input
    120

    Fields:
        edition: The number of the edition, or 0 for a whole conversation.
        calls: How many calls were recorded.
        input: All input tokens, cached or not.
        read: How many of them were read from the provider's cache. None if a call did not report it.
        written: How many of them were written to it. None if a call did not report it.
        output: The output tokens.
        cost: What the input and the output cost, in US dollars. None if the model's price is unknown.
        call: The input, read, written and output tokens of the last call.
        findings: What is wrong with the last call, such as a collapsed cache.
        unreported: How many calls did not report how much was cached.
        hit_rate: The share of the input that was read from the cache, from 0 to 1, over the calls that reported it. None without any.
    """

    edition: int
    calls: int
    input: int
    read: int | None
    written: int | None
    output: int
    cost: float | None = None
    call: tuple[int, int | None, int | None, int] = (0, 0, 0, 0)
    findings: Sequence[Finding] = ()
    unreported: int = 0
    hit_rate: float | None = None


def usage_of(
    number: int, row: UsageRow | DailyUsage, call: CallUsage | None = None, findings: Sequence[Finding] = ()
) -> Usage:
    """Return these counters as usage."""
    last = (call.input, call.read, call.written, call.output) if call else (0, 0, 0, 0)
    reported = row.input - row.unreported_input
    read, written = (None, None) if row.unreported else (row.read, row.written)
    counts = (number, row.calls, row.input, read, written, row.output, row.cost)
    return Usage(*counts, last, findings, row.unreported, row.read / reported if reported > 0 else None)


def sum_usage(rows: Iterable[UsageRow | DailyUsage]) -> Usage:
    """Return the total of several counters. Its cost includes only calls whose price is known."""
    known = list(rows)
    costs = [row.cost for row in known if row.cost is not None]

    def total(name: str) -> int:
        return sum(getattr(row, name) for row in known)

    row = UsageRow(
        total("calls"),
        total("input"),
        total("read"),
        total("written"),
        total("output"),
        sum(costs) if costs else None,
        unreported=total("unreported"),
        unreported_input=total("unreported_input"),
    )
    return usage_of(0, row)


@value
class ConversationUsage:
    """What a conversation's calls used.

    Fields:
        total: The sum over all editions.
        editions: The usage of each edition by its number, without those for which no call was recorded.
    """

    total: Usage
    editions: Mapping[int, Usage]


def stored_usage(store: Store, id: str, number: int) -> ConversationUsage | None:
    """Return the counters of a conversation up to edition `number`, or None if nothing was recorded or the store is down."""
    try:
        if number == 1:  # the usual case; reading one row is cached
            row = store.usage(id, 1)
            rows = {1: row} if row else {}
        else:
            rows = store.usages(id)
    except StoreError:
        return None
    if not rows:
        return None
    return ConversationUsage(
        sum_usage(rows.values()), {edition: usage_of(edition, row) for edition, row in rows.items()}
    )


def last_call(store: Store, id: str, edition: Edition) -> LastCall | None:
    """Return the last recorded call of an edition, or None if there is none or the store is down.

    An edition that only adds tools continues with its predecessor's prompt, and therefore with its cache.
    """
    try:
        row = store.usage(id, edition.number)
        if row is None and edition.number > 1:
            previous = store.edition(id, edition.number - 1)
            row = store.usage(id, previous.number) if previous and previous.system == edition.system else None
    except StoreError:
        return None
    if row is None:
        return None
    # A call that does not report what was cached is stored with 0.
    cached = row.cached if row.cached or not row.unreported else None
    return LastCall(row.last_input or row.cached, cached, row.time)


def record_usage(
    editions: Editions, id: str, usage: object, model: str, prices: Callable[[], Prices], now: datetime | None
) -> Usage:
    """Add a call to the counters of the edition in use. While the store is down, the call is not counted."""
    expect("the model", model, str)
    tokens = reported_tokens(usage)
    edition, _ = editions.current(id)
    if edition is None:
        raise _no_edition(id)
    target = target_of(edition)
    model = model or target.model
    rules, price, _ = prices().rule_for(target.provider, model)
    moment = int(now.timestamp() if now else time.time())
    call = CallUsage(
        tokens.input, tokens.read, tokens.written, tokens.output, _cost(tokens, rules, price if model else None), moment
    )
    try:
        row = editions.store.add_usage(id, edition.number, call)
        models = (editions.exchange_model(id, model), model)
        cause = _collapse(editions.store, id, edition, row, call, tokens.lifetime or rules.lifetime, models)
    except ForgottenError:  # it was removed in the meantime
        raise _no_edition(id) from None
    except StoreError as error:
        no_calls = UsageRow(0, 0, 0, 0, 0, None)
        problem = store_failure(error, "the call may be missing from the counters")
        return usage_of(edition.number, no_calls, call, [problem])
    return usage_of(edition.number, row, call, [finding("cache-collapse", cause)] if cause else ())


def _no_edition(id: str) -> MissingError:
    return MissingError(f"the conversation {id!r} has no edition; its first turn creates one")


def _cost(tokens: ReportedTokens, rules: ProviderRules, price: Price | None) -> float | None:
    """Return the cost of a call in US dollars. If only the price of the output is unknown, it is left out.

    The result is None if the price or the number of cached tokens is unknown.
    """
    if price is None or tokens.read is None or tokens.written is None:
        return None
    uncached = tokens.input - tokens.read - tokens.written
    long_price = rules.long_write * price.input or price.write
    written_short = tokens.written - tokens.written_long
    cached = tokens.read * price.read + written_short * price.write + tokens.written_long * long_price
    return (uncached * price.input + cached + tokens.output * price.output) / MILLION


def _collapse(
    store: Store, id: str, edition: Edition, row: UsageRow, call: CallUsage, lifetime: int, models: tuple[str, str]
) -> str:
    """Explain why a call read less than half of what the previous call had left in the cache. Returns an empty string if it did not.

    `models` are those of the previous call, if this process recorded it, and of this one.
    """
    cached, moment, previous_edition = row.cached_before, row.time_before, None
    if row.calls == 1 and edition.number > 1:
        earlier = store.usage(id, edition.number - 1)
        if earlier is None:
            return ""
        cached, moment = earlier.cached, earlier.time
        previous_edition = store.edition(id, edition.number - 1)
    if cached < _MIN_CACHED or not call.input or call.read is None or call.read * 2 >= cached:
        return ""
    cause = _cause(edition, previous_edition, call.read, call.time - moment, lifetime, *models)
    return f"the provider read {call.read:,} of the {cached:,} tokens that the previous call had left in its cache: {cause}"


def _cause(
    edition: Edition,
    previous: Edition | None,
    read: int,
    elapsed: int,
    lifetime: int,
    previous_model: str,
    model: str,
) -> str:
    """Return the most probable reason why cached tokens were not read."""
    if 0 < lifetime < elapsed:
        return f"{_duration(elapsed)} had passed, and it keeps them for {_duration(lifetime)}"
    if previous is not None:
        parts = (("tools", edition.tools != previous.tools), ("prompt", edition.system != previous.system))
        changed = " and ".join(name for name, is_changed in parts if is_changed) or "inputs"
        return f"edition {edition.number} changed the {changed}"
    target = target_of(edition)
    prompt = estimator(target.model, target.provider)(edition.system + edition.tools)
    if read >= max(prompt * _MIN_PROMPT_SHARE, _MIN_CACHED):
        return "the prompt and the tools were read, so earlier messages must have changed, as after a compaction"
    other_model = previous_model or target.model
    if other_model and not (is_same_model(model, other_model) or is_same_model(other_model, model)):
        before = "the previous one" if previous_model else f"edition {edition.number} was built for"
        return f"the call used {show(model)} and {before} {show(other_model)}; after a switch, the cache of the other model is empty"
    return (
        f"edition {edition.number} is unchanged, so the caller sent something different (other tools, another order, changed text),"
        " or the provider dropped them early"
    )


def _duration(seconds: int) -> str:
    minutes = round(seconds / 60)
    return f"{minutes:,} minute{'' if minutes == 1 else 's'}" if seconds < 7200 else f"{round(seconds / 3600):,} hours"
