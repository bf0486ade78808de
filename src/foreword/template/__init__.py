"""The template languages: text in, pieces out. They are pure: callers pass functions for everything that must be read."""

from __future__ import annotations

TEMPLATE_LIMIT = 4_000_000
"""The default limit on a template's output, in bytes. A layout can change it with `template_limit`."""
