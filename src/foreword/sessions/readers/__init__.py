"""The readers, one module per program.

Each has `AGENT` (the program's name, that of its layout), `TITLES` (other names for it), `PROVIDER` (of models that are not in the table
of prices), `find_logs` and `read_log`. One whose logs are not files also has `stamp_of` and `peek_cwd`; the others have
`read_figures`, which reads only the requests and their tokens.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def all_readers() -> list[ModuleType]:
    """Return the modules of all readers."""
    from . import claude, codex, copilot, gemini, opencode, pi, qwen

    return [claude, codex, copilot, pi, gemini, qwen, opencode]
