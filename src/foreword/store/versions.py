"""The version of a store's tables, and which versions of Foreword can use them.

A migration has two halves. Opening a store *expands* it: new tables, and new columns with defaults, which an older Foreword can ignore. If
it can, the store's `lowest` version stays below its `version`, and both run side by side. `foreword store migrate --contract` then removes
what only the older one needed, in `schema/STORE-VERSION-contract.sql`, and raises `lowest`. A new store is contracted from the beginning.
"""

from __future__ import annotations

import os

from ..errors import StoreError
from ..vocabulary import value

LATEST = 8
LOWEST = 6
"""The lowest version whose Foreword can use a store that was expanded to the latest version."""


@value
class SchemaVersion:
    """The version of a store's tables, and the lowest version whose Foreword can use them. Both are 0 for a new store."""

    version: int
    lowest: int


def must_migrate(found: SchemaVersion, latest: int = LATEST) -> bool:
    """Whether a store must be expanded. Raises a StoreError if only a newer Foreword can use it."""
    if found.lowest > latest:
        raise StoreError(
            f"a newer version of Foreword wrote this store: its schema is version {found.version}, and this installation supports up to {latest}"
        )
    return found.version < latest


def schema(store: str, version: int, is_contract: bool = False) -> list[str]:
    """Return the statements that migrate a store from the previous version to this one: its expansion, or its contraction if there is one."""
    name = f"{store}-{version}{'-contract' if is_contract else ''}.sql"
    path = os.path.join(os.path.dirname(__file__), "schema", name)
    if is_contract and not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [statement for statement in file.read().split(";\n") if statement.strip()]


def steps_of_new(store: str, version: int, found: SchemaVersion) -> list[str]:
    """Return the statements that contract a new store, which nobody has used with an older version, while it gets its tables."""
    return [] if found.version else schema(store, version, is_contract=True)


def expanded(found: SchemaVersion, latest: int, lowest: int) -> SchemaVersion:
    """Return the version of a store after it was expanded to `latest`, which a Foreword of the version `lowest` can use."""
    return SchemaVersion(latest, min(lowest, latest) if found.version else latest)
