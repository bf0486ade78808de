"""Keep track of what a thread's requests are made of, for programs whose logs have the conversation in order. Pure."""

from __future__ import annotations

import re

from ..chains import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..values import LogPart
    from .rows import Texts

_CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}|\b\d{1,2}:\d{2}(?::\d{2})?\b|(?i:today'?s? (?:is|date)|current (?:date|time))")


class Composer:
    """The parts of one thread: what comes before the conversation, and the conversation so far."""

    def __init__(self, head: Iterable[LogPart] = ()) -> None:
        self.head: tuple[LogPart, ...] = tuple(head)
        self.parts: list[LogPart] = []
        self._previous: Sequence[LogPart] = ()  # the request before, if the conversation was replaced since then
        self._previous_head: tuple[LogPart, ...] | None = None
        self._sent = 0  # how much of the conversation was in it
        self._end: int | None = None
        self.is_stopped = False

    def stop(self) -> None:
        """Forget the conversation, because it has more parts than any request can have."""
        self.is_stopped, self.parts = True, []

    def add(self, parts: Iterable[LogPart], is_answer: bool = False) -> None:
        """Add parts to the conversation. The first part of an answer marks the end of the request that it answers."""
        if self.is_stopped:
            return
        if is_answer and self._end is None:
            self._end = len(self.parts)
        elif not is_answer:
            self._end = None
        self.parts.extend(parts)

    def restart(self, parts: Iterable[LogPart]) -> None:
        """Replace the conversation, as a compaction does."""
        if self._previous_head is not None:
            self._previous = [*self._previous_head, *self.parts[: self._sent]]
            self._previous_head = None
        self.parts, self._end = [] if self.is_stopped else list(parts), None

    def request(self) -> tuple[int, tuple[LogPart, ...]]:
        """Return how many parts the request that was just answered shares with the one before, and its other parts."""
        end = len(self.parts) if self._end is None else self._end
        self._end = None
        sent, before = self._sent, self._previous_head
        self._sent, self._previous_head = end, self.head
        if before == self.head and sent <= end:  # only parts were added
            return len(self.head) + sent, tuple(self.parts[sent:end])
        previous = self._previous if before is None else (*before, *self.parts[:sent])
        parts = [*self.head, *self.parts[:end]]
        keep = common(previous, parts)
        return keep, tuple(parts[keep:])


def split_clock(texts: Texts, text: str, name: str, kind: str = "prompt") -> list[LogPart]:
    """Return the parts of a program's own text, with the lines that contain a date or time apart."""
    return texts.divided(f"{kind} {name}", text, lambda: _split_clock(texts, text, name, kind))


def _split_clock(texts: Texts, text: str, name: str, kind: str) -> list[LogPart]:
    if not _CLOCK.search(text):
        return [texts.part(kind, text, name)] if text else []
    runs: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        line_kind = "clock" if _CLOCK.search(line) else kind
        if runs and runs[-1][0] == line_kind:
            runs[-1][1].append(line)
        else:
            runs.append((line_kind, [line]))
    return [texts.part(run, "\n".join(lines) + "\n", name) for run, lines in runs]
