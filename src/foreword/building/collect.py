"""Which sections of a layout apply, and what they hold: values become pieces that can stand in a prompt."""

from __future__ import annotations

from ..findings import finding
from ..layout.model import Field
from ..sources.paths import distance_of, is_file_name
from ..template.contract import RenderContext
from ..template.languages import LANGUAGES, language_of
from ..text.hidden import hidden
from ..text.lines import printable
from ..text.pieces import (
    apply_filters,
    close_open,
    cut_mark,
    escape_tags,
    may_stay_open,
    origin_of,
    strip_blank_lines,
    without_blank_ends,
    without_white_ends,
)
from ..vocabulary import Candidate, Document, Origin, Piece, Skill, include_key, replace
from .clock import any_time, told
from .drafts import Draft, Item, Listing, MadeItem, formed, with_origin
from .lists import Lists, holds
from .menus import by_folder, location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
    from datetime import datetime

    from ..layout.model import Condition, Layout, Section
    from ..vocabulary import Agent, Finding, Inputs, Resident
    from .drafts import DraftWriter
    from .lists import Row, Rule

    Pieces = tuple[Piece, ...]
    Entry = Document | Skill | Resident
    Render = Callable[[str, Mapping[str, Document], Mapping[str, str | Sequence[str]]], Pieces]


