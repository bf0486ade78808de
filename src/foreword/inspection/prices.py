"""Prices and minimum sizes of prompt caches: a table, and how to find a model's row in it.

The figures go out of date, so they are data with a source and a date (`prices.toml`), not code.
"""

from __future__ import annotations

from ..errors import CallError, suggestion
from ..shapes import AMOUNT, LIST, NAME, STRING, SWITCH, TABLE, check_table, one_of
from ..text.models import is_same_model
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

REQUEST_PARTS = ("tools", "system", "messages")
CACHING_KINDS = ("breakpoints", "prefix")
MILLION = 1_000_000


@value
class Price:
    """A model's prices per million tokens, and the minimum number of tokens that is cached (None if unknown).

    `output` is 0 if it is not known.
    """

    name: str
    provider: str
    input: float
    write: float
    read: float
    minimum: int | None = None
    source: str = ""
    date: str = ""
    output: float = 0


@value
class ProviderRules:
    """How a provider orders a request and caches its prefix.

    `lifetime` is how many seconds a cached prefix lasts by default, 0 if unknown. A write for longer costs `long_write` times the input
    price, or the same as any other write if that is 0. One that `hosts` runs the models of other providers.
    """

    name: str
    order: Sequence[str]
    caching: str
    step: int
    model: str
    source: str = ""
    date: str = ""
    lifetime: int = 0
    long_write: float = 0
    hosts: bool = False


@value
class CacheRule:
    """The caching rule that determines what a change costs.

    Fields:
        provider: The name of the provider.
        model: The model that the rule applies to, or the start of its name.
        caching: How the provider caches: `prefix` keeps the common beginning, `breakpoints` keeps it up to the last breakpoint.
        step: The cache keeps multiples of this many tokens.
        minimum: The minimum number of tokens that is cached. None if it is not known.
        is_assumed: Whether the rule is a guess, because the provider is not known.
    """

    provider: str = ""
    model: str = ""
    caching: str = "prefix"
    step: int = 1
    minimum: int | None = None
    is_assumed: bool = True

    def __str__(self) -> str:
        if self.is_assumed:
            return "unknown provider; assuming one that keeps the common prefix"
        extent = "up to the last breakpoint" if self.caching == "breakpoints" else "the common prefix"
        minimum = f", from {self.minimum:,} tokens" if self.minimum else ""
        return f"{self.provider}{f' {self.model}' if self.model else ''} keeps {extent}{minimum}"


# For an unknown provider.
ASSUMED_RULES = ProviderRules("", REQUEST_PARTS, "prefix", 1, "")


@value
class Prices:
    """The known providers and models. `former` are prices of the past: each with the day on which it ended, as in 2026-09-01, in order."""

    providers: Sequence[ProviderRules]
    models: Sequence[Price]
    former: Sequence[tuple[str, Price]] = ()

    def price_of(self, provider: ProviderRules, model: str) -> Price | None:
        """Return the price of a provider's model, by default its main one, or None if there is no row for this exact variant."""
        name = model or provider.model
        return next(
            (row for row in self.models if row.provider == provider.name and is_same_model(row.name, name)), None
        )

    def former_prices(self, price: Price) -> list[tuple[str, Price]]:
        """Return what the model of this row cost before, oldest first, each with the day on which that ended."""
        return [(day, row) for day, row in self.former if (row.name, row.provider) == (price.name, price.provider)]

    def provider_of(self, model: str) -> str:
        """Return the name of a model's provider, or empty if it is unknown."""
        names = (provider.name for provider in self.providers if model and self.price_of(provider, model))
        return next(names, "")

    def rule_for(self, provider: str, model: str) -> tuple[ProviderRules, Price | None, CacheRule]:
        """Return a provider's rules, the model's price, and a summary of both. If the model is known, its provider overrides `provider`."""
        owner = self.provider_of(model) or provider.lower()
        rules = next((row for row in self.providers if row.name == owner), None)
        if rules is None:
            return ASSUMED_RULES, None, CacheRule()
        price = self.price_of(rules, model)
        minimum = price.minimum if price else None
        name = price.name if price else model
        return rules, price, CacheRule(rules.name, name, rules.caching, rules.step, minimum, False)


