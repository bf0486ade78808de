"""How much a template may write. It is counted while it writes, so that a short template cannot fill the memory."""

from __future__ import annotations

from ..errors import TemplateError
from ..layout.keys import TEMPLATE_LIMIT

__all__ = ["TEMPLATE_LIMIT", "Room", "size_of", "too_long"]


class Room:
    """The bytes that the template at a path may still write."""

    def __init__(self, path: str, limit: int) -> None:
        self._path, self._limit, self._left = path, limit, limit

    def take(self, size: int) -> None:
        """Count so many bytes; a TemplateError if that is more than there is room for."""
        self._left -= size
        if self._left < 0:
            raise too_long(self._path, self._limit)


def too_long(path: str, limit: int) -> TemplateError:
    """The error for a template that writes too much."""
    return TemplateError(
        f"{path or 'the template'} writes more than {limit:,} bytes; insert fewer or shorter values, or set template_limit higher"
    )


def size_of(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
