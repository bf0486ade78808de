"""`foreword proxy`: forward requests to a provider, and print a line about each call."""

from __future__ import annotations

import sys

from ..errors import CallError, show
from .options import OPTIONS, new_parser
from .terminal import announce, escape_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..service.proxy.observer import CallReport
    from ..service.proxy.server import Proxy, Upstream
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "proxy": (
        "mcp",
        "forward requests to a provider, and report what happens to its cache",
        "foreword proxy --upstream https://api.anthropic.com",
        "ListeningForm",
    ),
}

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MAX_LINES = 1000
_FLUSH_SECONDS = 1


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = new_parser(command, without=[name for name, _ in OPTIONS if name != "--json"])
    parser.add_argument(
        "--upstream",
        default="",
        metavar="URL",
        help="where requests are forwarded to, such as https://api.anthropic.com",
    )
    parser.add_argument("--port", type=int, default=8372, metavar="N", help="the port (8372); 0 picks a free one")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen on (127.0.0.1); anyone who can reach any other address can use the provider through it",
    )
    return parser


def proxy(args: Namespace) -> int:
    """`foreword proxy`"""
    import gc

    if not 0 <= args.port <= 65535:
        raise CallError(f"--port must be a number from 0 to 65535, not {args.port}")
    if not args.host:  # asyncio would listen on every address
        raise CallError("--host must be an address to listen on, such as 127.0.0.1, not ''")
    upstream = parse_upstream(args.upstream)
    from ..service.proxy.server import Proxy

    gc.enable()  # a proxy runs for days
    printer = Printer(args.json)
    _run(Proxy(upstream, printer, any_host=args.host not in _LOOPBACK), args)
    printer.close()
    return 0


def parse_upstream(url: str) -> Upstream:
    """Parse the URL of a provider."""
    from urllib.parse import urlsplit

    from ..service.proxy.server import Upstream

    expected = "must be the URL of a provider, such as https://api.anthropic.com"
    try:
        parts = urlsplit(url)
        port = parts.port
        (parts.hostname or "").encode("idna")  # as it is encoded to connect
    except ValueError:
        raise CallError(f"--upstream {expected}, not {show(url)}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise CallError(f"--upstream {expected}, not {show(url)}")
    if parts.query or parts.fragment:
        raise CallError(f"--upstream {expected}, without a query: {show(url)}")
    if not (parts.path.isascii() and parts.path.isprintable()) or " " in parts.path:
        raise CallError(f"--upstream {expected}, with other characters in its path percent-encoded: {show(url)}")
    is_https = parts.scheme == "https"
    return Upstream(parts.hostname, port or (443 if is_https else 80), is_https, parts.path.rstrip("/"))


class Printer:
    """Prints a line about each call, in its own thread: a reader that stops must not stop the proxy."""

    def __init__(self, is_json: bool) -> None:
        import queue
        import threading

        self._is_json = is_json
        self._lines: queue.Queue[str] = queue.Queue(_MAX_LINES)
        self._thread = threading.Thread(target=self._print_lines, name="foreword-printer", daemon=True)
        self._thread.start()

    def __call__(self, report: CallReport) -> None:
        """Print a report, unless too many are waiting."""
        import json

        text = json.dumps(report.form()) if self._is_json else escape_for(sys.stdout, report.line())
        if not self._lines.full():
            self._lines.put(text)

    def _print_lines(self) -> None:
        try:
            while text := self._lines.get():
                print(text, flush=True)
        except (OSError, ValueError):
            pass  # nobody reads them any more

    def close(self) -> None:
        """Print what is waiting, if that does not take long."""
        if not self._lines.full():
            self._lines.put("")
        self._thread.join(_FLUSH_SECONDS)


def _run(proxy: Proxy, args: Namespace) -> None:
    """Listen until a signal arrives."""
    import asyncio
    import signal

    async def listen() -> None:
        try:
            server = await proxy.listen(args.host, args.port)
        except OSError as error:
            raise CallError(
                f"cannot listen on {args.host}:{args.port}: {error.strerror}; choose another port with --port"
            ) from None
        except UnicodeError:
            raise CallError(
                f"--host must be an address to listen on, such as 127.0.0.1, not {show(args.host)}"
            ) from None
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        _announce(server.sockets[0].getsockname()[1], args)
        await stopped.wait()
        server.close()

    asyncio.run(listen())


def _announce(port: int, args: Namespace) -> None:
    name = f"[{args.host}]" if ":" in args.host else args.host
    url = f"http://{name}:{port}"
    form = {"url": url, "upstream": args.upstream}
    announce(form, f"Requests to {args.upstream} are forwarded from {url}", args.json)
