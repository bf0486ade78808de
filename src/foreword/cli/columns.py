"""Fit text into a terminal's columns: measure, wrap and shorten it, and calculate the widths of table columns.

Widths are in terminal columns, not characters: a Chinese character or an emoji takes two, an accent or a colour takes none.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

from ..text import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

GAP = 2
# Paths are shortened, to no less than `_MIN_PATH_WIDTH`, before a column of sentences gets narrower than `_MIN_SENTENCE_WIDTH`.
_MIN_SENTENCE_WIDTH = 24
_MIN_PATH_WIDTH = 20
# A longer word, such as an address, may be broken.
_MAX_WORD_WIDTH = 30
_ESCAPE = r"\x1b\[[0-9;]*m"
_RESET = "\x1b[0m"
_EMOJI_FORM = "\ufe0f"
_JAMO = ("\u1160", "\u11ff")
_BREAK_AFTER = "/\\-_.,:;=&?"


def display_width(text: str) -> int:
    """Return the number of columns that the text occupies on a terminal."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    return sum(width for _, width in _units(text))


def _units(text: str) -> list[tuple[str, int]]:
    """Split text into units that must stay whole (a character with its accents, or a colour code), each with its width."""
    units: list[tuple[str, int]] = []
    position = 0
    while position < len(text):
        escape = regex.compile(_ESCAPE).match(text, position) if text[position] == "\x1b" else None
        if escape:
            units.append((escape[0], 0))
            position = escape.end()
            continue
        character = text[position]
        size = _character_width(character)
        follows_character = bool(units) and not units[-1][0].startswith("\x1b")
        if size == 0 and follows_character:
            before, width = units[-1]
            units[-1] = (before + character, 2 if character == _EMOJI_FORM else width)
        else:
            units.append((character, size))
        position += 1
    return units


def _character_width(character: str) -> int:
    if character.isascii():
        return 1
    if category(character) in ("Mn", "Me", "Cf") or _JAMO[0] <= character <= _JAMO[1]:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def clip(text: str, width: int) -> str:
    """Return as much of the start of a line as fits the width. Colours are kept, and reset at the end."""
    fitting: list[str] = []
    used = 0
    for unit, size in _units(text):
        if used + size > width:
            break
        fitting.append(unit)
        used += size
    return "".join(fitting) + (_RESET if "\x1b[" in text else "")


def pad(text: str, width: int, right: bool = False) -> str:
    """Return the text padded with spaces to a width, on the left if `right` is set."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def shorten_middle(text: str, width: int) -> str:
    """Return a path or name with its middle replaced by `…` if it is too wide. More of the end is kept, since it identifies the file."""
    if display_width(text) <= width:
        return text
    units = [unit for unit in _units(text) if unit[1]]
    room = max(width - 1, 0)
    tail, used = _take_fitting(list(reversed(units)), room - room // 3)
    head, _ = _take_fitting(units, room - used)
    return "".join(head) + "…" + "".join(reversed(tail))


def _take_fitting(units: Sequence[tuple[str, int]], room: int) -> tuple[list[str], int]:
    fitting: list[str] = []
    used = 0
    for unit, size in units:
        if used + size > room:
            break
        fitting.append(unit)
        used += size
    return fitting, used


def wrap(text: str, width: int, later_width: int | None = None) -> list[str]:
    """Return the text wrapped between words. `later_width` is the width of all lines but the first.

    Spaces are kept, except at a line break. A word that is wider than a line is broken, after punctuation if possible. Chinese and
    Japanese text may break between any two characters. A colour that spans a break continues on the next line.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _wrap_line(line.expandtabs(4), width, width if later_width is None else later_width, not lines)
    return _with_carried_colours(lines) if "\x1b[" in text else lines


