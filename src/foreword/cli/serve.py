"""`foreword serve`: run the HTTP service and its web page."""

from __future__ import annotations

import os
import sys

from ..errors import CallError, show
from ..sources.environment import install_command
from ..store import is_in_memory
from ..template.addresses import is_file_path
from .options import OPTIONS, new_parser, packs_of
from .terminal import announce, wrap_for, write, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "serve": (
        "Serve and connect",
        "run the HTTP service and its web page",
        "foreword serve --port 8371 --root ~/projects",
        "ListeningForm",
    ),
}

_COMMON_OPTIONS = ("--json", "--layout", "--set", "--settings", "--pack", "--home", "--store")
# The service takes these from each request instead.
_FROM_REQUESTS = [name for name, _ in OPTIONS if name not in _COMMON_OPTIONS]
# Options with a range: the lowest and the highest value, and the unit.
_RANGES = {
    "--port": (0, 65535, ""),
    "--workers": (1, 64, ""),
    "--time-limit": (0.1, 3600, " seconds"),
    "--template-workers": (1, 64, ""),
    "--template-queue": (0, 10_000, ""),
    "--in-flight": (1, 1_000_000, " megabytes"),
    "--rate-limit": (0, 1_000_000, " requests per second"),
    "--hook-time-limit": (0.1, 600, " seconds"),
}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = new_parser(command, without=_FROM_REQUESTS)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen on (127.0.0.1); an address that is not local requires FOREWORD_TOKEN or --tokens",
    )
    parser.add_argument(
        "--config", default="", metavar="FILE", help="a TOML file that sets these options (port = 8371)"
    )
    parser.add_argument("--port", type=int, default=8371, metavar="N", help="the port (8371); 0 picks a free one")
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder in which agents may work; by default the current directory",
    )
    parser.add_argument(
        "--pack-root",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder whose packs requests may name; none by default, because packs are trusted",
    )
    _add_rights(parser)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="the number of processes (1)")
    parser.add_argument(
        "--log", choices=("text", "json"), default="text", metavar="FORMAT", help="the format of the log, text or json"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name that clients may use",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a site whose pages may send requests, such as https://app.example",
    )
    _add_sockets(parser)
    _add_hooks(parser)
    _add_limits(parser)
    return parser


def _add_rights(parser: Parser) -> None:
    parser.add_argument("--tokens", default="", metavar="FILE", help="a TOML file with the tokens of several teams")
    parser.add_argument(
        "--new-token",
        default=None,
        metavar="NAME",
        help="print a new token and its entry for the --tokens file, and exit",
    )
    parser.add_argument(
        "--protect-label",
        action="append",
        default=[],
        metavar="LABEL",
        help="a template label, such as production, that only tokens with the right admin may move or remove",
    )
    parser.add_argument(
        "--sessions",
        action="store_true",
        help="answer questions about released agents' sessions in the served folders; with --tokens, only to tokens with the right sessions",
    )


def _add_sockets(parser: Parser) -> None:
    parser.add_argument("--tls-cert", default="", metavar="FILE", help="the certificate, to serve HTTPS; PEM")
    parser.add_argument("--tls-key", default="", metavar="FILE", help="the certificate's private key; PEM")
    parser.add_argument(
        "--unix",
        default="",
        metavar="PATH",
        help="listen on this unix socket instead of an address; only its owner can connect",
    )


def _add_hooks(parser: Parser) -> None:
    parser.add_argument(
        "--hook",
        action="append",
        default=[],
        metavar="HOOK=URL",
        help="a URL to call for before_agent_start or context; requests are signed with FOREWORD_HOOK_SECRET",
    )
    parser.add_argument(
        "--required-hook",
        action="append",
        default=[],
        metavar="HOOK=URL",
        help="like --hook, but if the call fails, so does the turn; called after all others",
    )
    parser.add_argument(
        "--hook-time-limit", type=float, default=5.0, metavar="SECONDS", help="how long a call to a hook may take (5)"
    )
    parser.add_argument(
        "--allow-plain-hooks",
        action="store_true",
        help="allow http:// for hooks on other machines; prompts are then sent unencrypted",
    )


