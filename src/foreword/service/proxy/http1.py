"""Parse the heads of HTTP/1.1 messages, and find where their bodies end. Pure.

A body is forwarded as it arrives. `Body` only counts bytes and reads chunk sizes, so that the proxy knows where the message ends and
can read its content. Whatever another program could understand differently is refused, because then the rest of a message could pass as
another one: repeated lengths and encodings, line breaks without CR, spaces around names and sizes, and headers in several lines.
"""

from __future__ import annotations

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_HEAD = 256 * 1024
_MAX_LINE = 16 * 1024
_VERSIONS = ("HTTP/1.0", "HTTP/1.1")
# Headers that apply to a single connection. Transfer-Encoding is forwarded, because bodies are forwarded as they are encoded.
_HOP_BY_HOP = (
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "upgrade",
)

_TOKEN_MARKS = "!#$%&'*+-.^_`|~"
# Of two of these, another program might use the other one.
_UNIQUE = ("content-length", "transfer-encoding", "host")


class ProtocolError(Exception):
    """The bytes are not a valid HTTP/1.1 message."""


@value
class Head:
    """The first line of a message and its headers. Names and values are decoded as Latin-1, which preserves every byte."""

    start: str
    headers: Sequence[tuple[str, str]]

    def count(self, name: str) -> int:
        """Return how often a header occurs."""
        return sum(key.lower() == name for key, _ in self.headers)

    def get(self, name: str) -> str:
        """Return a header's value in lower case. Repeated headers are joined with commas; a missing header gives an empty string."""
        return ", ".join(field for key, field in self.headers if key.lower() == name).lower()

    @property
    def words(self) -> list[str]:
        return self.start.split(" ", 2)

    @property
    def keeps_connection(self) -> bool:
        """Whether the sender accepts another message on this connection."""
        options = self.get("connection")
        return "keep-alive" in options if "HTTP/1.0" in self.words else "close" not in options

    def forwarded(self, start: str, added: Iterable[tuple[str, str]] = (), dropped: Iterable[str] = ()) -> bytes:
        """Return the bytes of this head with a different first line.

        The headers in `added` are added; hop-by-hop headers and those in `dropped` are left out.
        """
        named = {word.strip() for word in self.get("connection").split(",")} - {"transfer-encoding", "content-length"}
        left_out = {*_HOP_BY_HOP, *named, *dropped}
        kept = [(name, field) for name, field in self.headers if name.lower() not in left_out]
        lines = [start, *(f"{name}: {field}" for name, field in (*added, *kept)), "", ""]
        return "\r\n".join(lines).encode("latin-1")


def parse_head(raw: bytes, *, is_response: bool = False) -> Head:
    """Parse the first line and headers of a request or a response."""
    # An empty line before a request is allowed.
    start, *lines = raw.decode("latin-1").removeprefix("\r\n").removesuffix("\r\n\r\n").split("\r\n")
    if not (_is_status_line(start) if is_response else _is_request_line(start)):
        raise ProtocolError("the first line is not a valid HTTP/1.1 start line")
    headers: list[tuple[str, str]] = []
    for line in lines:
        headers.append(_parse_header(line))
    head = Head(start, headers)
    if repeated := [name for name in _UNIQUE if head.count(name) > 1]:
        raise ProtocolError(f"the message has several {repeated[0].title()} headers; send one")
    return head


def _parse_header(line: str) -> tuple[str, str]:
    name, colon, field = line.partition(":")
    if not colon or not _is_token(name) or _has_controls(line):
        raise ProtocolError("malformed header; expected 'Name: value'")
    return name, field.strip(" \t")


def _is_token(word: str) -> bool:
    """Whether a word can be the name of a header or a method."""
    return word.isascii() and word != "" and all(character.isalnum() or character in _TOKEN_MARKS for character in word)


def _is_request_line(start: str) -> bool:
    words = start.split(" ")
    is_complete = len(words) == 3 and all(words) and words[2] in _VERSIONS
    return is_complete and _is_token(words[0]) and not _has_controls(start)


