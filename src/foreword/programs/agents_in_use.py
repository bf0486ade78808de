"""Detect the released agents that a repository is written for."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout


def evidence_of(layout: Layout, root: str, files: Sequence[str]) -> list[str]:
    """Return the paths in the layout's `detected_by` that exist at the root or end the path of one of these instruction files."""
    found = []
    start = len(root)
    for path in layout.detected_by:
        suffix = "/" + path
        is_in_files = any(suffix in file[start:] if path.endswith("/") else file.endswith(suffix) for file in files)
        if is_in_files or os.path.lexists(os.path.join(root, path.rstrip("/"))):
            found.append(path)
    return found
