"""Cut a section's files to the section's limit in bytes (`bytes`).

The limit applies to the files' text, not to the text around and between them. `bytes_cut` specifies whether the first or the last
files are shortened. A file is cut between characters, and a mark, which counts towards the limit, is added. A layout that mirrors a
program may cut at any byte and without a mark, as that program does; a character that is cut in two becomes U+FFFD.
"""

from __future__ import annotations

from ..findings import finding
from ..text.lines import end_of_whole_characters
from ..text.pieces import close_open_blocks, slice_pieces
from ..vocabulary import Origin, Piece, replace
from .drafts import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..layout.model import Section
    from ..vocabulary import Finding
    from .drafts import DraftWriter, Item

    Pieces = tuple[Piece, ...]

_MARK = Origin("mark")


class ByteLimits:
    """Applies the limits of all sections, and collects findings and the reason for each cut."""

    def __init__(self, writer: DraftWriter) -> None:
        self.writer = writer
        self.findings: list[Finding] = []
        self.cut_files: dict[str, str] = {}

    def apply(self, drafts: Iterable[Draft]) -> tuple[Draft, ...]:
        """Return the drafts, cut to their limits, without those that become empty."""
        return tuple(cut for draft in drafts if not (cut := self.cut_draft(draft)).is_empty)

    def cut_draft(self, draft: Draft) -> Draft:
        if draft.inner:
            inner = self.apply(draft.inner)
            return (
                draft
                if inner == tuple(draft.inner)
                else Draft(draft.section)
                if not inner
                else replace(draft, inner=inner)
            )
        limit = draft.section.bytes
        if limit is None or sum(map(_size, draft.items)) <= limit:
            return draft
        items = self.cut_items(draft.items, draft.section, limit)
        return replace(draft, items=items) if items else Draft(draft.section)

    def cut_items(self, items: Sequence[Item], section: Section, limit: int) -> list[Item]:
        """Return the items that fit, in their original order. At most one of them is cut."""
        kept: list[Item] = []
        remaining = limit
        cuts_last = section.bytes_cut == "last"
        for item in items if cuts_last else reversed(items):
            size = _size(item)
            if size > remaining:
                item = self.cut_item(item, remaining, section.mark)
                self.report(item.path, section, size, _size(item))
                remaining = 0
            else:
                remaining -= size
            if _size(item):
                kept.append(item)
        return kept if cuts_last else kept[::-1]

    def cut_item(self, item: Item, limit: int, with_mark: bool) -> Item:
        pieces = _text_of(item)
        cut = self.cut_with_mark(pieces, limit) if with_mark else cut_at_byte(pieces, limit)
        return replace(
            item, fields={field: cut if field.name == "text" else value for field, value in item.fields.items()}
        )

    def cut_with_mark(self, pieces: Pieces, limit: int) -> Pieces:
        """Return as many whole characters as fit together with the mark, or nothing if not even the mark fits."""
        text = "".join(piece.text for piece in pieces)
        total, room, wrapper_tag = _byte_length(text), limit, self.writer.wrapper_tag
        while room > 0:
            length = len(text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore"))
            length = end_of_whole_characters(text, length)
            last = text.rfind("<", 0, length)
            while last >= 0 and wrapper_tag is not None and wrapper_tag.match(text[last:length] + "\n"):
                length -= 1
            left_out = total - _byte_length(text[:length])
            mark = Piece(f"\n[foreword: cut here, {left_out:,} bytes left out]", _MARK)
            cut = (*close_open_blocks(slice_pieces(pieces, 0, length))[0], mark)
            excess = sum(_byte_length(piece.text) for piece in cut) - limit
            if excess <= 0:
                return cut
            room = min(room, _byte_length(text[:length])) - excess
        return ()

    def report(self, path: str, section: Section, before: int, after: int) -> None:
        left = "" if after else "nothing is left of it; "
        limit = f"the limit of section '{section.name}' is {section.bytes:,} bytes"
        reason = f"cut from {before:,} to {after:,} bytes; {left}{limit}"
        self.findings.append(finding("budget-file", f"{path or f'section {section.name!r}'}: {reason}", path))
        if path:
            self.cut_files[path] = reason


def cut_at_byte(pieces: Pieces, limit: int) -> Pieces:
    """Return the first `limit` bytes of the pieces. A character that is cut in two becomes U+FFFD."""
    text = "".join(piece.text for piece in pieces)
    data = text.encode("utf-8", "surrogatepass")[:limit]
    whole_characters = data.decode("utf-8", "ignore")
    kept = slice_pieces(pieces, 0, len(whole_characters))
    is_split = _byte_length(whole_characters) < len(data)
    return (*kept, Piece("\N{REPLACEMENT CHARACTER}", _MARK)) if is_split else kept


def _text_of(item: Item) -> Pieces:
    return next((pieces for field, pieces in item.fields.items() if field.name == "text"), ())


def _size(item: Item) -> int:
    return sum(_byte_length(piece.text) for piece in _text_of(item))


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
