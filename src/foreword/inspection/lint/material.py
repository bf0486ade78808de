"""Recognizes folders of material, such as templates, translations and examples, which nobody uses as a working directory."""

from __future__ import annotations

import re

# Folders whose files are copied elsewhere, or are data.
_MATERIAL_FOLDERS = frozenset(
    ("template", "templates", "fixture", "fixtures", "testdata", "assets", "boilerplate", "scaffolds")
)
_EXAMPLE = re.compile(r"/(?:examples?|demos?|samples?|showcases?|starters?|templates?|fixtures?)(?:/|$)", re.IGNORECASE)
_TRANSLATION = re.compile(r"/[a-z]{2}-[A-Z]{2}(?:/|$)|/docs/[a-z]{2}(?:/|$)")


def is_material(folder: str, root: str) -> bool:
    """Whether a folder contains material such as templates or translations, so that probably nobody works in it."""
    below = folder[len(root) :]
    return _TRANSLATION.search(below) is not None or any(
        segment.strip("_").lower() in _MATERIAL_FOLDERS or segment.endswith(("-templates", "_templates"))
        for segment in below.split("/")
    )


def is_example(folder: str, root: str) -> bool:
    """Whether a folder is an example: a project of its own, which people copy and open by itself."""
    return _EXAMPLE.search(folder[len(root) :]) is not None