def _is_day(content: object) -> bool:
    from datetime import date

    try:
        return isinstance(content, str) and date.fromisoformat(content).isoformat() == content
    except ValueError:
        return False


_FILE_SHAPE = {"provider": TABLE, "model": LIST}
_MODEL_SHAPE = {
    "name": NAME,
    "provider": STRING,
    "input": AMOUNT,
    "output": AMOUNT,
    "write": AMOUNT,
    "read": AMOUNT,
    "minimum": ("a whole number from 0 to 1e9", lambda content: type(content) is int and AMOUNT[1](content)),
    "source": STRING,
    "date": STRING,
    "until": ("a day such as 2026-09-01", _is_day),
}
_REQUIRED_MODEL_KEYS = ("provider", "input", "write", "read")
_ORDER_SHAPE = (
    f"{', '.join(REQUEST_PARTS)}, each once",
    lambda content: isinstance(content, list) and sorted(content, key=str) == sorted(REQUEST_PARTS),
)
_PROVIDER_SHAPE = {
    "order": _ORDER_SHAPE,
    "caching": one_of(*CACHING_KINDS),
    "step": ("a whole number from 1 to 1e9", lambda content: type(content) is int and 1 <= content < 1e9),
    "model": STRING,
    "source": STRING,
    "date": STRING,
    "lifetime": ("a whole number from 0 to 1e9", lambda content: type(content) is int and AMOUNT[1](content)),
    "long_write": AMOUNT,
    "hosts": SWITCH,
}


def build_prices(tables: Sequence[tuple[str, Mapping[str, Any]]]) -> Prices:
    """Build the table from these mappings, each with its file's path. Later rows override earlier ones key by key.

    A row with `until` is a former price. What it does not say is as in the model's current row.
    """
    providers: dict[str, dict[str, Any]] = {}
    models: dict[str, dict[str, Any]] = {}
    former: dict[tuple[str, str], dict[str, Any]] = {}
    for path, table in tables:
        check_table(table, _FILE_SHAPE, path)
        for name, rules in table.get("provider", {}).items():
            where = f"{path}: [provider.{name}]"
            check_table(rules, _PROVIDER_SHAPE, where)
            providers[name] = {**providers.get(name, {}), **rules}
            check_table(providers[name], _PROVIDER_SHAPE, where, required=("order", "caching", "step", "model"))
        for number, row in enumerate(table.get("model", ()), 1):
            check_table(row, _MODEL_SHAPE, f"{path}: [[model]] {number}", required=("name",))
            name = row["name"]
            if "until" in row:
                former[row["until"], name] = {**former.get((row["until"], name), {}), **row}
                continue
            models[name] = {**models.get(name, {}), **row}
            check_table(models[name], _MODEL_SHAPE, f"{path}: the model {name!r}", required=_REQUIRED_MODEL_KEYS)
    for name, row in models.items():
        if row["provider"] not in providers:
            raise CallError(
                f"the price of {name!r} has an unknown provider {row['provider']!r}{suggestion(row['provider'], providers)}"
            )
    return Prices(
        [ProviderRules(name, **rules) for name, rules in providers.items()],
        [Price(**row) for row in models.values()],
        [_former_price(day, row, models) for (day, _), row in sorted(former.items())],
    )


def _former_price(day: str, row: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]) -> tuple[str, Price]:
    name = row["name"]
    if name not in models:
        raise CallError(f"the price of {name!r} until {day} needs a row with its price now{suggestion(name, models)}")
    fields = {**models[name], **row}
    del fields["until"]
    return day, Price(**fields)
