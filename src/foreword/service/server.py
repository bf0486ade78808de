"""Start the processes that listen for requests. Workers share one socket and read their options from the environment."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import platform
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

from .. import __version__
from ..errors import CallError, StoreError
from ..extensions import Extension, installed
from ..packs.settings import parse_assignment
from ..store import exists, is_in_memory, is_local
from .application import TEMPLATE_QUEUE, TEMPLATE_WORKERS, Application
from .cross_origin import CrossOrigin, check_origins
from .guard import RequestGuard
from .inspections import Inspections
from .log import Handler, Log
from .memory import IN_FLIGHT, keep_little_memory
from .metrics import Metrics
from .rates import RateLimit
from .responses import redact
from .retention import Retention
from .routes import ROUTES
from .service import Service, check_settings
from .sockets import bind, bind_unix, unlink_socket, url_of
from .tokens import Tokens
from .tracing import Traced, find_tracer
from .uvicorn_adapter import Supervisor, configure

TOKEN = "FOREWORD_TOKEN"
HOOK_SECRET = "FOREWORD_HOOK_SECRET"
_OPTIONS = "FOREWORD_SERVE"
_TOKEN = re.compile(r"[!-~]+")
# How long a thread that computes keeps the interpreter from others. A known turn needs it a dozen times, because each look at a file or a
# connection lets go of it. Python's default is 50 times that; shorter times cost no measurable CPU time.
_SWITCH_SECONDS = 0.0001
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
    origins: tuple[str, ...] = ()
    tls_cert: str = ""
    tls_key: str = ""
    unix: str = ""
    layout: str = ""
    log_json: bool = False
    log_level: str = "info"
    rate_limit: float = 0.0
    metrics: str = ""
    time_limit: float = 30.0
    template_workers: int = TEMPLATE_WORKERS
    template_queue: int = TEMPLATE_QUEUE
    in_flight: int = IN_FLIGHT
    home: str | None = None
    settings_file: str = ""
    assignments: tuple[str, ...] = ()
    packs: dict[str, str] = {}
    pack_roots: tuple[str, ...] = ()
    protected_labels: tuple[str, ...] = ()
    sessions: bool = False
    tokens: str = ""
    hooks: tuple[str, ...] = ()
    required_hooks: tuple[str, ...] = ()
    hook_time_limit: float = 5.0
    allow_plain_hooks: bool = False


def serve(options: ServerOptions, token: str, on_listen: Callable[[str], None], warnings: Sequence[str] = ()) -> None:
    """Listen until a signal arrives, then finish the requests in flight. `on_listen` is called with the URL once clients can connect.

    The log begins with the options in force and these warnings.
    """
    host = _LOOPBACK[0] if options.unix else options.host
    check_exposure(host, token, "--host", options.tokens)
    if options.sessions and host not in _LOOPBACK and not options.tokens:
        raise CallError(
            f"--sessions with --host {host}: others could read what your agents did; use --tokens FILE, and give the right sessions to those"
            " who may"
        )
    check_origins(options.origins)
    if bool(options.tls_cert) != bool(options.tls_key):
        raise CallError("--tls-cert and --tls-key must be passed together")
    Tokens(token, options.tokens)
    _url_hooks(options)
    service = create_service(options)  # report invalid options once, not in every worker
    try:
        check_settings(service)
    finally:
        service.conversations.close()
    # Without this, workers would import modules from the current directory, which may be an untrusted workspace.
    os.environ["PYTHONSAFEPATH"] = "1"
    folder = tempfile.mkdtemp(prefix="foreword-metrics-") if options.workers > 1 else ""
    try:
        _listen(msgspec.structs.replace(options, metrics=folder), on_listen, warnings)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def check_exposure(host: str, token: str, option: str, tokens: str = "") -> None:
    """Raise a CallError if others could reach this address without a token, or if the token cannot be sent. `tokens` is a file."""
    if host not in _LOOPBACK and not (token or tokens):
        raise CallError(
            f"{option} {host}: anyone who can reach this address could read and change prompts; set {TOKEN} to a long random string,"
            " which clients send as 'Authorization: Bearer …', or use --tokens FILE"
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
        layout=options.layout,
        pack_roots=options.pack_roots,
        protected_labels=options.protected_labels,
        has_sessions=options.sessions,
        has_url_hooks=bool(options.hooks or options.required_hooks),
    )


def _url_hooks(options: ServerOptions) -> list[Extension]:
    """Return the hooks that are URLs. Raises a CallError if one of them, or the secret, is invalid."""
    if not options.hooks and not options.required_hooks:
        return []
    from .url_hooks import url_hooks

    return url_hooks(
        options.hooks,
        options.required_hooks,
        options.hook_time_limit,
        options.allow_plain_hooks,
        os.environ.get(HOOK_SECRET, ""),
    )


def uvicorn_config(options: ServerOptions, application: str = "foreword.service.server:application") -> uvicorn.Config:
    """Return uvicorn's configuration, and set the environment variable that passes the options to worker processes."""
    os.environ[_OPTIONS] = msgspec.json.encode(options).decode()
    return configure(
        application,
        options.host,
        options.port,
        _SHUTDOWN_SECONDS,
        factory=True,
        workers=options.workers,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        ssl_certfile=options.tls_cert or None,
        ssl_keyfile=options.tls_key or None,
    )


