"""Creates a draft for each section of a layout that applies."""

from __future__ import annotations

from ..findings import finding
from ..layout.model import Field
from ..sources.paths import distance_of, is_user_file
from ..text.lines import printable
from ..text.pieces import apply_filters, close_open_blocks, cut_mark, origin_of, strip_blank_lines, trim_section
from ..vocabulary import Document, Origin, Piece, Resident, replace
from .clock import format_time, placeholder_time
from .conditions import describe_conditions, holds, workspace_facts
from .content import ContentReader
from .drafts import Draft
from .fates import Fates
from .items import ItemWriter
from .lists import Lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ..layout.model import Layout, Section
    from ..vocabulary import Access, Agent, Finding, Inputs
    from .drafts import DraftWriter
    from .items import Entry
    from .lists import Rule

    Pieces = tuple[Piece, ...]
    Render = Callable[[str, Mapping[str, Document], Mapping[str, str | Sequence[str]]], Pieces]


class Collector:
    """Creates the drafts of one prompt."""

    def __init__(
        self,
        layout: Layout,
        inputs: Inputs,
        agent: Agent,
        now: datetime | None,
        rules: Sequence[Rule],
        writer: DraftWriter,
        render: Render | None,
    ) -> None:
        self.layout, self.inputs, self.agent, self.now = layout, inputs, agent, now
        self.writer, self.render = writer, render
        self.facts = writer.agent_facts(agent) | workspace_facts(layout, inputs)
        self.findings: list[Finding] = []
        self.contents = ContentReader(inputs, agent, now, writer, layout.template_limit, self.findings)
        self.replacements = Replacements(layout, inputs, agent, self.facts, self.contents, self.findings)
        guideline_origin = layout.key_origins.get("guideline") or writer.origin("guideline", "say")
        content = self.contents.content
        folders: Sequence[Access] = ()
        if agent.scope is not None:
            from .boundaries import prompt_folders

            folders = prompt_folders(layout, inputs, self.replacements.sections)
        self.lists = Lists(
            layout, agent, self.facts, inputs.workspace, rules, guideline_origin, content, self.findings, folders
        )
        self.items = ItemWriter(inputs.workspace, writer, self.contents, self.lists, self.findings)
        self.fates = Fates(inputs, self.contents, self.lists)

    def drafts(self, sections: Iterable[Section]) -> tuple[Draft, ...]:
        """Return the drafts of the sections that apply and are not empty. Open code fences are closed before the next section."""
        drafts = []
        for section in sections:
            draft = self.draft(section)
            if not draft.is_empty:
                drafts.append(self.add_facts(draft))
        return (*map(self.close_text, drafts[:-1]), *drafts[-1:])

    def close_text(self, draft: Draft) -> Draft:
        """Close a code fence or comment that a draft's text leaves open, and report it."""
        text, was_open = close_open_blocks(draft.text) if draft.text else ((), "")
        if not was_open or self.layout.raw:
            return draft
        body = self.inputs.bodies.get(draft.section.name)
        path = body.path if body else draft.text[-1].origin.path
        self.findings.append(finding("file-fence", f"{path} ends inside {was_open}; it was closed", path))
        return replace(draft, text=text)

    def add_facts(self, draft: Draft) -> Draft:
        """Add the values of the fields in a draft's wrapper; most wrappers have none."""
        fields = [part for part in draft.section.wrap if isinstance(part, Field) and part.name]
        return replace(draft, facts=[(field, self.value(field)) for field in fields]) if fields else draft

    def value(self, field: Field) -> Pieces:
        """Return a fact's value, filtered and escaped."""
        filtered = apply_filters(self.fact(field.name), field.filters, self.inputs.workspace)
        return self.contents.escape((filtered,), "")

    def draft(self, section: Section) -> Draft:
        missing = [condition for condition in section.when if not holds(condition, self.facts)]
        if missing:
            needs = describe_conditions(missing)
            self.fates.leave_out(section, f"section '{section.name}' does not apply: it needs {needs}")
            return Draft(section)
        if section.is_template:
            return self.template_draft(section)
        replacement = self.replacements.text(section, self.fates)
        if replacement is not None:
            self.fates.leave_out(replace(section, instead=()), f"section '{section.name}' was replaced")
            return Draft(section, text=replacement, is_replaced=True)
        if section.sections:
            return Draft(section, inner=self.drafts(section.sections), text=self.items.placeholder(section))
        if section.list_name is not None and section.list_name in self.inputs.found:
            return self.lookup_draft(section, section.list_name)
        if section.list_name is not None:
            return self.items.list_draft(section, section.list_name)
        return self.text_draft(section)

    def text_draft(self, section: Section) -> Draft:
        """Return the draft of a section with its own text. Text without fields is the same in every build with the layout."""
        cached = self.writer.literal_drafts.get(section.name)
        if cached is not None:
            return cached
        text = self.fill_in(section)
        draft = Draft(section, text=trim_section(text) if section.trim else text)
        if not any(isinstance(part, Field) for part in section.form):
            self.writer.literal_drafts[section.name] = draft
        return draft

    def lookup_draft(self, section: Section, name: str) -> Draft:
        """Return the draft of a section that lists a lookup rule's files."""
        self.fates.used.add(name)
        lookup = next(lookup for lookup in self.layout.lookups if lookup.name == name)
        entries = self.replacements.without_copies(self.inputs.found[name], self.fates)
        if lookup.kind == "resident" and self.agent.residents:
            entries = _with_residents(self, entries, name)
        return self.items.lookup_draft(section, lookup, entries) if entries else self.items.empty_draft(section)

    def template_draft(self, section: Section) -> Draft:
        """Render a section whose text is a template."""
        from ..template.contract import RenderContext
        from ..template.languages import language_of

        body = self.inputs.bodies.get(section.name, Document("", ""))
        language = language_of(body, section.language)
        context = RenderContext(
            self.inputs,
            self.agent,
            self.now or placeholder_time(),
            self.variable_value,
            self.layout.template_limit,
            self.render,
        )
        pieces, findings = language.module().render_template(body, context)
        self.findings.extend(findings)
        self.contents.report_hidden(pieces, "".join([piece.text for piece in pieces]), section.name)
        if language.trims and section.trim:
            pieces = trim_section(pieces)
        return Draft(section, text=pieces, is_replaced=True)

    def variable_value(self, type_: str, name: str) -> Pieces | None:
        """Return the value of a bracket-language variable, or None if it is undefined."""
        content = self.inputs.values.get(f"{type_}:{name}")
        if isinstance(content, Document):
            return (Piece(content.text, origin_of(content, name)), *cut_mark(content))
        if content is None:
            content = self.builtin_variable(f"{type_}:{name}")
        return None if content is None else (Piece(content, Origin("variable", f"{type_}:{name}")),)

    def builtin_variable(self, name: str) -> str | None:
        workspace, agent = self.inputs.workspace, self.agent
        if name in ("system:time", "system:date"):
            moment = format_time(self.now, "now.utc")
            return moment if name == "system:time" else moment[:10]
        values = {
            "system:os": workspace.platform,
            "prompt:cwd": printable(workspace.cwd),
            "prompt:model": agent.model,
            "prompt:conversation_id": agent.session,
        }
        return values.get(name)

    def fill_in(self, section: Section) -> Pieces:
        """Return a section's text with its fields filled in. Literal text keeps its line numbers."""
        pieces: list[Piece] = []
        origin, line = self.writer.origin(section.name, "text"), 1
        for part in section.form:
            if isinstance(part, Field):
                pieces.extend(self.value(part))
            else:
                last = line + part.count("\n")
                is_override = origin.kind in ("setting", "caller")  # so the line numbers are not those of the layout
                pieces.append(Piece(part, origin if is_override else replace(origin, lines=(line, last))))
                line = last
        return tuple(pieces)

    def fact(self, name: str) -> Piece:
        workspace, agent = self.inputs.workspace, self.agent
        if name.startswith("now."):
            text = format_time(self.now, name)
        elif name in ("cwd", "root", "home"):
            text = printable(getattr(workspace, name) or "~")
        elif name == "platform":
            text = workspace.platform or ""
        else:
            text = str(getattr(agent, name))
        return Piece(text, Origin("environment", name))

    def distance(self, lookup: str, path: str) -> int:
        """Return how far a lookup rule's file is from the working directory."""
        rule = next(rule for rule in self.layout.lookups if rule.name == lookup)
        return distance_of(path, rule, self.inputs.workspace)


