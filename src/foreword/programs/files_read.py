"""The files that an agent reads on this machine, the user's own included."""

from __future__ import annotations

import os

from ..errors import ForewordError
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .question import Question

_READ = ("used", "cut")


def files_read(question: Question, layout: str, cwd: str, root: str) -> set[str]:
    """Return the files that an agent reads in a folder: relative to the root, or absolute if they are elsewhere."""
    try:
        own = question.with_fields(layout=layout, cwd=cwd)
        candidates = own.assembler.prompt(own.agent, own.now).candidates
    except ForewordError:
        return set()
    tops = (printable(root) + "/", printable(os.path.realpath(root)) + "/")
    used = [candidate.path for candidate in candidates if candidate.fate in _READ]
    return {path.removeprefix(tops[0]).removeprefix(tops[1]) for path in used}
