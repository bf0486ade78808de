"""Parse the tools of a request once. Agents send the same long list with every turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ..errors import CallError
from ..vocabulary.tool_forms import tool_rows
from ..vocabulary.tools import Tool
from .bounded import BoundedDict

_MIN_BYTES, _MAX_BYTES = 100, 256 * 1024
_MAX_LISTS = 64
_NO_TOOLS = b"[]"


class SharedTools(list[Any]):
    """The tools of several requests, and the agent's tools that they describe, once one of the requests has needed them."""

    tools: Sequence[Tool] | None = None


class _OnlyTools(msgspec.Struct):
    tools: msgspec.Raw = msgspec.Raw(b"")


_decoder = msgspec.json.Decoder(_OnlyTools)
_known: BoundedDict[bytes, SharedTools] = BoundedDict(_MAX_LISTS)


def decode_body(data: bytes, kind: type) -> Any:
    """Decode a body as this type, with the tools of an earlier body if they are the same, byte for byte."""
    if "tools" not in kind.__struct_fields__:  # type: ignore[attr-defined]
        return msgspec.json.decode(data, type=kind)
    raw = _raw_tools(data)
    if not raw:
        return _decode(data, kind)
    shared = _known.get(raw)
    body: Any
    if shared is not None:
        body = msgspec.json.decode(data.replace(raw, _NO_TOOLS), type=kind)
    else:
        body = _decode(data, kind)
        shared = SharedTools(body.tools)
        _known[raw] = shared
    body.tools = shared
    return body


def _decode(data: bytes, kind: type) -> Any:
    """Decode a body whose tools may be in a provider's form."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        content = msgspec.json.decode(data)
        tools = content.get("tools") if isinstance(content, dict) else None
        if not isinstance(tools, list):
            raise
        try:
            rows = [each for row in tools for each in tool_rows(row)]
        except CallError as error:
            raise msgspec.ValidationError(str(error)) from None
        if rows == tools:
            raise
        return msgspec.convert({**content, "tools": rows}, kind)


def forget_tools(_: object = None) -> None:
    """Drop all tools, because the store has forgotten something. The next requests parse theirs again."""
    _known.clear()


def _raw_tools(data: bytes) -> bytes:
    """Return the JSON of a body's tools, or nothing if they are not worth sharing or cannot be found by searching for them."""
    try:
        raw = bytes(_decoder.decode(data).tools)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b""
    is_list = raw.startswith(b"[") and _MIN_BYTES <= len(raw) <= _MAX_BYTES
    return raw if is_list and data.count(raw) == 1 else b""
