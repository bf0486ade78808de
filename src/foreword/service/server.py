"""Start the processes that listen for requests. Workers share one socket and read their options from the environment."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import uvicorn

from ..errors import CallError
from ..extensions import Extension, installed
from ..packs.settings import parse_assignment
from .application import TEMPLATE_QUEUE, TEMPLATE_WORKERS, Application
from .guard import RequestGuard
from .log import Handler, Log
from .memory import IN_FLIGHT
from .metrics import Metrics
from .routes import ROUTES
from .service import Service
from .uvicorn_adapter import Connection, Supervisor

TOKEN = "FOREWORD_TOKEN"
_OPTIONS = "FOREWORD_SERVE"
_TOKEN = re.compile(r"[!-~]+")
_SHUTDOWN_SECONDS = 30
_KEEP_ALIVE_SECONDS = 30
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `foreword serve`."""

    store: str
    roots: tuple[str, ...]
    host: str = "127.0.0.1"
    port: int = 8371
    workers: int = 1
    hosts: tuple[str, ...] = ()
    log_json: bool = False
    metrics: str = ""
    time_limit: float = 30.0
    template_workers: int = TEMPLATE_WORKERS
    template_queue: int = TEMPLATE_QUEUE
    in_flight: int = IN_FLIGHT
    home: str | None = None
    settings_file: str = ""
    assignments: tuple[str, ...] = ()
    packs: dict[str, str] = {}


def serve(options: ServerOptions, token: str, on_listen: Callable[[str], None]) -> None:
    """Listen until a signal arrives, then finish the requests in flight. `on_listen` is called with the URL once clients can connect."""
    check_exposure(options.host, token, "--host")
    service = create_service(options)  # report invalid options once, not in every worker
    try:
        service.check_settings()
    finally:
        service.conversations.close()
    folder = tempfile.mkdtemp(prefix="foreword-metrics-") if options.workers > 1 else ""
    try:
        _listen(msgspec.structs.replace(options, metrics=folder), on_listen)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def check_exposure(host: str, token: str, option: str) -> None:
    """Raise a CallError if others could reach this address without a token, or if the token cannot be sent."""
    if host not in _LOOPBACK and not token:
        raise CallError(
            f"{option} {host}: anyone who can reach this address could read and change prompts; set {TOKEN} to a long random string,"
            " which clients send as 'Authorization: Bearer …'"
        )
    if token and not _TOKEN.fullmatch(token):
        raise CallError(f"{TOKEN} may only contain printable ASCII characters without spaces")


def create_service(options: ServerOptions, extensions: Sequence[Extension] = ()) -> Service:
    """Create the service that these options describe."""
    return Service(
        options.store,
        options.roots,
        extensions,
        home=options.home,
        settings=options.settings_file,
        assignments=[parse_assignment(assignment) for assignment in options.assignments],
        packs=options.packs,
    )


def uvicorn_config(options: ServerOptions, application: str = "foreword.service.server:application") -> uvicorn.Config:
    """Return uvicorn's configuration, and set the environment variable that passes the options to worker processes."""
    os.environ[_OPTIONS] = msgspec.json.encode(options).decode()
    return uvicorn.Config(
        application,
        factory=True,
        host=options.host,
        port=options.port,
        workers=options.workers,
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        http=Connection,
        ws="none",
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )


def _listen(options: ServerOptions, on_listen: Callable[[str], None]) -> None:
    config = uvicorn_config(options)
    _set_up_logging(options)
    listening = bind(config)
    name = f"[{options.host}]" if ":" in options.host else options.host
    url = f"http://{name}:{listening.getsockname()[1]}"
    if options.workers > 1:
        supervisor = Supervisor(config, [listening])
        on_listen(url)
        supervisor.run()
        return
    server = uvicorn.Server(config)
    install_signal_handlers(server)
    on_listen(url)
    server.run(sockets=[listening])


def install_signal_handlers(server: uvicorn.Server) -> None:
    """Stop the server on SIGTERM and SIGINT, which may arrive before it runs.

    uvicorn also raises the signal again after shutting down, which must not kill the process.
    """
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, server.handle_exit)


def bind(config: uvicorn.Config) -> Any:
    """Open the listening socket."""
    import socket

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


def application() -> Application:
    """Create this process's application from the options in the environment."""
    options = msgspec.json.decode(os.environ[_OPTIONS], type=ServerOptions)
    if options.workers > 1:
        threading.Thread(target=_stop_with_supervisor, name="foreword-supervisor", daemon=True).start()
    service = create_service(options, installed())
    guard = RequestGuard(os.environ.get(TOKEN, ""), (*options.hosts, options.host))
    log = _set_up_logging(options)
    return Application(
        service,
        guard,
        log,
        Metrics(ROUTES, options.metrics),
        options.time_limit,
        options.template_workers,
        options.template_queue,
        options.in_flight,
    )


def _stop_with_supervisor() -> None:
    """Stop this worker if its supervisor is killed; otherwise the worker would keep listening."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _set_up_logging(options: ServerOptions) -> Log:
    """Create this process's log, and send messages from uvicorn and other libraries to it."""
    log = Log(options.log_json, sys.stderr)
    logging.getLogger().handlers = [Handler(log)]
    return log
