"""Definitions of sub-agents and slash commands: Markdown files whose front matter contains the description for a menu."""

from __future__ import annotations

import json
from itertools import islice

from ..findings import finding
from ..text import regex
from ..text.lines import printable
from ..vocabulary import Resident, replace
from .front_matter import (
    HIDDEN_KEY,
    MAX_DESCRIPTION_LENGTH,
    is_true,
    parse_front_matter,
    read_fields,
    read_skill,
    split,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..vocabulary import Described, Finding, Skill

MAX_FIRST_LINE_LENGTH = 100
_SUFFIXES = (".agent.md", ".prompt.md", ".md")


def read_definition(
    text: str, path: str, kind: str, described: Described = ""
) -> tuple[Resident | None, list[Finding]]:
    """Parse the sub-agent or command that a file defines. Returns it, or None if there is none, and findings.

    The name comes from the front matter or, if there is none, from the file name. A sub-agent needs front matter with a description.
    A command without a description uses its first line or its text. A command that only the user may call is not listed.
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
    if kind == "command" and is_true(fields.get(HIDDEN_KEY)):
        return None, findings
    if not description and (described != "text" or "description" not in fields):
        description = _describe(body, described) or ("Custom command" if described == "line" else "")
    return Resident(name, description, path, (1, max(1, line - 1)), tools=_describe_tools(fields)), findings


def _describe_tools(fields: Mapping[str, str]) -> str:
    """Return the tools of a sub-agent as text, which may be separated by commas or blanks, but not in brackets."""
    tools, disallowed = (
        ", ".join(regex.findall(r"[^,\s(]+(?:\([^)]*\))?", fields.get(key, ""))) for key in ("tools", "disallowedTools")
    )
    return f"All tools except {disallowed}" if disallowed and not tools else tools


def read_undescribed_skill(
    text: str, path: str, described: Described, findings: list[Finding]
) -> tuple[Skill | None, list[Finding]]:
    """Parse a SKILL.md without a description, or with a blank one. Returns these findings if it is not listed.

    Only its first line describes a skill without front matter. A blank description is listed unless the first line describes the skill.
    """
    head, body, line = split(text)
    loaded = parse_front_matter(text)
    fields = loaded if isinstance(loaded, dict) else {}
    if described != "line" and "description" in fields:
        description = ""
    elif described == "empty" or (described == "text" and head is None):
        return None, findings
    else:
        description = _describe(body, described) or ("Skill" if described == "line" else "")
    rest = {key: value for key, value in fields.items() if key != "description"}
    placeholder = f"---\n{json.dumps({**rest, 'description': '.'}, ensure_ascii=False, default=str)}\n---\n"
    skill, _ = read_skill(placeholder, path, "lenient")
    if skill is None:
        return None, findings
    return replace(skill, description=description, lines=(1, max(1, line - 1))), []


def untrimmed_description(text: str, description: str, trim: str) -> str:
    """Return the description of an entry with the white space that a lookup rule's `trim` keeps at its ends."""
    fields = parse_front_matter(text, with_last_line_end=trim != "fence")
    found = fields.get("description") if isinstance(fields, dict) else None
    return found if isinstance(found, str) and found.strip() == description else description


def _describe(body: str, described: Described) -> str:
    """Return the first line of a text that is not blank, or the first three that are not headings, up to a limit."""
    lines = filter(None, (line.strip() for line in body.split("\n")))
    if described == "text":
        return " ".join(islice((line for line in lines if not line.startswith("#")), 3))[:MAX_DESCRIPTION_LENGTH]
    first = next(lines, "")
    first = first.lstrip("#").strip() if first.lstrip("#")[:1].isspace() else first
    return first if len(first) <= MAX_FIRST_LINE_LENGTH else f"{first[: MAX_FIRST_LINE_LENGTH - 3]}..."


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    suffix = next((suffix for suffix in _SUFFIXES if name.lower().endswith(suffix) and name != suffix), "")
    return name[: len(name) - len(suffix)]
