"""Parse requests: path, query, headers and body."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec
import msgspec.inspect

from ..errors import suggestion
from .responses import Problem, Response
from .tool_cache import decode_body

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ETAG = re.compile(r'(?:W/)?"[^"]*"')
_NUMBER = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_BOOLEAN = re.compile("true|false")

_QUICK_BYTES, _QUICK_OBJECTS, _QUICK_VALUES = 256 * 1024, 2000, 10_000
_MAX_PARTS, _PART_BYTES = 200_000, 300
_VALUE_BYTES = 8
# Counting holds the interpreter too, so it happens in steps.
_COUNTED_BYTES = 64 * 1024


class Request:
    """A request for one route. `body` and `query` have the types that the route specifies, or `body` is the text of a large body.

    `size` is that of the body's text.
    """

    def __init__(
        self,
        path: Mapping[str, str],
        headers: Sequence[tuple[bytes, bytes]],
        query: Any = None,
        body: Any = None,
        size: int = 0,
    ) -> None:
        self._path, self._headers = path, headers
        self.query, self.body, self.size = query, body, size

    def decode_large_body(self, kind: type) -> None:
        """Decode the text of a large body as this type. Raises a Problem if it is invalid."""
        parsed_size(self.body)
        self.body = parse_body(bytes(self.body), kind)

    def text(self, name: str) -> str:
        """Return a path parameter."""
        return self._path[name]

    def number(self, name: str) -> int:
        """Return a path parameter that is a number."""
        text = self._path[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise Problem("invalid-request", f"{name} must be a whole number, not {text[:100]!r}")
        return int(text)

    def header(self, name: str) -> str:
        """Return a header by its lower-case name, or an empty string if it is missing."""
        encoded = name.encode()
        for key, content in self._headers:
            if key == encoded:
                return content.decode("latin-1")
        return ""

    def if_modified(self, response: Response) -> Response:
        """Return the response, or 304 if If-None-Match contains its ETag, weak or strong."""
        header = self.header("if-none-match")
        tag = response.headers["ETag"]
        if header and (header == tag or {tag, f"W/{tag}", "*"} & set(parse_tags(header))):
            return Response(b"", 304, response.headers, response.kind)
        return response


def parse_tags(header: str) -> list[str]:
    """Return the entity tags in a header, or `*`. Anything else is ignored."""
    return ["*"] if header.strip() == "*" else _ETAG.findall(header)


def is_quick(data: bytes | bytearray) -> bool:
    """Whether parsing a body takes so little time that other requests may wait for it."""
    if len(data) <= _QUICK_BYTES // 16:
        return True
    if len(data) > _QUICK_BYTES:
        return False
    objects = data.count(b"{")
    return objects <= _QUICK_OBJECTS and objects + data.count(b"[") + data.count(b",") <= _QUICK_VALUES


def parsed_size(data: bytes | bytearray) -> int:
    """Return about how many bytes a parsed body takes in addition to its text. Raises a Problem if it has too many parts."""
    parts = values = 0
    for start in range(0, len(data), _COUNTED_BYTES):
        end = start + _COUNTED_BYTES
        parts += data.count(b"{", start, end) + data.count(b"[", start, end)
        values += data.count(b",", start, end)
        if parts > _MAX_PARTS:
            raise Problem("too-large", f"the body must not contain more than {_MAX_PARTS:,} objects and lists")
    return len(data) + parts * _PART_BYTES + values * _VALUE_BYTES


def parse_body(data: bytes, kind: type) -> Any:
    """Decode a body as this type. Raises a Problem if it is invalid."""
    try:
        return decode_body(data, kind)
    except msgspec.ValidationError as error:
        raise Problem("invalid-body", _describe_error(error, kind)) from None
    except UnicodeDecodeError:
        raise Problem("not-json", "the body is not valid UTF-8; send a JSON object") from None
    except msgspec.DecodeError as error:
        detail = (
            "the body is empty" if not data.strip() else _describe_lone_surrogate(data) or _describe_error(error, kind)
        )
        raise Problem("not-json", f"{detail}; send a JSON object") from None
    except RecursionError:
        raise Problem("not-json", "the body is nested too deeply") from None


def _describe_lone_surrogate(data: bytes) -> str:
    """Return the error message if the body's only fault is an escaped lone surrogate, otherwise an empty string."""
    try:
        match = re.search("[\ud800-\udfff]", json.dumps(json.loads(data), ensure_ascii=False))
    except (ValueError, RecursionError):
        return ""
    return f"the body contains the lone surrogate \\u{ord(match[0]):x}" if match else ""


