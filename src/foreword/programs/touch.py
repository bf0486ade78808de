"""Answer what an agent receives when it touches files, without a conversation."""

from __future__ import annotations

from ..engine.touched import Touched, answer_touch, check_touch, texts_in
from ..engine.touches import TouchReader
from ..errors import CallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from ..engine.assembler import Assembler
    from ..vocabulary import Agent
    from .question import Question


def touched_by(question: Question) -> Touched:
    """Return the instructions for the touched files `paths` of a question."""
    paths = question.fields.get("paths") or ()
    if not isinstance(paths, list | tuple) or not paths:
        raise CallError("touch needs at least one path")
    touch = FirstTouch(question.assembler, paths, question.fields.get("how") or "read")
    return touch.touched(question.agent_with_template(), question.now)


class FirstTouch:
    """What an agent receives if touching these files is the first thing that it does. Each call reads what has changed."""

    def __init__(self, assembler: Assembler, paths: Sequence[str], how: str = "read") -> None:
        self._assembler, self._paths, self._how = assembler, check_touch(paths, how), how
        self._reader = TouchReader(assembler)
        self._stamps: Sequence[tuple[str, Any]] = ()

    def touched(self, agent: Agent, now: datetime | None = None) -> Touched:
        """Return the instructions for the files that the prompt does not contain."""
        layout = self._assembler.layout()
        if layout.touch is None or self._how not in layout.touch.on:
            return Touched()
        in_prompt = texts_in(self._assembler.prompt(agent, now))
        reading = self._reader.read(layout, layout.touch, self._paths)
        self._stamps = reading.inputs.stamps
        return answer_touch(reading, layout.touch, agent, in_prompt, {}).touched

    def paths_read(self) -> list[str]:
        """Return every file and directory that the last answer depends on."""
        return [path for path, _ in self._stamps]
