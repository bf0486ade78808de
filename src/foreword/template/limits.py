"""Limits on templates. Output is counted while it is written, so that a short template cannot use up all memory."""

from __future__ import annotations

from ..errors import TemplateRenderError

SOURCE_LIMIT = 500_000
"""How many characters a template may contain: far more than any prompt needs, and few enough to parse within a second."""


class OutputLimit:
    """Counts the bytes that a template writes, and stops it at a limit."""

    def __init__(self, path: str, limit: int) -> None:
        self._path, self._limit, self._remaining = path, limit, limit

    def count(self, size: int) -> None:
        """Count written bytes. Raises a TemplateRenderError if the total exceeds the limit."""
        self._remaining -= size
        if self._remaining < 0:
            raise output_too_long(self._path, self._limit)


def output_too_long(path: str, limit: int) -> TemplateRenderError:
    """Return the error for a template that writes too much."""
    return TemplateRenderError(
        f"{path or 'the template'} writes more than {limit:,} bytes; insert fewer or shorter values, or raise template_limit"
    )


def utf8_size(text: str) -> int:
    """Return the length of a string in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
