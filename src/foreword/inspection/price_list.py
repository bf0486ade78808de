"""Prices of prompt caches: reads the shipped table and the user's rows, which override it, and prices a new edition."""

from __future__ import annotations

import os

from ..errors import CallError
from ..packs.packs import parse_toml
from ..packs.settings import read_settings
from ..providers import request_for
from ..sources.environment import absolute, resolve_workspace
from ..sources.files import Reader
from ..text.lines import printable
from .cache import count_kept, segments_of
from .prices import prices
from .sending import turn_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..vocabulary import Edition, Workspace
    from .prices import CacheRule, Prices

    Counter = Callable[[str, str], Callable[[str], int]]  # from a model and its provider to their token counter


def read_prices(named: str = "", workspace: Workspace | None = None, settings: str = "") -> Prices:
    """The table of prices: the shipped one, overridden by the file in the user's settings, and by the caller's.

    A workspace's settings cannot name a file, because they are untrusted.
    """
    tables = [_table(os.path.join(os.path.dirname(__file__), "prices.toml"))]
    if workspace is not None:
        reader = Reader()
        files, _ = read_settings(resolve_workspace(workspace, reader), reader, settings)
        for file in files:
            if file.mapping.get("prices") and not file.is_untrusted:
                path = os.path.expanduser(file.mapping["prices"])
                tables.append(_table(os.path.join(os.path.dirname(file.path), path)))
    if named:
        tables.append(_table(absolute(named, os.environ)))
    return prices(tables)


def shipped_prices() -> Prices:
    """The shipped table, read once."""
    global _shipped
    if _shipped is None:
        _shipped = read_prices()
    return _shipped


_shipped: Prices | None = None


def _table(path: str) -> tuple[str, Mapping[str, Any]]:
    reading = Reader().read(path)
    if reading.fate == "blank":
        return printable(path), {}
    if reading.fate != "used":
        raise CallError(f"the prices {printable(path)} cannot be read: {reading.reason or 'the file does not exist'}")
    return printable(path), parse_toml(reading.text, printable(path))


def price_rebuild(
    using: Edition, fresh: Edition, provider: str, model: str, table: Prices, counter: Counter
) -> tuple[int, int, CacheRule]:
    """How many tokens of the current edition a provider would keep and lose with a fresh one, and by which rule."""
    rules, price, rule = table.rule_for(provider, model)
    count = counter(model or rules.model, rules.name or provider)
    turns = (turn_of(using), turn_of(fresh))
    old, new = (segments_of(request_for(rules.name, turn), rules.order, len(turn.leading)) for turn in turns)
    _, _, cached = count_kept(old, old, rules, price, count)
    _, _, kept = count_kept(old, new, rules, price, count)
    return kept, max(cached - kept, 0), rule
