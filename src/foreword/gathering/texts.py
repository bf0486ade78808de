"""The texts of the lookups whose rules change them: prepared one by one, with what they import."""

from __future__ import annotations

from .documents import prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout, Lookup
    from ..sources.trail import Trail
    from ..vocabulary import Document
    from .duplicates import Deduplicator
    from .imports import Importer
    from .results import FoundText


class TextPreparer:
    """Prepares the texts of the lookups whose rules change them. `importer` follows their imports, if a lookup has any."""

    def __init__(self, layout: Layout, unique: Deduplicator, trail: Trail, importer: Importer | None) -> None:
        self.lookups = {
            lookup.name: lookup for lookup in layout.lookups if lookup.rules.change_text and not lookup.is_probe
        }
        self.unique, self.trail, self.importer = unique, trail, importer

    def found(self) -> dict[str, Sequence[Document]]:
        """The documents of each lookup. A file of which nothing is left is blank."""
        found: dict[str, Sequence[Document]] = dict.fromkeys(self.lookups, ())
        for name, text in self.unique.kept():
            if name not in self.lookups:
                continue
            documents = self.documents(self.lookups[name], text)
            if self.lookups[name].rules.blank == "keep":
                found[name] = (*found[name], *documents)
                continue
            if any(not each.text.strip() for each in documents[:1]):
                self.unique.record_blank(name, text, "it contains only front matter or comments")
            found[name] = (*found[name], *(each for each in documents if each.text.strip()))
        return found

    def documents(self, lookup: Lookup, text: FoundText) -> list[Document]:
        """The document of a text, and those that it imports as items of their own."""
        if lookup.rules.imports is not None and self.importer is not None:
            return self.importer.expand(lookup, text)
        return [prepare(text.reading, lookup.rules, text.place, self.trail.findings)]