class Collector:
    """Goes through the sections once and remembers which finds were used, and why others were not."""

    def __init__(
        self,
        layout: Layout,
        inputs: Inputs,
        agent: Agent,
        now: datetime | None,
        rules: Sequence[Rule],
        scribe: DraftWriter,
        render: Render | None,
    ) -> None:
        self.layout, self.inputs, self.agent, self.now = layout, inputs, agent, now
        self.scribe, self.render = scribe, render
        self.own_tag = scribe.own_tag
        self.facts = frozenset(_facts(layout, inputs, agent))
        self.findings: list[Finding] = []
        self.used: set[str] = set()
        self.copies: dict[str, str] = {}
        self.including = ""
        self.includers: dict[str, str] = {}
        self.repeated: dict[str, str] = {}
        self.fingerprints: dict[str, dict[tuple[str, int], str]] = {}
        applying = list(self.applying(layout.sections))
        given = list(self.given_texts(applying))
        self.taken = dict(self.taken_texts(applying, given))
        documents = [each for name in inputs.found for each in self.texts_of(name)]
        documents += [each for each, _ in given if each.path]
        self.entered = {each.path: each.path for each in documents}
        self.said = {self.entering(each, each.path): each.path for each in documents}
        own = layout.written.get("guideline") or scribe.origin("guideline", "say")
        self.lists = Lists(layout, agent, self.facts, inputs.workspace, rules, own, self.content, self.findings)
        self.unused: dict[str, str] = {}

    def drafts(self, sections: Iterable[Section]) -> tuple[Draft, ...]:
        """The drafts of the sections that apply and are not empty. A text swallows nothing that follows it."""
        drafts = [draft for section in sections if not (draft := self.draft(section)).is_empty]
        return (*map(self.sealed_text, drafts[:-1]), *drafts[-1:])

    def sealed_text(self, draft: Draft) -> Draft:
        """The draft; if its text ends inside a code fence or comment, with that closed."""
        text, was_open = close_open(draft.text)
        if not was_open:
            return draft
        body = self.inputs.bodies.get(draft.section.name)
        path = body.path if body else draft.text[-1].origin.path
        self.findings.append(finding("file-fence", f"{path} ends inside {was_open}; it was closed", path))
        return replace(draft, text=text)

    def draft(self, section: Section) -> Draft:
        if not all(holds(condition, self.facts) for condition in section.when):
            self.leave_out(section, f"section '{section.name}' does not apply: it needs {_wanted(section.when)}")
            return Draft(section)
        if section.language in LANGUAGES:
            return self.templated(section)
        replacement = self.replacement(section)
        if replacement is not None:
            self.leave_out(replace(section, instead=()), f"section '{section.name}' was replaced")
            return Draft(section, text=replacement, is_replaced=True)
        if section.sections:
            return Draft(section, inner=self.drafts(section.sections), text=self.stand_in(section))
        if section.of is not None and section.of in self.inputs.found:
            return self.listing(section, section.of)
        if section.of is not None:
            return Draft(section, items=self.items(section, section.of), text=self.stand_in(section))
        text = self.filled(section)
        return Draft(section, text=without_white_ends(text) if section.trim else text)

    def templated(self, section: Section) -> Draft:
        """A section whose text is a template: the body that was chosen for it, rendered."""
        body = self.inputs.bodies.get(section.name, Document("", ""))
        language = language_of(body, section.language)
        context = RenderContext(
            self.inputs, self.agent, self.now or any_time(), self.variable, self.layout.template_limit, self.render
        )
        pieces, findings = language.module().render_template(body, context)
        self.findings.extend(findings)
        if language.trims and section.trim:
            pieces = without_white_ends(pieces)
        return Draft(section, text=pieces, is_replaced=True)

    def variable(self, type_: str, name: str) -> Pieces | None:
        """The value of a variable of the bracket language."""
        known = self.inputs.values.get(f"{type_}:{name}")
        if isinstance(known, Document):
            return (Piece(known.text, origin_of(known, name)), *cut_mark(known))
        if known is None:
            known = self.given_variable(f"{type_}:{name}")
        return None if known is None else (Piece(known, Origin("variable", f"{type_}:{name}")),)

    def given_variable(self, name: str) -> str | None:
        workspace, agent = self.inputs.workspace, self.agent
        if name in ("system:time", "system:date"):
            moment = told(self.now, "now.utc")
            return moment if name == "system:time" else moment[:10]
        values = {
            "system:os": workspace.platform,
            "prompt:cwd": printable(workspace.cwd),
            "prompt:model": agent.model,
            "prompt:conversation_id": agent.session,
        }
        return values.get(name)

    def leave_out(self, section: Section, reason: str) -> None:
        for name in (section.of, *section.instead):
            if name:
                self.unused.setdefault(name, reason)
        for inner in section.sections:
            self.leave_out(inner, reason)

    def replacement(self, section: Section) -> Pieces | None:
        """What takes the place of the section: the first of `instead` that is there."""
        chosen = self.chosen(section)
        if chosen is None:
            return None
        for name in section.instead[section.instead.index(chosen) + 1 :]:
            self.unused.setdefault(name, f"something else comes before it in section '{section.name}'")
        if chosen == "base":
            return self.base()
        self.used.add(chosen)
        return tuple(piece for document in self.texts_of(chosen) for piece in self.content(document))

    def chosen(self, section: Section) -> str | None:
        for name in section.instead:
            if self.base() if name == "base" else self.inputs.found.get(name):
                return name
        return None

    def texts_of(self, find: str) -> list[Document]:
        return [each for each in self.inputs.found[find] if isinstance(each, Document)]

    def applying(self, sections: Iterable[Section]) -> Iterator[tuple[Section, str | None]]:
        """The sections that apply, and what was chosen in their place; those inside one that is replaced do not."""
        for section in sections:
            if not section.when or all(holds(condition, self.facts) for condition in section.when):
                chosen = self.chosen(section) if section.instead else None
                yield section, chosen
                if chosen is None and section.sections:
                    yield from self.applying(section.sections)

    def given_texts(self, applying: Iterable[tuple[Section, str | None]]) -> Iterator[tuple[Document, str]]:
        """The texts of the caller's that this layout has a place for, and what each is."""
        for section, chosen in applying:
            if chosen == "base":
                yield strip_blank_lines(self.agent.base), "base"
            if section.of == "plan":
                yield strip_blank_lines(self.agent.plan), "plan"

    def taken_texts(
        self, applying: Iterable[tuple[Section, str | None]], given: Iterable[tuple[Document, str]]
    ) -> Iterator[tuple[tuple[str, str], str]]:
        """The files and texts that stand in the prompt whatever a section lists, each with why a copy does not enter."""
        for _, chosen in applying:
            for each in self.texts_of(chosen) if chosen and chosen in self.inputs.found else ():
                yield ("text", each.text), f"the same text as {each.path}"
        for each, name in given:
            yield ("file", each.path), f"it was given as the {name}"
            yield ("text", each.text), f"the same text as the {name} that was given"

    def base(self) -> Pieces:
        """The caller's base, as it is; it stands inside nothing that it could close."""
        document = strip_blank_lines(self.agent.base)
        return (Piece(document.text, origin_of(document, "base")),) if document.text else ()

    def content(self, document: Document, name: str = "", with_directives: bool = False) -> Pieces:
        """A file's text: unable to close the section around it, closed where it ends in the middle, marked where it was cut."""
        for each in hidden(document.text, document.line):
            told = f"{document.path or name} holds {each.describe(f' on line {each.line}')}"
            self.findings.append(finding("hidden-characters", told, document.path, each.line))
        pieces: Pieces = (Piece(document.text, origin_of(document, name)),)
        if with_directives and ("<!--" in document.text or "{{" in document.text):
            from ..template import directives

            self.including = document.path
            pieces, doubts = directives.render(
                document, self.directive_facts(), self.included, self.layout.template_limit
            )
            pieces = without_blank_ends(pieces)  # a branch at the end of a file leaves none behind
            self.findings.extend(doubts)
        pieces = (*self.harmless(pieces, document.path), *cut_mark(document))
        pieces, was_open = close_open(pieces)
        if was_open:
            self.findings.append(
                finding("file-fence", f"{document.path or name} ends inside {was_open}; it was closed", document.path)
            )
        return pieces

    def directive_facts(self) -> dict[str, str]:
        workspace, agent = self.inputs.workspace, self.agent
        facts = {"cwd": printable(workspace.cwd), "platform": workspace.platform or "", "model": agent.model}
        return {**facts, "provider": agent.provider, "date": told(self.now, "now.date") if self.now else ""}

    def included(self, path: str, target: str) -> Document | Finding:
        """The file that another includes; one that stands in the prompt already does not enter it twice."""
        include = self.include(self.including, path, target)
        if not isinstance(include, Document):
            return include
        owner = self.entered.setdefault(include.path, self.including)
        if owner != self.including or self.said.setdefault(self.entering(include, owner), include.path) != include.path:
            self.repeated[include.path] = reason = f"included by {path}, and in the prompt already"
            return finding("file-duplicate", f"{include.path}: {reason}", include.path)
        if include.path != self.including:
            self.includers.setdefault(include.path, path)
        return include

    def include(self, root: str, path: str, target: str) -> Document | Finding:
        include = self.inputs.includes.get(include_key(root, path, target))
        why = f"{path} includes {target!r}, which is left out: it lies too deep"
        return finding("include-refused", why, path) if include is None else include

    def entering(self, document: Document, root: str) -> str:
        """What enters with a document, be it the root or included by it: two that say the same may include different files."""
        if not self.inputs.includes or "<!--" not in document.text:
            return document.text
        from ..template import directives

        known = self.fingerprints.setdefault(root, {})
        return directives.entering(document, lambda path, target: self.include(root, path, target), known)

    def harmless(self, pieces: Pieces, path: str) -> Pieces:
        """The pieces with every tag of the layout's own wrappers broken by a backslash. No other `<` is touched."""
        if self.own_tag is None or not any("<" in piece.text for piece in pieces):
            return pieces
        result = escape_tags(pieces, self.own_tag)
        if len(result) > len(pieces):
            line = result[0].origin.lines[1] if result[0].origin.lines else None
            message = f"{path or 'a value'} holds a tag that wraps a section; a backslash makes it harmless"
            self.findings.append(finding("file-neutralised", message, path, line))
        return result

    # what a section lists

    def listing(self, section: Section, name: str) -> Draft:
        """A section that lists a find; what an earlier build made of the same entries is taken over."""
        entries = self.without_copies(self.inputs.found[name])
        self.used.add(name)
        known = self.scribe.made.get(section.name)
        if known is None or known.entries is not entries or section.language == "directives":
            made = {each.path: item for each, item in zip(known.entries, known.items, strict=True)} if known else {}
            items = [self.made_item(section, each, made.get(each.path)) for each in entries]
            listed: Sequence[Item] = [each.item for each in items if each.is_listed and not _is_blank(each.item)]
            found = len(self.findings)
            if section.folder:
                listed = self.by_folder(section, name, listed)
            draft = Draft(section, listed, text=self.stand_in(section))
            known = self.scribe.made[section.name] = Listing(entries, items, draft, self.findings[found:])
            del self.findings[found:]
        self.findings.extend(known.findings)
        for item in known.items:
            self.findings.extend(item.findings)
        return known.draft

    def by_folder(self, section: Section, name: str, items: Sequence[Item]) -> Sequence[Item]:
        find = next(each for each in self.layout.finds if each.name == name)
        own = self.scribe.origin(section.name, "folder")
        return by_folder(items, section, find, self.inputs.workspace, own, lambda pieces: self.harmless(pieces, ""))

    def without_copies(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        copies = [each for each in entries if isinstance(each, Document) and self.why_taken(each)]
        for each in copies:
            self.copies[each.path] = reason = self.why_taken(each)
            self.findings.append(finding("file-duplicate", f"{each.path}: {reason}", each.path))
        return [each for each in entries if each not in copies] if copies else entries

    def why_taken(self, document: Document) -> str:
        """Why a document that was found would stand in the prompt twice; empty if it would not."""
        content = self.entering(document, document.path)
        return self.taken.get(("file", document.path), "") or self.taken.get(("text", content), "")

    def made_item(self, section: Section, entry: Entry, before: MadeItem | None) -> MadeItem:
        if before is not None and before.entry == entry and section.language != "directives":
            return before
        found = len(self.findings)
        item = self.item(section, entry)
        is_listed = not (isinstance(entry, Skill) and entry.hidden)
        if is_listed:
            self.tell_open(section, item)
        findings = self.findings[found:]
        del self.findings[found:]
        return MadeItem(entry, item, findings, is_listed)

    def items(self, section: Section, name: str) -> tuple[Item, ...]:
        """The items of one of the agent's own lists, each of its fields filtered and harmless."""
        rows = getattr(self.lists, name)()
        items = tuple(self.spoken(section, row, _path_of(row)) for row in rows)
        for item in items:
            self.tell_open(section, item)
        return items

    def item(self, section: Section, entry: Entry) -> Item:
        shown = printable(entry.path)
        if isinstance(entry, Document):
            row: Row = {
                "path": Piece(shown, Origin("environment", shown)),
                "text": self.content(entry, "", section.language == "directives"),
            }
            return self.spoken(section, row, shown)
        # As one line: on which of the front matter's a value stands is not known here.
        for each in hidden(f"{entry.name} {entry.description}".replace("\n", " ")):
            told = f"the front matter of {shown} holds {each.describe()}"
            self.findings.append(finding("hidden-characters", told, shown, entry.lines[0]))
        origin = Origin("skill" if isinstance(entry, Skill) else "resident", shown, entry.lines)
        values = {"name": entry.name, "description": entry.description, "path": shown}
        if isinstance(entry, Skill):
            values["location"] = location(entry.name, shown)
        return self.spoken(section, {name: Piece(text, origin) for name, text in values.items()}, shown)

    def spoken(self, section: Section, row: Row, path: str = "") -> Item:
        """The item of a row. A whole content is ready as it is, a single value is filtered and made harmless."""
        fields: dict[Field, Pieces] = {}
        is_doubtful = False
        for part in (*section.item, *section.short):
            if isinstance(part, Field) and part not in fields:
                content = row[part.name]
                if isinstance(content, Piece):
                    single = apply_filters(content, part.filters)
                    is_doubtful = is_doubtful or may_stay_open(single.text)
                    content = self.harmless((single,), "") if "<" in single.text else (single,)
                fields[part] = content
        return Item(fields, path, is_doubtful=is_doubtful)

    def tell_open(self, section: Section, item: Item) -> None:
        """Say what an item leaves open; it is closed where it is written."""
        if not item.is_doubtful:
            return
        pieces, was_open = formed(with_origin(section.item, self.scribe.origin(section.name, "item")), item)
        if was_open:
            self.findings.append(
                finding("file-fence", f"{_author(pieces)} ends inside {was_open}; it was closed", item.path)
            )

    def stand_in(self, section: Section) -> Pieces:
        """What stands for an empty list; it only shows when there are no items."""
        return (Piece(section.none, self.scribe.origin(section.name, "none")),) if section.none else ()

    # text with facts in it

    def filled(self, section: Section) -> Pieces:
        """The text of a section with its fields filled in; its own words keep their lines."""
        pieces: list[Piece] = []
        own, line = self.scribe.origin(section.name, "text"), 1
        for part in section.form:
            if isinstance(part, Field):
                pieces.extend(self.harmless((apply_filters(self.fact(part.name), part.filters),), ""))
            else:
                last = line + part.count("\n")
                is_elsewhere = own.kind in ("setting", "caller")  # its lines are not those of the file
                pieces.append(Piece(part, own if is_elsewhere else replace(own, lines=(line, last))))
                line = last
        return tuple(pieces)

    def fact(self, name: str) -> Piece:
        workspace, agent = self.inputs.workspace, self.agent
        if name.startswith("now."):
            text = told(self.now, name)
        elif name in ("cwd", "root", "home"):
            text = printable(getattr(workspace, name) or "~")
        elif name == "platform":
            text = workspace.platform or ""
        else:
            text = str(getattr(agent, name))
        return Piece(text, Origin("environment", name))

    def distance(self, find: str, path: str) -> int:
        """How far from the working directory a file of a find lies."""
        of_that_name = next(each for each in self.layout.finds if each.name == find)
        return distance_of(path, of_that_name, self.inputs.workspace)

    # what became of the candidates

    def settled_candidates(self, standing: Set[str], cut_files: Mapping[str, str]) -> Iterator[Candidate]:
        """The candidates; one of which nothing stands in this prompt is not used, one over its budget was cut."""
        reasons = self.reasons()
        for candidate in self.inputs.candidates:
            path, layer = candidate.path, candidate.layer
            if candidate.fate not in ("used", "cut") or not path:
                yield candidate
            elif path in self.copies:
                yield Candidate(path, layer, "duplicate", self.copies[path])
            elif path in reasons and path == self.lists.blank:
                yield Candidate(path, layer, "blank", "its body is blank")
            elif path in reasons:
                yield Candidate(path, layer, "unused", reasons[path])
            elif path in cut_files:
                yield Candidate(path, layer, "cut", cut_files[path])
            elif path not in standing:
                yield self.missing(candidate, cut_files)
            elif path in self.includers:
                yield replace(candidate, reason=f"included by {self.includers[path]}")
            else:
                yield candidate

    def reasons(self) -> dict[str, str]:
        """Why files that were found have no place in this prompt, by their path."""
        reasons: dict[str, str] = {}
        for name, entries in self.inputs.found.items():
            reason = "" if name in self.used else self.unused.get(name, "no section lists it; it is used by name")
            for entry in entries:
                if reason and entry.path != self.lists.active:
                    reasons[printable(entry.path)] = reason
                elif not reason and isinstance(entry, Skill) and entry.hidden:
                    reasons[printable(entry.path)] = "its front matter hides it from the menu"
        return reasons

    def missing(self, candidate: Candidate, cut_files: Mapping[str, str]) -> Candidate:
        """A candidate that could have been used, and of which nothing stands in this prompt."""
        path, owner = candidate.path, self.entered.get(candidate.path, "")
        if path in self.repeated:
            return replace(candidate, fate="duplicate", reason=self.repeated[path])
        if owner in cut_files:
            return replace(candidate, fate="cut", reason=f"included by {owner}; {cut_files[owner]}")
        reason = "nothing of it stands in the prompt"
        return replace(candidate, fate="unused", reason=f"{candidate.reason}; {reason}" if candidate.reason else reason)

    def unused_findings(self) -> Iterator[Finding]:
        """What the caller gave and the layout has no place for, or meant as something else."""
        sections = list(self.layout.each_section())
        bases = [section for section in sections if "base" in section.instead]
        base = strip_blank_lines(self.agent.base).text
        if base and not bases:
            yield finding("agent-unused", f"the layout {self.layout.name} has no place for the base that was given")
        for text in dict.fromkeys((base, *(section.text or "" for section in bases))) if bases else ():
            if is_file_name(text):
                told = f"the base is only {printable(text)!r}, which looks like a file name; pass the text of the file, or a"
                yield finding("base-file-name", f"{told} reference such as $user/base")
        listed = {section.of for section in sections}
        given = {"active_skill": self.agent.skill, "plan": self.agent.plan, "docs": self.agent.docs}
        for name, content in given.items():
            if content and name not in listed:
                what = name.replace("_", " ")
                yield finding(
                    "agent-unused", f"the layout {self.layout.name} has no place for the {what} that was given"
                )


def _path_of(row: Row) -> str:
    """The file that a row is the text of."""
    path = row.get("path")
    return path.text if isinstance(path, Piece) and "text" in row else ""


def _is_blank(item: Item) -> bool:
    """Whether an item is a whole text of which nothing is left."""
    texts = [pieces for field, pieces in item.fields.items() if field.name == "text"]
    return bool(texts) and not any(piece.text.strip() for pieces in texts for piece in pieces)


def _author(pieces: Pieces) -> str:
    """From whom an item has the value that begins a fence or comment."""
    origin = next((each.origin for each in pieces if may_stay_open(each.text)), pieces[0].origin)
    return origin.path if origin.kind in ("skill", "resident", "environment") else f"the {origin.kind} {origin.path!r}"


def _wanted(conditions: Iterable[Condition]) -> str:
    return " and ".join(("not " if each.negated else "") + _any_of(each.facts) for each in conditions)


def _any_of(facts: Sequence[str]) -> str:
    """The facts of which one must hold; of many tools only the first are named."""
    tools = [fact.removeprefix("tool:") for fact in facts if fact.startswith("tool:")]
    if len(tools) < len(facts) or len(tools) < 4:
        return " or ".join(facts)
    return f"one of the tools {', '.join(tools[:3])} or {len(tools) - 3} others"


def _facts(layout: Layout, inputs: Inputs, agent: Agent) -> Iterator[str]:
    yield agent.role
    yield f"provider:{agent.provider}"
    yield f"platform:{inputs.workspace.platform}"
    if agent.session:
        yield "session"
    if agent.tools:
        yield "tools"
    yield from (f"tool:{tool.name}" for tool in agent.tools or ())
    yield from (f"set:{name}" for name, content in layout.settings.items() if content)
