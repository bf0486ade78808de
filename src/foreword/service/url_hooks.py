"""Hooks that are URLs, for programs that are not written in Python. They can only be set when the service starts.

A hook gets a POST request with the arguments of the Python hook of the same name, and returns its result. Requests are signed as
the Standard Webhooks specification describes, so that a receiver can use an existing library: the header `webhook-signature` contains
`v1,` and the HMAC-SHA256 of `id.timestamp.body`. Each call uses a new connection, follows no redirects and ignores proxy variables.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import re
import socket
import ssl
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from io import BufferedReader, RawIOBase
from secrets import token_hex
from time import monotonic, time
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from ..errors import CallError, HookError, check_messages, suggestion
from ..extensions import About, Extension, Start
from ..store import waits
from ..vocabulary import value
from .bodies import check_depth
from .host_names import HostName
from .request import parse_body
from .responses import Problem, to_json

HOOKS = ("before_agent_start", "context")
MAX_REQUEST = 16 * 2**20
MAX_RESPONSE = 8 * 2**20
_SECRET_PREFIX = "whsec_"
_MIN_KEY, _MAX_KEY = 24, 64
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PRINTABLE = re.compile(r"[!-~]+")
_SEND_SIZE = 64 * 1024
# What a finding says about an exception. Its own message may contain the address.
_REASONS: Mapping[type[Exception], str] = {
    ConnectionRefusedError: "the connection was refused",
    socket.gaierror: "the host name could not be resolved",
    ssl.SSLCertVerificationError: "the certificate could not be verified",
    ssl.SSLError: "the TLS connection failed",
    OSError: "the connection failed",
    HTTPException: "the response is not valid HTTP, or is incomplete",
}


class StartResult(msgspec.Struct, forbid_unknown_fields=True):
    """The response to `before_agent_start`."""

    prompt: str | None = None
    message: str | None = None


class ContextResult(msgspec.Struct, forbid_unknown_fields=True):
    """The response to `context`."""

    messages: list[dict[str, Any]]

    def __post_init__(self) -> None:
        check_depth(self.messages, "messages")
        try:
            check_messages(self.messages)
        except CallError as error:
            raise ValueError(str(error)) from None  # msgspec reports this like any other invalid value


@value
class _Url:
    host: str
    port: int
    is_https: bool
    target: str


def url_hooks(
    hooks: Sequence[str], required: Sequence[str], time_limit: float, allow_http: bool, secrets: str
) -> list[Extension]:
    """Return an extension for each hook, which is written as `context=https://…`. Required ones come last.

    Raises a CallError if a hook or the secret is invalid, without quoting a URL or the secret.
    """
    rows = [("--hook", text) for text in hooks] + [("--required-hook", text) for text in required]
    parsed = [(*_parse_hook(option, text, allow_http), option == "--required-hook") for option, text in rows]
    keys = _parse_secrets(secrets)
    return [
        _extension(f"hook {number}", name, _Caller(url, keys, time_limit), is_required)
        for number, (name, url, is_required) in enumerate(parsed, 1)
    ]


def _parse_hook(option: str, text: str, allow_http: bool) -> tuple[str, _Url]:
    name, _, address = text.partition("=")
    if name not in HOOKS:
        hint = suggestion(name, HOOKS) if ":" not in name else ""
        raise CallError(f"{option} needs HOOK=URL, where HOOK is {' or '.join(HOOKS)}{hint}")
    try:
        return name, _parse_url(address, allow_http)
    except ValueError as error:
        raise CallError(f"{option} {name}: the URL {error}") from None


def _parse_url(address: str, allow_http: bool) -> _Url:
    """Parse a URL. Raises a ValueError that says what is wrong with it, without quoting it."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not valid") from None
    if parts.scheme not in ("https", "http") or not host:
        raise ValueError("must begin with https:// or http:// and name a host")
    if not _PRINTABLE.fullmatch(address):
        raise ValueError("may only contain printable ASCII characters without spaces")
    if "@" in parts.netloc or "#" in address:
        raise ValueError("must not contain a user name, a password or a fragment; requests are signed instead")
    is_https = parts.scheme == "https"
    if not (is_https or host in _LOOPBACK or allow_http):
        raise ValueError(
            "must begin with https://, because prompts would be sent to another machine unencrypted;"
            " --allow-plain-hooks allows that"
        )
    return _Url(host, port or (443 if is_https else 80), is_https, _target(parts))


def _target(parts: SplitResult) -> str:
    """Return what the first line of a request names: the path and the query."""
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _parse_secrets(text: str) -> list[bytes]:
    """Return the keys. There may be several, so that a secret can be replaced while the service and the receivers run."""
    keys: list[bytes] = []
    for secret in text.split():
        try:
            key = b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not secret.startswith(_SECRET_PREFIX) or not _MIN_KEY <= len(key) <= _MAX_KEY:
            keys.clear()
            break
        keys.append(key)
    if not keys:
        raise CallError(
            f"hooks need FOREWORD_HOOK_SECRET: {_SECRET_PREFIX} followed by {_MIN_KEY} to {_MAX_KEY} random bytes in base64,"
            f" such as the output of: echo {_SECRET_PREFIX}$(openssl rand -base64 32)"
        )
    return keys


