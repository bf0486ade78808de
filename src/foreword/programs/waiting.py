"""What touches add: rules for certain paths, and the instruction files in folders below."""

from __future__ import annotations

from ..engine.touches import TouchReader
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.assembler import Assembler
    from ..layout.model import Layout
    from ..vocabulary import Candidate

HOW_TO_ADD_TOUCH = (
    'to add one, write [touch] with the sections to send, such as sections = ["touched"]; see docs/touch.md'
)
_ON_TOUCH = "it is sent when the agent touches a file"


def describe_missing_touch(layout: Layout) -> str:
    """Return a sentence that says that the layout sends nothing when a file is touched."""
    return f"the layout {layout.name} sends nothing when a file is touched, because it has no [touch] table"


def candidates_of_touches(assembler: Assembler, folders: Sequence[str]) -> Sequence[Candidate]:
    """Return the files that the agent considers when it touches files in these folders. A rule for certain paths is `waiting`."""
    layout = assembler.layout()
    if layout.touch is None:
        return ()
    return TouchReader(assembler).read_folders(layout, layout.touch, folders).candidates


def waiting_rules(assembler: Assembler) -> list[Candidate]:
    """Return the rules that are added only when a file is touched, each with the globs that the file must match."""
    return [
        replace(candidate, fate="waiting", reason=_ON_TOUCH) if candidate.fate == "used" else candidate
        for candidate in candidates_of_touches(assembler, ())
        if candidate.fate in ("used", "waiting")
    ]
