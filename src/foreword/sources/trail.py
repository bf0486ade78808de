"""Records a search: which files were considered, and what happened to each."""

from __future__ import annotations

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Document, Fate, Finding
    from .readings import Refusal


class Trail:
    """The candidates of a search with their fates, its findings, and untrusted text for a message with a lower role."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.findings: list[Finding] = []
        self.withheld: list[Document] = []

    def extend(self, other: Trail) -> None:
        """Add everything that another trail has."""
        self.candidates += other.candidates
        self.findings += other.findings
        self.withheld += other.withheld

    def record(self, path: str, layer: str, fate: Fate, reason: str = "", code: str = "", target: str = "") -> None:
        """Record a candidate's fate, and a finding if `code` is set."""
        display_path = printable(path)
        self.candidates.append(Candidate(display_path, layer, fate, reason, printable(target)))
        if code:
            self.findings.append(finding(code, f"{display_path}: {reason}", display_path))

    def refuse(self, path: str, layer: str, refusal: Refusal, link: str = "") -> None:
        """Record a file or folder that may not be read. The finding is about the link that leads to it, so each link gets one."""
        fate, reason, code = refusal
        display_path, link = printable(path), printable(link or path)
        candidate_reason = reason if link == display_path else f"{link}: {reason}"
        self.candidates.append(Candidate(display_path, layer, fate, candidate_reason))
        self.findings.append(finding(code, f"{link}: {reason}", link))
