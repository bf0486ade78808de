"""Reads the prices and minimums of prompt caches: the shipped table, and the user's own rows, which outrank it."""

from __future__ import annotations

import os

from .errors import CallError
from .inspection.prices import prices
from .packs import parse_toml
from .settings import read_settings
from .sources.environment import absolute, settled
from .sources.files import Reader
from .vocabulary import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .inspection.prices import Prices
    from .vocabulary import Workspace


def read_prices(named: str = "", workspace: Workspace | None = None, settings: str = "") -> Prices:
    """The table of prices: shipped, then the file that the user's settings name, then the one that the caller names.

    A workspace's settings name none: its files are a stranger's.
    """
    tables = [_table(os.path.join(os.path.dirname(__file__), "inspection", "prices.toml"))]
    if workspace is not None:
        reader = Reader()
        files, _ = read_settings(settled(workspace, reader), reader, settings)
        for each in files:
            if each.mapping.get("prices") and not each.is_strange:
                path = os.path.expanduser(each.mapping["prices"])
                tables.append(_table(os.path.join(os.path.dirname(each.path), path)))
    if named:
        tables.append(_table(absolute(named, os.environ)))
    return prices(tables)


def _table(path: str) -> tuple[str, Mapping[str, Any]]:
    reading = Reader().read(path)
    if reading.fate == "blank":
        return printable(path), {}
    if reading.fate != "used":
        raise CallError(f"the prices {printable(path)} cannot be read: {reading.reason or 'there is no such file'}")
    return printable(path), parse_toml(reading.text, printable(path))
