"""Who may ask: the token, the host a request was meant for, the page it comes from, the size of its headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest

from .answers import Problem

_LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
# Two of these could be read as one or the other, here and by a proxy before us.
_ONCE = frozenset(b"host authorization content-length content-type origin expect sec-fetch-site sec-fetch-mode".split())
LARGEST_HEADERS = 32 * 1024


class Guard:
    """Without a token only requests that were meant for this machine are answered: a web page elsewhere may lead a browser here.

    With a token, any host name will do: no page elsewhere knows it.
    """

    def __init__(self, token: str = "", hosts: Iterable[str] = ()) -> None:
        self._token = token.encode()
        self._hosts = _LOOPBACK | {each.lower() for each in hosts}

    def check(self, method: str, headers: Sequence[tuple[bytes, bytes]], is_open: bool) -> None:
        """A Problem if this request is not to be answered."""
        named: dict[bytes, bytes] = {}
        size = 0
        for name, content in headers:
            if name in _ONCE and name in named:
                raise Problem(
                    "wrong-headers", f"the request has several headers {name.decode().title()}; one is accepted"
                )
            named[name] = content
            size += len(name) + len(content)
        if size > LARGEST_HEADERS:
            raise Problem("large-headers", f"the headers have {size:,} bytes; at most {LARGEST_HEADERS:,} are accepted")
        host = named.get(b"host", b"").decode("latin-1").lower()
        if not host:
            raise Problem(
                "wrong-headers", "the request has no header Host, or an empty one; it names the service it is meant for"
            )
        if not self._token and _without_port(host) not in self._hosts:
            raise Problem(
                "foreign-host",
                f"this service is known as {', '.join(sorted(self._hosts))}, not as {host[:200]!r}; --allow-host adds a name",
            )
        _check_origin(method, named, host)
        if self._token and not is_open:
            self._check_token(named.get(b"authorization", b""))

    def _check_token(self, header: bytes) -> None:
        scheme, _, token = header.partition(b" ")
        if scheme.lower() != b"bearer" or not token.strip():
            raise Problem("no-token", "this service takes a header 'Authorization: Bearer TOKEN'")
        if not compare_digest(token.strip(), self._token):
            raise Problem("wrong-token", "the token of the request is not the one this service was started with")


def _check_origin(method: str, named: Mapping[bytes, bytes], host: str) -> None:
    """A page of another site may lead people here by a link, and do nothing else."""
    origin = named.get(b"origin")
    if origin is not None and origin.decode("latin-1").lower().partition("://")[2] != host:
        raise Problem("foreign-origin", "this service answers its own page and programs, not pages of other sites")
    site, mode = named.get(b"sec-fetch-site"), named.get(b"sec-fetch-mode")
    if site in (b"cross-site", b"same-site") and not (mode == b"navigate" and method in ("GET", "HEAD")):
        raise Problem("foreign-origin", "this service answers its own page and programs, not pages of other sites")


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
