"""Finds the field that a misspelled name in front matter was probably meant to be."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache


@lru_cache(1024)
def closest_field(key: str, known: frozenset[str]) -> str:
    """Return the known field that was probably meant, such as `allowed-tools` by `allowedTools`, or empty if there is none."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", key[:40]).lower()
    found = get_close_matches(name, sorted(known), 1, 0.85)
    return found[0] if found and not key.endswith(found[0]) else ""  # not `disallowed-tools`
