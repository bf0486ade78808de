"""Prepares the texts of the lookup rules that change text, one by one, with the files that they import."""

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
    """Prepares the texts of the lookup rules that change text. `importer` follows their imports, if a rule allows them."""

    def __init__(self, layout: Layout, deduplicator: Deduplicator, trail: Trail, importer: Importer | None) -> None:
        self.lookups = {
            lookup.name: lookup for lookup in layout.lookups if lookup.rules.change_text and not lookup.is_probe
        }
        self.deduplicator, self.trail, self.importer = deduplicator, trail, importer

    def prepare_all(self) -> dict[str, Sequence[Document]]:
        """Return the documents of each lookup rule. A file counts as blank if none of its text is left."""
        prepared: dict[str, list[Document]] = {name: [] for name in self.lookups}
        for name, text in self.deduplicator.kept_texts():
            if name not in self.lookups:
                continue
            documents = self.documents(self.lookups[name], text)
            if self.lookups[name].rules.keep_blank:
                prepared[name] += documents
                continue
            if any(not document.text.strip() for document in documents[:1]):
                self.deduplicator.record_blank(name, text, "it contains only front matter or comments")
            prepared[name] += [document for document in documents if document.text.strip()]
        return {name: tuple(documents) for name, documents in prepared.items()}

    def documents(self, lookup: Lookup, text: FoundText) -> list[Document]:
        """Return a text's document, and those that it imports as separate items."""
        if lookup.rules.imports is not None and self.importer is not None:
            return self.importer.expand(lookup, text)
        return [prepare(text.reading, lookup.rules, text.place, self.trail.findings)]
