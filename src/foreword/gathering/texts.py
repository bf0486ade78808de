"""The texts of the finds whose rules change them: prepared one by one, with what they import."""

from __future__ import annotations

from .documents import prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Find, Layout
    from ..sources.trail import Trail
    from ..vocabulary import Document
    from .duplicates import Deduplicator
    from .imports import Importer
    from .results import FoundText


class TextPreparer:
    """Prepares the texts of the finds whose rules change them. `importer` follows their imports, if a find has any."""

    def __init__(self, layout: Layout, unique: Deduplicator, trail: Trail, importer: Importer | None) -> None:
        self.finds = {find.name: find for find in layout.finds if find.rules.change_text and not find.is_probe}
        self.unique, self.trail, self.importer = unique, trail, importer

    def found(self) -> dict[str, Sequence[Document]]:
        """The documents of each find. A file of which nothing is left is blank."""
        found: dict[str, Sequence[Document]] = dict.fromkeys(self.finds, ())
        for name, text in self.unique.kept():
            if name not in self.finds:
                continue
            documents = self.documents(self.finds[name], text)
            if self.finds[name].rules.blank == "keep":
                found[name] = (*found[name], *documents)
                continue
            if any(not each.text.strip() for each in documents[:1]):
                self.unique.record_blank(name, text, "it contains only front matter or comments")
            found[name] = (*found[name], *(each for each in documents if each.text.strip()))
        return found

    def documents(self, find: Find, text: FoundText) -> list[Document]:
        """The document of a text, and those that it imports as items of their own."""
        if find.rules.imports is not None and self.importer is not None:
            return self.importer.expand(find, text)
        return [prepare(text.reading, find.rules, text.place, self.trail.findings)]
