"""Render untrusted templates in a worker process, where they cannot do any harm.

A template that uses too much memory or time, or crashes the engine, kills only the worker: the caller gets a TemplateError, and the
next template gets a new worker. `check` and `render` take the same arguments as in `template.jinja` and return the same results.
Templates that are trusted and bounded are rendered in this process, without a worker.

A worker is a Python interpreter that can import only the standard library, this package and minijinja, started in the root directory
without the caller's environment. It lives until the program ends, `close` is called, or a template kills it. Requests and answers are
JSON, each preceded by its length. There are at most `WORKERS` workers; other threads wait for one.
"""

from __future__ import annotations

import os
import sys
import threading

from ..errors import CallError, ForewordError, TemplateError, TemplateRenderError, TemplateSyntaxError
from ..store import waits
from ..template import TEMPLATE_LIMIT, engine, inclusion, jinja
from ..template.bounded import is_bounded
from ..vocabulary import Document, Origin, Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from subprocess import Popen
    from typing import IO, Any, NoReturn, TypeVar

    from ..template.contract import Load, Variables

    T = TypeVar("T")

SECONDS = 1.0
"""A template's maximum CPU time, in seconds."""
ANSWER_TIMEOUT = 10.0
"""How many seconds a worker may take to start or to answer, even on a busy machine."""
MEMORY = 256
"""A worker's maximum memory, in MB."""
WORKERS = 2
"""How many templates may be rendered at the same time."""

_WORKER_CODE = "import sys; sys.path += sys.argv[1:]; from foreword.engine.sandbox import serve; serve()"
_INHERITED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_MAX_LENGTH = 100_000_000
# Sent to the worker by its own CPU timer.
_SIGPROF = 27


def check(
    root: str, load: Load, *, is_trusted: Callable[[Iterable[str]], bool] = lambda addresses: False
) -> dict[str, Document]:
    """Return all templates needed to render the one at `root`. A worker parses them unless all of them are trusted."""
    loaded = jinja.check(root, load, may_parse=is_trusted)
    if not is_trusted(loaded):
        parse(root, loaded)
    return loaded


def parse(root: str, templates: Mapping[str, Document]) -> None:
    """Parse these templates in a worker."""
    _pool.ask(root, {"templates": _template_forms(templates), "variables": None})


def render(
    root: str,
    templates: Mapping[str, Document],
    variables: Variables,
    *,
    limit: int = TEMPLATE_LIMIT,
    trace: bool = True,
    is_trusted: bool = False,
) -> tuple[Piece, ...]:
    """Render the template at `root` to pieces, at most `limit` bytes in total, in a worker unless it is trusted and bounded."""
    collected = inclusion.collect(root, templates.get)
    values = {name: jinja.plain_copy(name, content) for name, content in variables.items()}
    if is_trusted and is_bounded(collected, values):
        return jinja.render_loaded(collected, values, limit=limit, trace=trace)
    loaded = {address: templates[address] for address in collected}
    return _pool.ask(root, {"templates": _template_forms(loaded), "variables": values, "limit": limit, "trace": trace})


def set_workers(count: int) -> None:
    """Set how many templates may be rendered at the same time."""
    _pool.max_workers = count


def close() -> None:
    """Stop the workers. A busy one stops when it has finished; the next template starts a new one."""
    _pool.close()


def process_ids() -> list[int]:
    """Return the ids of idle worker processes."""
    return [worker.process.pid for worker in _pool.idle if worker.process is not None]


def counts() -> dict[str, int]:
    """Return how many workers are idle and busy, and how many requests were sent to workers and ended one."""
    return {
        "sandbox_idle": len(_pool.idle),
        "sandbox_busy": len(_pool.busy),
        "sandbox_requests": _pool.requests,
        "sandbox_ended": _pool.ended,
    }


def take_counts() -> tuple[int, int]:
    """Return how many requests there were, and how many of them ended their worker, since the last call."""
    with _pool.changed:
        taken, _pool.requests, _pool.ended = (_pool.requests, _pool.ended), 0, 0
    return taken


def add_counts(requests: int, ended: int) -> None:
    """Count the requests of another process."""
    with _pool.changed:
        _pool.requests += requests
        _pool.ended += ended


def _template_forms(templates: Mapping[str, Document]) -> dict[str, tuple[str, str, int]]:
    return {address: (template.text, template.hash, template.line) for address, template in templates.items()}


# In the parent process


def _lines(form: Any) -> tuple[int, int] | None:
    return (int(form[0]), int(form[1])) if form else None


