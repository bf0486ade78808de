"""Decodes a file's bytes into a `Reading`: its text, or the reason it has none."""

from __future__ import annotations

import stat

from ..text.lines import end_of_whole_characters, printable, without_blank_lines
from ..vocabulary import Document, digest, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from ..layout.model import TextRules
    from ..vocabulary import Encoding, Fate, LineEnds, Piece

    # The fate of a path that may not be read, the reason, and the finding's code.
    Refusal = tuple[Fate, str, str]

    class TrustCheck(Protocol):
        """Decides whether a file of the workspace may be used, by its content."""

        untrusted: str

        def refusal(self, path: str, data: bytes, real: str = "") -> Refusal | None: ...

        def check_lines(self, path: str, data: bytes, real: str) -> LineCheck | None: ...


UNTRUSTED_CODE = "file-untrusted"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_UTF32_BOMS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@value
class LineCheck:
    """Which lines of a file are trusted, in order; how many lines of the trusted version are missing; and the ref.

    `is_front_changed` says whether lines of its front matter are missing.
    """

    lines: Sequence[bool]
    missing: int
    ref: str
    is_front_changed: bool = False


@value
class Reading:
    """The result of reading a file. `text` has LF line endings, unless the layout keeps others, and no BOM or surrounding blank lines.

    If only some of its lines are trusted, `text` and `pieces` contain those. `withheld` is untrusted text for a message with a lower role.
    """

    path: str
    fate: Fate
    text: str = ""
    line: int = 1
    hash: str = ""
    size: int = 0
    identity: tuple[int, int] = (0, 0)
    code: str = ""
    reason: str = ""
    pieces: Sequence[Piece] = ()
    withheld: Sequence[Document] = ()

    @property
    def has_text(self) -> bool:
        return self.fate in ("used", "cut")

    def text_by(self, rules: TextRules) -> str:
        """Return the text with the front matter that a lookup rule finds and repairs, between fences that are lines."""
        if rules.fences == rules.repair == "lines":
            return self.text
        from .fences import with_lines

        return with_lines(self.text, rules, is_start=self.line == 1)

    @property
    def document(self) -> Document:
        cut_from = self.size if self.fate == "cut" else 0
        return Document(printable(self.path), self.text, self.hash, self.line, cut_from, "", (), self.pieces)


def unreadable_reading(path: str, reason: str) -> Reading:
    return Reading(path, "unreadable", code="file-unreadable", reason=reason)


def refused_reading(path: str, refusal: Refusal) -> Reading:
    fate, reason, code = refusal
    return Reading(path, fate, code=code, reason=reason)


def decode(
    path: str,
    data: bytes,
    size: int,
    identity: tuple[int, int],
    limit: int,
    trim: bool = True,
    encoding: Encoding = "utf-8",
    line_ends: LineEnds = "lf",
    hash_text: Callable[[str], str] = digest,
) -> Reading:
    """Return the reading of the first `limit` bytes of a file with `size` bytes. `trim` removes blank lines around the text."""
    size = max(size, len(data))
    common: Any = {"size": size, "identity": identity}
    text, problem = _decode_text(data, limit, encoding, line_ends)
    if problem and not text:
        fate, code, reason = problem
        return Reading(path, fate, code=code, reason=reason, **common)
    if not (text.strip() if trim else text):
        return Reading(path, "blank", **common)
    text, line = without_blank_lines(text) if trim else (text, 1)
    if len(data) > limit:
        reason = f"it has {size:,} bytes; everything after the first {limit:,} is left out"
        return Reading(path, "cut", text, line, hash_text(text), code="file-cut", reason=reason, **common)
    if problem:
        fate, code, reason = problem
        return Reading(path, fate, text, line, hash_text(text), code=code, reason=reason, **common)
    return Reading(path, "used", text, line, hash_text(text), **common)


def decode_head(path: str, data: bytes, identity: tuple[int, int], limit: int, encoding: Encoding = "utf-8") -> Reading:
    """Return the reading of a file's first bytes, untrimmed, with LF line endings and without a hash."""
    text, problem = _decode_text(data, limit, encoding)
    if problem and not text:
        fate, code, reason = problem
        return Reading(path, fate, "", 1, "", len(data), identity, code, reason)
    fate = "used" if text.strip() else "blank"
    # Positional arguments are faster, and there may be thousands of skills.
    return Reading(path, fate, text if fate == "used" else "", 1, "", len(data), identity, "", "")


def _decode_text(
    data: bytes, limit: int, encoding: Encoding, line_ends: LineEnds = "lf"
) -> tuple[str, tuple[Fate, str, str] | None]:
    """Decode bytes. Returns the text and, if it is not UTF-8 text, the fate, finding code and reason.

    If it is not, it has text only if the encoding allows other bytes.
    """
    if data.startswith(_OTHER_BOMS):
        other = "UTF-32" if data.startswith(_UTF32_BOMS) else "UTF-16"
        return "", ("unreadable", "file-not-utf8", f"it is {other}, not UTF-8; save it as UTF-8")
    if b"\0" in data:
        return "", ("binary", "file-binary", f"it contains a NUL byte at offset {data.index(0)}")
    try:
        text = data[:limit].decode()
    except UnicodeDecodeError as error:
        is_cut = len(data) > limit
        if not (is_cut and error.start >= limit - 3 and error.reason == "unexpected end of data"):
            reason = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8; save it as UTF-8"
            if encoding == "utf-8":
                return "", ("unreadable", "file-not-utf8", reason)
            return _clean(data[:limit].decode(errors="replace"), encoding, line_ends), ("used", "file-not-utf8", reason)
        text = data[: error.start].decode()
    if len(data) > limit and not text[-1:].isascii() and not _begins_anew(data[len(text.encode())]):
        # What follows is not known, and may belong to the last character.
        text = text[: end_of_whole_characters(text, len(text) - 1)]
    return _clean(text, encoding, line_ends), None


def _begins_anew(byte: int) -> bool:
    """Whether a character with this first byte never belongs to the one before it: ASCII, and most of Latin, Greek and East Asian scripts."""
    return byte < 0x80 or 0xC2 <= byte <= 0xCB or 0xE4 <= byte <= 0xED


# Soft hyphens, joiners, marks of direction and tags, which nobody sees.
_INVISIBLE = "[\u00ad\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"


def _clean(text: str, encoding: Encoding, line_ends: LineEnds) -> str:
    text = text if encoding == "raw" else text.removeprefix("\ufeff")
    text = text if line_ends == "keep" else text.replace("\r\n", "\n")
    if encoding != "visible" or text.isascii():
        return text
    import re
    from unicodedata import normalize

    return re.sub(_INVISIBLE, "", normalize("NFC", text))


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8 text. False if the last character is incomplete."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def end_of_front_matter(data: bytes) -> int | None:
    """Return the offset of the line after the closing `---`, or None if it is not in these bytes."""
    position = data.find(b"\n---", 3)
    while position >= 0:
        end = data.find(b"\n", position + 4)
        if end >= 0 and not data[position + 4 : end].strip():
            return end + 1
        position = data.find(b"\n---", position + 4)
    return None


def kind_of(mode: int) -> str:
    """Return a readable name for the type of a file that is not a regular file."""
    return next((name for test, name in _KINDS if test(mode)), "something else")
