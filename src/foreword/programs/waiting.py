"""What touches add: rules for certain paths, and the instruction files in folders below."""

from __future__ import annotations

from ..engine.touches import TouchReader
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.assembler import Assembler
    from ..vocabulary import Candidate

_ON_TOUCH = "it is sent when the agent touches a file"


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