def _tag(form: Any) -> tuple[str, int, int] | None:
    return (str(form[0]), int(form[1]), int(form[2])) if form else None


class _WorkerEnded(Exception):
    """The worker has ended. The message is a verb phrase whose subject is the template."""


class _Pool:
    """The idle and busy workers."""

    def __init__(self) -> None:
        self.max_workers = WORKERS
        self.idle: list[_Worker] = []
        self.busy: set[_Worker] = set()
        self.requests = self.ended = 0
        self.changed = threading.Condition()
        self.is_registered = False

    def ask(self, root: str, request: dict[str, Any]) -> tuple[Piece, ...]:
        """Send a request to a worker and return its pieces."""
        waits.announce("template")
        worker = self.acquire()
        try:
            return worker.ask(root, request)
        finally:
            self.release(worker)

    def acquire(self) -> _Worker:
        self.prepare()
        with self.changed:
            while len(self.busy) >= self.max_workers:
                self.changed.wait()
            worker = self.idle.pop() if self.idle else _Worker()
            self.busy.add(worker)
        return worker

    def release(self, worker: _Worker) -> None:
        with self.changed:
            self.requests += 1
            self.ended += worker.process is None
            if worker in self.busy and worker.process is not None:
                self.idle.append(worker)
            else:
                worker.end()  # the pool was closed in the meantime
            self.busy.discard(worker)
            self.changed.notify()

    def close(self) -> None:
        with self.changed:
            idle, self.idle = self.idle, []
            self.busy.clear()
            for worker in idle:
                worker.end()
            self.changed.notify_all()

    def prepare(self) -> None:
        """Make sure that the workers stop when the program ends, and that forked processes ignore them."""
        if self.is_registered:
            return
        import atexit

        atexit.register(close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)
        self.is_registered = True

    def forget(self) -> None:
        for worker in (*self.idle, *self.busy):
            if worker.process is not None:
                worker.process.returncode = 0  # it belongs to the parent, so do not wait for it
        self.idle, self.busy, self.changed = [], set(), threading.Condition()


def _error_type(request: Mapping[str, Any]) -> type[TemplateError]:
    """Return the type of an error that ends a request: without variables, a template is only parsed."""
    return TemplateSyntaxError if request["variables"] is None else TemplateRenderError


class _Worker:
    """A process that renders templates, used by one thread at a time."""

    def __init__(self) -> None:
        self.process: Popen[bytes] | None = None

    def ask(self, root: str, request: dict[str, Any]) -> tuple[Piece, ...]:
        """Send a request to the process and return its pieces."""
        process = self.ensure_running()
        try:
            waits.set_interrupt(process.kill)
            try:
                answer = _with_timeout(ANSWER_TIMEOUT, process, lambda: _exchange(process, {"root": root, **request}))
            finally:
                waits.set_interrupt(None)
        except _WorkerEnded as ended:
            self.end()
            raise _error_type(request)(f"{root} {ended}") from None
        except BaseException:
            self.end()  # otherwise the next request would receive this one's answer
            raise
        if "error" in answer:
            kind = TemplateSyntaxError if answer.get("is_syntax") else _error_type(request)
            raise kind(str(answer["error"]), *answer.get("position", ()))
        return tuple(
            Piece(str(text), Origin(str(kind), str(path), _lines(lines), _tag(tag)))
            for text, kind, path, lines, tag in answer["pieces"]
        )

    def ensure_running(self) -> Popen[bytes]:
        """Return the process, starting it if necessary."""
        if self.process is not None and self.process.poll() is not None:
            self.end()
        if self.process is None:
            self.process = process = _start()
            try:
                _with_timeout(ANSWER_TIMEOUT, process, lambda: _receive(_pipe(process.stdout)))
            except BaseException as error:
                self.end()
                if not isinstance(error, _WorkerEnded):
                    raise
                raise TemplateRenderError(f"the worker that renders untrusted templates {error}") from None
        return self.process

    def end(self) -> None:
        """Kill the process, wait until it has exited, and close its pipes."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                _pipe(pipe).close()


_pool = _Pool()


def _start() -> Popen[bytes]:
    import subprocess

    if not sys.executable:
        raise CallError("untrusted templates need a Python interpreter to run in, but sys.executable is empty")
    command = [sys.executable, "-I", "-S", *(["-B"] if sys.dont_write_bytecode else []), "-c", _WORKER_CODE, *_paths()]
    return subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=os.path.abspath(os.sep),
        env={name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ},
        start_new_session=True,  # Ctrl-C at the terminal must not reach the worker
    )


def _paths() -> list[str]:
    """Return the folders that contain this package and minijinja."""
    packages = (os.path.dirname(os.path.abspath(__file__)), os.path.abspath(engine.package_file()))
    return list(dict.fromkeys(os.path.dirname(os.path.dirname(path)) for path in packages))


def _with_timeout(seconds: float, process: Popen[bytes], action: Callable[[], T]) -> T:
    """Return the action's result. If it takes too long, the process is killed, which ends the wait for its answer."""
    timed_out = threading.Event()

    def stop() -> None:
        timed_out.set()
        process.kill()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        answer = action()
    except (OSError, EOFError, ValueError):
        reason = f"took longer than {seconds:g} s and was stopped" if timed_out.is_set() else _exit_reason(process)
        raise _WorkerEnded(reason) from None
    finally:
        timer.cancel()
    if timed_out.is_set():
        raise _WorkerEnded(f"took longer than {seconds:g} s and was stopped")
    return answer


