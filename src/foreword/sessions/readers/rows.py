"""What all readers share: parsing rows, times, hashes and sizes of texts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import blake2b

from ..values import LogPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

# A picture counts as this many bytes, whatever its encoding.
PICTURE = 6000
# What a finding says about a line that was left out.
CUT = "a line that is cut or not JSON; it was left out"
UNEXPECTED = "a row with unexpected values; it was left out"
MANY_PARTS = "more parts of requests than are compared; of later requests only the tokens are known"
# Requests that only add to the one before have few parts of their own. If they do not, the parts of all are too many to keep.
MOST_PARTS_OF_LOG = 1_000_000
MOST_TOKENS = 1_000_000_000_000
# What a row with values of the wrong type can lead to. Such a row is reported and left out.
DAMAGE = (TypeError, AttributeError, KeyError, ValueError, IndexError, OverflowError, RecursionError)
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, check_circular=False)
_encode = _encoder.encode
_new_encoder = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # None in some interpreters
# What `encode` creates for every call.
_chunks = (
    _new_encoder(None, _encoder.default, json.encoder.encode_basestring, None, ":", ",", False, False, True)
    if _new_encoder
    else lambda content, _: (_encode(content),)
)
# Values that are large and the same in many rows, such as lists of tools, by their JSON.
_values: dict[bytes, dict[str, Any]] = {}
_MAX_VALUES, _MAX_SHARED = 100, 1 << 20
_MANY = 20 << 20
# Texts of which only a few differ, by how they are divided and their hash.
_divided: dict[str, list[LogPart]] = {}
_MAX_DIVIDED = 1000
_LONG = 400
_MOST_REMEMBERED = 2000
_MOST_PROBLEMS, _LONGEST_TYPE = 100, 60


class _RowParser:
    """Which parser is used. Importing msgspec takes as long as parsing some megabytes, so it pays only for many logs."""

    decode: Callable[[bytes], Any] | None = None
    size = 0

    @classmethod
    def prepare(cls, size: int) -> None:
        """Get ready to parse this many bytes more."""
        cls.size += size
        if cls.size > _MANY and cls.decode is None:
            try:
                from msgspec.json import Decoder
            except ImportError:
                return
            cls.decode = Decoder().decode


prepare_parser = _RowParser.prepare


def parse_row(line: bytes) -> dict[str, Any] | None:
    """Return the object in a line, or None if the line is not one."""
    if _RowParser.decode is not None:
        try:
            row = _RowParser.decode(line)
            return row if type(row) is dict else None
        except Exception:  # it is stricter, for example about lone surrogates
            pass
    try:
        text = str(line, "utf-8").strip()
        row, end = _scan(text, 0)
    except (ValueError, RecursionError, StopIteration):
        return None
    if end != len(text):
        return None
    return row if isinstance(row, dict) else None


def parse_row_sharing(line: bytes, name: str, after: bytes) -> dict[str, Any] | None:
    """Return the object in a line. Its field `name` is an object that many rows have, so it is parsed once; `after` follows it."""
    mark = f'"{name}":'.encode()
    start, end = line.find(mark + b"{") + len(mark), line.rfind(after)
    if not len(mark) <= start < end < start + _MAX_SHARED:
        return parse_row(line)
    key = line[start:end]
    shared = _values.get(key) or parse_row(key)
    row = parse_row(line[:start] + b"null" + line[end:])
    if shared is None or row is None or row.get(name, shared) is not None:
        return parse_row(line)
    if len(_values) >= _MAX_VALUES:
        _values.clear()
    row[name] = _values[key] = shared
    return row


def parse_time(text: Any) -> float:
    """Return a time in seconds since 1970, from ISO 8601 or from a number of seconds or milliseconds. 0 if it is neither."""
    if type(text) is str:
        try:
            moment = datetime.fromisoformat(text)
            return max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 0.0)
        except (ValueError, OverflowError, OSError):
            return 0.0
    if type(text) not in (int, float):
        return 0.0
    return 0.0 if not 0 < text < 1e14 else text / 1000 if text > 1e11 else float(text)


def size_of(text: str) -> int:
    """Return the length of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def hash_of(text: str) -> str:
    """Return the short hash by which parts are compared."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def number(fields: Any, *names: str) -> int:
    """Return the first of these fields that is a count, or 0."""
    if type(fields) is dict:
        for name in names:
            count = fields.get(name)
            if (type(count) is int or type(count) is float) and 0 <= count < MOST_TOKENS:
                return int(count)
    return 0


def note_unknown(problems: dict[tuple[str, str], None], kind: object, version: object) -> None:
    """Note a record of a type that the reader does not know. Of very many types only the first are named."""
    if len(problems) < _MOST_PROBLEMS:
        about = f"{str(kind)[:_LONGEST_TYPE]} {str(version)[:_LONGEST_TYPE]}".strip()
        problems["session-record-unknown", about] = None


def own_cost(value: Any) -> float | None:
    """Return an amount in dollars that a program recorded, or None if it is zero or not an amount."""
    is_amount = (type(value) is int or type(value) is float) and 0 < value < MOST_TOKENS
    return float(value) if is_amount else None


def string(fields: Any, *names: str) -> str:
    """Return the first of these fields that is a string with text, or empty."""
    if type(fields) is dict:
        for name in names:
            text = fields.get(name)
            if type(text) is str and text:
                return text
    return ""


def remember(known: dict[str, T], key: str, content: T) -> None:
    """Add to what is needed soon after. Of very many entries only the last are kept."""
    known[key] = content
    if len(known) > _MOST_REMEMBERED:
        del known[next(iter(known))]


def server_of(tool: str) -> str:
    """Return the MCP server in a tool's name (`mcp__gh__search`), or empty."""
    if tool.startswith("mcp__"):
        return tool[5:].partition("__")[0]
    return ""


