"""The description of one layout key."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@value
class Key:
    """One layout key: its table, the type of its value, and its meaning."""

    table: str
    name: str
    takes: str
    about: str
    choices: Sequence[str] = ()
