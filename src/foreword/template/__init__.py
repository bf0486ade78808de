"""The template languages: text in, pieces out. Pure: whatever they need from outside arrives as a function."""

from __future__ import annotations

TEMPLATE_LIMIT = 4_000_000
"""The bytes a template may write unless its layout says otherwise."""