def _extension(name: str, hook: str, caller: _Caller, is_required: bool) -> Extension:
    required = [hook] if is_required else []

    def before_agent_start(prompt: str, message: str, about: About) -> Start | None:
        result = caller.call(hook, {"prompt": prompt, "message": message}, about, StartResult)
        return None if result is None else Start(result.prompt, result.message)

    def context(messages: list[Mapping[str, Any]], about: About) -> list[Mapping[str, Any]] | None:
        result = caller.call(hook, {"messages": messages}, about, ContextResult)
        return None if result is None else list(result.messages)

    if hook == "context":
        return Extension(name, context=context, required=required)
    return Extension(name, before_agent_start=before_agent_start, required=required)


class _Caller:
    """Calls one hook, from the threads for slow work."""

    def __init__(self, url: _Url, keys: Sequence[bytes], time_limit: float) -> None:
        self._url, self._keys, self._time_limit = url, keys, time_limit
        self._host = HostName(url.host, url.port)

    def call(self, hook: str, arguments: Mapping[str, Any], about: About, kind: type) -> Any:
        """Call the hook and return its result, or None if it has none. Raises a HookError if the call fails."""
        form = {name: getattr(about, name) for name in About.__annotations__}
        body = to_json({"hook": hook, **arguments, "about": form})
        if len(body) > MAX_REQUEST:
            raise HookError(f"the request would be larger than {MAX_REQUEST:,} bytes")
        waits.announce("hook")
        try:
            content = self._exchange(body, monotonic() + self._time_limit)
        except TimeoutError:
            raise HookError(f"no complete response within {self._time_limit:g} seconds") from None
        except (OSError, HTTPException) as error:
            waits.announce("hook")  # raises if the connection was closed because the client is no longer waiting
            reason = next(reason for kind, reason in _REASONS.items() if isinstance(error, kind))
            raise HookError(reason) from None
        if not content or content.strip() == b"null":
            return None
        try:
            return parse_body(content, kind)
        except Problem as problem:
            raise HookError(f"invalid response: {problem.detail}") from None

    def _exchange(self, body: bytes, deadline: float) -> bytes:
        """Return the content of the response, which is empty for status 204."""
        with _connect(self._url, self._host, deadline) as connected:
            waits.set_interrupt(partial(_interrupt, connected))
            try:
                connection = self._connection()
                connection.sock = _TimedSocket(connected, deadline)
                connection.request("POST", self._url.target, body, self._headers(body))
                return _content(connection.getresponse())
            finally:
                waits.set_interrupt(None)

    def _connection(self) -> HTTPConnection:
        if self._url.is_https:
            return HTTPSConnection(self._url.host, self._url.port, context=_tls_context())
        return HTTPConnection(self._url.host, self._url.port)

    def _headers(self, body: bytes) -> dict[str, str]:
        id, timestamp = f"msg_{token_hex(16)}", f"{int(time())}"
        signatures = (sign(key, id, timestamp, body) for key in self._keys)
        return {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "foreword",
            "Connection": "close",
            "webhook-id": id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(signatures),
        }


def sign(key: bytes, id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a request."""
    signature = hmac.new(key, f"{id}.{timestamp}.".encode(), hashlib.sha256)
    signature.update(body)
    return f"v1,{b64encode(signature.digest()).decode()}"


def _content(response: Any) -> bytes:
    if 300 <= response.status < 400:
        raise HookError(f"the response has status {response.status}; redirects are not followed")
    if response.status not in (200, 204):
        raise HookError(f"the response has status {response.status} instead of 200 or 204")
    content: bytes = response.read(MAX_RESPONSE + 1)
    if len(content) > MAX_RESPONSE:
        raise HookError(f"the response is larger than {MAX_RESPONSE:,} bytes")
    return content


# Sockets


class _TimedSocket:
    """A socket for http.client. Python's timeouts are for each operation; here, all operations share one deadline."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket, self._deadline = connected, deadline

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(_remaining(self._deadline))
            rest = rest[self._socket.send(rest[:_SEND_SIZE]) :]

    def makefile(self, mode: str) -> BufferedReader:
        return BufferedReader(_TimedReader(self._socket, self._deadline))

    def close(self) -> None:
        """Leave the socket open: http.client calls this before it has read the response."""


class _TimedReader(RawIOBase):
    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket, self._deadline = connected, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(_remaining(self._deadline))
        return self._socket.recv_into(buffer)


def _remaining(deadline: float) -> float:
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _connect(url: _Url, host: HostName, deadline: float) -> socket.socket:
    """Connect to the first address that accepts a connection, with TLS for https."""
    failure: OSError = OSError("the name has no address")
    for family, kind, protocol, _, address in host.addresses(deadline):
        connected = socket.socket(family, kind, protocol)
        try:
            connected.settimeout(_remaining(deadline))
            connected.connect(address)
        except OSError as error:
            connected.close()
            failure = error
            continue
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.settimeout(_remaining(deadline))
        return _tls_context().wrap_socket(connected, server_hostname=url.host) if url.is_https else connected
    raise failure


@cache
def _tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _interrupt(connected: socket.socket) -> None:
    """Shut down a socket that another thread is using. A TLS socket's own method would also change its state, which only that thread may do."""
    with suppress(OSError):
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
