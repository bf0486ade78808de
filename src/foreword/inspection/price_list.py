"""Reads the built-in table of prices and the user's overrides."""

from __future__ import annotations

import os

from ..errors import CallError
from ..packs.packs import parse_toml
from ..packs.settings import read_settings
from ..sources.environment import absolute, resolve_workspace
from ..sources.reader import Reader
from ..text.lines import printable
from .prices import build_prices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..vocabulary import Workspace
    from .prices import Prices


def read_prices(path: str = "", workspace: Workspace | None = None, settings: str = "") -> Prices:
    """Read the built-in table of prices. The file in the user's settings overrides it, and the file at `path` overrides both.

    A workspace's settings cannot specify a file, because they are untrusted.
    """
    from . import compiled_prices

    tables: list[tuple[str, Mapping[str, Any]]] = [("prices.toml", compiled_prices.mapping())]
    if workspace is not None:
        reader = Reader()
        files, _ = read_settings(resolve_workspace(workspace, reader), reader, settings)
        for file in files:
            if file.mapping.get("prices") and not file.is_untrusted:
                user_path = os.path.expanduser(file.mapping["prices"])
                tables.append(_read_table(os.path.join(os.path.dirname(file.path), user_path)))
    if path:
        tables.append(_read_table(absolute(path, os.environ)))
    return build_prices(tables)


def shipped_prices() -> Prices:
    """Return the built-in table of prices, which is read only once."""
    global _shipped
    if _shipped is None:
        _shipped = read_prices()
    return _shipped


_shipped: Prices | None = None


def _read_table(path: str) -> tuple[str, Mapping[str, Any]]:
    reading = Reader().read(path)
    if reading.fate == "blank":
        return printable(path), {}
    if reading.fate != "used":
        raise CallError(
            f"the price file {printable(path)} cannot be read: {reading.reason or 'the file does not exist'}"
        )
    return printable(path), parse_toml(reading.text, printable(path))
