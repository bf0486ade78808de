"""Add the documents that extensions contribute to those found in the workspace."""

from __future__ import annotations

from ..engine.skills import entry_of
from ..errors import suggestion
from ..extensions import run
from ..findings import finding
from ..text.pieces import normalize
from ..vocabulary import Candidate, Document, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..extensions import Extension
    from ..layout.model import Layout, Lookup
    from ..vocabulary import Fate, Inputs, Resident, Skill

    Entry = Document | Skill | Resident

_CODES: dict[str, str] = {"duplicate": "file-duplicate", "shadowed": "skill-shadowed"}


def with_contributions(inputs: Inputs, layout: Layout, extensions: Sequence[Extension]) -> Inputs:
    """Return the inputs with the extensions' documents after those that were found. Duplicates are left out."""
    sources = [(extension, name) for extension in extensions for name in extension.sources]
    if not sources:
        return inputs
    lookups = {lookup.name: lookup for lookup in layout.lookups}
    contributions = _Contributions(inputs, layout)
    for extension, name in sources:
        if name in lookups:
            contributions.add_all(extension, lookups[name], inputs)
        else:
            contributions.report_unused(extension, name, lookups)
    return contributions.inputs(inputs)


class _Contributions:
    """Adds extensions' entries, candidates and findings to those of the inputs."""

    def __init__(self, inputs: Inputs, layout: Layout) -> None:
        self._layout = layout
        self._found: dict[str, Sequence[Entry]] = dict(inputs.found)
        self._candidates, self._findings = list(inputs.candidates), list(inputs.findings)

    def inputs(self, original: Inputs) -> Inputs:
        return replace(original, found=self._found, candidates=self._candidates, findings=self._findings)

    def report_unused(self, extension: Extension, name: str, lookups: Mapping[str, Lookup]) -> None:
        message = f"the extension {extension.name!r} has a source for {name!r}, but the layout {self._layout.name} has no such lookup rule"
        self._findings.append(finding("extension-unused", message + suggestion(name, lookups)))

    def add_all(self, extension: Extension, lookup: Lookup, inputs: Inputs) -> None:
        """Add the documents that an extension provides for a lookup rule."""
        source = extension.sources[lookup.name]
        for document in run(extension, source, self._findings, inputs.workspace, list_items=Document) or ():
            self._add(normalize(document), extension.name, lookup)

    def _add(self, document: Document, layer: str, lookup: Lookup) -> None:
        entry, findings = entry_of(document, lookup) if document.text else (None, [])
        self._findings += findings
        fate, reason = self._fate(document, entry, lookup.name)
        self._candidates.append(Candidate(document.path, layer, fate, reason))
        if fate in _CODES:
            self._findings.append(finding(_CODES[fate], f"{document.path}: {reason}", document.path))
        elif fate == "used" and entry is not None:
            self._found[lookup.name] = (*self._found[lookup.name], entry)

    def _fate(self, document: Document, entry: Entry | None, lookup: str) -> tuple[Fate, str]:
        if not document.text:
            return "blank", ""
        if entry is None:
            return "refused", "its front matter does not describe an entry for this lookup rule"
        if not isinstance(entry, Document):
            earlier = self._entry_named(entry.name, lookup)
            return (
                ("shadowed", f"{earlier.path} also has the name {entry.name!r} and comes first")
                if earlier
                else ("used", "")
            )
        copy = self._copy_of(document, lookup)
        return ("duplicate", f"the same text as {copy.path}") if copy else ("used", "")

    def _entry_named(self, name: str, lookup: str) -> Skill | Resident | None:
        """Return the skill or resident with this name that was found before, or None."""
        entries = (entry for entry in self._found[lookup] if not isinstance(entry, Document))
        return next((entry for entry in entries if entry.name == name), None)

    def _copy_of(self, document: Document, lookup: str) -> Document | None:
        """Return a document with the same text, or None. Documents that may replace a section are ignored, because the prompt might not contain them."""
        replacements = {name for section in self._layout.all_sections for name in section.instead if name != lookup}
        for name, entries in self._found.items():
            for entry in entries if name not in replacements else ():
                if isinstance(entry, Document) and entry.text == document.text:
                    return entry
        return None
