"""What is asked about: a finished prompt, wherever it came from, with the tools and messages that go with it."""

from __future__ import annotations

from bisect import bisect_right

from ..vocabulary import Turn, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Origin, Prompt


@value
class Subject:
    """A finished prompt under the name that the caller gave it.

    A plain text has no passages: nothing is known of its origins. `tools` is None where nothing is known of them either.
    """

    name: str
    prompt: Prompt
    tools: Sequence[Mapping[str, Any]] | None = None
    messages: Sequence[Mapping[str, Any]] = ()
    made_for: Mapping[str, str] = {}

    @property
    def is_plain(self) -> bool:
        return not self.prompt.passages

    @property
    def turn(self) -> Turn:
        """What a model would be sent."""
        passages = [(each.start, each.end, each.lifetime) for each in self.prompt.passages]
        return Turn("", 0, False, self.prompt.text, self.messages, self.tools or (), passages)


@value
class Place:
    """Where a stretch of a prompt came from: its section, its origin, and the lines there."""

    section: str
    origin: Origin
    lines: tuple[int, int] | None


class Places:
    """Finds the origin of any stretch of a prompt."""

    def __init__(self, prompt: Prompt) -> None:
        self.text = prompt.text
        self._starts: list[int] = []
        self._pieces: list[tuple[int, int, str, Origin]] = []
        for passage in prompt.passages:
            start = passage.start
            for piece in passage.pieces:
                if piece.text:
                    self._starts.append(start)
                    self._pieces.append((start, start + len(piece.text), passage.section, piece.origin))
                    start += len(piece.text)
        self._breaks: list[int] | None = None

    def of(self, start: int, end: int) -> list[Place]:
        """The places that wrote this stretch, in order; of an empty stretch, the one it stands in."""
        return list(self._places(start, max(end, start + 1)))

    def _places(self, start: int, end: int) -> Iterator[Place]:
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(self._pieces) and self._pieces[number][0] < end:
            first, last, section, origin = self._pieces[number]
            if last > start:
                yield Place(section, origin, self._lines(origin, first, max(first, start), min(last, end)))
            number += 1

    def _lines(self, origin: Origin, first: int, start: int, end: int) -> tuple[int, int] | None:
        """The lines of a file that are meant; of anything else those that are known."""
        if origin.lines is None or origin.kind != "file":
            return origin.lines
        line = origin.lines[0] + self._breaks_between(first, start)
        return line, line + self._breaks_between(start, end - 1)

    def _breaks_between(self, start: int, end: int) -> int:
        if self._breaks is None:
            self._breaks = [at for at, each in enumerate(self.text) if each == "\n"]
        return bisect_right(self._breaks, end - 1) - bisect_right(self._breaks, start - 1)
