"""Open the socket on which the service listens."""

from __future__ import annotations

import os
import socket
import stat
from typing import Any

import uvicorn

from ..errors import CallError
from ..text.lines import printable


def bind(config: uvicorn.Config) -> Any:
    """Open the listening socket."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
        # Listen now, because a client that knows the address may connect before the application is ready.
        listening.listen(config.backlog)
    except OSError as error:
        listening.close()
        raise CallError(
            f"cannot listen on {config.host}:{config.port}: {error.strerror}; choose another port with --port"
        ) from None
    listening.set_inheritable(True)
    return listening


def url_of(host: str, listening: Any, scheme: str = "http") -> str:
    """Return the URL of a listening socket, which may have picked a free port."""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listening.getsockname()[1]}"


def bind_unix(path: str, backlog: int) -> socket.socket:
    """Open a unix socket that only this user can connect to. A socket left by a process that has ended is replaced."""
    _remove_unused(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listening.bind(path)
        listening.listen(backlog)
    except OSError as error:
        listening.close()
        raise CallError(f"cannot listen on --unix {printable(path)}: {error.strerror or error}") from None
    finally:
        os.umask(mask)
    listening.set_inheritable(True)
    return listening


def unlink_socket(path: str) -> None:
    """Remove a unix socket."""
    try:
        os.unlink(path)
    except OSError:
        pass


def _remove_unused(path: str) -> None:
    """Remove a unix socket that nobody listens on. Raises a CallError if the path is used by a service or is not a socket."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise CallError(f"--unix {printable(path)} exists and is not a socket; choose another path")
    except FileNotFoundError:
        return
    except OSError as error:
        raise CallError(f"--unix {printable(path)}: {error.strerror}") from None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            unlink_socket(path)
            return
        except OSError as error:
            raise CallError(f"--unix {printable(path)}: {error.strerror}") from None
    raise CallError(f"--unix {printable(path)}: another service is listening there; choose another path")
