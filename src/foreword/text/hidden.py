"""Finds characters that people cannot see but models read.

Tag characters can spell a sentence, overrides reverse the reading direction, and fillers and joiners hide a word from a search.
Legitimate uses are ignored: flags, emoji families, joiners in Persian and Indic scripts, a single variation selector after a
character, and bidirectional isolates that are closed in the same line.
"""

from __future__ import annotations

import re

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..vocabulary import Severity

_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,8}\U000e007f"
_KINDS = (
    ("tag characters", "[\U000e0000-\U000e007f]+"),
    ("consecutive variation selectors", "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"),
    ("a bidirectional override", "[\u202a-\u202e]+"),
    ("an unpaired bidirectional isolate", "[\u2066-\u2069]+"),
    ("invisible characters", "[\u200b\u2060-\u2065\u206a-\u206f\ufeff\u180e\u115f\u1160\u3164\uffa0]+"),
    ("a joiner inside a word", "(?<=[A-Za-z0-9])[\u200c\u200d]+(?=[A-Za-z0-9])"),
    ("control characters", "[\x01-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]+"),
)
# Kinds that never get into a file by accident.
_DELIBERATE_KINDS = (
    "tag characters",
    "consecutive variation selectors",
    "a bidirectional override",
    "an unpaired bidirectional isolate",
)
# Opens or closes an isolate, or ends a paragraph and with it every isolate in it.
_ISOLATE_OR_END = re.compile("[\u2066-\u2069\n\r\x1c-\x1e\x85\u2029]")
_MAX_SPELLED = 120


@value
class HiddenCharacters:
    """Invisible characters of one kind on one line: how many there are, the first of them, and what they spell, if anything."""

    line: int
    kind: str
    count: int
    first: str
    spells: str = ""

    def describe(self, where: str = "") -> str:
        """Return a phrase for a message. `where` is inserted after the kind."""
        amount = f"{self.count:,} characters" if self.count > 1 else code_point(self.first)
        return f"{self.kind}{where} ({amount})" + (f", which spell {self.spells!r}" if self.spells else "")


def code_point(character: str) -> str:
    """Return how people write a character that they cannot see: `U+200B`."""
    return f"U+{ord(character):04X}"


def severity_of(kind: str) -> Severity:
    """Return how serious hidden characters of a kind are. Kinds that usually come from copying are only warnings."""
    return "error" if kind in _DELIBERATE_KINDS else "warning"


def find_hidden(text: str, first_line: int = 1) -> list[HiddenCharacters]:
    """Return the hidden characters in text, one entry for each line and kind."""
    if not _is_suspicious(text):
        return []
    totals: dict[tuple[int, str], tuple[int, str, str]] = {}
    for line, kind, run in _runs(text, first_line):
        count, first, spelled = totals.get((line, kind), (0, run[0], ""))
        # Only the part that will be shown is decoded: a line may have a million hidden characters.
        spelled = spelled if len(spelled) > _MAX_SPELLED else spelled + _decode(run)
        totals[line, kind] = (count + len(run), first, spelled)
    return [
        HiddenCharacters(line, kind, count, first, _shorten(spelled))
        for (line, kind), (count, first, spelled) in totals.items()
    ]


_CONTROLS = bytes(code for code in (*range(1, 32), 127) if code not in (9, 10, 12, 13))


def _is_suspicious(text: str) -> bool:
    """Whether text may contain hidden characters. This is a quick check, because very few texts contain any."""
    if text.isascii():
        return len(text.encode().translate(None, _CONTROLS)) < len(text)
    return _patterns()[0].search(text) is not None


def _runs(text: str, line: int) -> Iterator[tuple[int, str, str]]:
    suspicious, kinds, flag = _patterns()
    position = end = 0
    unpaired: set[int] | None = None
    for suspicious_match in suspicious.finditer(text):
        start = suspicious_match.start()
        if start < end:
            continue
        flag_match = flag.match(text, start - 1) if start and text[start - 1] == "\U0001f3f4" else None
        match = None if flag_match else kinds.match(text, start)
        if flag_match:
            end = flag_match.end()
        elif match:
            end, run = match.end(), match[0]
            line += text.count("\n", position, start)
            position = start
            if "\u2066" <= run[0] <= "\u2069":
                unpaired = _unpaired_isolates(text) if unpaired is None else unpaired
                run = "".join(text[offset] for offset in range(start, end) if offset in unpaired)
            if run:
                yield line, _KINDS[int(str(match.lastgroup)[1:])][0], run


def _unpaired_isolates(text: str) -> set[int]:
    """Return the offsets of the characters that open an isolate that its line does not close, or close one that is not open."""
    unpaired: set[int] = set()
    opened: list[int] = []
    for match in _ISOLATE_OR_END.finditer(text):
        if "\u2066" <= match[0] < "\u2069":
            opened.append(match.start())
        elif match[0] != "\u2069":
            unpaired.update(opened)
            opened.clear()
        elif opened:
            opened.pop()
        else:
            unpaired.add(match.start())
    return unpaired.union(opened)


_compiled: list[re.Pattern[str]] = []


def _patterns() -> list[re.Pattern[str]]:
    """Return the patterns for any suspicious character, for its kind, and for a flag, compiled on first use."""
    if not _compiled:
        kinds = "|".join([f"(?P<k{index}>{pattern})" for index, (_, pattern) in enumerate(_KINDS)])
        characters = "".join(re.findall(r"\[(?!A-Z)([^\]]+)\]", kinds))
        _compiled.extend((re.compile(f"[{characters}]"), re.compile(kinds), re.compile(_FLAG)))
    return _compiled


def _decode(run: str) -> str:
    """Return the text that tag characters or variation selectors spell. Each encodes one character or byte."""
    letters = []
    for character in run:
        code = ord(character)
        if 0xE0020 <= code <= 0xE007E:
            letters.append(chr(code - 0xE0000))
        elif 0xE0100 <= code <= 0xE01EF and 32 <= code - 0xE0100 + 16 < 127:
            letters.append(chr(code - 0xE0100 + 16))
    return "".join(letters)


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_SPELLED else text[: _MAX_SPELLED - 1] + "…"
