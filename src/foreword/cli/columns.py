"""Fit text into the columns of a terminal: measure, wrap and shorten it, and divide the width of a table.

Widths are in terminal columns, not characters: a Chinese character or an emoji takes two, an accent or a colour takes none.
"""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

GAP = 2
# Paths are shortened before a column of sentences gets narrower than the first, but not below the second.
_READABLE = 24
_PATH = 20
# A longer word, such as an address, may be broken.
_LONGEST_WORD = 30
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_RESET = "\x1b[0m"
_EMOJI_FORM = "\ufe0f"
_JAMO = ("\u1160", "\u11ff")
_GOOD_ENDS = "/\\-_.,:;=&?"


def width_of(text: str) -> int:
    """The number of columns that text takes on a terminal."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    return sum(width for _, width in _units(text))


def _units(text: str) -> list[tuple[str, int]]:
    """The units that must not be split, each with its width: a character with its accents, or a colour."""
    units: list[tuple[str, int]] = []
    position = 0
    while position < len(text):
        escape = _ESCAPE.match(text, position) if text[position] == "\x1b" else None
        if escape:
            units.append((escape[0], 0))
            position = escape.end()
            continue
        each = text[position]
        wide = _width_of_one(each)
        follows_character = bool(units) and not units[-1][0].startswith("\x1b")
        if wide == 0 and follows_character:
            before, width = units[-1]
            units[-1] = (before + each, 2 if each == _EMOJI_FORM else width)
        else:
            units.append((each, wide))
        position += 1
    return units


def _width_of_one(character: str) -> int:
    if character.isascii():
        return 1
    if category(character) in ("Mn", "Me", "Cf") or _JAMO[0] <= character <= _JAMO[1]:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """The start of a line that fits the width; colours are kept and reset."""
    fitting: list[str] = []
    used = 0
    for unit, wide in _units(text):
        if used + wide > width:
            break
        fitting.append(unit)
        used += wide
    return "".join(fitting) + (_RESET if "\x1b[" in text else "")


def padded(text: str, width: int, right: bool = False) -> str:
    """The text padded with spaces to a width; `right` aligns it to the right."""
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks


def middle_cut(text: str, width: int) -> str:
    """A path or name with `…` for its middle if it is too wide; more of the end is kept, since it identifies the file."""
    if width_of(text) <= width:
        return text
    units = [unit for unit in _units(text) if unit[1]]
    room = max(width - 1, 0)
    tail, used = _fitting(list(reversed(units)), room - room // 3)
    head, _ = _fitting(units, room - used)
    return "".join(head) + "…" + "".join(reversed(tail))


def _fitting(units: Sequence[tuple[str, int]], room: int) -> tuple[list[str], int]:
    fitting: list[str] = []
    used = 0
    for unit, wide in units:
        if used + wide > room:
            break
        fitting.append(unit)
        used += wide
    return fitting, used


def wrapped(text: str, width: int, later: int | None = None) -> list[str]:
    """The text wrapped between words; `later` is the width of all lines but the first.

    Leading spaces and spaces between words are kept. A word that is wider than a line is broken, after punctuation if possible.
    Chinese and Japanese text may break between any two characters. A colour that spans a break continues on the next line.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _wrapped_line(line.expandtabs(4), width, width if later is None else later, not lines)
    return _with_carried_colours(lines) if "\x1b[" in text else lines