def _exit_reason(process: Popen[bytes]) -> str:
    """Kill a process and explain why it ended, as a verb phrase whose subject is the template."""
    process.kill()
    status = process.wait()
    if status == -_SIGPROF:
        return f"took longer than {SECONDS:g} s and was stopped"
    if status == -6:
        return f"needed more than {MEMORY} MB of memory and was stopped"
    if status < 0:
        return f"crashed the template engine (signal {-status})"
    return f"exited with status {status}"


# In both processes


def _exchange(process: Popen[bytes], request: dict[str, Any]) -> dict[str, Any]:
    _send(_pipe(process.stdin), request)
    return _receive(_pipe(process.stdout))


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the worker was started with pipes"
    return pipe


def _send(pipe: IO[bytes], message: dict[str, Any]) -> None:
    import json

    body = json.dumps(message).encode()
    remaining = memoryview(len(body).to_bytes(8, "big") + body)
    while remaining:
        remaining = remaining[pipe.write(remaining) :]


def _receive(pipe: IO[bytes]) -> dict[str, Any]:
    """Read the next message. Raises EOFError at the end of the pipe."""
    import json

    length = int.from_bytes(_read(pipe, 8), "big")
    if length > _MAX_LENGTH:
        raise ValueError("the message is too long")
    message: dict[str, Any] = json.loads(_read(pipe, length))
    return message


def _read(pipe: IO[bytes], length: int) -> bytes:
    parts = []
    while length:
        part = pipe.read(min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


# In the worker


def serve() -> NoReturn:
    """Answer requests until the pipe is closed: the main loop of a worker."""
    engine.preload()
    _limit(AS=MEMORY << 20, CORE=0, FSIZE=0)
    with open(0, "rb", 0, closefd=False) as requests, open(1, "wb", 0, closefd=False) as answers:
        _send(answers, {})
        while True:
            try:
                request = _receive(requests)
            except EOFError:
                sys.exit(0)
            _set_timer(SECONDS)
            answer = _answer(request)
            _set_timer(0)
            _send(answers, answer)


def _set_timer(seconds: float) -> None:
    """Kill this process after this much CPU time; 0 stops the timer. On systems without this timer, only `ANSWER_TIMEOUT` applies."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit(**limits: int) -> None:
    """Limit memory, file sizes or core dumps, where the system supports it."""
    try:
        import resource
    except ImportError:
        return
    for name, maximum in limits.items():
        limit = getattr(resource, f"RLIMIT_{name}")
        try:
            resource.setrlimit(limit, (maximum, resource.getrlimit(limit)[1]))
        except (OSError, ValueError):
            pass


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    root = request["root"]
    templates = {address: Document("", *fields) for address, fields in request["templates"].items()}
    try:
        if request["variables"] is None:
            jinja.check(root, templates.get)
            return {"pieces": []}
        pieces = jinja.render(root, templates, request["variables"], limit=request["limit"], trace=request["trace"])
    except TemplateError as error:
        is_syntax = isinstance(error, TemplateSyntaxError)
        return {
            "error": error.message,
            "position": (error.line, error.column, error.end_column),
            "is_syntax": is_syntax,
        }
    except ForewordError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": f"{root} needed more than {MEMORY} MB of memory"}
    origins = [piece.origin for piece in pieces]
    return {"pieces": [(p.text, o.kind, o.path, o.lines, o.tag) for p, o in zip(pieces, origins, strict=True)]}
