"""Decide who may send requests: check the token, the host name, the origin and the size of the headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .rates import RateLimit, network_of
from .responses import Problem
from .tokens import UNLIMITED, Caller, Tokens

_LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
# If a request had one of these twice, a proxy in front of the service might use one value and the service the other.
_UNIQUE_HEADERS = frozenset(
    b"host authorization content-length content-type origin expect sec-fetch-site sec-fetch-mode".split()
)
MAX_HEADER_BYTES = 32 * 1024


class RequestGuard:
    """Decides which requests to accept.

    Without a token, the host name must be known, because another site's page could make a browser send requests. With a token, any host
    name is accepted, because another site's page does not know the token. `rates` limits how many tokens an address may try.
    """

    def __init__(
        self,
        tokens: Tokens | None = None,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        rates: RateLimit | None = None,
    ) -> None:
        self._tokens, self._rates = tokens or Tokens(), rates
        self._origins = frozenset(origin.lower().encode() for origin in origins)
        self._hosts = _LOOPBACK | {host.lower() for host in hosts}

    def check(self, method: str, headers: Sequence[tuple[bytes, bytes]], is_open: bool, address: str = "") -> Caller:
        """Return who sent this request. Raises a Problem if it must be refused."""
        by_name: dict[bytes, bytes] = {}
        size = 0
        for name, content in headers:
            if name in _UNIQUE_HEADERS and name in by_name:
                raise Problem("invalid-headers", f"the request has several {name.decode().title()} headers; send one")
            by_name[name] = content
            size += len(name) + len(content)
        if size > MAX_HEADER_BYTES:
            raise Problem(
                "headers-too-large", f"the headers are {size:,} bytes long; the limit is {MAX_HEADER_BYTES:,}"
            )
        host = by_name.get(b"host", b"").decode("latin-1").lower()
        if not host:
            raise Problem("invalid-headers", "the Host header is missing or empty; it must be the name of this service")
        if not self._tokens and _without_port(host) not in self._hosts:
            raise Problem(
                "foreign-host",
                f"this service accepts requests for {', '.join(sorted(self._hosts))}, not for {host[:200]!r}; add a name with --allow-host",
            )
        if by_name.get(b"origin", b"").lower() not in self._origins:
            _check_origin(method, by_name, host)
        if is_open or not self._tokens:
            return UNLIMITED
        return self._find_caller(by_name.get(b"authorization", b""), address)

    def accepts(self, headers: Sequence[tuple[bytes, bytes]], caller: Caller) -> bool:
        """Whether the token in these headers still has the rights that the caller had when the request was checked."""
        return not self._tokens or self._tokens.find(dict(headers).get(b"authorization", b"")) == caller

    def refresh(self) -> None:
        """Read the file of tokens again if it has changed."""
        self._tokens.refresh()

    def _find_caller(self, header: bytes, address: str) -> Caller:
        # A token that is in use is not affected by others who try tokens from the same address. One that was not seen before is not even
        # looked up when the limit is reached: otherwise the right guess among many would still be answered.
        if self._rates is not None and not self._tokens.has_accepted(header):
            self._rates.check(network_of(address))
        scheme, _, token = header.partition(b" ")
        if scheme.lower() != b"bearer" or not token.strip():
            raise Problem("missing-token", "send the header 'Authorization: Bearer TOKEN'")
        caller = self._tokens.find(header)
        if caller is None:
            raise Problem("invalid-token", "the token is unknown; check the Authorization header")
        return caller


def _check_origin(method: str, by_name: Mapping[bytes, bytes], host: str) -> None:
    """Refuse requests from other sites' pages, except when the user follows a link."""
    origin = by_name.get(b"origin")
    if origin is not None and origin.decode("latin-1").lower().partition("://")[2] != host:
        raise Problem("foreign-origin", "requests from other sites' pages are refused")
    site, mode = by_name.get(b"sec-fetch-site"), by_name.get(b"sec-fetch-mode")
    if site in (b"cross-site", b"same-site") and not (mode == b"navigate" and method in ("GET", "HEAD")):
        raise Problem("foreign-origin", "requests from other sites' pages are refused")


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
