"""The description of one key of a layout."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@value
class Key:
    """One key of a layout: its table, the type of its value, and its meaning."""

    table: str
    name: str
    takes: str
    about: str
    choices: Sequence[str] = ()
