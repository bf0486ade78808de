"""Shares in words."""

from __future__ import annotations

from math import floor


def cached_percent(share: float) -> str:
    """Return the share that was read from a cache, such as "93%". It is "100%" only if all of it was, however little was not."""
    return "100%" if share >= 1 else f"{min(99, floor(100 * share + 0.5))}%"
