"""Which sections of a layout apply, and the pieces that each consists of."""

from __future__ import annotations

from ..findings import finding
from ..layout.model import Field
from ..sources.paths import distance_of
from ..template.contract import RenderContext
from ..template.languages import LANGUAGES, language_of
from ..text.lines import printable
from ..text.pieces import apply_filters, close_open, cut_mark, origin_of, strip_blank_lines, without_white_ends
from ..vocabulary import Document, Origin, Piece, replace
from .clock import any_time, told
from .content import ContentReader
from .drafts import Draft
from .fates import Fates
from .items import ItemWriter
from .lists import Lists, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ..layout.model import Condition, Layout, Section
    from ..vocabulary import Agent, Finding, Inputs
    from .drafts import DraftWriter
    from .items import Entry
    from .lists import Rule

    Pieces = tuple[Piece, ...]
    Render = Callable[[str, Mapping[str, Document], Mapping[str, str | Sequence[str]]], Pieces]


class Collector:
    """Goes through the sections of a layout once and drafts each of them."""

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
        self.facts = frozenset(_facts(layout, inputs, agent))
        self.findings: list[Finding] = []
        self.contents = ContentReader(inputs, agent, now, scribe.own_tag, layout.template_limit, self.findings)
        applying = list(self.applying(layout.sections))
        given = list(self.given_texts(applying))
        self.taken = dict(self.taken_texts(applying, given))
        self.contents.expect(each for name in inputs.found for each in self.texts_of(name))
        self.contents.expect(each for each, _ in given if each.path)
        own = layout.written.get("guideline") or scribe.origin("guideline", "say")
        content = self.contents.content
        self.lists = Lists(layout, agent, self.facts, inputs.workspace, rules, own, content, self.findings)
        self.items = ItemWriter(inputs.workspace, scribe, self.contents, self.lists, self.findings)
        self.fates = Fates(inputs, self.contents, self.lists)

    def drafts(self, sections: Iterable[Section]) -> tuple[Draft, ...]:
        """The drafts of the sections that apply and are not empty. A fence that a text leaves open is closed before the next section."""
        drafts = [draft for section in sections if not (draft := self.draft(section)).is_empty]
        return (*map(self.close_text, drafts[:-1]), *drafts[-1:])

    def close_text(self, draft: Draft) -> Draft:
        """The draft, with a code fence or comment closed that its text leaves open."""
        text, was_open = close_open(draft.text)
        if not was_open:
            return draft
        body = self.inputs.bodies.get(draft.section.name)
        path = body.path if body else draft.text[-1].origin.path
        self.findings.append(finding("file-fence", f"{path} ends inside {was_open}; it was closed", path))
        return replace(draft, text=text)

    def draft(self, section: Section) -> Draft:
        if not all(holds(condition, self.facts) for condition in section.when):
            self.fates.leave_out(section, f"section '{section.name}' does not apply: it needs {_wanted(section.when)}")
            return Draft(section)
        if section.language in LANGUAGES:
            return self.templated(section)
        replacement = self.replacement(section)
        if replacement is not None:
            self.fates.leave_out(replace(section, instead=()), f"section '{section.name}' was replaced")
            return Draft(section, text=replacement, is_replaced=True)
        if section.sections:
            return Draft(section, inner=self.drafts(section.sections), text=self.items.stand_in(section))
        if section.of is not None and section.of in self.inputs.found:
            return self.listing(section, section.of)
        if section.of is not None:
            return Draft(section, items=self.items.items(section, section.of), text=self.items.stand_in(section))
        text = self.filled(section)
        return Draft(section, text=without_white_ends(text) if section.trim else text)

    def listing(self, section: Section, name: str) -> Draft:
        """A section that lists a find."""
        self.fates.used.add(name)
        find = next(each for each in self.layout.finds if each.name == name)
        return self.items.listing(section, find, self.without_copies(self.inputs.found[name]))

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

    def replacement(self, section: Section) -> Pieces | None:
        """The text that replaces the section: the first of `instead` that exists."""
        chosen = self.chosen(section)
        if chosen is None:
            return None
        for name in section.instead[section.instead.index(chosen) + 1 :]:
            self.fates.unused.setdefault(name, f"something else comes before it in section '{section.name}'")
        if chosen == "base":
            return self.base()
        self.fates.used.add(chosen)
        return tuple(piece for document in self.texts_of(chosen) for piece in self.contents.content(document))

    def chosen(self, section: Section) -> str | None:
        for name in section.instead:
            if self.base() if name == "base" else self.inputs.found.get(name):
                return name
        return None

    def texts_of(self, find: str) -> list[Document]:
        return [each for each in self.inputs.found[find] if isinstance(each, Document)]

    def applying(self, sections: Iterable[Section]) -> Iterator[tuple[Section, str | None]]:
        """The sections that apply, each with the name of what replaces it; sections inside a replaced one do not apply."""
        for section in sections:
            if not section.when or all(holds(condition, self.facts) for condition in section.when):
                chosen = self.chosen(section) if section.instead else None
                yield section, chosen
                if chosen is None and section.sections:
                    yield from self.applying(section.sections)

    def given_texts(self, applying: Iterable[tuple[Section, str | None]]) -> Iterator[tuple[Document, str]]:
        """The texts from the caller that this layout uses, each with what it is."""
        for section, chosen in applying:
            if chosen == "base":
                yield strip_blank_lines(self.agent.base), "base"
            if section.of == "plan":
                yield strip_blank_lines(self.agent.plan), "plan"

    def taken_texts(
        self, applying: Iterable[tuple[Section, str | None]], given: Iterable[tuple[Document, str]]
    ) -> Iterator[tuple[tuple[str, str], str]]:
        """The files and texts that are in the prompt whatever a section lists, each with the reason to skip a copy."""
        for _, chosen in applying:
            for each in self.texts_of(chosen) if chosen and chosen in self.inputs.found else ():
                yield ("text", each.text), f"the same text as {each.path}"
        for each, name in given:
            yield ("file", each.path), f"it was given as the {name}"
            yield ("text", each.text), f"the same text as the {name} that was given"

    def base(self) -> Pieces:
        """The caller's base, as it is: it is not inside a wrapper that it could close."""
        document = strip_blank_lines(self.agent.base)
        return (Piece(document.text, origin_of(document, "base")),) if document.text else ()

    def without_copies(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """The entries without documents that are in the prompt already."""
        copies = [each for each in entries if isinstance(each, Document) and self.why_taken(each)]
        for each in copies:
            self.fates.copies[each.path] = reason = self.why_taken(each)
            self.findings.append(finding("file-duplicate", f"{each.path}: {reason}", each.path))
        return [each for each in entries if each not in copies] if copies else entries

    def why_taken(self, document: Document) -> str:
        """Why a document would be in the prompt twice; empty if it would not."""
        content = self.contents.entering(document, document.path)
        return self.taken.get(("file", document.path), "") or self.taken.get(("text", content), "")

    def filled(self, section: Section) -> Pieces:
        """The text of a section with its fields filled in; its own words keep their lines."""
        pieces: list[Piece] = []
        own, line = self.scribe.origin(section.name, "text"), 1
        for part in section.form:
            if isinstance(part, Field):
                pieces.extend(self.contents.escape((apply_filters(self.fact(part.name), part.filters),), ""))
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
        """How far a file of a find is from the working directory."""
        of_that_name = next(each for each in self.layout.finds if each.name == find)
        return distance_of(path, of_that_name, self.inputs.workspace)


def _wanted(conditions: Iterable[Condition]) -> str:
    return " and ".join(("not " if each.negated else "") + _any_of(each.facts) for each in conditions)


def _any_of(facts: Sequence[str]) -> str:
    """The facts of which one must hold, in words; only the first of many tools are named."""
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
