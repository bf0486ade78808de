"""Functions that make lines of text printable, remove blank lines, and find where text may be cut."""

from __future__ import annotations


def printable(path: str) -> str:
    """Return a path for display on one line, with invalid UTF-8 and control characters escaped as `\\xff` or `\\u202e`."""
    if path.isprintable():
        return path
    try:
        decoded = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate that does not encode a byte
        decoded = path.encode("utf-8", "backslashreplace").decode()
    return escape_controls(decoded)


def escape_controls(text: str, keep: str = "") -> str:
    """Return the text with control characters escaped (as `\\x1b` or `\\u202e`), except those in `keep`.

    This includes line separators and bidirectional overrides, which make a line look different from what it contains.
    """
    if text.isprintable():
        return text
    return "".join(_escape(char) if _is_control(char) and char not in keep else char for char in text)


def _is_control(char: str) -> bool:
    return char < " " or "\x7f" <= char <= "\x9f" or "\u2028" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if char <= "\xff" else f"\\u{ord(char):04x}"


_PLAIN = bytes((*range(ord(" "), ord("~") + 1), ord("\n")))


def is_plain(text: str) -> bool:
    """Whether text contains only visible ASCII characters, spaces and line feeds."""
    return text.isascii() and not text.encode().translate(None, _PLAIN)


def without_blank_lines(text: str) -> tuple[str, int]:
    """Return the text without leading and trailing blank lines, and the number of its first line."""
    start, line = 0, 1
    while True:
        end = text.find("\n", start)
        if end < 0 or text[start:end].strip():
            break
        start, line = end + 1, line + 1
    end = text.find("\n", len(text.rstrip()))
    return text[start : end if end >= 0 else len(text)], line


def content_bounds(text: str) -> tuple[int, int]:
    """Return where the text starts and ends without leading blank lines and trailing white space. Its first line keeps its indentation."""
    return text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1, len(text.rstrip())


def end_of_whole_characters(text: str, end: int) -> int:
    """Return the last offset up to `end` at which a cut splits nothing that is shown as one character.

    A letter stays with its accents, and an emoji with its skin tone and with what it is joined to. Longer sequences than the usual ones
    may be split, so that a text of nothing but accents is not lost.
    """
    offset = end
    while 0 < offset < len(text) and end - offset < _MAX_SEQUENCE:
        if not _continues(text, offset):
            return offset
        offset -= 1
    return offset if offset in (0, len(text)) else end


def _continues(text: str, offset: int) -> bool:
    """Whether the character at this offset is shown as one with the character before it."""
    before, character = text[offset - 1], text[offset]
    if character < _FIRST_ACCENT and before < _FIRST_ACCENT:
        return False
    if character == _JOINER or before == _JOINER or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    if "\u1160" <= character <= "\u11ff" or "\U000e0020" <= character <= "\U000e007f":  # Hangul, and the tags of flags
        return True
    if _is_flag_letter(character) and _is_flag_letter(before):
        start = offset
        while start and offset - start < _MAX_SEQUENCE and _is_flag_letter(text[start - 1]):
            start -= 1
        return (offset - start) % 2 == 1
    from unicodedata import category

    return category(character).startswith("M")


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


_FIRST_ACCENT, _JOINER = "\u0300", "\u200d"
_MAX_SEQUENCE = 64
