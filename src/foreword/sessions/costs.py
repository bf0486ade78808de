"""What tokens cost: at list price, in whole trillionths of a dollar, so that sums are exact. Pure."""

from __future__ import annotations

from typing import NamedTuple

from ..text.models import normalized_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.prices import Price, Prices, ProviderRules
    from .values import TokenCounts

DOLLAR = 10**12
_MILLION = 10**6


class Rates(NamedTuple):
    """A model's prices per token, in trillionths of a dollar, and its provider's rules."""

    fresh: int
    written: int
    long: int
    read: int
    out: int


class ModelRule(NamedTuple):
    """What is known of a model: its rates (None without a price), how its provider caches, and for how many seconds."""

    rates: Rates | None
    caching: str
    lifetime: int
    provider: str


class RateCard:
    """The rates of all models in a table of prices, each looked up once."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._known: dict[tuple[str, str], tuple[ModelRule, list[tuple[float, ModelRule]]]] = {}

    def rule(self, model: str, provider: str = "", time: float = 0) -> ModelRule:
        """Return what is known of a model, with the rates at that time, or the current ones without it.

        `provider` is used if the model is not in the table.
        """
        key = model, provider
        if key not in self._known:
            self._known[key] = self._look_up(model, provider)
        rule, former = self._known[key]
        if former and time:
            return next((old for end, old in former if time < end), rule)
        return rule

    def _look_up(self, model: str, provider: str) -> tuple[ModelRule, list[tuple[float, ModelRule]]]:
        owner = self._prices.provider_of(model) if model else ""
        rules, price, rule = self._prices.rule_for(owner or provider or _family(model), model)
        if not model or price is None or not owner or not price.output:
            return ModelRule(None, rule.caching, rules.lifetime, rules.name), []
        known = ModelRule(_rates(price, rules), rule.caching, rules.lifetime, rules.name)
        former = self._prices.former_prices(price)
        return known, [(_start_of(day), known._replace(rates=_rates(row, rules))) for day, row in former]


def _rates(price: Price, rules: ProviderRules) -> Rates:
    long = rules.long_write * price.input or price.write
    return Rates(*(round(dollars * _MILLION) for dollars in (price.input, price.write, long, price.read, price.output)))


def _start_of(day: str) -> float:
    """Return when a day begins in UTC, in seconds since 1970."""
    from datetime import UTC, datetime

    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def _family(model: str) -> str:
    """Return the provider that a model's name suggests, or empty."""
    name = normalized_model(model).rpartition("/")[2]
    for start, provider in (("claude", "anthropic"), ("gpt", "openai"), ("gemini", "gemini")):
        if name.startswith(start):
            return provider
    return ""


def cost_of(tokens: TokenCounts, rates: Rates) -> int:
    """Return what these tokens cost."""
    return (
        tokens.fresh * rates.fresh
        + (tokens.written - tokens.long) * rates.written
        + tokens.long * rates.long
        + tokens.read * rates.read
        + tokens.out * rates.out
    )


def dollars(units: int | None) -> float | None:
    """Return an amount in dollars."""
    return None if units is None else units / DOLLAR


def apportion(total: int, shares: Sequence[float]) -> list[int]:
    """Divide a whole number in proportion to these shares, so that the results are whole and add up to it exactly."""
    whole = sum(shares)
    if not shares:
        return []
    if whole <= 0:
        return [total, *(0 for _ in shares[1:])]
    exact = [total * share / whole for share in shares]
    result = [int(amount) for amount in exact]
    missing = total - sum(result)
    if abs(missing) > len(shares):  # the amounts are larger than floating-point numbers are exact
        largest = max(range(len(shares)), key=lambda index: result[index])
        result[largest] += missing
        missing = 0
    order = sorted(range(len(shares)), key=lambda index: (result[index] - exact[index], index))
    step = 1 if missing > 0 else -1
    index = 0
    while missing:
        position = order[index % len(order)]
        if step > 0 or result[position] > 0:
            result[position] += step
            missing -= step
        index += 1
    return result