def _is_status_line(start: str) -> bool:
    version, _, rest = start.partition(" ")
    status = rest.partition(" ")[0]
    is_number = len(status) == 3 and status.isascii() and status.isdigit()
    return version in _VERSIONS and is_number and not _has_controls(start)


def _has_controls(line: str) -> bool:
    """Whether a line contains a control character other than a tab. Receivers disagree about what these mean."""
    return any((character < " " and character != "\t") or character == "\x7f" for character in line)


def _declared_length(head: Head) -> int | None:
    """Return the declared length of the body, or None if the head does not declare one."""
    if not head.count("content-length"):
        return None
    length = head.get("content-length")
    if not (length.isascii() and length.isdigit() and len(length) < 20):
        raise ProtocolError("the body length is not a number")
    return int(length)


def _is_chunked(head: Head, is_response: bool) -> bool:
    """Whether a body comes in chunks. A response may also be compressed; a request that is has no use here."""
    if not head.count("transfer-encoding"):
        return False
    codings = [coding.strip(" \t") for coding in head.get("transfer-encoding").split(",")]
    is_valid = codings[-1] == "chunked" and codings.count("chunked") == 1 and (is_response or len(codings) == 1)
    if not is_valid or head.count("content-length") or "HTTP/1.0" in head.words:
        raise ProtocolError("the body length is ambiguous")
    return True


class Body:
    """The body of a message: where it ends, and its content."""

    def __init__(self, head: Head, *, is_response: bool = False, is_empty: bool = False) -> None:
        length = 0 if is_empty else _declared_length(head)
        self.is_chunked = not is_empty and _is_chunked(head, is_response)
        # A response without a length ends with the connection.
        self.ends_with_connection = is_response and not self.is_chunked and length is None
        self._remaining = length or 0
        self._line = b""
        self._state = "size"
        self.is_done = not (self.is_chunked or self.ends_with_connection or self._remaining)

    @property
    def readable(self) -> int:
        """How many bytes can be read without reading into the next message.

        Between chunks this is 1, because the length of the next line is unknown.
        """
        return self._remaining if not self.is_chunked or self._state == "content" else 1

    def feed(self, data: bytes) -> tuple[int, bytes]:
        """Return how many of these bytes belong to the message, and the content in them."""
        if self.is_done:
            return 0, b""
        if self.ends_with_connection:
            return len(data), data
        if not self.is_chunked:
            content = data[: self._remaining]
            self._remaining -= len(content)
            self.is_done = not self._remaining
            return len(content), content
        return self._feed_chunks(data)

    def _feed_chunks(self, data: bytes) -> tuple[int, bytes]:
        position, contents = 0, []
        while position < len(data) and not self.is_done:
            if self._state == "content":
                content = data[position : position + self._remaining]
                contents.append(content)
                position += len(content)
                self._remaining -= len(content)
                self._state = "content" if self._remaining else "end"
                continue
            end = data.find(b"\n", position)
            piece = data[position : end + 1] if end >= 0 else data[position:]
            position += len(piece)
            self._line += piece
            if len(self._line) > _MAX_LINE:
                raise ProtocolError("a line between chunks is too long")
            if end >= 0:
                line, self._line = self._line, b""
                if not line.endswith(b"\r\n") or _has_controls(line[:-2].decode("latin-1")):
                    raise ProtocolError("a line between chunks does not end with CR and LF")
                self._read_line(line[:-2])
        return position, b"".join(contents)

    def _read_line(self, line: bytes) -> None:
        """Read a chunk-size line, the line ending after a chunk, or a trailer line."""
        if self._state == "size":
            size = line.partition(b";")[0]
            if not size or len(size) > 15 or size.strip(b"0123456789abcdefABCDEF"):
                raise ProtocolError("the size of a chunk is not a hexadecimal number")
            self._remaining = int(size, 16)
            self._state = "content" if self._remaining else "trailer"
        elif self._state == "end":
            if line:
                raise ProtocolError("a chunk is longer than its declared size")
            self._state = "size"
        elif not line:
            self.is_done = True
        elif _parse_header(line.decode("latin-1"))[0].lower() in _UNIQUE:
            raise ProtocolError("a header after the body contradicts those before it")
