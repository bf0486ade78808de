"""Find files that a layout would read if their names had the right case."""

from __future__ import annotations

import os

from ..findings import finding
from ..sources.paths import is_inside
from ..sources.tree import Listings
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..vocabulary import Candidate, Finding

CASE_CHECK = "file-case"


def is_page(name: str, is_at_root: bool, siblings: Iterable[str]) -> bool:
    """Whether a file is probably a page of documentation: it is not at the root, and its folder has other pages in lower case."""
    if is_at_root or name != name.lower():
        return False
    return any(
        sibling != name and sibling == sibling.lower() and sibling.endswith((".md", ".mdx")) for sibling in siblings
    )


class WrongCaseFinder:
    """Finds files at or below `root` that were skipped because their names have the wrong case.

    Each folder is listed only once and each file is reported only once, even for many prompts.
    """

    def __init__(self, root: str = "/", listings: Listings | None = None) -> None:
        self.root, self.listings = root, listings or Listings()
        self.seen: set[str] = set()
        self.names: dict[str, dict[str, list[str]]] = {}

    def findings(self, candidates: Sequence[Candidate]) -> Iterator[Finding]:
        considered = {candidate.path for candidate in candidates if candidate.fate != "absent"}
        for path in [candidate.path for candidate in candidates if candidate.fate == "absent"]:
            if path in self.seen or not is_inside(path, self.root):
                continue
            self.seen.add(path)
            folder, expected = os.path.split(path)
            names = self._names_in(folder)
            for name in names.get(expected.lower(), ()):
                if is_page(name, folder == self.root, (sibling for group in names.values() for sibling in group)):
                    continue
                printable_path = printable(os.path.join(folder, name))
                is_read = name == expected or printable_path in considered
                if not is_read and self.listings.is_file(os.path.join(folder, name)):
                    yield finding(
                        CASE_CHECK, f"{printable_path} was not read: it must be named {expected}", printable_path
                    )

    def _names_in(self, folder: str) -> dict[str, list[str]]:
        """Return the names in a folder, by their lower-case form."""
        if folder not in self.names:
            self.names[folder] = {}
            try:
                entries = sorted(self.listings.entries(folder))
            except (OSError, ValueError):  # it cannot be listed
                entries = []
            for name in entries:
                self.names[folder].setdefault(name.lower(), []).append(name)
        return self.names[folder]
