"""Removes duplicates across all lookup rules, so that each file and each text is kept once."""

from __future__ import annotations

import os

from ..findings import finding
from ..sources.paths import distance_of
from ..text.lines import printable
from ..vocabulary import Candidate, include_key, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..layout.model import Layout, Lookup
    from ..sources.reader import Reader
    from ..vocabulary import Document, Finding, Resident, Skill, Workspace
    from .includes import Includes
    from .results import FoundText, LookupResult


class Deduplicator:
    """Removes duplicates from the results of all lookup rules.

    If two directories contain the same text, the nearer file is kept. If two equally near paths lead to the same file, the path
    that is not a link is kept, otherwise the first. In a mirror, the first is always kept.
    """

    def __init__(
        self, layout: Layout, results: Mapping[str, LookupResult], workspace: Workspace, reader: Reader
    ) -> None:
        # Text that may replace a section is compared later, because whether it does depends on the agent.
        replacement_lookups = {name for section in layout.all_sections for name in section.instead}
        self.with_directives = {
            section.list_name for section in layout.all_sections if section.language == "directives"
        }
        self.is_mirror = bool(layout.mirrors)
        self.lookups = {lookup.name: lookup for lookup in layout.lookups}
        self.results, self.workspace, self.reader = results, workspace, reader
        self.findings: list[Finding] = []
        self.candidates_by_lookup: dict[str, list[Candidate | None]] = {
            name: list(result.candidates) for name, result in results.items() if not self.lookups[name].is_probe
        }
        self.texts = [(name, text) for name in self.candidates_by_lookup for text in results[name].texts]
        self.comparable_texts = [index for index, (name, _) in enumerate(self.texts) if name not in replacement_lookups]
        self.dropped_texts: set[int] = set()
        self.reported_texts: set[int] = set()
        self.dropped_entries: set[tuple[str, str]] = set()
        self.drop_aliases()
        self.drop_repeated_entries()
        self.drop_hidden_names()

    def drop_aliases(self) -> None:
        """Keep one path for each file."""
        kept_by_identity: dict[tuple[int, int], int] = {}
        for index in self.comparable_texts:
            identity = self.texts[index][1].reading.identity
            other = kept_by_identity.setdefault(identity, index)
            if other != index:
                is_better = self.is_better_path(index, other)
                loser, winner = (other, index) if is_better else (index, other)
                kept_by_identity[identity] = winner
                self.drop(loser, winner, "file")

    def is_better_path(self, index: int, other: int) -> bool:
        """Whether a path is nearer than another path to the same file, or as near and not a link."""
        if self.is_mirror:
            return False
        distance, other_distance = self.distance(index), self.distance(other)
        if distance != other_distance:
            return distance < other_distance
        return self.prefers_later_path(self.path(other), self.path(index))

    def drop_repeated_entries(self) -> None:
        """Keep an entry in only one lookup rule if several rules found it."""
        identities = [identity for result in self.results.values() for identity in result.identities.values()]
        if len(identities) == len(set(identities)):
            return
        owners: dict[tuple[int, int], tuple[str, str]] = {}
        for name, result in self.results.items():
            for path, identity in result.identities.items():
                other = owners.setdefault(identity, (name, path))
                if other != (name, path):
                    is_better = self.prefers_later_path(other[1], path)
                    loser, owners[identity] = (other, (name, path)) if is_better else ((name, path), other)
                    self.dropped_entries.add(loser)
                    paths = [candidate.path for candidate in self.results[loser[0]].candidates]
                    index = paths.index(printable(loser[1]))
                    self.report_duplicate(loser[0], index, "the same file as", printable(owners[identity][1]))

    def drop_hidden_names(self) -> None:
        """Leave out entries with the same name as an entry of a lookup rule that hides theirs."""
        for name, lookup in self.lookups.items():
            hiding = {
                _listed_name(self.lookups[other], entry): entry.path
                for other in lookup.hidden_by
                for entry in self.results[other].entries
            }
            for entry in self.results[name].entries if hiding else ():
                if entry.name in hiding and (name, entry.path) not in self.dropped_entries:
                    self.dropped_entries.add((name, entry.path))
                    self.report_hidden(name, entry, printable(hiding[entry.name]))

    def report_hidden(self, name: str, entry: Skill | Resident, target: str) -> None:
        path = printable(entry.path)
        reason = f"{target} also has the name {entry.name!r} and comes first"
        rows = self.candidates_by_lookup[name]
        rows[:] = [
            replace(row, fate="shadowed", reason=reason, target=target) if row and row.path == path else row
            for row in rows
        ]
        self.findings.append(finding("skill-shadowed", f"{path}: {reason}", path))

    def drop_copies(self, includes: Includes | None) -> None:
        """Keep only the nearest of equal texts. Texts with includes are equal if the included texts are equal too."""
        by_text: dict[str, list[int]] = {}
        for index in self.comparable_texts:
            if index not in self.dropped_texts:
                by_text.setdefault(self.texts[index][1].reading.text, []).append(index)
        for indexes in by_text.values():
            if len(indexes) == 1:
                continue
            nearest: dict[tuple[str, str], int] = {}
            for index in indexes:
                content = self.lookups[self.texts[index][0]].copies, self.fingerprint(index, includes)
                other = nearest.setdefault(content, index)
                if other != index:
                    loser, nearest[content] = (index, other) if self.keeps_earlier(other, index) else (other, index)
                    self.drop(loser, nearest[content], "text")

    def keeps_earlier(self, earlier: int, later: int) -> bool:
        """Whether the earlier of two equal texts is kept, because it is in the same directory or nearer."""
        if self.lookups[self.texts[later][0]].copies == "first":
            return True
        if os.path.dirname(self.path(earlier)) == os.path.dirname(self.path(later)):
            return True
        is_farthest_first = self.lookups[self.texts[later][0]].order == "farthest"
        return not is_farthest_first and self.distance(earlier) <= self.distance(later)

    def fingerprint(self, index: int, includes: Includes | None) -> str:
        """Return a string that is equal for equal content, including the files that the text includes."""
        name, text = self.texts[index]
        if includes is None or name not in self.with_directives or "<!--" not in text.reading.text:
            return text.reading.text
        from ..template import directives

        root = text.document
        includes.follow(root, text.reading.path, text.bound)
        return directives.fingerprint(
            root, lambda path, target: includes.found[include_key(root.path, path, target)], {}
        )

    def follow_includes(self, includes: Includes) -> None:
        """Read the includes of the texts that are kept."""
        for index, (name, text) in enumerate(self.texts):
            if index not in self.dropped_texts and name in self.with_directives and "<!--" in text.reading.text:
                includes.follow(text.document, text.reading.path, text.bound)

    def path(self, index: int) -> str:
        return self.texts[index][1].reading.path

    def distance(self, index: int) -> int:
        return distance_of(printable(self.path(index)), self.lookups[self.texts[index][0]], self.workspace)

    def prefers_later_path(self, earlier: str, later: str) -> bool:
        """Whether to keep the later of two paths to one file, because only the earlier one goes through a link."""
        top = os.path.commonpath((earlier, later))
        return self.reader.has_link(earlier, top) and not self.reader.has_link(later, top)

    def drop(self, loser: int, winner: int, kind: str) -> None:
        name, text = self.texts[loser]
        path, target = self.path(loser), printable(self.path(winner))
        if path == self.path(winner):
            self.candidates_by_lookup[name][text.candidate] = None  # two lookup rules found the same path
        elif self.lookups[name].copies == "keep" or (kind == "text" and self.lookups[name].keep_equal_texts):
            self.report_kept(loser, f"the same {kind} as {target}; this layout keeps both")
            return
        else:
            self.report_duplicate(name, text.candidate, f"the same {kind} as", target)
        self.dropped_texts.add(loser)

    def report_kept(self, index: int, reason: str) -> None:
        if index not in self.reported_texts:
            self.reported_texts.add(index)
            path = printable(self.path(index))
            self.findings.append(finding("file-duplicate", f"{path}: {reason}", path))

    def report_duplicate(self, name: str, index: int, reason: str, target: str) -> None:
        candidate = self.results[name].candidates[index]
        reason = f"{reason} {target}"
        self.candidates_by_lookup[name][index] = Candidate(candidate.path, candidate.layer, "duplicate", reason, target)
        self.findings.append(finding("file-duplicate", f"{candidate.path}: {reason}", candidate.path))

    def paths_by_identity(self) -> dict[tuple[int, int], str]:
        """Return the path of each file that is kept, by its identity."""
        return {text.reading.identity: printable(text.reading.path) for _, text in self.kept_texts()}

    def kept_texts(self) -> Iterator[tuple[str, FoundText]]:
        """Yield the texts that are kept, each with the name of its lookup rule."""
        return (text for index, text in enumerate(self.texts) if index not in self.dropped_texts)

    def record_blank(self, name: str, text: FoundText, reason: str) -> None:
        """Record that a document is blank after its lookup rule has changed it."""
        candidate = self.results[name].candidates[text.candidate]
        self.candidates_by_lookup[name][text.candidate] = Candidate(candidate.path, candidate.layer, "blank", reason)

    def candidates(self) -> Iterator[Candidate]:
        for candidates in self.candidates_by_lookup.values():
            yield from filter(None, candidates)

    def kept_entries(self) -> dict[str, Sequence[Document | Skill | Resident]]:
        """Return the entries that are kept, by lookup rule.

        If a rule has no duplicates, its entries are returned as the same object, so that they can be compared by identity.
        """
        entries: dict[str, Sequence[Document | Skill | Resident]] = {}
        documents: dict[str, list[Document]] = {}
        for name, text in self.kept_texts():
            documents.setdefault(name, []).append(text.document)
        for name, result in self.results.items():
            dropped = {path for lookup, path in self.dropped_entries if lookup == name}
            entries[name] = (
                tuple(entry for entry in result.entries if entry.path not in dropped) if dropped else result.entries
            )
            if self.lookups[name].is_probe:
                entries[name] = (*entries[name], *(text.document for text in result.texts))
            if name in documents:
                entries[name] = (*entries[name], *documents[name])
        return entries


def _listed_name(lookup: Lookup, entry: Skill | Resident) -> str:
    """Return the name of an entry without the one that follows in brackets."""
    return os.path.basename(os.path.dirname(entry.path)) if lookup.named == "both" else entry.name
