"""Watch what a touch would send: the instructions for certain paths, and the files that they depend on."""

from __future__ import annotations

from ..conversation.conversations import Conversations
from ..engine.touches import TouchReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..conversation.touch import Touched
    from ..engine.assembler import Assembler
    from ..vocabulary import Agent


class WatchedTouch:
    """The instructions for these paths in a new conversation, read again on each call."""

    def __init__(self, assembler: Assembler, paths: Sequence[str]) -> None:
        self.assembler, self.touched_paths = assembler, tuple(paths)
        self._reader = TouchReader(assembler)
        self._paths: list[str] = []

    def touched(self, agent: Agent) -> Touched:
        """Return what touching the paths sends to this agent."""
        layout = self.assembler.layout()
        if layout.touch is not None:
            stamps = self._reader.read(layout, layout.touch, self.touched_paths).inputs.stamps
            self._paths = [path for path, _ in stamps]
        with Conversations() as conversations:
            return conversations.open_with("touch", self.assembler, agent, mirror=True).touch(self.touched_paths)

    def paths(self) -> list[str]:
        """Return every file and directory that the last answer depends on."""
        return self._paths
