"""Determines the fates of candidates in a prompt, and finds arguments that the layout does not use."""

from __future__ import annotations

from ..findings import finding
from ..sources.paths import is_file_name
from ..template.addresses import is_almost_address
from ..text.lines import printable
from ..text.pieces import strip_blank_lines
from ..vocabulary import Candidate, Document, Skill, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from ..layout.model import Layout, Section
    from ..vocabulary import Agent, Finding, Inputs
    from .content import ContentReader
    from .lists import Lists


class Fates:
    """Records which lookup rules were used and why others were not, and determines the fate of every candidate."""

    def __init__(self, inputs: Inputs, contents: ContentReader, lists: Lists) -> None:
        self.inputs, self.contents, self.lists = inputs, contents, lists
        self.used: set[str] = set()
        self.unused: dict[str, str] = {}
        self.copies: dict[str, str] = {}
        self.shadowed: dict[str, str] = {}

    def leave_out(self, section: Section, reason: str) -> None:
        """Record that a section's lookup rules are not used, and why."""
        for name in (section.list_name, *section.instead):
            if name:
                self.unused.setdefault(name, reason)
        for inner in section.sections:
            self.leave_out(inner, reason)

    def candidates(self, present: Set[str], cut_files: Mapping[str, str]) -> Sequence[Candidate]:
        """Return the candidates with their fates in this prompt. `present` contains the files whose text is in it."""
        reasons = self.reasons()
        unchanged = present - {*self.copies, *self.shadowed, *reasons, *cut_files, *self.contents.includers}
        return [
            candidate
            if candidate.fate not in ("used", "cut") or candidate.path in unchanged or not candidate.path
            else self.fate_in_prompt(candidate, present, reasons, cut_files)
            for candidate in self.inputs.candidates
        ]

    def fate_in_prompt(
        self, candidate: Candidate, present: Set[str], reasons: Mapping[str, str], cut_files: Mapping[str, str]
    ) -> Candidate:
        """Return a candidate that could have been used with its fate in this prompt."""
        path, layer = candidate.path, candidate.layer
        if path in self.copies:
            return Candidate(path, layer, "duplicate", self.copies[path])
        if path in self.shadowed:
            return Candidate(path, layer, "shadowed", self.shadowed[path])
        if path in reasons and path == self.lists.blank_path:
            return Candidate(path, layer, "blank", "its body is blank")
        if path in reasons:
            return Candidate(path, layer, "unused", reasons[path])
        if path in cut_files:
            return Candidate(path, layer, "cut", cut_files[path])
        if path not in present:
            return self.explain_absence(candidate, cut_files)
        return replace(candidate, reason=f"included by {self.contents.includers[path]}")

    def reasons(self) -> dict[str, str]:
        """Return, by path, why files that were found are not in this prompt."""
        reasons: dict[str, str] = {}
        for name, entries in self.inputs.found.items():
            if name not in self.used:
                reason = self.unused.get(name, "no section lists it; it is used by name")
                reasons |= {printable(entry.path): reason for entry in entries if entry.path != self.lists.active_path}
        # If several lookup rules found a file, it is used if one of the rules is used.
        for name in self.used:
            for entry in self.inputs.found.get(name, ()):
                if isinstance(entry, Skill) and entry.hidden:
                    reasons[printable(entry.path)] = "its front matter hides it from the list"
                elif reasons:
                    reasons.pop(printable(entry.path), None)
        return reasons

    def explain_absence(self, candidate: Candidate, cut_files: Mapping[str, str]) -> Candidate:
        """Return the fate of a candidate that could have been used but has no text in this prompt."""
        path, root = candidate.path, self.contents.roots.get(candidate.path, "")
        if path in self.contents.repeat_reasons:
            return replace(candidate, fate="duplicate", reason=self.contents.repeat_reasons[path])
        if root in cut_files:
            return replace(candidate, fate="cut", reason=f"included by {root}; {cut_files[root]}")
        if any(entry.path == path and not entry.text for entry in self.documents()):
            return replace(candidate, fate="blank", reason="it is empty, but named in the prompt")
        importer = self.importer(path)
        if importer in cut_files:
            return replace(candidate, fate="cut", reason=f"{candidate.reason}; {cut_files[importer]}")
        reason = "none of its text is in the prompt"
        return replace(candidate, fate="unused", reason=f"{candidate.reason}; {reason}" if candidate.reason else reason)

    def importer(self, path: str) -> str:
        """Return the path of the file that imports the file at `path`, or empty if none does."""
        for entry in self.documents():
            if any(piece.origin.path == path for piece in entry.pieces):
                return entry.path
        return ""

    def documents(self) -> Iterator[Document]:
        """Yield the documents that were found."""
        for entries in self.inputs.found.values():
            yield from (entry for entry in entries if isinstance(entry, Document))


def unused_findings(layout: Layout, agent: Agent) -> Iterator[Finding]:
    """Yield findings about arguments that the layout does not use or that look like mistakes."""
    sections = list(layout.all_sections)
    yield from _base_findings(layout, agent, [section for section in sections if "base" in section.instead])
    listed = {section.list_name for section in sections}
    passed = {"active_skill": agent.skill, "plan": agent.plan, "docs": agent.docs, "servers": agent.servers}
    for name, content in passed.items():
        if content and name not in listed:
            argument = name.replace("_", " ")
            verb = "were" if name in ("docs", "servers") else "was"
            yield finding("argument-unused", f"the layout {layout.name} does not use the {argument} that {verb} passed")
    yield from _unused_residents(layout, agent, listed)


def _base_findings(layout: Layout, agent: Agent, sections: Sequence[Section]) -> Iterator[Finding]:
    """Yield findings about a base that no section uses, or that looks like the name of a file. `sections` are those that use it."""
    base = strip_blank_lines(agent.base).text
    if base and not sections:
        yield finding("argument-unused", f"the layout {layout.name} does not use the base that was passed")
    for text in dict.fromkeys((base, *(section.text or "" for section in sections))) if sections else ():
        if is_file_name(text):
            hint = "pass the text of the file, or a reference such as $user/base"
            message = f"the base is only {printable(text)!r}, which looks like a file name; {hint}"
            yield finding("base-file-name", message)
    if sections and is_almost_address(base):
        message = (
            f"the base {printable(base)!r} is used as text; the address of a template is $prefix/path, without spaces"
        )
        yield finding("base-file-name", message)


def _unused_residents(layout: Layout, agent: Agent, listed: Set[str | None]) -> Iterator[Finding]:
    kinds = {lookup.name for lookup in layout.lookups if lookup.kind == "resident"} & listed
    for kind in sorted({row.kind for row in agent.residents} - kinds):
        message = f"the layout {layout.name} does not list the residents ({kind}) that were passed"
        yield finding("argument-unused", message)
