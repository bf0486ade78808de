"""Recognizes folders of material: what is kept in a repository for others, or was copied from others, so that nobody works there."""

from __future__ import annotations

import re

from .patterns import lazy_pattern

# Templates, test data, samples, the sources of other projects, backups and what programs write.
_MATERIAL = (
    r"templates?|boilerplates?|scaffolds?|starters?|fixtures?|(?:test|dummy|mock|fake)[-_]?data|assets|examples?|demos?|samples?|showcases?"
    r"|vendor(?:ed|s)?|third[-_]?party|external|upstream|repos|references?|backups?|bak|archived?|archives|deprecated|legacy|old|snapshots?"
    r"|dist|generated|outputs?"
)
# Names such as `web-templates`, `web.bak` and `backup-2026-11`.
_FOLDER = lazy_pattern(
    rf"[._]*(?:{_MATERIAL}|.*[-_.](?:templates|fixtures|examples|backups?|bak|archived?|old)|(?:backup|archive)[-_.]?\d.*)_*",
    re.IGNORECASE,
)
_TRANSLATION = lazy_pattern(r"/[a-z]{2}-[A-Z]{2}(?:/|$)|/docs/[a-z]{2}(?:/|$)")


def is_material(folder: str, top: str) -> bool:
    """Whether a folder below `top` contains material such as templates, translations, sources of others or backups."""
    below = folder[len(top) :]
    return _TRANSLATION.search(below) is not None or any(map(_FOLDER.fullmatch, below.split("/")))