def _listen(options: ServerOptions, on_listen: Callable[[str], None], warnings: Sequence[str]) -> None:
    config = uvicorn_config(options)
    log = _set_up_logging(options)
    _check_certificate(config)
    listening = bind_unix(options.unix, config.backlog) if options.unix else bind(config)
    url = _url(options, listening)
    log.event("service", "info", f"started {describe(options)}")
    for warning in warnings:
        log.event("service", "warning", warning)
    try:
        _run(options, config, listening, lambda: on_listen(url))
    finally:
        if options.unix:
            unlink_socket(options.unix)
        log.event("service", "info", "stopped")


def describe(options: ServerOptions) -> str:
    """Return the version, and the options that are not the defaults. Only numbers are shown: other values may be paths or secrets."""
    store = "in memory" if is_in_memory(options.store) else "SQLite" if is_local(options.store) else "PostgreSQL"
    parts = [f"version {__version__}", f"Python {platform.python_version()}", f"store {store}"]
    defaults = ServerOptions(store=options.store, roots=(), metrics=options.metrics)
    for name in options.__struct_fields__:
        content = getattr(options, name)
        if content == getattr(defaults, name):
            continue
        label = name.replace("_", " ")
        if isinstance(content, int | float) and not isinstance(content, bool):
            parts.append(f"{label} {content:g}")
        else:
            parts.append(label if isinstance(content, bool | str) else f"{label} {len(content)}")
    return ", ".join(parts)


def _url(options: ServerOptions, listening: Any) -> str:
    if options.unix:
        return f"unix:{options.unix}"
    return url_of(options.host, listening, "https" if options.tls_cert else "http")


def _check_certificate(config: uvicorn.Config) -> None:
    """Raise a CallError if the certificate or its key cannot be read."""
    if config.ssl_certfile:
        import ssl

        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(config.ssl_certfile, config.ssl_keyfile)
        except (OSError, ssl.SSLError) as error:
            reason = getattr(error, "reason", None) or error.strerror or "not a certificate and its key"
            raise CallError(f"--tls-cert {config.ssl_certfile}, --tls-key {config.ssl_keyfile}: {reason}") from None


def _run(options: ServerOptions, config: uvicorn.Config, listening: Any, on_listen: Callable[[], None]) -> None:
    if options.workers > 1:
        supervisor = Supervisor(config, [listening])
        on_listen()
        supervisor.run()
        return
    server = uvicorn.Server(config)
    install_signal_handlers(server)
    on_listen()
    server.run(sockets=[listening])


def install_signal_handlers(server: uvicorn.Server) -> None:
    """Stop the server on SIGTERM and SIGINT, which may arrive before it runs.

    uvicorn also raises the signal again after shutting down, which must not kill the process. SIGHUP asks a service to read its files
    again, which it does anyway; in a terminal, it means that the terminal was closed.
    """
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, server.handle_exit)
    if hasattr(signal, "SIGHUP") and not os.isatty(0):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def service_from_environment(may_create_store: bool = True) -> Service:
    """Create the service that the options in the environment describe, with the installed extensions."""
    options = msgspec.json.decode(os.environ[_OPTIONS], type=ServerOptions)
    if not (may_create_store or exists(options.store)):
        raise StoreError("the store's file is gone")
    return create_service(options, [*installed(), *_url_hooks(options)])


def application() -> Any:
    """Create this process's application from the options in the environment."""
    options = msgspec.json.decode(os.environ[_OPTIONS], type=ServerOptions)
    if options.workers > 1:
        threading.Thread(target=_stop_with_supervisor, name="foreword-supervisor", daemon=True).start()
    service = service_from_environment()
    log = _set_up_logging(options)
    tokens = Tokens(os.environ.get(TOKEN, ""), options.tokens, log_tokens(log))
    rates = RateLimit(options.rate_limit) if options.rate_limit else None
    guard = RequestGuard(tokens, (*options.hosts, options.host), options.origins, rates)
    _collect_less_garbage()
    sys.setswitchinterval(_SWITCH_SECONDS)
    metrics = Metrics(ROUTES, options.metrics)
    application = Application(
        service,
        guard,
        log,
        metrics,
        options.time_limit,
        options.template_workers,
        options.template_queue,
        options.in_flight,
        RateLimit(options.rate_limit) if options.rate_limit else None,
        None if options.store == ":memory:" else Inspections(),
        Retention(service.conversations.store, tokens.retentions, log, metrics.add) if options.tokens else None,
    )
    wrapped: Any = CrossOrigin(application, options.origins) if options.origins else application
    tracer = find_tracer()
    return wrapped if tracer is None else Traced(wrapped, tracer)


def log_tokens(log: Log) -> Callable[[str, str], None]:
    """Return the function with which `Tokens` writes to the log. An invalid file is not quoted."""
    return lambda level, message: log.event("tokens", level, redact(message) if level == "error" else message)


def _collect_less_garbage() -> None:
    """Leave what was loaded at the start out of garbage collections, and collect less often: requests leave hardly any cycles."""
    keep_little_memory()
    gc.enable()  # commands run without it
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _stop_with_supervisor() -> None:
    """Stop this worker if its supervisor is killed; otherwise the worker would keep listening."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _set_up_logging(options: ServerOptions) -> Log:
    """Create this process's log, and send messages from uvicorn and other libraries to it."""
    log = Log(options.log_json, sys.stderr, options.log_level)
    logging.getLogger().handlers = [Handler(log)]
    return log
