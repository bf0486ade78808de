"""The processes that listen. Several share one socket; the settings reach each of them in its environment."""

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
from uvicorn.supervisors import Multiprocess

from ..errors import CallError
from ..extensions import Extension, installed
from ..packs.settings import parse_assignment
from .application import TEMPLATE_QUEUE, TEMPLATE_WORKERS, Application
from .budget import IN_FLIGHT
from .connection import Connection
from .guard import Guard
from .log import Handler, Log
from .metrics import Metrics
from .routes import ROUTES
from .service import Service

TOKEN = "FOREWORD_TOKEN"
_SETTINGS = "FOREWORD_SERVE"
_TOKEN = re.compile(r"[!-~]+")
_GRACE = 30
_KEEP_ALIVE = 30
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How the service is started."""

    store: str
    roots: tuple[str, ...]
    host: str = "127.0.0.1"
    port: int = 8371
    workers: int = 1
    hosts: tuple[str, ...] = ()
    is_json_logged: bool = False
    metrics: str = ""
    seconds: float = 30.0
    template_workers: int = TEMPLATE_WORKERS
    template_queue: int = TEMPLATE_QUEUE
    in_flight: int = IN_FLIGHT
    home: str | None = None
    settings: str = ""
    assignments: tuple[str, ...] = ()
    packs: dict[str, str] = {}


def serve(settings: Settings, token: str, tell: Callable[[str], None]) -> None:
    """Listen until a signal ends it: requests in flight are answered first. Where it listens is told once it does."""
    if settings.host not in _LOOPBACK and not token:
        raise CallError(
            f"--host {settings.host}: anyone who reaches this address could read and set prompts; set {TOKEN} to a long random text,"
            " and clients send it as 'Authorization: Bearer …'"
        )
    if token and not _TOKEN.fullmatch(token):
        raise CallError(f"{TOKEN} takes letters, digits and signs of ASCII without blanks, as a header can carry them")
    checked = service_of(settings)  # what is wrong with the settings is said here, once
    try:
        checked.check_settings()
    finally:
        checked.talks.close()
    folder = tempfile.mkdtemp(prefix="foreword-metrics-") if settings.workers > 1 else ""
    try:
        _listen(msgspec.structs.replace(settings, metrics=folder), tell)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def service_of(settings: Settings, extensions: Sequence[Extension] = ()) -> Service:
    """The service as its settings ask for it."""
    return Service(
        settings.store,
        settings.roots,
        extensions,
        home=settings.home,
        settings=settings.settings,
        assignments=[parse_assignment(each) for each in settings.assignments],
        packs=settings.packs,
    )


def configured(settings: Settings, application: str = "foreword.service.server:application") -> uvicorn.Config:
    """How uvicorn runs it; each process makes its application by what this leaves in the environment."""
    os.environ[_SETTINGS] = msgspec.json.encode(settings).decode()
    return uvicorn.Config(
        application,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        http=Connection,
        ws="none",
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=_KEEP_ALIVE,
    )


def _listen(settings: Settings, tell: Callable[[str], None]) -> None:
    config = configured(settings)
    _logging(settings)
    listening = _bound(config)
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    where = f"http://{name}:{listening.getsockname()[1]}"
    if settings.workers > 1:
        workers = _Workers(config, [listening])
        tell(where)
        workers.run()
        return
    server = uvicorn.Server(config)
    # A signal that comes before it runs; and once all is answered it sends itself the signal again, which must not kill it.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, server.handle_exit)
    tell(where)
    server.run(sockets=[listening])


class _Workers(Multiprocess):
    """Processes that answer, and the one that replaces those that die."""

    def terminate_all(self) -> None:
        # Else whoever comes while the last requests are answered would be let in, and wait for nobody.
        for each in self.sockets:
            each.close()
        super().terminate_all()


def _bound(config: uvicorn.Config) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
        # At once: whoever is told the address may come before the application is ready.
        listening.listen(config.backlog)
    except OSError as error:
        listening.close()
        raise CallError(
            f"nothing can listen on {config.host}:{config.port}: {error.strerror}; --port names another port"
        ) from None
    listening.set_inheritable(True)
    return listening


def application() -> Application:
    """The application of one process, by the settings in its environment."""
    settings = msgspec.json.decode(os.environ[_SETTINGS], type=Settings)
    if settings.workers > 1:
        threading.Thread(target=_end_with_the_supervisor, name="foreword-supervisor", daemon=True).start()
    service = service_of(settings, installed())
    guard = Guard(os.environ.get(TOKEN, ""), (*settings.hosts, settings.host))
    log = _logging(settings)
    return Application(
        service,
        guard,
        log,
        Metrics(ROUTES, settings.metrics),
        settings.seconds,
        settings.template_workers,
        settings.template_queue,
        settings.in_flight,
    )


def _end_with_the_supervisor() -> None:
    """A supervisor that was killed can tell nobody: without this its workers would go on listening, and nobody could end them."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _logging(settings: Settings) -> Log:
    """The log of this process, through which the server and libraries speak too."""
    log = Log(settings.is_json_logged, sys.stderr)
    logging.getLogger().handlers = [Handler(log)]
    return log
