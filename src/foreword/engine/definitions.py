"""Find sub-agents that are defined in files, read their instructions, and choose their tools."""

from __future__ import annotations

import re

from ..errors import CallError, MissingError
from ..sources.front_matter import body
from ..sources.links import reach_by_path
from ..sources.reader import Reader
from ..text.lines import printable
from ..vocabulary import Document, Resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout
    from ..sources.readings import TrustCheck
    from ..vocabulary import Inputs, Tool


def definition_named(name: str, layout: Layout, inputs: Inputs) -> Resident:
    """Return the definition of the sub-agent with this name. Raises a MissingError that lists the known names."""
    lookups = [lookup.name for lookup in layout.lookups if lookup.kind == "agent"]
    if not lookups:
        raise MissingError(f"the layout {layout.name} does not list sub-agents")
    entries = [entry for lookup in lookups for entry in inputs.found.get(lookup, ()) if isinstance(entry, Resident)]
    for entry in entries:
        if entry.name == name:
            return entry
    hint = f"known: {', '.join(entry.name for entry in entries)}" if entries else "no definitions were found"
    raise MissingError(f"no sub-agent {name!r}; {hint}")


def definition_text(definition: Resident, layout: Layout, inputs: Inputs, trust: TrustCheck | None = None) -> Document:
    """Read a sub-agent's instructions: the text after the front matter of its file."""
    lookups = [lookup for lookup in layout.lookups if lookup.kind == "agent"]
    reader = Reader()
    reader.trust = trust
    reading = reader.read(definition.path, reach_by_path(definition.path, lookups, inputs.workspace))
    text, line = body(reading.text) if reading.has_text else ("", 1)
    if not text:
        reason = reading.reason or ("it has no instructions" if reading.has_text else reading.fate)
        raise CallError(f"the sub-agent {definition.name!r} cannot be used: {reason} ({printable(definition.path)})")
    return Document(printable(definition.path), text, reading.hash, line + reading.line - 1)


def chosen_tools(definition: Resident, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the caller's tools that a definition lists, or all of them if it lists none.

    Letter case does not matter, and text in parentheses after a name is ignored.
    """
    names = {name.strip().lower() for name in re.sub(r"\([^()]*\)", "", definition.tools).split(",") if name.strip()}
    return tuple(tool for tool in tools if not names or "*" in names or tool.name.lower() in names)
