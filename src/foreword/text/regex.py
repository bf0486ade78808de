"""The functions of `re` that the engine uses. `re` is loaded on first use, because most prompts are built without a pattern."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import IGNORECASE, Pattern, compile, escape, findall, finditer, fullmatch, match, search, sub

__all__ = ["IGNORECASE", "Pattern", "compile", "escape", "findall", "finditer", "fullmatch", "match", "search", "sub"]

if not TYPE_CHECKING:

    def __getattr__(name):
        import re

        attribute = globals()[name] = getattr(re, name)
        return attribute