def _add_limits(parser: Parser) -> None:
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="info",
        metavar="LEVEL",
        help="which lines to log: debug, info (the default: every request), warning or error (only failures of the service)",
    )
    parser.add_argument(
        "--rate-limit",
        type=float,
        default=0,
        metavar="N",
        help="how many requests per second each token or address may send to each process (0: no limit)",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="how long a request may take to arrive, and to be answered (30)",
    )
    parser.add_argument(
        "--template-workers",
        type=int,
        default=2,
        metavar="N",
        help="how many untrusted templates each process renders at once (2)",
    )
    parser.add_argument(
        "--template-queue",
        type=int,
        default=16,
        metavar="N",
        help="how many more may wait (16); any beyond that get a 503 response",
    )
    parser.add_argument(
        "--in-flight",
        type=int,
        default=96,
        metavar="MB",
        help="how much memory each process may use for bodies and responses (96)",
    )


def configured(parser: Parser, arguments: list[str]) -> list[str]:
    """Return the arguments with the options that the environment and the configuration file set."""
    from .configuration import configured

    return configured(parser, arguments, os.environ)


def serve(args: Namespace) -> int:
    """`foreword serve`"""
    if args.new_token is not None:
        return _write_token(args)
    for option, (low, high, unit) in _RANGES.items():
        value = getattr(args, option[2:].replace("-", "_"))
        if not low <= value <= high:
            raise CallError(f"{option} must be between {low} and {high}{unit}, not {value:.15g}")
    store = _store_for(args)
    try:
        from ..service import page
        from ..service.server import TOKEN, ServerOptions, serve
    except ImportError as error:
        raise CallError(
            f"serve needs packages that are not installed ({error}); run {install_command('serve')}"
        ) from error
    options = ServerOptions(
        store=store,
        roots=tuple(args.root or ["."]),
        host=args.host,
        port=args.port,
        workers=args.workers,
        hosts=tuple(args.allow_host),
        origins=tuple(args.allow_origin),
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        unix=os.path.abspath(args.unix) if args.unix else "",
        layout=os.path.abspath(args.layout) if is_file_path(args.layout) else args.layout,
        log_json=args.log == "json" or args.json,
        log_level=args.log_level,
        rate_limit=args.rate_limit,
        time_limit=args.time_limit,
        template_workers=args.template_workers,
        template_queue=args.template_queue,
        in_flight=args.in_flight,
        home=None if args.home is None else os.path.abspath(args.home),
        settings_file=os.path.abspath(args.settings) if args.settings else "",
        assignments=tuple(args.set),
        tokens=os.path.abspath(args.tokens) if args.tokens else "",
        packs={name: os.path.abspath(folder) for name, folder in packs_of(args).items()},
        pack_roots=tuple(map(os.path.abspath, args.pack_root)),
        protected_labels=tuple(args.protect_label),
        sessions=args.sessions,
        hooks=tuple(args.hook),
        required_hooks=tuple(args.required_hook),
        hook_time_limit=args.hook_time_limit,
        allow_plain_hooks=args.allow_plain_hooks,
    )

    def ready(url: str) -> None:
        announce({"url": url}, f"Foreword is listening on {url}", args.json)
        if not options.log_json and not page.is_included():
            text = f"this installation does not include the web page: {page.HOW_TO_GET_IT}"
            print(wrap_for(text, sys.stderr), file=sys.stderr)

    serve(options, os.environ.get(TOKEN, ""), ready, args.unused_variables)
    return 0


def _store_for(args: Namespace) -> str:
    """Return the URL of the store. Raises a CallError if several processes could not share it."""
    store: str = args.question.url_to_write()
    if args.workers > 1 and is_in_memory(store):
        raise CallError(
            "several workers cannot share an in-memory store; specify a file or a database server with --store"
        )
    return store


def _write_token(args: Namespace) -> int:
    """Print a new token and its entry for the token file."""
    from ..service.tokens import new_token

    name = args.new_token
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise CallError(f"--new-token needs a name of letters, digits, - and _, not {show(name)}")
    token, entry = new_token(args.new_token)
    if args.json:
        write_json({"token": token, "entry": entry})
    else:
        write(f"The token, which is not stored anywhere:\n\n{token}\n\nAdd this to the --tokens file:\n\n{entry}")
    return 0
