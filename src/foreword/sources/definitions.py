"""Definitions of sub-agents and slash commands: Markdown files whose front matter contains the description for a menu."""

from __future__ import annotations

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import Resident
from .front_matter import read_fields, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Finding

_SUFFIXES = (".agent.md", ".prompt.md", ".md")


def read_definition(text: str, path: str, kind: str) -> tuple[Resident | None, list[Finding]]:
    """Parse the sub-agent or command that a file defines. Returns it, or None if there is none, and findings.

    The name comes from the front matter or, if there is none, from the file name. A sub-agent needs front matter with a description.
    A command without a description uses its first line.
    """
    head, body, line = split(text)
    fields, problem, _ = read_fields(text)
    findings = [finding("front-matter-invalid", f"{path}: {problem}", path, 1)] if problem else []
    if kind == "agent" and head is None:
        return None, findings
    name = " ".join(fields.get("name", "").split()) or printable(_stem(path))
    description = fields.get("description", "").strip()
    if kind == "agent" and not description:
        message = f"{path}: the sub-agent {name!r} has no description and is skipped"
        return None, [*findings, finding("agent-invalid", message, path, 1)]
    if not description:
        description = next((text_line.strip() for text_line in body.split("\n") if text_line.strip()), "")
    tools = fields.get("tools", "").strip()
    return Resident(name, description, path, (1, max(1, line - 1)), tools=tools), findings


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix) and name != suffix), "")
    return name.removesuffix(suffix)
