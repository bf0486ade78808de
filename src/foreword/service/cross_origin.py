"""Cross-origin resource sharing: tells browsers that the pages of certain sites may read responses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import CallError, show

_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]{1,5})?|https?://\[[0-9a-f:]+\](?::[0-9]{1,5})?")
_EXPOSED_HEADERS = b"ETag, Foreword-Store, Retry-After, Template-Syntax, X-Request-Id"
_METHODS = b"GET, HEAD, POST, PUT, DELETE"
_MAX_AGE = b"600"


def check_origins(origins: Sequence[str]) -> None:
    """Raise a CallError for an origin that no browser sends."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin.lower()):
            raise CallError(
                f"--allow-origin must be a site such as https://app.example, without a path, not {show(origin)}"
            )


class CrossOrigin:
    """Adds the headers for allowed origins to an application's responses, and answers the browser's preflight requests."""

    def __init__(self, application: Any, origins: Sequence[str]) -> None:
        self._application = application
        self._origins = frozenset(origin.lower().encode() for origin in origins)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        origin = headers.get(b"origin", b"")
        if origin.lower() not in self._origins:
            await self._application(scope, receive, send)
            return
        allowed = [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            allowed.append((b"access-control-allow-methods", _METHODS))
            allowed.append((b"access-control-max-age", _MAX_AGE))
            requested = headers.get(b"access-control-request-headers")
            if requested is not None:
                allowed.append((b"access-control-allow-headers", requested))
            await send({"type": "http.response.start", "status": 204, "headers": allowed})
            await send({"type": "http.response.body"})
            return

        async def send_with_headers(message: Any) -> None:
            if "headers" in message:
                exposed = (b"access-control-expose-headers", _EXPOSED_HEADERS)
                message["headers"] = [*message["headers"], *allowed, exposed]
            await send(message)

        await self._application(scope, receive, send_with_headers)
