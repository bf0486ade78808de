"""`foreword serve`: the HTTP face and its page."""

from __future__ import annotations

import os
import sys

from ..errors import CallError
from .options import packs_of, parser, store_url
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
    made = parser(command)
    made.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where to listen; another than this machine needs FOREWORD_TOKEN",
    )
    made.add_argument("--port", type=int, default=8371, metavar="N", help="the port; 0 takes one that is free")
    made.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder under which agents may work; the current one unless given",
    )
    made.add_argument("--workers", type=int, default=1, metavar="N", help="how many processes answer")
    made.add_argument(
        "--log", choices=("text", "json"), default="text", metavar="FORM", help="lines of the log as text or json"
    )
    made.add_argument(
        "--time-limit",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="how long a request may take to arrive, and its work to be done",
    )
    made.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which the service is reached",
    )
    return made


def serve(given: argparse.Namespace) -> int:
    """`foreword serve`"""
    for option in _OF_REQUESTS:
        if getattr(given, option):
            raise CallError(f"--{option.replace('_', '-')} is not for serve: each request says it for itself")
    if not 0 <= given.port <= 65535:
        raise CallError(f"--port takes a number from 0 to 65535, not {given.port}")
    if not 1 <= given.workers <= 64:
        raise CallError(f"--workers takes a number from 1 to 64, not {given.workers}")
    if not 0.1 <= given.time_limit <= 3600:
        raise CallError(f"--time-limit takes seconds from 0.1 to 3600, not {given.time_limit:g}")
    store = store_url(given)
    if given.workers > 1 and store in (":memory:", "sqlite://", "sqlite:///:memory:"):
        raise CallError("several workers cannot share a store in memory; name a file or a PostgreSQL with --store")
    try:
        from ..service.server import TOKEN, Settings, serve
    except ImportError as error:
        raise CallError(f"the service needs the extra serve: pip install 'foreword[serve]' ({error})") from error
    settings = Settings(
        store=store,
        roots=tuple(given.root or ["."]),
        host=given.host,
        port=given.port,
        workers=given.workers,
        hosts=tuple(given.allow_host),
        is_json_logged=given.log == "json" or given.json,
        seconds=given.time_limit,
        home=None if given.home is None else os.path.abspath(given.home),
        settings=os.path.abspath(given.settings) if given.settings else "",
        assignments=tuple(given.set),
        packs={name: os.path.abspath(folder) for name, folder in packs_of(given).items()},
    )
    serve(settings, os.environ.get(TOKEN, ""), lambda url: _tell(url, given.json))
    return 0


def _tell(url: str, is_json: bool) -> None:
    if is_json:
        write_json({"url": url})
    else:
        write(f"Foreword listens on {url}")
    sys.stdout.flush()
