"""Follows the imports in texts (`@path`), and inserts the files that they name. `import_reader.py` reads those."""

from __future__ import annotations

import os

from ..text.imports import MAX_FOLLOWED, MAX_TOKENS, import_tokens
from ..text.lines import printable
from ..text.pieces import apply_filters, slice_pieces
from ..vocabulary import Origin, Piece, replace
from .documents import drop_parts, fields_of, finish
from .import_reader import Importing, ImportReader, NotImported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..layout.model import Form, Imports, Layout, Lookup
    from ..sources.reader import Reader
    from ..sources.readings import Reading
    from ..sources.trail import Trail
    from ..text.imports import ImportToken
    from ..vocabulary import Document, Scope, Workspace
    from .results import FoundText

    Pieces = tuple[Piece, ...]


class Importer:
    """Follows the imports in all texts of a layout, in order.

    `names` contains the path of each file that a lookup rule found, by its identity.
    """

    def __init__(
        self,
        layout: Layout,
        workspace: Workspace,
        scope: Scope,
        reader: Reader,
        names: dict[tuple[int, int], str],
        trail: Trail,
    ) -> None:
        self.layout, self.workspace, self.trail = layout, workspace, trail
        self.files = ImportReader(layout, workspace, scope, reader, names, trail)
        self.followed_count = 0

    def expand(self, lookup: Lookup, found: FoundText) -> list[Document]:
        """Return a text's document, followed by those of the files that it imports as items."""
        reading, rules = found.reading, lookup.rules
        assert rules.imports is not None
        if reading.identity in self.files.seen and rules.imports.once == "prompt":
            return []  # an earlier file imported it
        importing = Importing(lookup, rules.imports, found, (reading,))
        self.files.seen_in_file = {reading.identity}
        fields = fields_of(reading, rules, found.place, self.trail.findings)
        return list(self.expand_items(importing, fields))

    def expand_items(self, importing: Importing, fields: Sequence[tuple[str, str]]) -> Iterator[Document]:
        """Yield a file's document, then those of its imports, depth first."""
        reading, rules = importing.chain[-1], importing.lookup.rules
        self.files.seen.add(reading.identity)
        pieces = drop_parts(reading, rules)
        if importing.rules.place != "item":
            yield finish(reading.document, self.insert_imports(pieces, importing), rules.trim, fields)
            return
        yield finish(reading.document, pieces, rules.trim, fields)
        label = [field for field in fields if field[0] == "label"]
        for token in self.tokens(pieces, importing):
            imported = self.files.read(token, importing, rules.trim)
            if not isinstance(imported, NotImported):
                own_fields = fields_of(imported, rules, "", self.trail.findings)
                others = [field for field in own_fields if field[0] != "label"]
                yield from self.expand_items(importing.with_import(imported), (*label, *others))

    def insert_imports(self, pieces: Pieces, importing: Importing) -> Pieces:
        """Insert the text of imported files in place of their tokens, or after them."""
        text, position, result = "".join(piece.text for piece in pieces), 0, pieces[:0]
        for token in self.tokens(pieces, importing):
            imported = self.files.read(token, importing, importing.rules.trim)
            form = self.form_of(imported, importing.rules)
            if form is None:
                continue
            result += slice_pieces(pieces, position, token.end if importing.rules.place == "insert" else token.start)
            result += tuple(self.fill_in(form, token, imported, importing))
            position = token.end
        return (*result, *slice_pieces(pieces, position, len(text))) if position else pieces

    def form_of(self, imported: Reading | NotImported, rules: Imports) -> Form | None:
        """Return the form that replaces a token, or None if the token is left as text."""
        if isinstance(imported, NotImported):
            forms: dict[str, Form | None] = {
                "missing": rules.missing,
                "outside": rules.outside,
                "repeated": rules.repeated,
            }
            return forms.get(imported.kind)
        self.files.remaining_bytes -= imported.size
        return rules.form

    def fill_in(
        self, form: Form, token: ImportToken, imported: Reading | NotImported, importing: Importing
    ) -> Iterator[Piece]:
        layout_origin = Origin("layout", self.layout.address)
        for part in form:
            if isinstance(part, str):
                yield Piece(part, layout_origin)
            elif part.name == "text" and not isinstance(imported, NotImported):
                pieces = self.insert_imports(
                    drop_parts(imported, importing.lookup.rules), importing.with_import(imported)
                )
                document = finish(imported.document, pieces, importing.rules.trim, ())
                origin = Origin("file", document.path, _lines(document))
                yield from document.pieces or (Piece(document.text, origin),)
            else:
                path = printable(imported.path)
                piece = Piece(path, Origin("environment", path))
                if part.name == "name":
                    piece = Piece(token.name, Origin("file", printable(importing.path)))
                elif part.name == "reason" and isinstance(imported, NotImported):
                    piece = Piece(imported.reason, Origin("mark"))
                yield apply_filters(piece, part.filters, self.workspace)

    def tokens(self, pieces: Pieces, importing: Importing) -> Iterator[ImportToken]:
        """Yield the imports in the text. `@~/path` counts only if imports become items or may come from anywhere."""
        with_home = importing.rules.place == "item" or importing.rules.within == "anywhere"
        names = importing.rules.files
        if names and os.path.basename(importing.chain[0].path) not in names:
            return
        text = "".join(piece.text for piece in pieces)
        for index, token in enumerate(_with_positions(import_tokens(text, importing.rules.tokens), text, pieces)):
            if index >= MAX_TOKENS:
                self.files.report(
                    importing, "import-limit", f"has more than {MAX_TOKENS:,} imports; the rest are ignored"
                )
                return
            if with_home or not token.name.startswith("~"):
                self.followed_count += 1
                if self.followed_count > MAX_FOLLOWED:
                    self.report_limit(importing)
                    return
                yield token

    def report_limit(self, importing: Importing) -> None:
        if self.followed_count == MAX_FOLLOWED + 1:  # report this once, not for each file that is still being read
            problem = f"has imports that are ignored, because {MAX_FOLLOWED:,} imports were followed before them"
            self.files.report(importing, "import-limit", problem)


def _with_positions(tokens: Iterator[ImportToken], text: str, pieces: Pieces) -> Iterator[ImportToken]:
    """Add lines and columns in the file to the tokens, as far as the text has line numbers."""
    number = begin = 0
    for token in tokens:
        while number < len(pieces) - 1 and begin + len(pieces[number].text) <= token.start:
            begin += len(pieces[number].text)
            number += 1
        lines = pieces[number].origin.lines
        start = text.rfind("\n", max(begin - 1, 0), token.start) + 1
        if lines and (start or not begin):
            line = lines[0] + text.count("\n", begin, token.start)
            token = replace(token, line=line, column=token.start - start + 1)
        yield token


def _lines(document: Document) -> tuple[int, int]:
    from ..text.pieces import lines_of

    return lines_of(document)
