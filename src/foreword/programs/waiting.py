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


def with_touch(in_prompt: Sequence[Candidate], assembler: Assembler) -> list[Candidate]:
    """Return the prompt's candidates, and the rules that are added only when a file is touched.

    A rule that waits for certain paths, but that no touch sends, is `unused`.
    """
    layout = assembler.layout()
    touched = {candidate.path: candidate for candidate in candidates_of_touches(assembler, ())}
    paths = {candidate.path for candidate in in_prompt}
    return [
        *(_checked(candidate, touched.get(candidate.path), layout) for candidate in in_prompt),
        *(
            replace(candidate, fate="waiting", reason=_ON_TOUCH) if candidate.fate == "used" else candidate
            for path, candidate in touched.items()
            if path not in paths and candidate.fate in ("used", "waiting")
        ),
    ]


def _checked(candidate: Candidate, touched: Candidate | None, layout: Layout) -> Candidate:
    """Return a candidate of the prompt. If it is waiting, but no touch sends it, it is `unused`, with the reason."""
    if candidate.fate != "waiting" or (touched and touched.fate != "unused"):
        return candidate
    if layout.touch is None:
        problem = describe_missing_touch(layout)
    else:
        problem = f"[touch] leaves it out: {touched.reason}" if touched else "no lookup rule of [touch] finds it"
    return replace(candidate, fate="unused", reason=f"{candidate.reason}, but {problem}")
