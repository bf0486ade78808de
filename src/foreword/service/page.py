"""The page, as it was built into the package; without it, a small one that says how to build it and names the routes."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from html import escape

from .answers import Answer, Problem
from .call import Call
from .route import Route

FOLDER = os.path.join(os.path.dirname(__file__), "static")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
SAFE = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_known: dict[str, tuple[tuple[int, int], bytes, bytes, str]] = {}


def first_page(call: Call, routes: Sequence[Route]) -> Answer:
    """The built page, or the small one."""
    if os.path.isfile(os.path.join(FOLDER, "index.html")):
        return asset("index.html", call)
    return Answer(_small(routes).encode(), headers=SAFE, kind=_KINDS[".html"])


def asset(name: str, call: Call) -> Answer:
    """A file of the page, compressed where the browser takes that."""
    kind = _KINDS.get(os.path.splitext(name)[1])
    if kind is None or "/" in name or "\0" in name or not os.path.isfile(os.path.join(FOLDER, name)):
        raise Problem("not-found", "the page has no such file")
    body, packed, tag = _read(name)
    headers = {**SAFE, "ETag": tag, "Vary": "Accept-Encoding"}
    if "gzip" in call.header("accept-encoding"):
        body, headers = packed, {**headers, "Content-Encoding": "gzip"}
    return call.unless_known(Answer(body, headers=headers, kind=kind))


def _read(name: str) -> tuple[bytes, bytes, str]:
    path = os.path.join(FOLDER, name)
    status = os.stat(path)
    stamp = (status.st_mtime_ns, status.st_size)
    if name not in _known or _known[name][0] != stamp:
        with open(path, "rb") as file:
            body = file.read()
        _known[name] = (stamp, body, gzip.compress(body, 9, mtime=0), f'"{stamp[0]:x}-{stamp[1]:x}"')
    return _known[name][1:]


def _small(routes: Sequence[Route]) -> str:
    rows = "\n".join(
        f"<li><code>{route.method} {escape(route.path)}</code> {escape(route.about.splitlines()[0])}</li>"
        for route in routes
        if route.answer is not None
    )
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Foreword</title></head>
<body>
<h1>Foreword</h1>
<p>The service runs. Its page is not built into this installation: <code>make page</code> in a checkout builds it.</p>
<p><a href="/openapi.json">/openapi.json</a> describes these routes:</p>
<ul>
{rows}
</ul>
</body>
</html>
"""
