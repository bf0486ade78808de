"""Look up what a provider's model accepts in a request. The table is `capabilities.toml`, which is read on first use."""

from __future__ import annotations

from ..errors import PROVIDERS
from ..shapes import LIST, NAME, SIZE, STRING, STRINGS, SWITCH, TABLE, check_table, one_of
from ..text.models import is_same_model, normalized_model
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


@value
class Capabilities:
    """What a model accepts. The comments in `capabilities.toml` describe the fields."""

    system_messages: bool
    added_tools: bool
    removed_tools: bool
    allowed_tools: bool
    betas: Sequence[str]
    deferred_tools: bool
    breakpoints: int
    ttls: Sequence[str]
    merged_messages: bool
    source: str
    date: str


_KINDS = {
    "system_messages": SWITCH,
    "added_tools": SWITCH,
    "removed_tools": SWITCH,
    "allowed_tools": SWITCH,
    "betas": STRINGS,
    "deferred_tools": SWITCH,
    "breakpoints": SIZE,
    "ttls": STRINGS,
    "merged_messages": SWITCH,
    "source": NAME,
    "date": STRING,
}
_MODEL_KINDS = {**_KINDS, "provider": one_of(*PROVIDERS), "models": STRINGS}

_table: Mapping[str, Any] = {}
_cache: dict[tuple[str, str], Capabilities] = {}
_MAX_CACHED = 256


def capabilities_of(provider: str, model: str) -> Capabilities:
    """Return what a provider's model accepts, or what all of the provider's models accept if the model is unknown or empty."""
    capabilities = _cache.get((provider, model))
    if capabilities is None:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        capabilities = _cache[provider, model] = _look_up(provider, model)
    return capabilities


def _look_up(provider: str, model: str) -> Capabilities:
    global _table
    _table = _table or read_capabilities()
    fields = dict(_table["provider"][provider])
    for row in _table["model"] if model else ():
        if row["provider"] == provider and any(_matches(name, model) for name in row["models"]):
            fields |= {key: field for key, field in row.items() if key in _KINDS}
    return Capabilities(**fields)


def _matches(name: str, model: str) -> bool:
    """Whether a name in the table matches a model, however a gateway spells it."""
    if name.endswith("*"):
        return normalized_model(model).rpartition("/")[2].startswith(normalized_model(name[:-1]))
    return is_same_model(name, model)


def read_capabilities() -> Mapping[str, Any]:
    """Read `capabilities.toml` and check its keys and types."""
    import tomllib

    path = __file__.rpartition(".")[0] + ".toml"
    with open(path, "rb") as file:
        table = tomllib.load(file)
    check_table(table, {"provider": TABLE, "model": LIST}, "capabilities.toml")
    for name, row in table["provider"].items():
        check_table(row, _KINDS, f"capabilities.toml: [provider.{name}]", required=_KINDS)
    for number, row in enumerate(table["model"], 1):
        where = f"capabilities.toml: [[model]] {number}"
        check_table(row, _MODEL_KINDS, where, required=("provider", "models", "source", "date"))
    return table
