"""Functions that make lines of text printable and remove blank lines."""

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


def is_plain(text: str) -> bool:
    """Whether text contains only visible ASCII characters, spaces and line feeds."""
    return text.isascii() and text.replace("\n", " ").isprintable()


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