class Replacements:
    """The sections of one prompt that apply, and the caller's base, plan and files that replace some of them."""

    def __init__(
        self,
        layout: Layout,
        inputs: Inputs,
        agent: Agent,
        facts: frozenset[str],
        contents: ContentReader,
        findings: list[Finding],
    ) -> None:
        self._layout, self._inputs, self._agent, self._facts = layout, inputs, agent, facts
        self._contents, self._findings = contents, findings
        self.sections = list(self._applying(layout.sections))
        caller_texts = list(self._caller_texts())
        self._present = dict(self._present_texts(caller_texts))
        if inputs.includes:
            contents.expect(document for name in inputs.found for document in self._documents_of(name))
            contents.expect(document for document, _ in caller_texts if document.path)

    def text(self, section: Section, fates: Fates) -> Pieces | None:
        """Return the text that replaces a section: the first entry of `instead` that exists. None if none does."""
        chosen = self._choose(section)
        if chosen is None:
            return None
        reason = f"{'the base that the caller passed' if chosen == 'base' else chosen} takes its place"
        for name in section.instead[section.instead.index(chosen) + 1 :]:
            self._shadow_files(name, reason, fates)
        if chosen == "base":
            return self._base()
        fates.used.add(chosen)
        return tuple(piece for document in self._documents_of(chosen) for piece in self._file_text(chosen, document))

    def without_copies(self, entries: Sequence[Entry], fates: Fates) -> Sequence[Entry]:
        """Remove the documents that are already in the prompt, and report them."""
        if not self._present:
            return entries
        copies = [entry for entry in entries if isinstance(entry, Document) and self._duplicate_reason(entry)]
        for document in copies:
            fates.copies[document.path] = reason = self._duplicate_reason(document)
            self._findings.append(finding("file-duplicate", f"{document.path}: {reason}", document.path))
        return [entry for entry in entries if entry not in copies] if copies else entries

    def _applying(self, sections: Iterable[Section]) -> Iterator[tuple[Section, str | None]]:
        """Yield the sections that apply, each with the name of its replacement. Sections inside a replaced one do not apply."""
        for section in sections:
            if not section.when or all(holds(condition, self._facts) for condition in section.when):
                chosen = self._choose(section) if section.instead else None
                yield section, chosen
                if chosen is None and section.sections:
                    yield from self._applying(section.sections)

    def _choose(self, section: Section) -> str | None:
        for name in section.instead:
            if self._base() if name == "base" else self._inputs.found.get(name):
                return name
        return None

    def _base(self) -> Pieces:
        """Return the caller's base. It needs no escaping, because there is no wrapper around it that it could close."""
        document = strip_blank_lines(self._agent.base)
        return (Piece(document.text, origin_of(document, "base")),) if document.text else ()

    def _file_text(self, name: str, document: Document) -> Pieces:
        """Return the text of a file that replaces a section. The user's own file needs no escaping, as the caller's base needs none."""
        lookup = next(lookup for lookup in self._layout.lookups if lookup.name == name)
        is_own = is_user_file(document.path, lookup, self._inputs.workspace)
        return self._contents.content(document, is_wrapped=not is_own)

    def _shadow_files(self, name: str, reason: str, fates: Fates) -> None:
        """Record that the files of a lookup rule could replace a section, but something else does."""
        fates.unused.setdefault(name, reason)
        for document in self._documents_of(name) if name in self._inputs.found else ():
            path = printable(document.path)
            self._findings.append(finding("file-shadowed", f"{path}: {reason}", path))

    def _documents_of(self, lookup: str) -> list[Document]:
        return [entry for entry in self._inputs.found[lookup] if isinstance(entry, Document)]

    def _caller_texts(self) -> Iterator[tuple[Document, str]]:
        """Yield the caller's texts that this layout uses, each with its name."""
        for section, chosen in self.sections:
            if chosen == "base":
                yield strip_blank_lines(self._agent.base), "base"
            if section.list_name == "plan":
                yield strip_blank_lines(self._agent.plan), "plan"

    def _present_texts(self, caller_texts: Iterable[tuple[Document, str]]) -> Iterator[tuple[tuple[str, str], str]]:
        """Yield the files and texts that are always in the prompt, each with the reason to report if a copy is left out."""
        for _, chosen in self.sections:
            for document in self._documents_of(chosen) if chosen and chosen in self._inputs.found else ():
                yield ("text", document.text), f"the same text as {document.path}"
        for document, name in caller_texts:
            yield ("file", document.path), f"it was passed as the {name}"
            yield ("text", document.text), f"the same text as the {name} that was passed"

    def _duplicate_reason(self, document: Document) -> str:
        """Return why a document would be in the prompt twice, or empty if it would not."""
        content = self._contents.fingerprint(document, document.path)
        return self._present.get(("file", document.path), "") or self._present.get(("text", content), "")


def _with_residents(collector: Collector, entries: Sequence[Entry], kind: str) -> Sequence[Entry]:
    """Add the caller's residents of this kind. One of them takes the place of a file with the same name, which is reported."""
    added = {row.name: row for row in collector.agent.residents if row.kind == kind}
    kept: dict[str, Entry] = {}
    for entry in entries:
        if isinstance(entry, Resident) and entry.name in added:
            path, reason = printable(entry.path), f"the caller passed a resident with the name {entry.name!r}"
            collector.fates.shadowed[path] = reason
            collector.findings.append(finding("skill-shadowed", f"{path}: {reason}", path))
        elif isinstance(entry, Resident):
            kept[entry.name] = entry
    both = {**kept, **added}
    return [both[name] for name in sorted(both)]