def parse_query(text: str, kind: type) -> Any:
    """Decode a query as this type. Raises a Problem if it is invalid."""
    types = field_types(kind)
    try:
        fields = parse_qs(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=1000)
        return msgspec.convert({name: _parse(name, texts, types.get(name)) for name, texts in fields.items()}, kind)
    except (msgspec.ValidationError, ValueError) as error:
        raise Problem("invalid-query", _describe_error(error, kind)) from None


@cache
def field_types(kind: type) -> dict[str, msgspec.inspect.Type]:
    """Return the types of a struct's fields, by their names in JSON."""
    struct = msgspec.inspect.type_info(kind)
    assert isinstance(struct, msgspec.inspect.StructType)
    return {field.encode_name: field.type for field in struct.fields}


def _parse(name: str, texts: list[str], kind: msgspec.inspect.Type | None) -> Any:
    """Return the value of a query parameter: a list of strings, JSON, a boolean, a number or a string."""
    if _is_repeated(kind):
        return texts
    if len(texts) > 1:
        raise Problem("invalid-query", f"{name[:100]!r} is repeated {len(texts)} times; pass it once")
    if is_json(kind):
        return _parse_json(name, texts[0])
    if isinstance(kind, msgspec.inspect.BoolType):
        return _match(name, texts[0], _BOOLEAN, "true or false") == "true"
    if isinstance(kind, msgspec.inspect.IntType):
        return int(_match(name, texts[0], _NUMBER, "a number such as 20"))
    return texts[0]


def _match(name: str, text: str, pattern: re.Pattern[str], expected: str) -> str:
    if not pattern.fullmatch(text):
        raise Problem("invalid-query", f"{name} must be {expected}, not {text[:100]!r}")
    return text


def is_json(kind: msgspec.inspect.Type | None) -> bool:
    """Whether a query parameter of this type is encoded as JSON."""
    kinds = msgspec.inspect.ListType | msgspec.inspect.StructType | msgspec.inspect.DictType
    return isinstance(kind, kinds) and not _is_repeated(kind)


def _is_repeated(kind: msgspec.inspect.Type | None) -> bool:
    return isinstance(kind, msgspec.inspect.ListType) and isinstance(kind.item_type, msgspec.inspect.StrType)


def _parse_json(name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Problem("invalid-query", f"{name} must be valid JSON") from None


def _describe_error(error: Exception, kind: type) -> str:
    """Return a msgspec error's message, with a suggestion if a field is unknown."""
    message = str(error).replace("`", "'").replace(" - at 'key' in '$", " for every key - at '$")
    what, _, where = message.partition(" - at '$")
    path = where.removesuffix("'").removeprefix(".")
    unknown = re.search(r"unknown field '(.*)'$", what)
    if unknown and not path:
        what += suggestion(unknown[1], [field.encode_name for field in msgspec.structs.fields(kind)])
    if what.startswith("Invalid enum value") and (accepted := accepted_values(kind, path)):
        what += f"; expected one of {', '.join(map(repr, accepted))}"
    if not what[:2].isupper():
        what = what[:1].lower() + what[1:]
    return f"{path}: {what}" if path else what


def accepted_values(kind: type, path: str) -> list[object]:
    """Return the values that the field at this path accepts, if its type lists them."""
    types = [msgspec.inspect.type_info(kind)]
    for step in re.findall(r"\[[^\]]*\]|[^.\[]+", path):
        types = [inner for type_ in _alternatives(types) for inner in _types_in(type_, step)]
    return [
        accepted
        for type_ in _alternatives(types)
        if isinstance(type_, msgspec.inspect.LiteralType)
        for accepted in type_.values
    ]


def _alternatives(types: list[msgspec.inspect.Type]) -> list[msgspec.inspect.Type]:
    """Return these types, with each union replaced by its members."""
    unions = msgspec.inspect.UnionType
    return [member for type_ in types for member in (type_.types if isinstance(type_, unions) else (type_,))]


def _types_in(type_: msgspec.inspect.Type, step: str) -> list[msgspec.inspect.Type]:
    """Return the type of a field or an item."""
    if isinstance(type_, msgspec.inspect.StructType):
        return [field.type for field in type_.fields if field.encode_name == step]
    if isinstance(type_, msgspec.inspect.ListType):
        return [type_.item_type]
    return [type_.value_type] if isinstance(type_, msgspec.inspect.DictType) else []
