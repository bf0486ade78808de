"""Compress responses with gzip, for clients that accept it."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Sequence

from ..vocabulary import replace
from .responses import Response

MIN_BYTES = 1024
# A compression that takes longer than the rest of the request runs in a thread.
_MAX_INLINE_BYTES = 64 * 1024
_LEVEL = 3
_GZIP_FORMAT = 31
_KINDS = ("application/json", "application/problem+json", "text/", "application/javascript", "image/svg")
_REFUSED = re.compile(rb"q=0(?:\.0*)?$")


def accepts_gzip(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a client's headers accept gzip."""
    for name, content in headers:
        if name == b"accept-encoding":
            for part in content.lower().split(b","):
                coding, _, quality = part.strip().partition(b";")
                if coding.strip() in (b"gzip", b"*") and not _REFUSED.match(quality.strip()):
                    return True
    return False


async def compressed(response: Response) -> Response:
    """Return the response with a compressed body, if its kind can be compressed."""
    if not response.kind.startswith(_KINDS) or "Content-Encoding" in response.headers:
        return response
    size = len(response.body) + len(response.tail)
    body = _compress(response) if size <= _MAX_INLINE_BYTES else await asyncio.to_thread(_compress, response)
    headers = {**response.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return replace(response, body=body, tail=b"", headers=headers)


def _compress(response: Response) -> bytes:
    compressor = zlib.compressobj(_LEVEL, wbits=_GZIP_FORMAT)
    return compressor.compress(response.body) + compressor.compress(response.tail) + compressor.flush()
