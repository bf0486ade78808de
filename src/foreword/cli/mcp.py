"""`foreword mcp`: offer a workspace's prompt, skills and tools to other agents over MCP."""

from __future__ import annotations

import os
import sys

from ..errors import CallError
from ..sources.environment import install_command
from .options import add_dir_argument, new_parser, packs_of
from .terminal import announce

OWN_COMMANDS = {
    "mcp": (
        "serve",
        "offer the prompt, skills and tools to other agents over MCP",
        "foreword mcp .",
        "ListeningForm",
    ),
}

_MAX_RATE = 1_000_000
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..service.service import Service
    from .arguments import Namespace, Parser


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = new_parser(command, without=["--now", "--skill", "--plan", "--strict"])
    parser.add_argument(
        "--http",
        default=None,
        metavar="[HOST:PORT]",
        help="listen on this address (127.0.0.1:8373) instead of standard input and output; port 0 picks a free one",
    )
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="another folder whose files clients may ask about, besides DIR",
    )
    parser.add_argument(
        "--conversation",
        default="",
        metavar="ID",
        help="the conversation that stores the plan, and records which skills and instructions the client has received",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name that clients may use",
    )
    parser.add_argument("--tokens", default="", metavar="FILE", help="a TOML file with the tokens of several teams")
    parser.add_argument(
        "--rate-limit",
        type=float,
        default=0,
        metavar="N",
        help="how many requests per second each token or address may send (0: no limit)",
    )
    return add_dir_argument(parser)


def mcp(args: Namespace) -> int:
    """`foreword mcp [DIR]`"""
    import gc

    try:
        from ..service.log import Log
        from ..service.mcp.content import McpContents
        from ..service.mcp.transports import HttpOptions, parse_address, serve_http, serve_stdio
        from ..service.service import Service
    except ImportError as error:
        raise CallError(f"mcp needs packages that are not installed ({error}); run {install_command('mcp')}") from error
    from ..extensions import installed

    if not os.path.isdir(args.dir):
        raise CallError(f"DIR must be a directory, not {args.dir!r}")
    address = None if args.http is None else parse_address(args.http)
    if address is None and (args.tokens or args.rate_limit):
        raise CallError(
            "--tokens and --rate-limit need --http; without it, the only client is the one that starts the server"
        )
    if args.tokens and args.scope:
        raise CallError("--scope and --tokens cannot be combined; the `roots` of a token say where its agents may work")
    if not 0 <= args.rate_limit <= _MAX_RATE:
        raise CallError(f"--rate-limit must be between 0 and {_MAX_RATE} requests per second, not {args.rate_limit:g}")
    gc.enable()  # an agent's session lasts for hours
    cwd = os.path.abspath(args.dir)
    service = Service(
        args.question.url_to_write(), [cwd, *args.root], installed(), home=args.home, packs=packs_of(args)
    )
    try:
        contents = McpContents(service, {**args.question.fields, "cwd": cwd}, args.conversation)
        if address is None:
            if sys.stdin.isatty():
                print("waiting for an MCP client on standard input; Ctrl+C stops", file=sys.stderr)
            serve_stdio(contents, lambda: _end_process(service))
        else:
            tokens = os.path.abspath(args.tokens) if args.tokens else ""
            options = HttpOptions(*address, args.allow_host, tokens, args.rate_limit)
            text = "Foreword is listening for MCP clients on"
            serve_http(contents, options, lambda url: announce({"url": url}, f"{text} {url}", args.json), Log())
    except KeyboardInterrupt:
        pass  # stopped on purpose, as the other servers are
    finally:
        service.conversations.close()
    return 0


def _end_process(service: Service) -> None:
    service.conversations.close()
    os._exit(0)
