"""Find rules that are not in the prompt yet because they apply only to touched files."""

from __future__ import annotations

from ..engine.touches import TouchReader
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.assembler import Assembler
    from ..vocabulary import Candidate

_ON_TOUCH = "it is sent when the agent touches a file"


def waiting_rules(assembler: Assembler) -> list[Candidate]:
    """Return the rules that are sent only when a file is touched, each with the globs that the file must match."""
    layout = assembler.layout()
    if layout.touch is None:
        return []
    reading = TouchReader(assembler).read(layout, layout.touch, ())
    return [
        replace(candidate, fate="waiting", reason=_ON_TOUCH) if candidate.fate == "used" else candidate
        for candidate in reading.inputs.candidates
        if candidate.fate in ("used", "waiting")
    ]
