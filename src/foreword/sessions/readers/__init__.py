"""The readers, one module per program. Each has `AGENT` (the program's name), `find_logs` and `read_log`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def all_readers() -> list[ModuleType]:
    """Return the modules of all readers."""
    from . import claude, codex

    return [claude, codex]
