"""The record of a search: which files were considered, and what happened to each."""

from __future__ import annotations

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Fate, Finding
    from .stamps import Refusal


class Trail:
    """The record of a search: candidates with their fates, and findings."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.findings: list[Finding] = []

    def record(self, path: str, layer: str, fate: Fate, reason: str = "", code: str = "", target: str = "") -> None:
        """Record a candidate's fate, and a finding if there is a code for it."""
        shown = printable(path)
        self.candidates.append(Candidate(shown, layer, fate, reason, printable(target)))
        if code:
            self.findings.append(finding(code, f"{shown}: {reason}", shown))

    def refuse(self, path: str, layer: str, refusal: Refusal, link: str = "") -> None:
        """Record a file or folder that may not be read. The finding names the link that leads to it, so each link has one."""
        fate, reason, code = refusal
        shown, link = printable(path), printable(link or path)
        about = reason if link == shown else f"{link}: {reason}"
        self.candidates.append(Candidate(shown, layer, fate, about))
        self.findings.append(finding(code, f"{link}: {reason}", link))
