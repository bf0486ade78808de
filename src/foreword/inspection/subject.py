"""The subject of an inspection: a finished prompt from any source, with its tools and messages."""

from __future__ import annotations

from bisect import bisect_right

from ..vocabulary import Turn, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition, Origin, Prompt


@value
class Subject:
    """A finished prompt with the name by which the caller refers to it.

    Plain text has no passages, so its origins are unknown. `tools` is None if the tools are unknown.
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
        """The turn that would be sent to a model."""
        passages = [(each.start, each.end, each.lifetime) for each in self.prompt.passages]
        end = root_end(_files(self.prompt), self.made_for.get("cwd", ""))
        return Turn("", 0, False, self.prompt.text, self.messages, self.tools or (), passages, (), end)


def _files(prompt: Prompt) -> Iterator[tuple[str, int]]:
    for passage in prompt.passages:
        end = passage.start
        for piece in passage.pieces:
            end += len(piece.text)
            if piece.origin.kind == "file":
                yield piece.origin.path, end


def turn_of(edition: Edition) -> Turn:
    """The turn that an edition would send to a model, without messages."""
    import json

    account, made_for = json.loads(edition.account), json.loads(edition.made_for)
    passages = [(each["start"], each["end"], each["lifetime"]) for each in account.get("passages", ())]
    end = root_end(files_of(account), made_for.get("cwd", ""))
    return Turn("", edition.number, True, edition.system, (), json.loads(edition.tools), passages, (), end)


def files_of(account: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The files in a stored prompt, each with its end offset."""
    for passage in account.get("passages", ()):
        yield from ((each["path"], each["end"]) for each in passage["origins"] if each["kind"] == "file")


def root_end(files: Iterable[tuple[str, int]], cwd: str) -> int:
    """The offset where the instructions in the topmost folder end, among files in or above `cwd`; 0 if there are none."""
    top: str | None = None
    last = 0
    for path, end in files:
        folder = path.rpartition("/")[0]
        if cwd != folder and not cwd.startswith(f"{folder}/"):
            continue
        if top is None or len(folder) <= len(top):
            top, last = folder, end
    return last


@value
class OriginSpan:
    """A span of a prompt with one origin: its section, the origin, and the lines in the origin."""

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
        self._breaks: list[int] | None = None

    def find(self, start: int, end: int) -> list[OriginSpan]:
        """The origins of a span, in order; for an empty span, the origin around it."""
        return list(self._find(start, max(end, start + 1)))

    def _find(self, start: int, end: int) -> Iterator[OriginSpan]:
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(self._pieces) and self._pieces[number][0] < end:
            first, last, section, origin = self._pieces[number]
            if last > start:
                yield OriginSpan(section, origin, self._lines(origin, first, max(first, start), min(last, end)))
            number += 1

    def _lines(self, origin: Origin, first: int, start: int, end: int) -> tuple[int, int] | None:
        """The exact lines in a file; for other origins, the recorded lines."""
        if origin.lines is None or origin.kind != "file":
            return origin.lines
        line = origin.lines[0] + self._breaks_between(first, start)
        return line, line + self._breaks_between(start, end - 1)

    def _breaks_between(self, start: int, end: int) -> int:
        if self._breaks is None:
            self._breaks = [at for at, each in enumerate(self.text) if each == "\n"]
        return bisect_right(self._breaks, end - 1) - bisect_right(self._breaks, start - 1)
