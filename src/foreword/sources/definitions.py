"""Definitions of sub-agents and of slash commands: Markdown files whose front matter describes them in a menu."""

from __future__ import annotations

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import Resident
from .front_matter import read_fields, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Finding

_ENDINGS = (".agent.md", ".prompt.md", ".md")


def read_definition(text: str, path: str, kind: str) -> tuple[Resident | None, list[Finding]]:
    """The sub-agent or command that a file defines, and findings.

    The name is the one in the front matter, else the file's. A sub-agent needs a description, and a file without front matter does not
    define one. A command without a description is described by its first line.
    """
    head, body, line = split(text)
    fields, problem = read_fields(text)
    findings = [finding("front-matter-invalid", f"{path}: {problem}", path, 1)] if problem else []
    if kind == "agent" and head is None:
        return None, findings
    name = " ".join(fields.get("name", "").split()) or printable(_stem(path))
    description = fields.get("description", "").strip()
    if kind == "agent" and not description:
        message = f"{path}: the sub-agent {name!r} has no description and is skipped"
        return None, [*findings, finding("agent-invalid", message, path, 1)]
    if not description:
        description = next((each.strip() for each in body.split("\n") if each.strip()), "")
    tools = fields.get("tools", "").strip()
    return Resident(name, description, path, (1, max(1, line - 1)), tools=tools), findings


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    ending = next((each for each in _ENDINGS if name.endswith(each) and name != each), "")
    return name.removesuffix(ending)
