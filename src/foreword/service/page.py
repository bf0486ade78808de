"""Serve the web page, or a placeholder that says how to build it if the package does not include it."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Sequence
from html import escape

from .request import Request
from .responses import Problem, Response
from .route import Route

FOLDER = os.path.join(os.path.dirname(__file__), "static")
HOW_TO_GET_IT = "run `make page` in the checkout; if you installed from it with pip, install it again"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
# esbuild ends the name of a chunk with a hash of its content.
_HASHED = re.compile(r"-[A-Z0-9]{8}\.js$")
_file_cache: dict[str, tuple[tuple[int, int], bytes, bytes, str]] = {}


def is_included() -> bool:
    """Whether this installation includes the page."""
    return os.path.isfile(os.path.join(FOLDER, "index.html"))


def page_or_placeholder(request: Request, routes: Sequence[Route]) -> Response:
    """Return the built page, or the placeholder."""
    if is_included():
        return asset("index.html", request)
    return Response(_placeholder(routes).encode(), headers=SECURITY_HEADERS, kind=_KINDS[".html"])


def asset(name: str, request: Request) -> Response:
    """Return one of the page's files, compressed if the browser accepts gzip."""
    kind = _KINDS.get(os.path.splitext(name)[1])
    if kind is None or "/" in name or "\0" in name or not os.path.isfile(os.path.join(FOLDER, name)):
        raise Problem("not-found", f"the page has no file {name[:100]!r}")
    body, compressed, tag = _read(name)
    headers = {**SECURITY_HEADERS, "ETag": tag, "Vary": "Accept-Encoding"}
    if _HASHED.search(name):
        headers["Cache-Control"] = "public, max-age=31536000, immutable"
    if "gzip" in request.header("accept-encoding"):
        body, headers = compressed, {**headers, "Content-Encoding": "gzip"}
    return request.if_modified(Response(body, headers=headers, kind=kind))


def _read(name: str) -> tuple[bytes, bytes, str]:
    path = os.path.join(FOLDER, name)
    status = os.stat(path)
    stamp = (status.st_mtime_ns, status.st_size)
    if name not in _file_cache or _file_cache[name][0] != stamp:
        with open(path, "rb") as file:
            body = file.read()
        _file_cache[name] = (stamp, body, gzip.compress(body, 9, mtime=0), f'"{stamp[0]:x}-{stamp[1]:x}"')
    return _file_cache[name][1:]


def _placeholder(routes: Sequence[Route]) -> str:
    rows = "\n".join(
        f"<li><code>{route.method} {escape(route.path)}</code> {escape(route.description.splitlines()[0])}</li>"
        for route in routes
        if route.response is not None
    )
    how = HOW_TO_GET_IT.replace("`make page`", "<code>make page</code>")
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Foreword</title></head>
<body>
<h1>Foreword</h1>
<p>The service is running, but this installation does not include its web page. To get it, {how}.</p>
<p><a href="/openapi.json">/openapi.json</a> describes these routes:</p>
<ul>
{rows}
</ul>
</body>
</html>
"""
