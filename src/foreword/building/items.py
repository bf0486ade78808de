"""Creates the items of a section that lists a lookup rule's entries or one of the agent's own lists."""

from __future__ import annotations

from ..findings import finding
from ..layout.model import WORKSPACE_FACTS, Field
from ..text.lines import is_plain, printable
from ..text.pieces import apply_filters, may_be_unclosed
from ..vocabulary import Document, Origin, Piece, Skill, replace
from .drafts import CachedItem, CachedList, Draft, Item, format_item, with_origin
from .menus import folders_of, group_by_folder, location, number_roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Lookup, Section, TextRules
    from ..vocabulary import Finding, Resident, Workspace
    from .content import ContentReader
    from .drafts import DraftWriter
    from .lists import Lists, Row

    Pieces = tuple[Piece, ...]
    Entry = Document | Skill | Resident


class ItemWriter:
    """Creates the items of sections. Items of an earlier build are reused if their entries have not changed."""

    def __init__(
        self,
        workspace: Workspace,
        writer: DraftWriter,
        contents: ContentReader,
        lists: Lists,
        findings: list[Finding],
    ) -> None:
        self.workspace, self.writer, self.contents = workspace, writer, contents
        writer.use_workspace(workspace)
        self.lists, self.findings = lists, findings
        self._fields: dict[str, Sequence[Field]] = {}

    def lookup_draft(self, section: Section, lookup: Lookup, entries: Sequence[Entry]) -> Draft:
        """Return the draft of a section that lists a lookup rule's entries."""
        cached_list = self.writer.cached_lists.get(section.name)
        if cached_list is None or cached_list.entries is not entries or section.language == "directives":
            pairs = zip(cached_list.entries, cached_list.items, strict=True) if cached_list else ()
            cached, rules = {entry.path: item for entry, item in pairs}, lookup.rules
            items = [self.cached_item(section, entry, cached.get(entry.path), rules) for entry in entries]
            if section.menu_cut == "line" and _size_of(section, items) > (section.menu_limit or 0):
                items = [self.cached_item(section, _with_first_line(entry), None, rules) for entry in entries]
            listed_items: Sequence[Item] = [cached_item.item for cached_item in items if cached_item.is_listed]
            count = len(self.findings)
            if section.folder:
                listed_items = self.group_by_folder(section, lookup, listed_items)
            draft = Draft(section, listed_items, text=self.placeholder(section))
            cached_list = CachedList(entries, items, draft, self.findings[count:])
            self.writer.cached_lists[section.name] = cached_list
            del self.findings[count:]
        self.findings.extend(cached_list.findings)
        for item in cached_list.items:
            self.findings.extend(item.findings)
        return cached_list.draft

    def empty_draft(self, section: Section) -> Draft:
        """Return the draft of a section without entries, which is the same in every build with the layout."""
        if section.name not in self.writer.literal_drafts:
            self.writer.literal_drafts[section.name] = Draft(section, (), (), self.placeholder(section))
        return self.writer.literal_drafts[section.name]

    def group_by_folder(self, section: Section, lookup: Lookup, items: Sequence[Item]) -> Sequence[Item]:
        origin = self.writer.origin(section.name, "folder")

        def escape(pieces: Pieces) -> Pieces:
            return self.contents.escape(pieces, "")

        if section.roots:
            return number_roots(items, section, self.workspace, origin, escape)
        return group_by_folder(items, section, lookup, self.workspace, origin, escape)

    def cached_item(self, section: Section, entry: Entry, cached: CachedItem | None, rules: TextRules) -> CachedItem:
        """Return the cached item if its entry has not changed, or a new one."""
        if cached is not None and cached.entry == entry and section.language != "directives":
            return cached
        count = len(self.findings)
        item = self.entry_item(section, entry)
        if rules.blank == "all":
            item = replace(item, is_kept=True)
        is_listed = not (isinstance(entry, Skill) and entry.hidden)
        if is_listed:
            self.report_unclosed(section, item)
        findings = self.findings[count:]
        del self.findings[count:]
        return CachedItem(entry, item, findings, is_listed and (rules.keep_blank or not _is_blank(item)))

    def list_draft(self, section: Section, name: str) -> Draft:
        """Return the draft of a section with one of the agent's own lists. It is reused if it depends only on tools that are the same."""
        if not self.lists.depends_on_tools_alone(name):
            return self.new_list_draft(section, name)
        entries = self.lists.agent.tools, self.lists.facts
        cached_list = self.writer.cached_lists.get(section.name)
        if cached_list is None or cached_list.entries != entries:
            count = len(self.findings)
            draft = self.new_list_draft(section, name)
            self.writer.cached_lists[section.name] = CachedList(entries, (), draft, self.findings[count:])
            return draft
        self.findings.extend(cached_list.findings)
        return cached_list.draft

    def new_list_draft(self, section: Section, name: str) -> Draft:
        rows = getattr(self.lists, name)()
        items = tuple(self.create_item(section, row, _path_of(row)) for row in rows)
        for item in items:
            self.report_unclosed(section, item)
        return Draft(section, items=items, text=self.placeholder(section))

    def entry_item(self, section: Section, entry: Entry) -> Item:
        shown = printable(entry.path)
        if isinstance(entry, Document):
            row: Row = {
                "path": Piece(shown, Origin("environment", shown)),
                "text": self.contents.content(entry, "", section.language == "directives"),
            }
            for name, text in entry.fields:
                row[name] = Piece(
                    text, self.writer.origin(section.name, "item") if name == "label" else Origin("file", shown)
                )
            return self.create_item(section, row, shown)
        if not is_plain(entry.name) or not is_plain(entry.description):
            self.report_hidden(entry, shown)
        if entry.path:
            origin = Origin("skill" if isinstance(entry, Skill) else "resident", shown, entry.lines)
        else:
            origin = Origin("caller", f"resident {entry.name}")
        texts = {"name": entry.name, "description": entry.description, "path": shown}
        if isinstance(entry, Skill):
            texts |= {"location": location(entry.name, shown), "layer": entry.layer, **folders_of(shown)}
        else:
            texts["tools"] = entry.tools if entry.tools not in ("", "*") else "All tools"
        row = {field.name: Piece(texts[field.name], origin) for field in self.fields_of(section)}
        return self.create_item(section, row, shown)

    def report_hidden(self, entry: Skill | Resident, shown: str) -> None:
        from ..text.hidden import find_hidden, severity_of

        # The values are searched as one line, because their line numbers are not known here.
        for hidden in find_hidden(f"{entry.name} {entry.description}".replace("\n", " ")):
            where = f"the front matter of {shown}" if shown else f"the resident {printable(entry.name)}"
            message = f"{where} contains {hidden.describe()}"
            reported = finding("hidden-characters", message, shown, entry.lines[0])
            self.findings.append(replace(reported, severity=severity_of(hidden.kind)))

    def create_item(self, section: Section, row: Row, path: str = "") -> Item:
        """Create an item from a row. Single values are filtered and escaped; a document's pieces are already escaped."""
        fields: dict[Field, Pieces] = {}
        may_be_open = False
        for field in self.fields_of(section):
            content = row[field.name] if field.name in row else self.default_value(field.name)
            if isinstance(content, Piece):
                piece = apply_filters(content, field.filters, self.workspace)
                may_be_open = may_be_open or may_be_unclosed(piece.text)
                content = self.contents.escape((piece,), "") if "<" in piece.text else (piece,)
            elif field.filters:
                content = tuple(apply_filters(piece, field.filters, self.workspace) for piece in content)
            fields[field] = content
        return Item(fields, path, (), may_be_open and not self.contents.is_raw)

    def fields_of(self, section: Section) -> Sequence[Field]:
        """Return the fields of a section's items, in the full and the short form, without duplicates."""
        fields = self._fields.get(section.name)
        if fields is None:
            parts = dict.fromkeys(part for part in (*section.item, *section.short) if isinstance(part, Field))
            fields = self._fields[section.name] = tuple(parts)
        return fields

    def default_value(self, name: str) -> Piece:
        """Return the value of a field that the entry does not have: a fact about the workspace, or an empty piece."""
        text = printable(getattr(self.workspace, name) or "~") if name in WORKSPACE_FACTS else ""
        return Piece(text, Origin("environment", name))

    def report_unclosed(self, section: Section, item: Item) -> None:
        """Report a fence or comment that an item leaves open. It is closed when the item is written."""
        if not item.may_be_open:
            return
        pieces, was_open = format_item(with_origin(section.item, self.writer.origin(section.name, "item")), item)
        if was_open:
            self.findings.append(
                finding("file-fence", f"{_describe_origin(pieces)} ends inside {was_open}; it was closed", item.path)
            )

    def placeholder(self, section: Section) -> Pieces:
        """Return the text that a section shows if its list is empty."""
        return (Piece(section.none, self.writer.origin(section.name, "none")),) if section.none else ()


