"""Converts turns into requests, to calculate what it costs to send one after the other."""

from __future__ import annotations

from ..providers import request_for
from ..providers.converse_form import from_converse
from ..vocabulary import replace
from .cache import segments_of, with_last_breakpoint
from .rebuilding import rebuild_cost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..vocabulary import Turn
    from .cache import Segment
    from .prices import Prices, ProviderRules
    from .rebuilding import RebuildCost
    from .subject import LastCall

    Counter = Callable[[str, str], Callable[[str], int]]  # takes a model and its provider, returns their token counter


def compare_turns(
    old: Turn,
    new: Turn,
    provider: str,
    model: str,
    table: Prices,
    counter: Counter,
    *,
    last_call: LastCall | None = None,
    message_tokens: int = 0,
    now: float = 0,
) -> RebuildCost:
    """Return what it costs to send the new turn after the old one, to this model or provider."""
    rules, price, rule = table.rule_for(provider, model)
    count = counter(model or rules.model, rules.name or provider)
    before, after = (request_segments(turn, rules) for turn in (old, new))
    return rebuild_cost(
        before, after, rules, price, count, last_call=last_call, message_tokens=message_tokens, now=now, rule=rule
    )


def request_segments(turn: Turn, rules: ProviderRules) -> list[Segment]:
    """Return the segments of a turn's request, in the order in which the provider reads them, with the breakpoint after the messages."""
    if rules.hosts and not turn.model:  # only some of its models are cached
        turn = replace(turn, model=rules.model)
    request = request_for(rules.name, turn)
    converted = from_converse(request)
    leading = len(turn.leading) if converted is request else min(len(turn.leading), 1)  # Bedrock's messages are merged
    segments = segments_of(converted, rules.order, leading)
    return with_last_breakpoint(segments) if rules.caching == "breakpoints" else segments
