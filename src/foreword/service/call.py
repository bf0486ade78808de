"""A request, read: what its path, query, headers and body say."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec
import msgspec.inspect

from ..errors import suggestion
from .answers import Answer, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TAG = re.compile(r'(?:W/)?"[^"]*"')
_NUMBER = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_TRUTH = re.compile("true|false")


class Call:
    """One request for one route. `body` and `query` are of the types that the route names; `moment` is that of the store, where
    it is known."""

    def __init__(
        self, path: Mapping[str, str], headers: Sequence[tuple[bytes, bytes]], query: Any = None, body: Any = None
    ) -> None:
        self._path, self._headers = path, headers
        self.query, self.body = query, body
        self.moment: object = None

    def text(self, name: str) -> str:
        """A variable segment of the path."""
        return self._path[name]

    def number(self, name: str) -> int:
        """A variable segment of the path that is a number."""
        text = self._path[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise Problem("wrong-call", f"{name} takes a number from 0 on, not {text[:100]!r}")
        return int(text)

    def header(self, name: str) -> str:
        """A header by its name in lower case; empty if there is none."""
        wanted = name.encode()
        for key, content in self._headers:
            if key == wanted:
                return content.decode("latin-1")
        return ""

    def unless_known(self, answer: Answer) -> Answer:
        """The answer, or that the caller has it already: If-None-Match names its ETag, weak or not."""
        header = self.header("if-none-match")
        tag = answer.headers["ETag"]
        if header and (header == tag or {tag, f"W/{tag}", "*"} & set(tags_in(header))):
            return Answer(b"", 304, answer.headers, answer.kind)
        return answer


def tags_in(header: str) -> list[str]:
    """The tags that a header names, each as it is written, or `*`. What is no tag is left out."""
    return ["*"] if header.strip() == "*" else _TAG.findall(header)


def read_body(data: bytes, kind: type) -> Any:
    """The body as this type; a Problem that says what is wrong with it."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise Problem("wrong-body", _sentence(error, kind)) from None
    except UnicodeDecodeError:
        raise Problem("not-json", "the body holds bytes that are no UTF-8; this route takes a JSON object") from None
    except msgspec.DecodeError as error:
        said = "the body is empty" if not data.strip() else _half_in(data) or _sentence(error, kind)
        raise Problem("not-json", f"{said}; this route takes a JSON object") from None
    except RecursionError:
        raise Problem("not-json", "the body is nested too deeply") from None


def _half_in(data: bytes) -> str:
    """What is said of a body whose one fault is an escape of half a character; empty for others."""
    try:
        found = re.search("[\ud800-\udfff]", json.dumps(json.loads(data), ensure_ascii=False))
    except (ValueError, RecursionError):
        return ""
    return f"the body holds \\u{ord(found[0]):x} alone, which is half a character" if found else ""


def read_query(text: str, kind: type) -> Any:
    """The query as this type; a Problem that says what is wrong with it."""
    try:
        given = parse_qs(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=1000)
        return msgspec.convert({name: _read(name, each, fields(kind).get(name)) for name, each in given.items()}, kind)
    except (msgspec.ValidationError, ValueError) as error:
        raise Problem("wrong-query", _sentence(error, kind)) from None


@cache
def fields(kind: type) -> dict[str, msgspec.inspect.Type]:
    described = msgspec.inspect.type_info(kind)
    assert isinstance(described, msgspec.inspect.StructType)
    return {each.encode_name: each.type for each in described.fields}


def _read(name: str, texts: list[str], kind: msgspec.inspect.Type | None) -> Any:
    """What a query says of one field: a list of texts, JSON, or a text as the number or truth it is written as."""
    if _is_repeated(kind):
        return texts
    if len(texts) > 1:
        raise Problem("wrong-query", f"{name[:100]!r} is said {len(texts)} times; once would be right")
    if is_json(kind):
        return _read_json(name, texts[0])
    if isinstance(kind, msgspec.inspect.BoolType):
        return _matched(name, texts[0], _TRUTH, "true or false") == "true"
    if isinstance(kind, msgspec.inspect.IntType):
        return int(_matched(name, texts[0], _NUMBER, "a number such as 20"))
    return texts[0]


def _matched(name: str, text: str, form: re.Pattern[str], taken: str) -> str:
    if not form.fullmatch(text):
        raise Problem("wrong-query", f"{name} takes {taken}, not {text[:100]!r}")
    return text


def is_json(kind: msgspec.inspect.Type | None) -> bool:
    """Whether a query says this as JSON: it is more than a text."""
    return isinstance(kind, msgspec.inspect.ListType | msgspec.inspect.StructType) and not _is_repeated(kind)


def _is_repeated(kind: msgspec.inspect.Type | None) -> bool:
    return isinstance(kind, msgspec.inspect.ListType) and isinstance(kind.item_type, msgspec.inspect.StrType)


def _read_json(name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Problem("wrong-query", f"{name}: this is said as JSON, and what is said is none") from None


def _sentence(error: Exception, kind: type) -> str:
    """What msgspec says, as a sentence; of a field that is not known, which one was meant."""
    what, _, where = str(error).replace("`", "'").partition(" - at '$")
    place = where.removesuffix("'").removeprefix(".")
    unknown = re.search(r"unknown field '(.*)'$", what)
    if unknown and not place:
        what += suggestion(unknown[1], [each.encode_name for each in msgspec.structs.fields(kind)])
    if not what[:2].isupper():
        what = what[:1].lower() + what[1:]
    return f"{place}: {what}" if place else what
