"""Drafts of sections, and the writer that turns them into text.

Content is not trusted, so it must not break the text around it: the layout's own tags are escaped inside content, and code fences
or comments that content leaves open are closed.
"""

from __future__ import annotations

from ..layout.model import Field
from ..template.addresses import is_shipped
from ..text import regex
from ..text.pieces import close_open_blocks, trim_section
from ..vocabulary import Document, Origin, Piece, value
from .conditions import agent_facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ..layout.model import Form, Layout, Section
    from ..vocabulary import Agent, Finding, Resident, Skill, Workspace

    Pieces = tuple[Piece, ...]
    PieceForm = tuple[Piece | Field, ...]


@value
class Item:
    """One entry of a list: the content of each field, and its file; or a `line` without fields.

    An item with neither is left out, and so is one without text, unless it `is_kept`. `heading` contains the lines above the item: the folder's
    name, above a folder's first item.
    If a value may leave a fence or comment open (`may_be_open`), it is closed when the item is written.
    """

    fields: Mapping[Field, Pieces]
    path: str = ""
    line: Pieces = ()
    may_be_open: bool = False
    heading: Pieces = ()
    is_kept: bool = False


@value
class Draft:
    """The items, inner drafts or text of a section that applies. `facts` contains the values of the fields in its wrapper."""

    section: Section
    items: Sequence[Item] = ()
    inner: Sequence[Draft] = ()
    text: Pieces = ()
    is_replaced: bool = False
    facts: Sequence[tuple[Field, Pieces]] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.items or self.inner or self.text)


@value
class CachedItem:
    """The item that was created for a lookup rule's entry, with its findings."""

    entry: Document | Skill | Resident
    item: Item
    findings: Sequence[Finding]
    is_listed: bool


@value
class CachedList:
    """The draft of a section that lists a lookup rule's entries, with those entries, or an agent's own list, with its tools and the facts."""

    entries: Sequence[Any]
    items: Sequence[CachedItem]
    draft: Draft
    findings: Sequence[Finding] = ()


def wrapper_tag(layout: Layout) -> regex.Pattern[str] | None:
    """Return a pattern for the tags of the layout's wrappers, in any case and with inner spaces, or None if there are no tags.

    A wrapper is any `wrap`, and any `item` around the text of a file.
    """
    names: set[str] = set()
    for section in layout.all_sections:
        contains_text = any(isinstance(part, Field) and part.name == "text" for part in section.item)
        for form in (section.wrap, section.item if contains_text else ()):
            for part in form:
                if isinstance(part, str) and "<" in part:
                    names.update(regex.findall(r"</?([A-Za-z][\w-]*)", part))
    if not names:
        return None
    return regex.compile(
        rf"<(?=\s*(?:/\s*)?(?:{'|'.join(map(regex.escape, sorted(names)))})(?=[\s/>]|\Z))", regex.IGNORECASE
    )


# Writing drafts

_FILE_ORIGIN_KINDS = ("file", "skill", "resident", "environment")


