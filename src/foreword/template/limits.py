"""How much a template may write. Counted while it writes, so that a short template cannot fill the memory."""

from __future__ import annotations

from ..errors import TemplateError

SOURCE_LIMIT = 500_000
"""The characters a template may have: far beyond any prompt, and at worst parsed within a second."""


class OutputLimit:
    """The bytes that the template at a path may still write."""

    def __init__(self, path: str, limit: int) -> None:
        self._path, self._limit, self._left = path, limit, limit

    def count(self, size: int) -> None:
        """Subtract written bytes; a TemplateError once the limit is exceeded."""
        self._left -= size
        if self._left < 0:
            raise too_long(self._path, self._limit)


def too_long(path: str, limit: int) -> TemplateError:
    """The error for a template that writes too much."""
    return TemplateError(
        f"{path or 'the template'} writes more than {limit:,} bytes; insert fewer or shorter values, or raise template_limit"
    )


def utf8_size(text: str) -> int:
    """The length of a string in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