def _wrap_line(text: str, width: int, later_width: int, is_first: bool) -> list[str]:
    width, later_width = max(width, 1), max(later_width, 1)
    lines: list[str] = []
    line, used = "", 0
    for blank, word in _words(text):
        room = width if is_first and not lines else later_width
        size = display_width(word)
        # A word that is wider than a whole line starts on the current line if at least half of that is free.
        starts_here = size > later_width and room - used - len(blank) >= room // 2
        if line.strip() and used + len(blank) + size > room and not starts_here:
            lines.append(line.rstrip(" "))
            line, used, blank = "", 0, ""
            room = later_width
        elif len(blank) + size > room and not line.strip():
            blank = blank[: max(room - min(size, room // 2), 0)]
        line, used = line + blank, used + len(blank)
        while used + size > room:
            head, word = _split_word(word, room - used)
            lines.append(line + head)
            line, used, room = "", 0, later_width
            size = display_width(word)
        line, used = line + word, used + size
    return [*lines, line.rstrip(" ")] if line or not lines else lines


def _words(text: str) -> list[tuple[str, str]]:
    """Return each word with the spaces before it. Every wide character counts as a word."""
    words: list[tuple[str, str]] = []
    for blank, word in _split_at_spaces(text):
        if word.isascii():
            words.append((blank, word))
            continue
        start, last = "", 0
        for unit, size in _units(word):
            # Closing punctuation must not start a line, so it stays with the character before it.
            starts_word = (size == 2 and category(unit[0]) not in ("Po", "Pe", "Pf")) or (last == 2 and unit.isalnum())
            if start and starts_word and last:
                words.append((blank, start))
                blank, start = "", ""
            start, last = start + unit, size or last
        words.append((blank, start))
    return words


def _split_at_spaces(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word with the spaces before it, and the spaces at the end with an empty word."""
    spaces = 0
    for word in text.split(" "):
        if word:
            yield " " * spaces, word
            spaces = 0
        spaces += 1
    if spaces > 1:
        yield " " * (spaces - 1), ""


def _split_word(word: str, room: int) -> tuple[str, str]:
    """Split a long word into the start that fits and the rest, after punctuation if that fills at least half of the line."""
    units = _units(word)
    used = position = after_punctuation = 0
    for index, (unit, size) in enumerate(units):
        if used + size > room and index:
            break
        used, position = used + size, index + 1
        if unit[0] in _BREAK_AFTER and used >= room // 2:
            after_punctuation = position
    position = after_punctuation or position
    return "".join(unit for unit, _ in units[:position]), "".join(unit for unit, _ in units[position:])


def _with_carried_colours(lines: Sequence[str]) -> list[str]:
    """Return the lines, each starting with the colours that were active at the end of the previous line, and reset at its end."""
    result: list[str] = []
    active = ""
    for line in lines:
        full = active + line
        for escape in regex.findall(_ESCAPE, line) if "\x1b" in line else ():
            active = "" if escape == _RESET else active + escape
        result.append(full + _RESET if active else full)
    return result


# Tables


def column_widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int, paths: Collection[int] = ()
) -> list[int] | None:
    """Return column widths with which a table fits, or None if ordinary words would have to be broken.

    Headers are wrapped first, then the widest columns of sentences; then paths are shortened, and finally the rest is wrapped.
    """
    columns = range(len(rows[0]))
    bodies = [max(display_width(row[column]) for row in rows) for column in columns]
    headers = [display_width(header[column]) if header else 0 for column in columns]
    words = [
        _longest_word([*([header[column]] if header else []), *(row[column] for row in rows)]) for column in columns
    ]
    widths = [min(max(bodies[column], headers[column]), width) for column in columns]
    room = width - GAP * (len(widths) - 1)

    def minimum(column: int, stage: int) -> int:
        if stage == 0:
            return max(bodies[column], _longest_word([header[column]]) if header else 0)
        if column in paths:
            return max(
                _MIN_PATH_WIDTH if stage > 1 else bodies[column], _longest_word([header[column]]) if header else 0
            )
        return words[column] if stage > 2 else max(words[column], _MIN_SENTENCE_WIDTH)

    for stage in range(4):
        _narrow(widths, room, [minimum(column, stage) for column in columns])
    return widths if sum(widths) <= room else None


def is_too_wide(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a table exceeds the width when nothing in it is wrapped or shortened."""
    widths = [max(display_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    return sum(widths) + GAP * (len(widths) - 1) > width


def _narrow(widths: list[int], room: int, minimums: Sequence[int]) -> None:
    """Narrow the widest column that is above its minimum, until the columns fit or all are at their minimum."""
    while sum(widths) > room:
        shrinkable = [column for column, size in enumerate(widths) if size > minimums[column]]
        if not shrinkable:
            return
        widths[max(shrinkable, key=lambda column: widths[column])] -= 1


def _longest_word(texts: Sequence[str]) -> int:
    longest = max((display_width(word) for text in texts for _, word in _words(text)), default=0)
    return min(longest, _MAX_WORD_WIDTH)


def table_lines(
    row: Sequence[str],
    widths: Sequence[int],
    paint: Callable[[int, str], str],
    right: Collection[int] = (),
    paths: Collection[int] = (),
) -> list[str]:
    """Return the lines of one row. A cell that is too wide for its column continues on the next line."""
    lines: list[str] = []
    cells = [
        [shorten_middle(cell, widths[column])] if column in paths else _cell(cell, widths[column])
        for column, cell in enumerate(row)
    ]
    for index in range(max(map(len, cells))):
        texts = [cell[index] if index < len(cell) else "" for cell in cells]
        last = max(column for column, text in enumerate(texts) if text or column == 0)
        parts = [
            paint(column, pad(text, widths[column], column in right) if column < last or column in right else text)
            for column, text in enumerate(texts[: last + 1])
        ]
        lines.append((" " * GAP).join(parts).rstrip())
    return lines


def _cell(text: str, width: int) -> list[str]:
    """Return the lines of a cell. Continuation lines keep the cell's indent."""
    if display_width(text) <= width:
        return [text]
    indent = " " * min(len(text) - len(text.lstrip(" ")), max(width - 8, 0))
    return [indent + line for line in wrap(text.strip(), width - len(indent))]


def record_lines(
    header: Sequence[str], row: Sequence[str], width: int, paint: Callable[[int, str], str], paths: Collection[int] = ()
) -> list[str]:
    """Return a row for a terminal that is too narrow for columns: its first cell, then each other cell on a line with its header."""
    lines = [paint(0, line) for line in wrap(row[0].strip(), width)]
    longest = max((display_width(name) for name in header[1:]), default=0)
    # If the headers take up more than half of the line, the cells are not aligned.
    is_aligned = longest + 2 * GAP <= width // 2
    for column, cell in list(enumerate(row))[1:]:
        if not cell.strip():
            continue
        label = header[column] if column < len(header) else ""
        label = (pad(label, longest) if is_aligned else label) + " " * GAP if label else ""
        indent = GAP + (display_width(label) if is_aligned else GAP)
        if column in paths:
            first, *others = [shorten_middle(cell, width - GAP - display_width(label))]
        else:
            first, *others = wrap(cell.strip(), width - GAP - display_width(label), width - indent)
        lines.append(" " * GAP + label + paint(column, first))
        lines += [" " * indent + paint(column, line) for line in others]
    return lines
