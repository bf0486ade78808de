"""Remove duplicates across all lookup rules, so that each file and each text is kept once."""

from __future__ import annotations

import os

from ..findings import finding
from ..sources.paths import distance_of
from ..text.lines import printable
from ..vocabulary import Candidate, include_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..layout.model import Layout
    from ..sources.files import Reader
    from ..vocabulary import Document, Finding, Resident, Skill, Workspace
    from .includes import Includes
    from .results import FoundText, LookupResult


class Deduplicator:
    """Removes duplicates from the results of all lookup rules.

    If two directories contain the same text, the nearer file is kept. If two equally near paths lead to the same file, the path
    that is not a link is kept, otherwise the first.
    """

    def __init__(
        self, layout: Layout, results: Mapping[str, LookupResult], workspace: Workspace, reader: Reader
    ) -> None:
        # Text that may replace a section is compared later, because only the agent decides whether it does.
        replacing = {name for section in layout.all_sections for name in section.instead}
        self.with_directives = {section.of for section in layout.all_sections if section.language == "directives"}
        self.lookups = {lookup.name: lookup for lookup in layout.lookups}
        self.results, self.workspace, self.reader = results, workspace, reader
        self.findings: list[Finding] = []
        self.fates: dict[str, list[Candidate | None]] = {
            name: list(result.candidates) for name, result in results.items() if not self.lookups[name].is_probe
        }
        self.texts = [(name, text) for name in self.fates for text in results[name].texts]
        self.comparable = [number for number, (name, _) in enumerate(self.texts) if name not in replacing]
        self.dropped: set[int] = set()
        self.reported: set[int] = set()
        self.dropped_entries: set[tuple[str, str]] = set()
        self.drop_aliases()
        self.drop_repeated_entries()

    def drop_aliases(self) -> None:
        """Keep one path for each file."""
        names: dict[tuple[int, int], int] = {}
        for number in self.comparable:
            identity = self.texts[number][1].reading.identity
            other = names.setdefault(identity, number)
            if other != number:
                nearer = self.distance(other) - self.distance(number)
                is_better = nearer > 0 or (not nearer and self.is_only_a_link(self.path(other), self.path(number)))
                loser, names[identity] = (other, number) if is_better else (number, other)
                self.drop(loser, names[identity], "file")

    def drop_repeated_entries(self) -> None:
        """Keep an entry in only one lookup rule if several have found it."""
        owners: dict[tuple[int, int], tuple[str, str]] = {}
        for name, result in self.results.items():
            for path, identity in result.identities.items():
                other = owners.setdefault(identity, (name, path))
                if other != (name, path):
                    is_better = self.is_only_a_link(other[1], path)
                    loser, owners[identity] = (other, (name, path)) if is_better else ((name, path), other)
                    self.dropped_entries.add(loser)
                    paths = [candidate.path for candidate in self.results[loser[0]].candidates]
                    number = paths.index(printable(loser[1]))
                    self.report_duplicate(loser[0], number, "the same file as", printable(owners[identity][1]))

    def drop_copies(self, includes: Includes | None) -> None:
        """Keep only the nearest of equal texts. Texts with includes are equal if the included texts are equal too."""
        by_text: dict[str, list[int]] = {}
        for number in self.comparable:
            if number not in self.dropped:
                by_text.setdefault(self.texts[number][1].reading.text, []).append(number)
        for numbers in by_text.values():
            if len(numbers) == 1:
                continue
            nearest: dict[str, int] = {}
            for number in numbers:
                content = self.fingerprint(number, includes)
                other = nearest.setdefault(content, number)
                if other != number:
                    loser, nearest[content] = (number, other) if self.is_kept(other, number) else (other, number)
                    self.drop(loser, nearest[content], "text")

    def is_kept(self, earlier: int, later: int) -> bool:
        """Whether the earlier of two equal texts is kept, because it is in the same directory or nearer."""
        if self.lookups[self.texts[later][0]].copies == "first":
            return True
        if os.path.dirname(self.path(earlier)) == os.path.dirname(self.path(later)):
            return True
        is_farthest_first = self.lookups[self.texts[later][0]].order == "farthest"
        return not is_farthest_first and self.distance(earlier) <= self.distance(later)

    def fingerprint(self, number: int, includes: Includes | None) -> str:
        """Return a string that is equal for equal content, including the files that the text includes."""
        name, text = self.texts[number]
        if includes is None or name not in self.with_directives or "<!--" not in text.reading.text:
            return text.reading.text
        from ..template import directives

        root = text.reading.document
        includes.follow(root, text.reading.path, text.bound)
        return directives.fingerprint(
            root, lambda path, target: includes.found[include_key(root.path, path, target)], {}
        )

    def follow(self, includes: Includes) -> None:
        """Read the includes of the texts that are kept."""
        for number, (name, text) in enumerate(self.texts):
            if number not in self.dropped and name in self.with_directives and "<!--" in text.reading.text:
                includes.follow(text.reading.document, text.reading.path, text.bound)

    def path(self, number: int) -> str:
        return self.texts[number][1].reading.path

    def distance(self, number: int) -> int:
        return distance_of(printable(self.path(number)), self.lookups[self.texts[number][0]], self.workspace)

    def is_only_a_link(self, earlier: str, later: str) -> bool:
        """Whether the earlier of two paths to one file goes through a link and the later one does not."""
        top = os.path.commonpath((earlier, later))
        return self.reader.is_linked(earlier, top) and not self.reader.is_linked(later, top)

    def drop(self, loser: int, winner: int, what: str) -> None:
        name, text = self.texts[loser]
        path, target = self.path(loser), printable(self.path(winner))
        if path == self.path(winner):
            self.fates[name][text.candidate] = None  # two lookup rules have found the same path
        elif self.lookups[name].copies == "keep":
            self.report_kept(loser, f"the same {what} as {target}; this layout keeps both")
            return
        else:
            self.report_duplicate(name, text.candidate, f"the same {what} as", target)
        self.dropped.add(loser)

    def report_kept(self, number: int, reason: str) -> None:
        if number not in self.reported:
            self.reported.add(number)
            path = printable(self.path(number))
            self.findings.append(finding("file-duplicate", f"{path}: {reason}", path))

    def report_duplicate(self, name: str, number: int, reason: str, target: str) -> None:
        candidate = self.results[name].candidates[number]
        reason = f"{reason} {target}"
        self.fates[name][number] = Candidate(candidate.path, candidate.layer, "duplicate", reason, target)
        self.findings.append(finding("file-duplicate", f"{candidate.path}: {reason}", candidate.path))

    def names(self) -> dict[tuple[int, int], str]:
        """Return the path of each file that is kept, by its identity."""
        return {text.reading.identity: printable(text.reading.path) for _, text in self.kept()}

    def kept(self) -> Iterator[tuple[str, FoundText]]:
        """Yield the texts that are kept, each with the name of its lookup rule."""
        return (text for number, text in enumerate(self.texts) if number not in self.dropped)

    def record_blank(self, name: str, text: FoundText, reason: str) -> None:
        """Record that a text is blank after its lookup rule has changed it."""
        candidate = self.results[name].candidates[text.candidate]
        self.fates[name][text.candidate] = Candidate(candidate.path, candidate.layer, "blank", reason)

    def candidates(self) -> Iterator[Candidate]:
        for candidates in self.fates.values():
            yield from (candidate for candidate in candidates if candidate is not None)

    def found(self) -> dict[str, Sequence[Document | Skill | Resident]]:
        """Return the kept entries of each lookup rule. A menu without duplicates is returned unchanged, so that it can be compared by identity."""
        found: dict[str, Sequence[Document | Skill | Resident]] = {}
        for name, result in self.results.items():
            dropped = {path for lookup, path in self.dropped_entries if lookup == name}
            found[name] = (
                tuple(entry for entry in result.entries if entry.path not in dropped) if dropped else result.entries
            )
            if self.lookups[name].is_probe:
                found[name] = (*found[name], *(text.reading.document for text in result.texts))
        for name, text in self.kept():
            found[name] = (*found[name], text.reading.document)
        return found
