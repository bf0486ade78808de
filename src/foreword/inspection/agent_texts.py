"""Compares the texts that two agents get from a file that both load: one may cut it, or drop comments and front matter."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .agents import AgentView

_MAX_LINES = 5_000


@value
class TextDifference:
    """A file from which two agents get different text. `lines` are those that only one gets, with the prefix `-` (the first agent) or `+`."""

    path: str
    lines: Sequence[str]


def compare_texts(old: AgentView, new: AgentView, paths: Sequence[str]) -> list[TextDifference]:
    """Return the files from which two agents get different text. White space around it and the kind of its line ends do not count."""
    differences = []
    for path in paths:
        before, after = _text_of(old, path), _text_of(new, path)
        if before.strip() != after.strip():
            differences.append(TextDifference(path, _different_lines(before.strip(), after.strip())))
    return differences


def _text_of(view: AgentView, path: str) -> str:
    """Return the part of a file's text that is in the agent's prompt, with LF line ends."""
    text = "".join(
        piece.text
        for passage in view.prompt.passages
        for piece in passage.pieces
        if piece.origin.kind == "file" and piece.origin.path == path
    )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _different_lines(old: str, new: str) -> list[str]:
    from difflib import SequenceMatcher

    before, after = old.split("\n")[:_MAX_LINES], new.split("\n")[:_MAX_LINES]
    lines = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            lines += [f"- {line}" for line in before[start:end]]
            lines += [f"+ {line}" for line in after[new_start:new_end]]
    return lines