class DraftWriter:
    """Writes drafts as pieces. Each draft is written only once."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.address = layout, layout.address
        self.kind = "builtin" if is_shipped(layout.address) else "layout"
        self._wrapper_tag: list[regex.Pattern[str] | None] = []
        self.cached_lists: dict[str, CachedList] = {}
        self.literal_drafts: dict[str, Draft] = {}
        self._agent_facts: tuple[Agent, frozenset[str]] | None = None
        self._workspace: Workspace | None = None
        self._written: dict[int, tuple[Draft, Pieces, str]] = {}
        self._costs: dict[int, int] = {}
        self._origins: dict[tuple[str, str], Origin] = {}
        self._files: dict[int, frozenset[str]] = {}

    @property
    def wrapper_tag(self) -> regex.Pattern[str] | None:
        """The pattern for tags that open or close the layout's wrappers, compiled on first use because few files contain a `<`."""
        if not self._wrapper_tag:
            self._wrapper_tag.append(wrapper_tag(self.layout))
        return self._wrapper_tag[0]

    def agent_facts(self, agent: Agent) -> frozenset[str]:
        """Return the facts about an agent. A program usually builds several prompts for the same one."""
        if self._agent_facts is None or self._agent_facts[0] is not agent:
            self._agent_facts = agent, agent_facts(agent)
        return self._agent_facts[1]

    def use_workspace(self, workspace: Workspace) -> None:
        """Drop cached lists of another workspace, because their items may contain paths relative to it."""
        if self._workspace != workspace:
            self.cached_lists.clear()
            self._workspace = workspace

    def forget_other_drafts(self, drafts: Iterable[Draft]) -> None:
        """Drop everything that was written for drafts other than these and the ones inside them."""
        pending, kept = list(drafts), set()
        while pending:
            draft = pending.pop()
            kept.add(id(draft))
            pending.extend(draft.inner)
        self._written = {key: written for key, written in self._written.items() if key in kept}
        self._costs = {key: cost for key, cost in self._costs.items() if key in kept}
        self._files = {key: paths for key, paths in self._files.items() if key in kept}

    def origin(self, section: str, key: str) -> Origin:
        """Return the origin of text from a layout key: the layout, or the setting that overrides the key."""
        cached = self._origins.get((section, key))
        if cached is None:
            override = self.layout.key_origins.get(f"section.{section}.{key}")
            cached = self._origins[section, key] = override or Origin(self.kind, f"{self.address}/{section}")
        return cached

    def write(self, draft: Draft) -> tuple[Pieces, str]:
        """Format, join and wrap a draft's items or inner drafts. Returns the pieces and their text."""
        cached = self._written.get(id(draft))
        if cached is None:
            all_pieces = draft.text if draft.is_replaced else self._wrap(draft)
            pieces = tuple([piece for piece in all_pieces if piece.text])
            if _should_trim(draft):
                pieces = trim_section(pieces)
            cached = self._written[id(draft)] = (draft, pieces, "".join([piece.text for piece in pieces]))
        return cached[1], cached[2]

    def files(self, draft: Draft) -> frozenset[str]:
        """Return the paths of the files whose text is in a draft."""
        pieces, _ = self.write(draft)
        if id(draft) not in self._files:
            origins = [piece.origin for piece in pieces]
            self._files[id(draft)] = frozenset([origin.path for origin in origins if origin.kind in _FILE_ORIGIN_KINDS])
        return self._files[id(draft)]

    def cost(self, draft: Draft, estimate: Callable[[str], int]) -> int:
        """Return the number of tokens in a draft's text."""
        cached = self._costs.get(id(draft)) if id(draft) in self._written else None
        if cached is None:
            cached = self._costs[id(draft)] = estimate(self.write(draft)[1])
        return cached

    def _wrap(self, draft: Draft) -> Iterable[Piece]:
        section = draft.section
        if not section.wrap:
            return self._join_content(draft)
        origin = self.origin(section.name, "wrap")
        pieces: list[Piece] = []
        for part in section.wrap:
            if isinstance(part, str):
                pieces.append(Piece(part, origin))
            elif part.name:
                pieces += dict(draft.facts)[part]
            else:
                pieces += self._join_content(draft)
        return pieces

    def _join_content(self, draft: Draft) -> Iterable[Piece]:
        section = draft.section
        origin = self.origin(section.name, "item")
        form = with_origin(section.item, origin)
        parts = [pieces for item in draft.items if (pieces := format_item(form, item)[0]) or item.is_kept]
        parts = parts or [self.write(inner)[0] for inner in draft.inner]
        if not parts:
            return draft.text
        join = Piece(section.join, self.origin(section.name, "join"))
        joined = [*parts[0]]
        for pieces in parts[1:]:
            if section.join:
                joined.append(join)
            joined += pieces
        return joined


def _should_trim(draft: Draft) -> bool:
    """Whether to trim a draft: a list, or inner sections with a wrapper. Text was trimmed when its fields were filled in."""
    section = draft.section
    is_list_or_wrapper = section.list_name is not None or bool(section.sections and section.wrap)
    return section.trim and is_list_or_wrapper and not draft.is_replaced


def with_origin(form: Form, origin: Origin) -> PieceForm:
    """Turn a form's literal text into pieces, so that this is done once for all items."""
    return tuple([part if isinstance(part, Field) else Piece(part, origin) for part in form])


def format_item(form: PieceForm, item: Item) -> tuple[Pieces, str]:
    """Return an item's pieces, with an open fence or comment closed, and a description of what was open, or empty."""
    if not item.fields:
        pieces = item.line
    else:
        pieces = (*item.heading, *_fill_in(form, item)) if item.heading else tuple(_fill_in(form, item))
    return close_open_blocks(pieces) if item.may_be_open else (pieces, "")


def _fill_in(form: PieceForm, item: Item) -> list[Piece]:
    if _ends_with_empty_field(form, item):
        heading = form[-2]
        assert isinstance(heading, Piece)
        form = (*form[:-2], Piece(heading.text.rstrip("\n"), heading.origin))
    pieces: list[Piece] = []
    for part in form:
        if isinstance(part, Field):
            pieces += [piece for piece in item.fields[part] if piece.text]
        else:
            pieces.append(part)
    return pieces


def _ends_with_empty_field(form: PieceForm, item: Item) -> bool:
    """Whether a form ends with a heading and an empty field below it."""
    if len(form) < 2 or not isinstance(form[-1], Field) or not isinstance(form[-2], Piece):
        return False
    return not any(piece.text for piece in item.fields[form[-1]])
