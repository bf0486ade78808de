"""Functions for lines of text: make them printable, remove blank lines."""

from __future__ import annotations


def printable(path: str) -> str:
    """A path for display on one line, with invalid UTF-8 and control characters escaped as `\\xff`."""
    if path.isprintable():
        return path
    try:
        decoded = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate that does not encode a byte
        decoded = path.encode("utf-8", "backslashreplace").decode()
    return "".join(f"\\x{ord(char):02x}" if ord(char) < 32 or ord(char) == 127 else char for char in decoded)


def is_plain(text: str) -> bool:
    """Whether text contains only visible ASCII characters, spaces and line feeds. A quick check."""
    return text.isascii() and text.replace("\n", " ").isprintable()


def without_blank_lines(text: str) -> tuple[str, int]:
    """The text without leading and trailing blank lines, and the number of its first line."""
    start, line = 0, 1
    while True:
        end = text.find("\n", start)
        if end < 0 or text[start:end].strip():
            break
        start, line = end + 1, line + 1
    end = text.find("\n", len(text.rstrip()))
    return text[start : end if end >= 0 else len(text)], line
