"""Find files that a layout would read if their names had the right case."""

from __future__ import annotations

import os

from ..findings import finding
from ..sources.paths import is_in_page_folder, is_inside
from ..sources.tree import Listings
from ..text import regex
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..sources.links import Reach
    from ..sources.reader import Reader
    from ..vocabulary import Candidate, Finding

CASE_CHECK = "file-case"


def is_page(name: str, folder: str, root: str, siblings: Iterable[str]) -> bool:
    """Whether a file is probably a page of documentation: it is in a folder of such pages, or its name is in lower case, and it is beside others.

    A file at the root is not, and neither is one whose name is in capitals. An `agents.md` in a hidden folder is a list of agents.
    """
    if folder == root or name.partition(".")[0].isupper():
        return False
    if is_in_page_folder(folder, root) or (name == "agents.md" and os.path.basename(folder).startswith(".")):
        return True
    return name == name.lower() and any(
        sibling != name and sibling == sibling.lower() and sibling.endswith((".md", ".mdx")) for sibling in siblings
    )


# The fields of a page of a site. An agents.md with them is about agents, not for them.
_PAGE_FIELDS = r"---[ \t]*\n(?:.*\n)*?(?:title|description|sidebar\w*|layout|slug|nav_order|permalink|icon|weight):"


def is_page_of_site(found: Finding, reader: Reader, reach: Reach) -> bool:
    """Whether a finding about a name in the wrong case is about a page of a site: a name in lower case, and the fields of a page."""
    name = os.path.basename(found.path)
    if found.code != CASE_CHECK or name != name.lower():
        return False
    reading = reader.read(found.path, reach)
    return reading.has_text and regex.match(_PAGE_FIELDS, reading.text.partition("\n---")[0]) is not None


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
                if is_page(name, folder, self.root, (sibling for group in names.values() for sibling in group)):
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
