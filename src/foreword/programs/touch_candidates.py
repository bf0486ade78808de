"""Candidates that are sent only when a file is touched: rules for certain paths, and instruction files in subfolders."""

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
    """Explain that the layout sends nothing when a file is touched."""
    return f"the layout {layout.name} sends nothing when a file is touched, because it has no [touch] table"


def touch_candidates(assembler: Assembler, folders: Sequence[str]) -> Sequence[Candidate]:
    """Return the files that the agent considers when it touches files in these folders. A rule for certain paths is `waiting`."""
    layout = assembler.layout()
    if layout.touch is None:
        return ()
    return TouchReader(assembler).read_folders(layout, layout.touch, folders).candidates


def with_touch_candidates(
    in_prompt: Sequence[Candidate], assembler: Assembler, folders: Sequence[str] = ()
) -> list[Candidate]:
    """Return the prompt's candidates, and the rules that are added only when a file is touched, also those in these folders.

    A rule that applies only to certain paths, but is never sent on a touch, is `unused`.
    """
    layout = assembler.layout()
    touched = {candidate.path: candidate for candidate in touch_candidates(assembler, folders)}
    paths = {candidate.path for candidate in in_prompt}
    return [
        *(_unused_if_never_sent(candidate, touched.get(candidate.path), layout) for candidate in in_prompt),
        *(
            replace(candidate, fate="waiting", reason=_ON_TOUCH) if candidate.fate == "used" else candidate
            for path, candidate in touched.items()
            if path not in paths and candidate.fate in ("used", "waiting")
        ),
    ]


def _unused_if_never_sent(candidate: Candidate, touched: Candidate | None, layout: Layout) -> Candidate:
    """Return the candidate, as `unused` if it is waiting for a touch that never sends it."""
    if candidate.fate != "waiting" or (touched and touched.fate != "unused"):
        return candidate
    if layout.touch is None:
        problem = describe_missing_touch(layout)
    else:
        problem = f"[touch] leaves it out: {touched.reason}" if touched else "no lookup rule of [touch] finds it"
    return replace(candidate, fate="unused", reason=f"{candidate.reason}, but {problem}")