def _path_of(row: Row) -> str:
    """Return the path of the file whose text is in a row, or empty if there is no such text."""
    path = row.get("path")
    return path.text if isinstance(path, Piece) and "text" in row else ""


def _size_of(section: Section, items: Sequence[CachedItem]) -> int:
    """Return the length of the listed items, with one character between two of them."""
    forms = [
        (part,) if isinstance(part, str) else [piece.text for piece in cached.item.fields[part]]
        for cached in items
        if cached.is_listed
        for part in (*section.item, "\n")
    ]
    return sum(len(text) for texts in forms for text in texts) - 1


def _with_first_line(entry: Entry) -> Entry:
    """Return an entry with only the first line of its description."""
    if isinstance(entry, Document):
        return entry
    return replace(entry, description=entry.description.partition("\n")[0].strip())


def _is_blank(item: Item) -> bool:
    """Whether an item has text that contains only white space."""
    texts = [pieces for field, pieces in item.fields.items() if field.name == "text"]
    return bool(texts) and not any(piece.text.strip() for pieces in texts for piece in pieces)


def _describe_origin(pieces: Pieces) -> str:
    """Describe the origin of the value that opens a fence or comment."""
    origin = next((piece.origin for piece in pieces if may_be_unclosed(piece.text)), pieces[0].origin)
    return origin.path if origin.kind in ("skill", "resident", "environment") else f"the {origin.kind} {origin.path!r}"
