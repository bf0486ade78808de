"""Detect the released agents that a repository is written for."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def evidence_of(detected_by: Sequence[str], root: str, files: Sequence[str], hidden: Container[str] = ()) -> list[str]:
    """Return those paths of a layout's `detected_by` that exist at the root or end the path of one of these instruction files.

    The paths in `hidden` count as missing.
    """
    found = []
    start = len(root)
    for path in detected_by:
        suffix = "/" + path
        is_in_files = any(suffix in file[start:] if path.endswith("/") else file.endswith(suffix) for file in files)
        at_root = os.path.join(root, path.rstrip("/"))
        if is_in_files or (at_root not in hidden and os.path.lexists(at_root)):
            found.append(path)
    return found
