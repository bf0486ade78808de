"""Parse the tools of a request once. Agents send the same long list with every turn."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import msgspec

from ..errors import CallError
from ..vocabulary import Agent
from ..vocabulary.tool_forms import tool_rows
from ..vocabulary.tools import Tool
from .bodies import MAX_TOOLS
from .bounded import BoundedDict

_MIN_BYTES, _MAX_BYTES = 100, 256 * 1024
_MAX_LISTS, _MAX_AGENTS = 64, 16
_NO_TOOLS = b"[]"
_BEGINNING = 64


class SharedTools(list[Any]):
    """The tools of several requests, and the agent's tools that they describe, once one of the requests has needed them."""

    tools: Sequence[Tool] | None = None

    def __init__(self, tools: Iterable[Any]) -> None:
        super().__init__(tools)
        # The agents that such requests have described, by their other fields. They have no session.
        self.agents: BoundedDict[Hashable, Agent] = BoundedDict(_MAX_AGENTS)


class _OnlyTools(msgspec.Struct):
    tools: msgspec.Raw = msgspec.Raw(b"")


_decoder = msgspec.json.Decoder(_OnlyTools)
_known: BoundedDict[bytes, SharedTools] = BoundedDict(_MAX_LISTS)


def decode_body(data: bytes, kind: type) -> Any:
    """Decode a body as this type, with the tools of an earlier body if they are the same, byte for byte."""
    raw = _raw_tools(data) if "tools" in kind.__struct_fields__ else b""  # type: ignore[attr-defined]
    if len(raw) > _MAX_BYTES:
        _check_number(raw)
    start = _position(raw, data)
    is_shared = start >= 0
    shared = _known.get(raw) if is_shared else None
    if shared is not None:
        data = data[:start] + _NO_TOOLS + data[start + len(raw) :]
    try:
        body: Any = msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        if shared is not None or not raw:
            raise
        body = _with_converted_tools(data, kind, error)
    if is_shared:
        if shared is None:
            shared = _known[raw] = SharedTools(body.tools)
        body.tools = shared
    return body


def _with_converted_tools(data: bytes, kind: type, error: msgspec.ValidationError) -> Any:
    """Decode a body whose tools are in a provider's form. Raises this error if they are not."""
    content = msgspec.json.decode(data)
    tools = content.get("tools")
    if not isinstance(tools, list):
        raise error
    try:
        rows = [each for row in tools for each in tool_rows(row)]
    except CallError as problem:
        raise msgspec.ValidationError(str(problem)) from None
    if rows == tools:
        raise error
    return msgspec.convert({**content, "tools": rows}, kind)


def forget_tools(_: object = None) -> None:
    """Drop all tools, because the store has forgotten something. The next requests parse theirs again."""
    _known.clear()


def _raw_tools(data: bytes) -> bytes:
    """Return the JSON of a body's tools, or nothing if there are none."""
    try:
        return bytes(_decoder.decode(data).tools)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b""


def _position(raw: bytes, data: bytes) -> int:
    """Return where the tools are in a body, or -1 if they are not a long list, or something else begins like them."""
    if not raw.startswith(b"[") or not _MIN_BYTES <= len(raw) <= _MAX_BYTES:
        return -1
    beginning = raw[:_BEGINNING]  # searching for all of them would take longer than decoding the rest
    return data.find(beginning) if data.count(beginning) == 1 else -1


def _check_number(raw: bytes) -> None:
    """Raise a ValidationError if there are too many tools. Otherwise all of them would be decoded before anyone counts them."""
    try:
        number = len(msgspec.json.decode(raw, type=list[msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError):
        return
    if number > MAX_TOOLS:
        raise msgspec.ValidationError(f"Expected `array` of length <= {MAX_TOOLS}, not {number} - at `$.tools`")
