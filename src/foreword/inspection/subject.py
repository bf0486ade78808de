"""The subject of an inspection: a finished prompt from any source, with its tools and messages."""

from __future__ import annotations

from bisect import bisect_right

from ..vocabulary import Turn, value
from .sending import root_end, sent_passages, split_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Origin, Prompt


@value
class LastCall:
    """The last recorded call of a conversation: its input, how much of that it left in the cache (None if unknown), and its time in seconds."""

    input: int
    cached: int | None = None
    time: int = 0


@value
class Subject:
    """A finished prompt, and the name by which the caller refers to it.

    Plain text has no passages, so its origins are unknown. `tools` is None if the tools are unknown. `changes` are the late changes that
    its messages announce. `last_call` is that of a stored edition, if one was recorded.
    """

    name: str
    prompt: Prompt
    tools: Sequence[Mapping[str, Any]] | None = None
    messages: Sequence[Mapping[str, Any]] = ()
    built_for: Mapping[str, str] = {}
    changes: Sequence[Mapping[str, Any]] = ()
    last_call: LastCall | None = None

    @property
    def is_plain(self) -> bool:
        return not self.prompt.passages

    def model_for(self, model: str, provider: str) -> tuple[str, str]:
        """Return the model and provider to count for: the ones that are passed, or those that the prompt was built for."""
        if model or provider:
            return model, provider
        return self.built_for.get("model", ""), self.built_for.get("provider", "")

    @property
    def turn(self) -> Turn:
        """The turn that would be sent to a model."""
        end = root_end(_files(self.prompt), self.built_for.get("cwd", ""))
        sent = split_prompt(self.prompt.text, sent_passages(self.prompt.passages), end)
        messages = (*sent.messages, *self.messages)
        tools, end = self.tools or (), sent.root_end
        return Turn(
            "",
            0,
            False,
            sent.system,
            messages,
            tools,
            sent.passages,
            (),
            end,
            leading=sent.leading,
            changes=self.changes,
        )


def _files(prompt: Prompt) -> Iterator[tuple[str, int]]:
    for passage in prompt.passages:
        end = passage.start
        for piece in passage.pieces:
            end += len(piece.text)
            if piece.origin.kind == "file":
                yield piece.origin.path, end


@value
class OriginSpan:
    """A span of a prompt that has a single origin: the section, the origin, and the lines within the origin."""

    section: str
    origin: Origin
    lines: tuple[int, int] | None


class OriginIndex:
    """Finds the origins of any span of a prompt."""

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
        self._newlines: list[int] | None = None

    def find(self, start: int, end: int) -> list[OriginSpan]:
        """Return the origins of a span, in order. An empty span has the origin of the next character."""
        return list(self._find(start, max(end, start + 1)))

    def _find(self, start: int, end: int) -> Iterator[OriginSpan]:
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(self._pieces) and self._pieces[number][0] < end:
            first, last, section, origin = self._pieces[number]
            if last > start:
                yield OriginSpan(section, origin, self._lines(origin, first, max(first, start), min(last, end)))
            number += 1

    def _lines(self, origin: Origin, first: int, start: int, end: int) -> tuple[int, int] | None:
        """Return the exact lines for a file, and the recorded lines for any other origin."""
        if origin.lines is None or origin.kind != "file":
            return origin.lines
        line = origin.lines[0] + self._newlines_between(first, start)
        return line, line + self._newlines_between(start, end - 1)

    def _newlines_between(self, start: int, end: int) -> int:
        if self._newlines is None:
            self._newlines = [offset for offset, character in enumerate(self.text) if character == "\n"]
        return bisect_right(self._newlines, end - 1) - bisect_right(self._newlines, start - 1)
