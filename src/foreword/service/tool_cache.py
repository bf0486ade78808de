"""Parse the tools of a request once. Agents send the same long list with every turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

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
    raw = _raw_tools(data) if "tools" in kind.__struct_fields__ else b""  # type: ignore[attr-defined]
    if not raw:
        return msgspec.json.decode(data, type=kind)
    shared = _known.get(raw)
    body: Any
    if shared is not None:
        body = msgspec.json.decode(data.replace(raw, _NO_TOOLS), type=kind)
    else:
        body = msgspec.json.decode(data, type=kind)
        shared = SharedTools(body.tools)
        _known[raw] = shared
    body.tools = shared
    return body


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
