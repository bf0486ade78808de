"""Parse `roots` of a section: the folders that a menu numbers, so that each path in it begins with a short name."""

from __future__ import annotations

from ..errors import LayoutError
from .lookups import parse_pattern
from .model import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def parse_roots(
    texts: Sequence[str], where: str, settings: Mapping[str, Any], env: Mapping[str, str], has_folder: bool
) -> tuple[Root, ...]:
    """Return the folders in the order of their numbers. `has_folder` says whether the section has a line for each of them."""
    if texts and not has_folder:
        raise LayoutError(f"{where}roots needs `folder`, the line that names each of them").at(f"{where}roots")
    return tuple(_parse_root(text, where, settings, env) for text in texts)


def _parse_root(text: str, where: str, settings: Mapping[str, Any], env: Mapping[str, str]) -> Root:
    place, _, path = text.partition(":")
    pattern = parse_pattern(
        f"{'walk' if place == 'up' else place}:{path.removesuffix('/')}", where, settings, frozenset(), env
    )
    if "*" in pattern.path or pattern.place in ("between", "down", "path", "above"):
        raise LayoutError(
            f"{where}roots: {text!r} must name a folder in 'walk', 'up', 'cwd', 'root', 'home', 'config' or 'env'"
        ).at(f"{where}roots")
    return Root(pattern, place == "up", path.endswith("/"))
