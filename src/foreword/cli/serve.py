"""`foreword serve`: the HTTP face and its page."""

from __future__ import annotations

import os
import sys

from ..errors import CallError
from ..store import is_in_memory
from .options import new_parser, packs_of, store_url
from .terminal import write, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .options import Parser


# What every other command takes, and a service is told by each request.
_OF_REQUESTS = (
    "layout now tools tool model provider session sub_agent base skill plan scope language doc strict".split()
)


def parser_for(command: str) -> Parser:
    """The parser of this command."""
    parser = new_parser(command)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where to listen; another than this machine needs FOREWORD_TOKEN",
    )
    parser.add_argument("--port", type=int, default=8371, metavar="N", help="the port; 0 takes one that is free")
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder under which agents may work; the current one unless given",
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="how many processes answer")
    parser.add_argument(
        "--log", choices=("text", "json"), default="text", metavar="FORM", help="lines of the log as text or json"
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="how long a request may take to arrive, and its work to be done",
    )
    parser.add_argument(
        "--template-workers",
        type=int,
        default=2,
        metavar="N",
        help="how many untrusted templates each process renders at the same time",
    )
    parser.add_argument(
        "--template-queue",
        type=int,
        default=16,
        metavar="N",
        help="how many more may wait; the next ones are answered with 503",
    )
    parser.add_argument(
        "--in-flight",
        type=int,
        default=256,
        metavar="MB",
        help="how much each process holds of bodies and answers at the same time",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which the service is reached",
    )
    return parser


def serve(args: argparse.Namespace) -> int:
    """`foreword serve`"""
    for option in _OF_REQUESTS:
        if getattr(args, option):
            raise CallError(f"--{option.replace('_', '-')} is not for serve: each request says it for itself")
    if not 0 <= args.port <= 65535:
        raise CallError(f"--port takes a number from 0 to 65535, not {args.port}")
    if not 1 <= args.workers <= 64:
        raise CallError(f"--workers takes a number from 1 to 64, not {args.workers}")
    if not 0.1 <= args.time_limit <= 3600:
        raise CallError(f"--time-limit takes seconds from 0.1 to 3600, not {args.time_limit:g}")
    if not 1 <= args.template_workers <= 64:
        raise CallError(f"--template-workers takes a number from 1 to 64, not {args.template_workers}")
    if not 0 <= args.template_queue <= 10_000:
        raise CallError(f"--template-queue takes a number from 0 to 10000, not {args.template_queue}")
    if not 1 <= args.in_flight <= 1_000_000:
        raise CallError(f"--in-flight takes megabytes from 1 to 1000000, not {args.in_flight}")
    store = store_url(args)
    if args.workers > 1 and is_in_memory(store):
        raise CallError("several workers cannot share a store in memory; name a file or a database server with --store")
    try:
        from ..service.server import TOKEN, ServerOptions, serve
    except ImportError as error:
        raise CallError(
            f"the service needs packages that are not installed ({error}); run pip install 'foreword[serve]', or make setup in a checkout"
        ) from error
    options = ServerOptions(
        store=store,
        roots=tuple(args.root or ["."]),
        host=args.host,
        port=args.port,
        workers=args.workers,
        hosts=tuple(args.allow_host),
        log_json=args.log == "json" or args.json,
        time_limit=args.time_limit,
        template_workers=args.template_workers,
        template_queue=args.template_queue,
        in_flight=args.in_flight,
        home=None if args.home is None else os.path.abspath(args.home),
        settings_file=os.path.abspath(args.settings) if args.settings else "",
        assignments=tuple(args.set),
        packs={name: os.path.abspath(folder) for name, folder in packs_of(args).items()},
    )
    serve(options, os.environ.get(TOKEN, ""), lambda url: _tell(url, args.json))
    return 0


def _tell(url: str, is_json: bool) -> None:
    if is_json:
        write_json({"url": url})
    else:
        write(f"Foreword listens on {url}")
    sys.stdout.flush()
