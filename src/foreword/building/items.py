"""The items of a section that is a list, from the entries of a find or from the agent."""

from __future__ import annotations

from ..findings import finding
from ..layout.model import Field
from ..text.hidden import hidden
from ..text.lines import printable
from ..text.pieces import apply_filters, may_stay_open
from ..vocabulary import Document, Origin, Piece, Skill
from .drafts import Draft, Item, MadeItem, MadeList, formed, with_origin
from .menus import by_folder, location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Find, Section
    from ..vocabulary import Finding, Resident, Workspace
    from .content import ContentReader
    from .drafts import DraftWriter
    from .lists import Lists, Row

    Pieces = tuple[Piece, ...]
    Entry = Document | Skill | Resident


class ItemWriter:
    """Writes the items of sections. Items of an earlier build are reused where their entries are the same."""

    def __init__(
        self,
        workspace: Workspace,
        scribe: DraftWriter,
        contents: ContentReader,
        lists: Lists,
        findings: list[Finding],
    ) -> None:
        self.workspace, self.scribe, self.contents = workspace, scribe, contents
        self.lists, self.findings = lists, findings

    def listing(self, section: Section, find: Find, entries: Sequence[Entry]) -> Draft:
        """A section that lists the entries of a find."""
        known = self.scribe.made.get(section.name)
        if known is None or known.entries is not entries or section.language == "directives":
            made = {each.path: item for each, item in zip(known.entries, known.items, strict=True)} if known else {}
            items = [self.made_item(section, each, made.get(each.path)) for each in entries]
            listed: Sequence[Item] = [each.item for each in items if each.is_listed and not _is_blank(each.item)]
            found = len(self.findings)
            if section.folder:
                listed = self.by_folder(section, find, listed)
            draft = Draft(section, listed, text=self.stand_in(section))
            known = self.scribe.made[section.name] = MadeList(entries, items, draft, self.findings[found:])
            del self.findings[found:]
        self.findings.extend(known.findings)
        for item in known.items:
            self.findings.extend(item.findings)
        return known.draft

    def by_folder(self, section: Section, find: Find, items: Sequence[Item]) -> Sequence[Item]:
        own = self.scribe.origin(section.name, "folder")
        return by_folder(items, section, find, self.workspace, own, lambda pieces: self.contents.escape(pieces, ""))

    def made_item(self, section: Section, entry: Entry, before: MadeItem | None) -> MadeItem:
        if before is not None and before.entry == entry and section.language != "directives":
            return before
        found = len(self.findings)
        item = self.item(section, entry)
        is_listed = not (isinstance(entry, Skill) and entry.hidden)
        if is_listed:
            self.report_open(section, item)
        findings = self.findings[found:]
        del self.findings[found:]
        return MadeItem(entry, item, findings, is_listed)

    def items(self, section: Section, name: str) -> tuple[Item, ...]:
        """The items of one of the agent's own lists."""
        rows = getattr(self.lists, name)()
        items = tuple(self.written(section, row, _path_of(row)) for row in rows)
        for item in items:
            self.report_open(section, item)
        return items

    def item(self, section: Section, entry: Entry) -> Item:
        shown = printable(entry.path)
        if isinstance(entry, Document):
            row: Row = {
                "path": Piece(shown, Origin("environment", shown)),
                "text": self.contents.content(entry, "", section.language == "directives"),
            }
            return self.written(section, row, shown)
        # As one line, because the lines of the values in the front matter are not known here.
        for each in hidden(f"{entry.name} {entry.description}".replace("\n", " ")):
            told = f"the front matter of {shown} holds {each.describe()}"
            self.findings.append(finding("hidden-characters", told, shown, entry.lines[0]))
        origin = Origin("skill" if isinstance(entry, Skill) else "resident", shown, entry.lines)
        values = {"name": entry.name, "description": entry.description, "path": shown}
        if isinstance(entry, Skill):
            values["location"] = location(entry.name, shown)
        return self.written(section, {name: Piece(text, origin) for name, text in values.items()}, shown)

    def written(self, section: Section, row: Row, path: str = "") -> Item:
        """The item of a row. Texts are used as they are; single values are filtered and escaped."""
        fields: dict[Field, Pieces] = {}
        is_doubtful = False
        for part in (*section.item, *section.short):
            if isinstance(part, Field) and part not in fields:
                content = row[part.name]
                if isinstance(content, Piece):
                    single = apply_filters(content, part.filters)
                    is_doubtful = is_doubtful or may_stay_open(single.text)
                    content = self.contents.escape((single,), "") if "<" in single.text else (single,)
                fields[part] = content
        return Item(fields, path, is_doubtful=is_doubtful)

    def report_open(self, section: Section, item: Item) -> None:
        """Report a fence or comment that an item leaves open; it is closed when the item is written."""
        if not item.is_doubtful:
            return
        pieces, was_open = formed(with_origin(section.item, self.scribe.origin(section.name, "item")), item)
        if was_open:
            self.findings.append(
                finding("file-fence", f"{_author(pieces)} ends inside {was_open}; it was closed", item.path)
            )

    def stand_in(self, section: Section) -> Pieces:
        """The text of an empty list."""
        return (Piece(section.none, self.scribe.origin(section.name, "none")),) if section.none else ()


def _path_of(row: Row) -> str:
    """The file whose text a row has; empty if it has none."""
    path = row.get("path")
    return path.text if isinstance(path, Piece) and "text" in row else ""


def _is_blank(item: Item) -> bool:
    """Whether an item is a text of which nothing is left."""
    texts = [pieces for field, pieces in item.fields.items() if field.name == "text"]
    return bool(texts) and not any(piece.text.strip() for pieces in texts for piece in pieces)


def _author(pieces: Pieces) -> str:
    """The origin of the value that opens a fence or comment, in words."""
    origin = next((each.origin for each in pieces if may_stay_open(each.text)), pieces[0].origin)
    return origin.path if origin.kind in ("skill", "resident", "environment") else f"the {origin.kind} {origin.path!r}"
