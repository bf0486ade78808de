"""Cut the files of a section to its limit in bytes (`bytes`).

The limit counts the text of the files, not what is around and between them. The files of one end give way: `bytes_cut` says whether
the first or the last of them. A cut leaves a mark, which counts, and ends with a whole character. A layout that mirrors a program
may cut at the byte and without a mark, as that program does; a character that is cut in two becomes U+FFFD.
"""

from __future__ import annotations

from ..findings import finding
from ..text.pieces import close_open_blocks, slice_pieces
from ..vocabulary import Origin, Piece, replace
from .drafts import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

    from ..layout.model import Section
    from ..vocabulary import Finding
    from .drafts import Item

    Pieces = tuple[Piece, ...]

_MARK = Origin("mark")


class ByteLimits:
    """Applies the limits of all sections, and collects the findings and the reason for each file that was cut."""

    def __init__(self, own_tag: re.Pattern[str] | None) -> None:
        self.own_tag = own_tag
        self.findings: list[Finding] = []
        self.cut_files: dict[str, str] = {}

    def apply(self, drafts: Iterable[Draft]) -> tuple[Draft, ...]:
        """The drafts within their limits, without those of which nothing is left."""
        return tuple(draft for each in drafts if not (draft := self.limit(each)).is_empty)

    def limit(self, draft: Draft) -> Draft:
        if draft.inner:
            inner = self.apply(draft.inner)
            return (
                draft
                if inner == tuple(draft.inner)
                else Draft(draft.section)
                if not inner
                else replace(draft, inner=inner)
            )
        most = draft.section.bytes
        if most is None or sum(map(_size, draft.items)) <= most:
            return draft
        items = self.cut(draft.items, draft.section, most)
        return replace(draft, items=items) if items else Draft(draft.section)

    def cut(self, items: Sequence[Item], section: Section, most: int) -> list[Item]:
        """The items that fit, in their order."""
        kept: list[Item] = []
        gives_last = section.bytes_cut == "last"
        for item in items if gives_last else reversed(items):
            before = _size(item)
            if before > most:
                item = self.shortened(item, most, section.mark)
                self.report(item.path, section, before, _size(item))
                most = 0
            else:
                most -= before
            if _size(item):
                kept.append(item)
        return kept if gives_last else kept[::-1]

    def shortened(self, item: Item, most: int, has_mark: bool) -> Item:
        pieces = _text_of(item)
        cut = self.cut_with_mark(pieces, most) if has_mark else cut_at_byte(pieces, most)
        return replace(
            item, fields={field: cut if field.name == "text" else value for field, value in item.fields.items()}
        )

    def cut_with_mark(self, pieces: Pieces, most: int) -> Pieces:
        """As many whole characters as fit together with the mark; nothing if not even the mark fits."""
        text = "".join(each.text for each in pieces)
        total, room = _bytes(text), most
        while room > 0:
            length = len(text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore"))
            last = text.rfind("<", 0, length)
            while last >= 0 and self.own_tag is not None and self.own_tag.match(text[last:length] + "\n"):
                length -= 1
            left_out = total - _bytes(text[:length])
            mark = Piece(f"\n[foreword: cut here, {left_out:,} bytes left out]", _MARK)
            cut = (*close_open_blocks(slice_pieces(pieces, 0, length))[0], mark)
            excess = sum(_bytes(each.text) for each in cut) - most
            if excess <= 0:
                return cut
            room = min(room, _bytes(text[:length])) - excess
        return ()

    def report(self, path: str, section: Section, before: int, after: int) -> None:
        left = "" if after else "nothing is left of it; "
        why = f"the limit of section '{section.name}' is {section.bytes:,} bytes"
        reason = f"cut from {before:,} to {after:,} bytes; {left}{why}"
        self.findings.append(finding("budget-file", f"{path or f'section {section.name!r}'}: {reason}", path))
        if path:
            self.cut_files[path] = reason


def cut_at_byte(pieces: Pieces, most: int) -> Pieces:
    """The first bytes of a text. A character that is cut in two becomes U+FFFD."""
    text = "".join(each.text for each in pieces)
    data = text.encode("utf-8", "surrogatepass")[:most]
    whole = data.decode("utf-8", "ignore")
    kept = slice_pieces(pieces, 0, len(whole))
    return (*kept, Piece("\N{REPLACEMENT CHARACTER}", _MARK)) if _bytes(whole) < len(data) else kept


def _text_of(item: Item) -> Pieces:
    return next((pieces for field, pieces in item.fields.items() if field.name == "text"), ())


def _size(item: Item) -> int:
    return sum(_bytes(each.text) for each in _text_of(item))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