def _wrapped_line(text: str, width: int, later: int, is_first: bool) -> list[str]:
    width, later = max(width, 1), max(later, 1)
    lines: list[str] = []
    line, used = "", 0
    for blank, word in _words(text):
        room = width if is_first and not lines else later
        wide = width_of(word)
        # A word that is wider than any line starts on this one if half of it is free.
        starts_here = wide > later and room - used - len(blank) >= room // 2
        if line.strip() and used + len(blank) + wide > room and not starts_here:
            lines.append(line.rstrip(" "))
            line, used, blank = "", 0, ""
            room = later
        elif len(blank) + wide > room and not line.strip():
            blank = blank[: max(room - min(wide, room // 2), 0)]
        line, used = line + blank, used + len(blank)
        while used + wide > room:
            head, word = _split_word(word, room - used)
            lines.append(line + head)
            line, used, room = "", 0, later
            wide = width_of(word)
        line, used = line + word, used + wide
    return [*lines, line.rstrip(" ")] if line or not lines else lines


def _words(text: str) -> list[tuple[str, str]]:
    """Each word with the spaces before it; every wide character is a word."""
    words: list[tuple[str, str]] = []
    for blank, word in re.findall(r"( *)([^ ]+|$)", text):
        if not blank and not word:
            continue
        if word.isascii():
            words.append((blank, word))
            continue
        start, last = "", 0
        for unit, wide in _units(word):
            # Closing punctuation must not start a line, so it stays with the character before it.
            is_apart = (wide == 2 and category(unit[0]) not in ("Po", "Pe", "Pf")) or (last == 2 and unit.isalnum())
            if start and is_apart and last:
                words.append((blank, start))
                blank, start = "", ""
            start, last = start + unit, wide or last
        words.append((blank, start))
    return words


def _split_word(word: str, room: int) -> tuple[str, str]:
    """The start of a long word that fits, and the rest; split after punctuation if that fills at least half of the line."""
    units = _units(word)
    used = at = good = 0
    for number, (unit, wide) in enumerate(units):
        if used + wide > room and number:
            break
        used, at = used + wide, number + 1
        if unit[0] in _GOOD_ENDS and used >= room // 2:
            good = at
    at = good or at
    return "".join(unit for unit, _ in units[:at]), "".join(unit for unit, _ in units[at:])


def _with_carried_colours(lines: Sequence[str]) -> list[str]:
    """Lines that each reset their colours, and start with those still active at the end of the line before."""
    result: list[str] = []
    active = ""
    for line in lines:
        full = active + line
        for escape in _ESCAPE.findall(line):
            active = "" if escape == _RESET else active + escape
        result.append(full + _RESET if active else full)
    return result


# Tables


def column_widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int, paths: Collection[int] = ()
) -> list[int] | None:
    """The width of each column of a table that fits, or None if ordinary words would have to be broken.

    Headers are wrapped first, then the widest columns of sentences; then paths are shortened, then the rest is wrapped.
    """
    columns = range(len(rows[0]))
    body = [max(width_of(row[column]) for row in rows) for column in columns]
    headers = [width_of(header[column]) if header else 0 for column in columns]
    words = [
        _longest_word([*([header[column]] if header else []), *(row[column] for row in rows)]) for column in columns
    ]
    widths = [min(max(body[column], headers[column]), width) for column in columns]
    room = width - GAP * (len(widths) - 1)

    def floor(column: int, stage: int) -> int:
        if stage == 0:
            return max(body[column], _longest_word([header[column]]) if header else 0)
        if column in paths:
            return max(_PATH if stage > 1 else body[column], _longest_word([header[column]]) if header else 0)
        return words[column] if stage > 2 else max(words[column], _READABLE)

    for stage in range(4):
        _narrow(widths, room, [floor(column, stage) for column in columns])
    return widths if sum(widths) <= room else None


def is_too_wide(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a table is too wide if nothing in it is wrapped or shortened."""
    natural = [max(width_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    return sum(natural) + GAP * (len(natural) - 1) > width


def _narrow(widths: list[int], room: int, floors: Sequence[int]) -> None:
    """Narrow the widest column that is above its minimum, until the columns fit or all are at their minimum."""
    while sum(widths) > room:
        shrinkable = [column for column, wide in enumerate(widths) if wide > floors[column]]
        if not shrinkable:
            return
        widths[max(shrinkable, key=lambda column: widths[column])] -= 1


def _longest_word(texts: Sequence[str]) -> int:
    longest = max((width_of(word) for text in texts for _, word in _words(text)), default=0)
    return min(longest, _LONGEST_WORD)


def table_lines(
    row: Sequence[str],
    widths: Sequence[int],
    paint: Callable[[int, str], str],
    right: Collection[int] = (),
    paths: Collection[int] = (),
) -> list[str]:
    """The lines of one row; a cell that is too wide for its column continues on the next line."""
    lines: list[str] = []
    cells = [
        [middle_cut(cell, widths[column])] if column in paths else _cell(cell, widths[column])
        for column, cell in enumerate(row)
    ]
    for at in range(max(map(len, cells))):
        texts = [cell[at] if at < len(cell) else "" for cell in cells]
        last = max(column for column, text in enumerate(texts) if text or column == 0)
        parts = [
            paint(column, padded(text, widths[column], column in right) if column < last or column in right else text)
            for column, text in enumerate(texts[: last + 1])
        ]
        lines.append((" " * GAP).join(parts).rstrip())
    return lines


def _cell(text: str, width: int) -> list[str]:
    """The lines of a cell; the indent of a nested section is kept."""
    if width_of(text) <= width:
        return [text]
    indent = " " * min(len(text) - len(text.lstrip(" ")), max(width - 8, 0))
    return [indent + line for line in wrapped(text.strip(), width - len(indent))]


def record_lines(
    header: Sequence[str], row: Sequence[str], width: int, paint: Callable[[int, str], str], paths: Collection[int] = ()
) -> list[str]:
    """One row on a terminal too narrow for columns: its first cell, and below it the others, each after its header."""
    lines = [paint(0, line) for line in wrapped(row[0].strip(), width)]
    longest = max((width_of(each) for each in header[1:]), default=0)
    # If the headers take more than half of the line, each cell follows its header directly.
    aligned = longest + 2 * GAP <= width // 2
    for column, cell in list(enumerate(row))[1:]:
        if not cell.strip():
            continue
        label = header[column] if column < len(header) else ""
        label = (padded(label, longest) if aligned else label) + " " * GAP if label else ""
        indent = GAP + (width_of(label) if aligned else GAP)
        if column in paths:
            first, *others = [middle_cut(cell, width - GAP - width_of(label))]
        else:
            first, *others = wrapped(cell.strip(), width - GAP - width_of(label), width - indent)
        lines.append(" " * GAP + label + paint(column, first))
        lines += [" " * indent + paint(column, line) for line in others]
    return lines
