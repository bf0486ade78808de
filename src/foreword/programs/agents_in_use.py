"""Which released agents a repository is written for: those whose signs it shows, and those that the settings name."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout


def signs_of(layout: Layout, root: str, files: Sequence[str]) -> list[str]:
    """Return the signs of a layout that the repository shows, at its root or, if they are among these instruction files, anywhere in it."""
    found = []
    start = len(root)
    for sign in layout.signs:
        path = "/" + sign
        is_in_files = any(path in file[start:] if sign.endswith("/") else file.endswith(path) for file in files)
        if is_in_files or os.path.lexists(os.path.join(root, sign.rstrip("/"))):
            found.append(sign)
    return found
