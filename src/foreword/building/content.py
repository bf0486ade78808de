"""Turns documents into pieces that are safe inside a section: renders directives, escapes tags, closes fences, marks cuts."""

from __future__ import annotations

from ..findings import finding
from ..text.lines import is_plain, printable
from ..text.pieces import close_open_blocks, cut_mark, escape_tags, origin_of, trim_blank_lines
from ..vocabulary import Document, Piece, include_key, replace
from .clock import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ..vocabulary import Agent, Finding, Inputs
    from .drafts import DraftWriter

    Pieces = tuple[Piece, ...]


class ContentReader:
    """Turns documents into pieces, and records which files were included."""

    def __init__(
        self,
        inputs: Inputs,
        agent: Agent,
        now: datetime | None,
        writer: DraftWriter,
        template_limit: int,
        findings: list[Finding],
    ) -> None:
        self.inputs, self.agent, self.now = inputs, agent, now
        self.writer, self.template_limit, self.findings = writer, template_limit, findings
        self.is_raw = writer.layout.raw
        self.root = ""
        self.includers: dict[str, str] = {}
        self.repeat_reasons: dict[str, str] = {}
        self.fingerprints: dict[str, dict[tuple[str, int], str]] = {}
        self.roots: dict[str, str] = {}
        self.paths_by_text: dict[str, str] = {}

    def expect(self, documents: Iterable[Document]) -> None:
        """Record documents that are in the prompt even if no file includes them, so that including one is a duplicate."""
        for document in documents:
            self.roots[document.path] = document.path
            self.paths_by_text[self.fingerprint(document, document.path)] = document.path

    def content(
        self, document: Document, name: str = "", with_directives: bool = False, is_wrapped: bool = True
    ) -> Pieces:
        """Return a file's text with open fences closed and cuts marked and, if `is_wrapped`, escaped so that it cannot close its section."""
        pieces: Pieces = tuple(document.pieces) or (Piece(document.text, origin_of(document, name)),)
        self.report_hidden(pieces, document.text, name)
        if with_directives and ("<!--" in document.text or "{{" in document.text):
            from ..template import directives

            self.root = document.path
            pieces, findings = directives.render(
                document, self.directive_facts(), self.load_include, self.template_limit
            )
            pieces = trim_blank_lines(pieces)  # a branch at the end of a file may leave blank lines
            self.findings.extend(findings)
        pieces = (*(self.escape(pieces, document.path) if is_wrapped else pieces), *cut_mark(document))
        closed, was_open = close_open_blocks(pieces)
        if was_open:
            message = f"{document.path or name} ends inside {was_open}; it was {self.outcome('closed')}"
            self.findings.append(finding("file-fence", message, document.path))
        return pieces if self.is_raw else closed

    def outcome(self, repair: str) -> str:
        """Return how to report text that could break the section around it: as repaired, or as unchanged if the layout is raw."""
        return "left as it is" if self.is_raw else repair

    def report_hidden(self, pieces: Pieces, text: str, name: str) -> None:
        """Report the hidden characters in pieces of a text, which is a document's or a template's. Most texts are plain and need no search."""
        if is_plain(text):
            return
        from ..text.hidden import find_hidden, severity_of

        for piece in pieces:
            origin = piece.origin
            path = origin.path if origin.kind in ("file", "template") else ""
            for hidden in find_hidden(piece.text, origin.lines[0] if origin.lines else 1):
                message = f"{path or name} contains {hidden.describe(f' on line {hidden.line}')}"
                reported = finding("hidden-characters", message, path, hidden.line)
                reported = replace(reported, severity=severity_of(hidden.kind))
                if reported not in self.findings:  # a template may insert a file twice
                    self.findings.append(reported)

    def directive_facts(self) -> dict[str, str]:
        workspace, agent = self.inputs.workspace, self.agent
        facts = {"cwd": printable(workspace.cwd), "platform": workspace.platform or "", "model": agent.model}
        return {**facts, "provider": agent.provider, "date": format_time(self.now, "now.date") if self.now else ""}

    def load_include(self, path: str, target: str) -> Document | Finding:
        """Return the file that the file at `path` includes, or a finding if it is already in the prompt or was not read."""
        include = self.find_include(self.root, path, target)
        if not isinstance(include, Document):
            return include
        root = self.roots.setdefault(include.path, self.root)
        if (
            root != self.root
            or self.paths_by_text.setdefault(self.fingerprint(include, root), include.path) != include.path
        ):
            self.repeat_reasons[include.path] = reason = f"included by {path}, and in the prompt already"
            return finding("file-duplicate", f"{include.path}: {reason}", include.path)
        if include.path != self.root:
            self.includers.setdefault(include.path, path)
        return include

    def find_include(self, root: str, path: str, target: str) -> Document | Finding:
        include = self.inputs.includes.get(include_key(root, path, target))
        message = f"{path} includes {target!r}, which is left out: it is nested too deeply"
        return finding("include-refused", message, path) if include is None else include

    def fingerprint(self, document: Document, root: str) -> str:
        """Return a string that is equal for documents with equal content, including the files that they include."""
        if not self.inputs.includes or "<!--" not in document.text:
            return document.text
        from ..template import directives

        fingerprints = self.fingerprints.setdefault(root, {})
        return directives.fingerprint(
            document, lambda path, target: self.find_include(root, path, target), fingerprints
        )

    def escape(self, pieces: Pieces, path: str) -> Pieces:
        """Insert a backslash into every tag of the layout's own wrappers. Any other `<` is left unchanged."""
        if not any("<" in piece.text for piece in pieces) or self.writer.wrapper_tag is None:
            return pieces
        result = escape_tags(pieces, self.writer.wrapper_tag)
        if len(result) > len(pieces):
            line = result[0].origin.lines[1] if result[0].origin.lines else None
            outcome = self.outcome("escaped with a backslash")
            message = f"{path or 'a value'} contains a tag that wraps a section; it was {outcome}"
            self.findings.append(finding("file-neutralised", message, path, line))
        return pieces if self.is_raw else result
