"""Where each line of a prompt came from."""

from __future__ import annotations

from ..vocabulary import Piece, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..vocabulary import Origin, Prompt


@value
class Line:
    """One line of a prompt: the place most of it came from, and its line there; a separator has none."""

    number: int
    text: str
    section: str = ""
    origin: Origin | None = None
    line: int | None = None


def lines_of(prompt: Prompt) -> list[Line]:
    """Every line of the prompt with its origin. Where several meet on a line, the one with the most characters is named."""
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
            breaks = piece.text.count("\n")
            number += breaks
            position += len(piece.text)
    return list(_lines(prompt.text, shares)) if prompt.text else []


def _line(piece: Piece, offset: int) -> int | None:
    return piece.origin.lines[0] + offset if piece.origin.lines else None


def _lines(text: str, shares: dict[int, list[tuple[int, str, Origin, int | None]]]) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), 1):
        share = max(shares.get(number, ()), key=lambda each: each[0], default=None)
        yield Line(number, line) if share is None else Line(number, line, *share[1:])