class Texts:
    """Creates parts, and keeps the texts of those that were asked for."""

    def __init__(self, wanted: Callable[[LogPart, str], bool] | None = None) -> None:
        self.wanted = wanted
        self.texts: dict[str, str] = {}

    def part(self, kind: str, text: str, name: str = "", path: str = "") -> LogPart:
        data = text.encode("utf-8", "surrogatepass")
        part = LogPart(kind, name, path, blake2b(data, digest_size=8).hexdigest(), len(data))
        if self.wanted is not None and self.wanted(part, text):
            self.texts[part.hash] = text
        return part

    def divided(self, how: str, text: str, divide: Callable[[], list[LogPart]]) -> list[LogPart]:
        """Return what `divide` returns. Long texts that many logs have in common, such as system prompts, are divided once."""
        if self.wanted is not None or len(text) < _LONG:
            return divide()
        key = f"{how} {hash_of(text)}"
        if key not in _divided:
            if len(_divided) >= _MAX_DIVIDED:
                _divided.clear()
            _divided[key] = divide()
        return _divided[key]


class NoTexts(Texts):
    """Creates parts without looking at their texts, for readers of figures."""

    def part(self, kind: str, text: str, name: str = "", path: str = "") -> LogPart:
        return LogPart(kind, name, path, "", 0)

    def divided(self, how: str, text: str, divide: Callable[[], list[LogPart]]) -> list[LogPart]:
        return [LogPart(how, "", "", "", 0)]


def json_text(content: Any) -> str:
    """Return content as compact JSON."""
    if type(content) is dict:
        return "".join(_chunks(content, 0))
    return _encode(content)


def without_pictures(content: Any) -> tuple[Any, int]:
    """Return content without the data of its pictures, and how many pictures it has."""
    if isinstance(content, list):
        pairs = [without_pictures(entry) for entry in content]
        return [entry for entry, _ in pairs], sum(count for _, count in pairs)
    if isinstance(content, dict):
        if content.get("type") in ("image", "input_image", "document") and (
            "source" in content or "image_url" in content
        ):
            return {"type": "image"}, 1
        if isinstance(content.get("content"), list):
            inner, count = without_pictures(content["content"])
            return ({**content, "content": inner}, count) if count else (content, 0)
    return content, 0
