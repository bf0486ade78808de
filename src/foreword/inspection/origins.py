"""Finds where each line of a prompt came from."""

from __future__ import annotations

from ..vocabulary import Piece, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..vocabulary import Origin, Prompt


# The meaning of each kind of origin. The reference page is generated from this table.
ORIGINS = {
    "builtin": "text from a built-in layout or template; `path` is its address",
    "layout": "text from a layout that is not built in; `path` is the layout and the section",
    "setting": "text from a key or wording in a settings file; `path` is that file",
    "template": "text from a template that is not built in",
    "file": "the exact characters of a file; `path` is that file",
    "skill": "from the front matter of a SKILL.md, or its path",
    "resident": "from the front matter of a resident file, a sub-agent's definition or a command",
    "caller": "text that the caller passed, or a key that the caller set, in which case `path` is the key",
    "tool": "the snippet, name or guideline of a tool; `path` is its name",
    "scope": "a path in the agent's scope",
    "environment": "a fact about the workspace or the agent; `path` names it (cwd, platform, now, …)",
    "variable": "the value of a template's variable; `path` names it",
    "extension": "a rule from an extension",
    "mark": "added by Foreword itself: a marker where text was cut, the text around untrusted files, or an escape that keeps content from closing its section",
}


@value
class Line:
    """One line of a prompt: the origin of most of its characters, and the line there. A separator has no origin."""

    number: int
    text: str
    section: str = ""
    origin: Origin | None = None
    line: int | None = None


def lines_of(prompt: Prompt) -> list[Line]:
    """Return every line of the prompt with its origin. If several origins share a line, the one with the most characters wins."""
    shares: dict[int, list[tuple[int, str, Origin, int | None]]] = {}
    number = 1
    position = 0
    for passage in prompt.passages:
        number += prompt.text.count("\n", position, passage.start)
        position = passage.start
        for piece in passage.pieces:
            for offset, text in enumerate(piece.text.split("\n")):
                if text:
                    shares.setdefault(number + offset, []).append(
                        (len(text), passage.section, piece.origin, _line(piece, offset))
                    )
            number += piece.text.count("\n")
            position += len(piece.text)
    return list(_lines(prompt.text, shares)) if prompt.text else []


def _line(piece: Piece, offset: int) -> int | None:
    return piece.origin.lines[0] + offset if piece.origin.lines else None


def _lines(text: str, shares: dict[int, list[tuple[int, str, Origin, int | None]]]) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), 1):
        share = max(shares.get(number, ()), key=lambda candidate: candidate[0], default=None)
        yield Line(number, line) if share is None else Line(number, line, *share[1:])
