"""Check the shape of a value: one table for layout keys, settings, prices, scopes and tools."""

from __future__ import annotations

from ..errors import LayoutError
from .keys import TOP_TABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def shown(given: Any) -> str:
    """What was given, in short: a number may have more digits than Python writes."""
    try:
        text = repr(given)
    except ValueError:
        return "a number without end"
    return text if len(text) <= 80 else text[:79] + "…"


def check_shape(mapping: Mapping[str, Any], name: str) -> None:
    """Refuse a layout whose tables are none, before anything is made of them."""
    for table in TOP_TABLES:
        content = mapping.get(table, {})
        if table != "guideline" and not isinstance(content, dict):
            raise LayoutError(f"layout {name}: {table} takes a table, not {shown(content)}")
        if table in ("find", "section"):
            for key, inner in content.items():
                if not isinstance(inner, dict):
                    raise LayoutError(f"layout {name}: {table}.{key} takes a table, not {shown(inner)}")


def is_list_of_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)


TAKES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text": ("a text", lambda given: isinstance(given, str)),
    "form": ("a text", lambda given: isinstance(given, str)),
    "name": ("a name", lambda given: isinstance(given, str)),
    "switch": ("true or false", lambda given: isinstance(given, bool)),
    "count": ("a whole number above zero", lambda given: type(given) is int and given > 0),
    "names": ("a list of texts", is_list_of_texts),
    "conditions": ("a list of texts", is_list_of_texts),
    "groups": (
        "a list of patterns, or of lists of patterns",
        lambda given: (
            isinstance(given, list | tuple) and all(isinstance(each, str) or is_list_of_texts(each) for each in given)
        ),
    ),
}
