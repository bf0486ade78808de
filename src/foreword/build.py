"""Layout, inputs, agent and clock in, Prompt out. Same arguments, same bytes.

collect   which sections apply, and what they list
speak     values become pieces that can stand in a prompt: filtered, and unable to close the section around them
fit       what is over a budget gives way (`budget.py`)
write     items are formed, sections wrapped and joined; every character keeps its origin
"""

from __future__ import annotations

import re

from .budget import fit
from .drafts import Draft, Item, Listing, MadeItem, Scribe, broken, filtered, sealed, without_blank_ends
from .findings import finding
from .inspection.hidden import hidden
from .layout import Field
from .vocabulary import (
    Access,
    Candidate,
    Document,
    Origin,
    Passage,
    Piece,
    Prompt,
    Scope,
    Skill,
    include_key,
    printable,
    replace,
    without_blank_lines,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from .layout import Condition, Form, Layout, Section
    from .vocabulary import Agent, Finding, Inputs, Resident

    Pieces = tuple[Piece, ...]
    Entry = Document | Skill | Resident
    Row = dict[str, "Piece | Pieces"]
    Render = Callable[[str, Mapping[str, Document], Mapping[str, str | Sequence[str]]], Pieces]
    Rule = Callable[[frozenset[str]], "str | list[str] | None"]


def build(
    layout: Layout,
    inputs: Inputs,
    agent: Agent,
    now: datetime | None,
    rules: Sequence[Rule] = (),
    scribe: Scribe | None = None,
    render: Render | None = None,
) -> Prompt:
    """The prompt that this agent gets from these inputs.

    `now` may be None where `tells_time` says no. `render` renders templates in the Jinja-like language, for one that is not
    trusted in a place where it can do no harm. A `scribe` of an earlier build of the same layout makes this one cheaper, never
    different.
    """
    scribe = scribe or Scribe(layout)
    collector = _Collector(layout, inputs, agent, now, rules, scribe, render)
    drafts = collector.drafts(layout.sections)
    drafts, cuts, cut_files = fit(layout, drafts, scribe)
    findings = (*inputs.findings, *collector.findings, *collector.unused_findings(), *cuts)
    prompt = write(layout, drafts, tuple(collector.settled_candidates(cut_files)), findings, scribe)
    scribe.forget_others(drafts)
    return prompt


def tells_time(layout: Layout, inputs: Inputs) -> str:
    """How exactly the clock stands in the prompt: `time`, `date`, or not at all."""
    told = ""
    for section in layout.each_section():
        if any(isinstance(part, Field) and part.name.startswith("now.") for part in section.form):
            return "time"
        if section.name in inputs.bodies and _body_tells_time(section, inputs):
            return "time"
        if section.language == "directives" and section.of:
            texts = [*inputs.found.get(section.of, ()), *inputs.includes.values()]
            if any(isinstance(each, Document) and re.search(r"\{\{\s*date", each.text) for each in texts):
                told = "date"
    return told


def _body_tells_time(section: Section, inputs: Inputs) -> bool:
    body = inputs.bodies[section.name]
    if section.language == "jinja":
        from .template import jinja

        return bool(body.text and jinja.names_used(body.path, inputs.templates) & {"date", "time", "datetime"})
    return "system:time" in body.text or "system:date" in body.text


# Collect and speak


class _Collector:
    """Goes through the sections once and remembers which finds were used, and why others were not."""

    def __init__(
        self,
        layout: Layout,
        inputs: Inputs,
        agent: Agent,
        now: datetime | None,
        rules: Sequence[Rule],
        scribe: Scribe,
        render: Render | None,
    ) -> None:
        self.layout, self.inputs, self.agent, self.now, self.rules = layout, inputs, agent, now, rules
        self.scribe, self.render = scribe, render
        self.own_tag = scribe.own_tag
        self.facts = frozenset(_facts(layout, inputs, agent))
        self.findings: list[Finding] = []
        self.used: set[str] = set()
        self.active = ""
        self.copies: dict[str, str] = {}
        self.taken = self.replacing()
        self.unused: dict[str, str] = {}

    def drafts(self, sections: Iterable[Section]) -> tuple[Draft, ...]:
        """The drafts of the sections that apply and are not empty."""
        return tuple(draft for section in sections if not (draft := self.draft(section)).is_empty)

    def draft(self, section: Section) -> Draft:
        if not all(holds(condition, self.facts) for condition in section.when):
            self.leave_out(section, f"section '{section.name}' does not apply: it needs {_wanted(section.when)}")
            return Draft(section)
        if section.language in ("brackets", "jinja"):
            return self.templated(section)
        replacement = self.replacement(section)
        if replacement is not None:
            self.leave_out(replace(section, instead=()), f"section '{section.name}' was replaced")
            return Draft(section, text=replacement, is_replaced=True)
        if section.sections:
            return Draft(section, inner=self.drafts(section.sections))
        if section.of is not None and section.of in self.inputs.found:
            return self.listing(section, section.of)
        if section.of is not None:
            return Draft(section, items=self.items(section, section.of), text=self.stand_in(section))
        return Draft(section, text=self.filled(section.form, self.fact, section))

    def templated(self, section: Section) -> Draft:
        """A section whose text is a template: the body that was chosen for it, rendered."""
        body = self.inputs.bodies.get(section.name, Document("", ""))
        kind = "builtin" if body.path.startswith("$std/") else "template" if body.path else "caller"
        origin = Origin(kind, body.path or "base", None, body.hash)
        if section.language == "jinja":
            return Draft(section, text=self.rendered(section, body), is_replaced=True)
        from .template import brackets
        from .template.catalog import TYPES

        types = TYPES | {name.partition(":")[0] for name in self.inputs.values}
        template = brackets.parse(body.text, types, body.path)
        self.findings.extend(template.findings)
        return Draft(section, text=brackets.render(template, self.variable, origin), is_replaced=True)

    def rendered(self, section: Section, body: Document) -> Pieces:
        """A body in the Jinja-like language, without the white space around it unless that is the author's."""
        from .template import jinja

        if not body.text:
            return ()
        tools = [tool.name for tool in self.agent.tools]
        now = self.now or _any_time()
        facts = jinja.facts(now, printable(self.inputs.workspace.cwd), self.agent.language, tools)
        facts |= {name: text for name, text in self.inputs.values.items() if ":" not in name and isinstance(text, str)}
        render = self.render or jinja.render
        pieces = render(body.path, self.inputs.templates, facts)
        return without_blank_ends(pieces) if section.trim else pieces

    def variable(self, type_: str, name: str) -> Pieces | None:
        """The value of a variable of the bracket language."""
        known = self.inputs.values.get(f"{type_}:{name}")
        if isinstance(known, Document):
            return (Piece(known.text, _origin(known, name)), *_cut_mark(known))
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
            return self.given(self.agent.base, "base")
        self.used.add(chosen)
        return tuple(piece for document in self.texts_of(chosen) for piece in self.content(document))

    def chosen(self, section: Section) -> str | None:
        for name in section.instead:
            if self.given(self.agent.base, "base") if name == "base" else self.inputs.found.get(name):
                return name
        return None

    def texts_of(self, find: str) -> list[Document]:
        return [each for each in self.inputs.found[find] if isinstance(each, Document)]

    def replacing(self) -> dict[str, str]:
        """The texts that replace a section, each with its path: a copy of one would stand in the prompt twice."""
        names = {self.chosen(section) for section in self.layout.each_section() if section.instead} - {None, "base"}
        return {each.text: each.path for name in names for each in self.texts_of(str(name))}

    def given(self, text: str | Document, name: str) -> Pieces:
        """A text of the caller's, as it is; it stands inside nothing that it could close."""
        document = _trimmed(text)
        return (Piece(document.text, _origin(document, name)),) if document.text else ()

    def content(self, document: Document, name: str = "", with_directives: bool = False) -> Pieces:
        """A file's text: unable to close the section around it, closed where it ends in the middle, marked where it was cut."""
        self.tell_hidden(document.text, document.path or name, document.path, document.line)
        pieces: Pieces = (Piece(document.text, _origin(document, name)),)
        if with_directives and ("<!--" in document.text or "{{" in document.text):
            from .template import directives

            pieces, doubts = directives.render(document, self.directive_facts(), self.included)
            self.findings.extend(doubts)
        pieces = (*self.harmless(pieces, document.path), *_cut_mark(document))
        pieces, was_open = sealed(pieces)
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
        missing = finding("include-refused", f"{path} includes {target!r}, which is left out: it lies too deep", path)
        return self.inputs.includes.get(include_key(path, target), missing)

    def tell_hidden(self, text: str, what: str, path: str, line: int) -> None:
        for each in hidden(text, line):
            self.findings.append(finding("hidden-characters", f"{what} holds {each.sentence}", path, each.line))

    def harmless(self, pieces: Pieces, path: str) -> Pieces:
        """The pieces with every tag of the layout's own wrappers broken by a backslash. No other `<` is touched."""
        if self.own_tag is None or not any("<" in piece.text for piece in pieces):
            return pieces
        result: list[Piece] = []
        for piece in pieces:
            result.extend(broken(piece, self.own_tag))
        if len(result) > len(pieces):
            line = result[0].origin.lines[1] if result[0].origin.lines else None
            message = f"{path or 'a value'} holds a tag that wraps a section; a backslash makes it harmless"
            self.findings.append(finding("file-neutralised", message, path, line))
        return tuple(result)

    # what a section lists

    def listing(self, section: Section, name: str) -> Draft:
        """A section that lists a find; what an earlier build made of the same entries is taken over."""
        entries = self.without_copies(self.inputs.found[name])
        self.used.add(name)
        known = self.scribe.made.get(section.name)
        if known is None or known.entries is not entries or section.language == "directives":
            made = {each.path: item for each, item in zip(known.entries, known.items, strict=True)} if known else {}
            items = [self.made_item(section, each, made.get(each.path)) for each in entries]
            draft = Draft(section, [each.item for each in items if each.is_listed], text=self.stand_in(section))
            known = self.scribe.made[section.name] = Listing(entries, items, draft)
        for item in known.items:
            self.findings.extend(item.findings)
        return known.draft

    def without_copies(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        copies = [each for each in entries if isinstance(each, Document) and each.text in self.taken]
        for each in copies:
            self.copies[each.path] = reason = f"the same text as {self.taken[each.text]}"
            self.findings.append(finding("file-duplicate", f"{each.path}: {reason}", each.path))
        return [each for each in entries if each not in copies] if copies else entries

    def made_item(self, section: Section, entry: Entry, before: MadeItem | None) -> MadeItem:
        if before is not None and before.entry == entry and section.language != "directives":
            return before
        found = len(self.findings)
        item = self.item(section, entry)
        findings = self.findings[found:]
        del self.findings[found:]
        return MadeItem(entry, item, findings, not (isinstance(entry, Skill) and entry.hidden))

    def items(self, section: Section, name: str) -> tuple[Item, ...]:
        """The items of one of the agent's own lists, each of its fields filtered and harmless."""
        return tuple(Item(self.spoken(section, row)) for row in getattr(self, "list_" + name)())

    def item(self, section: Section, entry: Entry) -> Item:
        shown = printable(entry.path)
        if isinstance(entry, Document):
            row: Row = {
                "path": Piece(shown, Origin("environment", shown)),
                "text": self.content(entry, "", section.language == "directives"),
            }
            return Item(self.spoken(section, row), shown)
        self.tell_hidden(f"{entry.name} {entry.description}", f"the front matter of {shown}", shown, entry.lines[0])
        origin = Origin("skill" if isinstance(entry, Skill) else "resident", shown, entry.lines, entry.hash)
        values = {"name": entry.name, "description": entry.description, "path": shown}
        return Item(self.spoken(section, {name: Piece(text, origin) for name, text in values.items()}), shown)

    def spoken(self, section: Section, row: Row) -> dict[Field, Pieces]:
        """What stands for each field of an item. A whole content is ready as it is, a single value is filtered and made harmless."""
        fields: dict[Field, Pieces] = {}
        for part in (*section.item, *section.short):
            if isinstance(part, Field) and part not in fields:
                content = row[part.name]
                fields[part] = (
                    content if isinstance(content, tuple) else self.harmless((filtered(content, part.filters),), "")
                )
        return fields

    def list_tools(self) -> Iterator[Row]:
        for tool in self.agent.tools:
            line = tool.snippet.strip() or self.layout.wording.get(f"tool.{tool.name}", "") or tool.name
            origin = Origin("tool", tool.name)
            yield {
                "name": Piece(tool.name, origin),
                "line": Piece(line, origin),
                "description": Piece(tool.description, origin),
            }

    def list_guidelines(self) -> Iterator[Row]:
        said: set[str] = set()
        for piece in self.guidelines():
            text = piece.text.strip()
            if text and text not in said:
                said.add(text)
                yield {"text": Piece(text, piece.origin)}

    def guidelines(self) -> Iterator[Piece]:
        for row in self.layout.guidelines:
            if not all(holds(condition, self.facts) for condition in row.when):
                continue
            if row.source == "tools":
                for tool in self.agent.tools:
                    yield from (Piece(text, Origin("tool", tool.name)) for text in tool.guidelines)
            elif row.source == "extensions":
                yield from self.ruled()
            else:
                chosen = [
                    fact.partition(":")[2]
                    for term in row.when
                    if term.is_choice
                    for fact in term.facts
                    if fact in self.facts
                ]
                for sentence in row.say:
                    text = "".join(part if isinstance(part, str) else ", ".join(chosen) for part in sentence)
                    yield Piece(text, self.scribe.origin("guideline"))

    def ruled(self) -> Iterator[Piece]:
        """What the rules of extensions say; one that raises is reported and skipped."""
        names = frozenset(tool.name for tool in self.agent.tools)
        for rule in self.rules:
            name = getattr(rule, "__name__", "rule")
            try:
                said = rule(names)
            except Exception as error:
                self.findings.append(
                    finding("extension-failed", f"the rule {name!r} raised {type(error).__name__} and was skipped")
                )
                continue
            for text in [said] if isinstance(said, str) else said or ():
                yield Piece(text, Origin("extension", name))

    def list_active_skill(self) -> Iterator[Row]:
        skill = self.agent.skill
        if isinstance(skill, Skill):
            self.active = skill.path
            body = Document(printable(skill.path), skill.body, skill.hash, skill.body_line)
            origin = Origin("skill", printable(skill.path), skill.lines)
            yield {"name": Piece(skill.name, origin), "path": Piece(body.path, origin), "text": self.content(body)}

    def list_plan(self) -> Iterator[Row]:
        document = _trimmed(self.agent.plan)
        if document.text:
            yield {"text": self.content(document, "plan"), "path": Piece(document.path, Origin("caller", "plan"))}

    def list_docs(self) -> Iterator[Row]:
        for label, path in self.agent.docs:
            yield {
                "name": Piece(label, Origin("caller", "docs")),
                "path": Piece(printable(path), Origin("caller", "docs")),
            }

    def list_readable(self) -> Iterator[Row]:
        return self.paths(row for row in self.scope().allow if not self.is_denied(row, ("read",)))

    def list_writable(self) -> Iterator[Row]:
        rows = (row for row in self.scope().allow if row.permission == "write")
        return self.paths(row for row in rows if not self.is_denied(row, ("read", "write")))

    def is_denied(self, row: Access, permissions: tuple[str, ...]) -> bool:
        """Whether a denied path takes back all that a row of the scope allows."""
        return any(_takes_back(each, row) for each in self.scope().deny if each.permission in permissions)

    def list_denied(self) -> Iterator[Row]:
        return self.paths(self.scope().deny)

    def scope(self) -> Scope:
        """The agent's scope; without one, write access to the workspace."""
        root = self.inputs.workspace.root or self.inputs.workspace.cwd
        return self.agent.scope if self.agent.scope is not None else Scope((Access(root),))

    def paths(self, rows: Iterable[Access]) -> Iterator[Row]:
        seen: set[tuple[str, bool]] = set()
        for row in rows:
            if (row.path, row.recursive) not in seen:
                seen.add((row.path, row.recursive))
                origin = Origin("scope", printable(row.path))
                mark = "" if row.recursive else " [non-recursive]"
                yield {"path": Piece(printable(row.path), origin), "mark": Piece(mark, origin)}

    def stand_in(self, section: Section) -> Pieces:
        """What stands for an empty list; it only shows when there are no items."""
        return (Piece(section.none, self.scribe.origin(section.name)),) if section.none else ()

    # text with facts in it

    def filled(self, form: Form, lookup: Callable[[str], Piece], section: Section) -> Pieces:
        """A form with its fields filled in; its own text keeps its lines."""
        pieces: list[Piece] = []
        own, line = self.scribe.origin(section.name), 1
        for part in form:
            if isinstance(part, Field):
                pieces.extend(self.harmless((filtered(lookup(part.name), part.filters),), ""))
            else:
                last = line + part.count("\n")
                origin = replace(own, lines=(line, last))
                pieces.append(Piece(part, origin))
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

    # what became of the candidates

    def settled_candidates(self, cut_files: Mapping[str, str]) -> Iterator[Candidate]:
        """The candidates; one that was found but has no place in this prompt is unused, one over its budget was cut."""
        reasons: dict[str, str] = {}
        for name, entries in self.inputs.found.items():
            reason = "" if name in self.used else self.unused.get(name, "no section lists it; it is used by name")
            for entry in entries:
                if reason and entry.path != self.active:
                    reasons[printable(entry.path)] = reason
                elif not reason and isinstance(entry, Skill) and entry.hidden:
                    reasons[printable(entry.path)] = "its front matter hides it from the menu"
        if not reasons and not cut_files and not self.copies:
            yield from self.inputs.candidates
            return
        for candidate in self.inputs.candidates:
            is_in = candidate.fate in ("used", "cut")
            if is_in and candidate.path in self.copies:
                yield Candidate(candidate.path, candidate.layer, "duplicate", self.copies[candidate.path])
            elif is_in and candidate.path in reasons:
                yield Candidate(candidate.path, candidate.layer, "unused", reasons[candidate.path])
            elif is_in and candidate.path in cut_files:
                yield Candidate(candidate.path, candidate.layer, "cut", cut_files[candidate.path])
            else:
                yield candidate

    def unused_findings(self) -> Iterator[Finding]:
        """What the caller gave and the layout has no place for."""
        listed = {section.of for section in self.layout.each_section()}
        given = {"active_skill": self.agent.skill, "plan": self.agent.plan, "docs": self.agent.docs}
        for name, content in given.items():
            if content and name not in listed:
                what = name.replace("_", " ")
                yield finding(
                    "agent-unused", f"the layout {self.layout.name} has no place for the {what} that was given"
                )


def _origin(document: Document, name: str) -> Origin:
    if not document.path:
        return Origin("caller", name, _lines(document))
    return Origin("file", document.path, _lines(document), document.hash)


def _takes_back(denied: Access, allowed: Access) -> bool:
    if denied.path == allowed.path:
        return denied.recursive or not allowed.recursive
    return denied.recursive and allowed.path.startswith(denied.path.rstrip("/") + "/")


def _trimmed(given: str | Document) -> Document:
    """A text of the caller's without the blank lines around it; a blank one is empty."""
    document = given if isinstance(given, Document) else Document("", given)
    if not document.text:
        return document
    text, line = without_blank_lines(document.text)
    return replace(document, text=text if text.strip() else "", line=document.line + line - 1)


def _any_time() -> datetime:
    """Any time: it stands for one that is not told."""
    from datetime import UTC, datetime

    return datetime(2000, 1, 1, tzinfo=UTC)


def _cut_mark(document: Document) -> Pieces:
    if not document.cut_from:
        return ()
    return (Piece(f"\n[foreword: cut here; the file has {document.cut_from:,} bytes]", Origin("mark")),)


def _lines(document: Document) -> tuple[int, int]:
    return document.line, document.line + document.text.count("\n")


def holds(condition: Condition, facts: frozenset[str]) -> bool:
    """Whether one term of `when` holds."""
    return any(fact in facts for fact in condition.facts) != condition.negated


def _wanted(conditions: Iterable[Condition]) -> str:
    return " and ".join(("not " if each.negated else "") + " or ".join(each.facts) for each in conditions)


def _facts(layout: Layout, inputs: Inputs, agent: Agent) -> Iterator[str]:
    yield agent.role
    yield f"provider:{agent.provider}"
    yield f"platform:{inputs.workspace.platform}"
    if agent.session:
        yield "session"
    if agent.tools:
        yield "tools"
    yield from (f"tool:{tool.name}" for tool in agent.tools)
    yield from (f"set:{name}" for name, content in layout.settings.items() if content)


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def told(now: datetime | None, name: str) -> str:
    """The time in words of our own: `strftime` would speak the machine's language."""
    if now is None:
        raise ValueError("this layout tells the time, and no time was given")
    if name == "now.long":
        day = f"{_DAYS[now.weekday()]}, {_MONTHS[now.month - 1]} {now.day}, {now.year}"
        time = f"{(now.hour + 11) % 12 + 1:02}:{now.minute:02}:{now.second:02} {'AM' if now.hour < 12 else 'PM'}"
        return f"{day} at {time} {now.tzname() or ''}".rstrip()
    if name == "now.utc":
        offset = now.utcoffset()
        moment = (now - offset if offset else now).replace(tzinfo=None)
        return moment.isoformat(timespec="milliseconds") + "Z"
    return now.date().isoformat() if name == "now.date" else now.isoformat(timespec="seconds")


# Write


def write(
    layout: Layout,
    drafts: Sequence[Draft],
    candidates: Sequence[Candidate],
    findings: Sequence[Finding],
    scribe: Scribe,
) -> Prompt:
    """The prompt of these drafts. A section that wraps is one passage; one that only orders inner sections gives theirs."""
    passages: list[Passage] = []
    texts: list[str] = []
    position = 0
    for join, draft in _passages(drafts, layout.join):
        pieces, text = scribe.written(draft)
        if not text:
            continue
        if not text.isascii():
            pieces, text = _encodable(pieces, text)
        if passages:
            texts.append(join)
            position += len(join)
        passages.append(Passage(draft.section.name, position, text, draft.section.lifetime, pieces))
        texts.append(text)
        position += len(text)
    return Prompt(layout.name, "".join(texts), passages, candidates, findings)


def _passages(drafts: Iterable[Draft], join: str) -> Iterator[tuple[str, Draft]]:
    for draft in drafts:
        if draft.inner and not draft.section.wrap and not draft.is_replaced:
            for number, (inner_join, inner) in enumerate(_passages(draft.inner, draft.section.join)):
                yield (inner_join if number else join), inner
        else:
            yield join, draft


def _encodable(pieces: Pieces, text: str) -> tuple[Pieces, str]:
    """Half a surrogate pair cannot be sent or printed: it is written out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = [piece.text.encode("utf-8", "backslashreplace").decode() for piece in pieces]
        return tuple(Piece(text, piece.origin) for text, piece in zip(shown, pieces, strict=True)), "".join(shown)
    return pieces, text
