"""The options that all commands share, and the question they are parsed into."""

from __future__ import annotations

import os
import sys

from ..encoding.agent import KEYS, document_form
from ..errors import CallError, show
from ..programs.question import Question
from ..sources.environment import absolute
from ..template.addresses import is_address, split
from ..text.lines import printable
from .arguments import Parser
from .commands import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from ..engine.assembler import Assembler
    from ..vocabulary import Document, Finding
    from .arguments import Namespace

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--json", {"action": "store_true", "help": "print JSON"}),
    ("--layout", {"metavar": "NAME|FILE", "help": "the layout: a shipped name, an address ($user/mine) or a file"}),
    (
        "--set",
        {"action": "append", "metavar": "KEY=VALUE", "help": "set a layout key (skills.validation=strict)"},
    ),
    (
        "--settings",
        {"metavar": "FILE", "help": "another foreword.toml, which overrides the user's and the workspace's"},
    ),
    (
        "--pack",
        {"action": "append", "metavar": "NAME=DIR", "help": "a folder of layouts, templates and wording: $NAME/…"},
    ),
    ("--home", {"default": None, "metavar": "DIR", "help": "the user's home directory"}),
    (
        "--now",
        {
            "default": None,
            "metavar": "ISO",
            "help": "the time, such as 2026-03-07T08:55:05-06:00; its UTC offset is kept, and without one it is local time",
        },
    ),
    (
        "--tools",
        {
            "metavar": "FILE",
            "help": 'a JSON file of tools: [{"name", "description", "snippet", "guidelines", "schema", "server", "defer",'
            ' "strict", "allowed_callers", "type", "options", "loads_skills"}]; - is standard input,'
            ' "none" means no tools (without it, an existing conversation keeps its tools)',
        },
    ),
    ("--tool", {"action": "append", "metavar": "NAME", "help": "the name of a tool that the agent has"}),
    ("--model", {"help": "the name of the model"}),
    ("--provider", {"help": "the name of the provider"}),
    ("--session", {"metavar": "ID", "help": "the id of the session"}),
    ("--sub-agent", {"action": "store_true", "help": "the agent is a sub-agent"}),
    (
        "--base",
        {"metavar": "FILE|$PREFIX/PATH", "help": "a base text that replaces the layout's; - is standard input"},
    ),
    ("--skill", {"metavar": "NAME", "help": "the active skill"}),
    ("--plan", {"metavar": "FILE", "help": "the active plan; - is standard input"}),
    (
        "--scope",
        {
            "metavar": "FILE",
            "help": 'a JSON file {"allow": [{"path", "permission", "recursive"}], "deny": […]}; - is standard input',
        },
    ),
    ("--language", {"help": "the language in which the agent answers"}),
    ("--doc", {"action": "append", "metavar": "LABEL=PATH", "help": "documentation about the agent itself"}),
    ("--servers", {"metavar": "FILE", "help": 'a JSON file with the instructions of MCP servers: {"NAME": "TEXT"}'}),
    (
        "--resident",
        {
            "action": "append",
            "metavar": "KIND:SLUG=TEXT",
            "help": "an entry that the prompt lists; KIND is knowledge or workflow",
        },
    ),
    ("--store", {"metavar": "URL", "help": "the database of templates, prompts and conversations"}),
    ("--team", {"metavar": "NAME", "help": "the team that the templates and conversations belong to (none)"}),
    ("--strict", {"action": "store_true", "help": "exit with status 1 if a finding is an error"}),
)
# The titles under which `--help` lists these options, each with the first of them.
_GROUPS = {"--json": "output", "--layout": "layout and files", "--tools": "agent", "--store": "store and findings"}
# For commands that use the store but do not build a prompt.
NOT_FOR_STORE = tuple(
    name for name, _ in OPTIONS if name not in ("--json", "--settings", "--home", "--store", "--team")
)
NO_TOOLS = "none"
# An empty value for one of these is usually an unset shell variable. An empty --scope would allow everything it was meant to forbid.
_MUST_NOT_BE_EMPTY = {
    name: row["metavar"]
    for name, row in OPTIONS
    if name in ("--layout", "--settings", "--tools", "--base", "--plan", "--scope", "--store", "--team")
}


def new_parser(command: str, without: Iterable[str] = (), several_layouts: str = "") -> Parser:
    """Return a parser with the common options, except those in `without`.

    If `several_layouts` is set, `--layout` may be repeated, this is its help text, and `args.layouts` contains the values.
    """
    _, about, example, _ = COMMANDS[command]
    parser = Parser(
        prog=f"foreword {command}",
        description=about[0].upper() + about[1:] + ".",
        epilog=f"Example: {example}",
    )
    group = ""
    for name, row in OPTIONS:
        group = _GROUPS.get(name, group)
        default = {"store_true": False, "append": []}.get(row.get("action", ""), "")
        if name == "--layout" and several_layouts:
            row = {**row, "action": "append", "dest": "layouts", "help": several_layouts}
            parser.add_argument(name, **{"default": [], "group": group, **row})
            parser.set_defaults(layout="")
        elif name in without:
            parser.set_defaults(**{name[2:].replace("-", "_"): row.get("default", default)})
        else:
            parser.add_argument(name, **{"default": default, "group": group, **row})
    return parser


def add_dir_argument(parser: Parser) -> Parser:
    """Add the optional argument DIR to the parser, and return it."""
    parser.add_argument("dir", nargs="?", metavar="DIR", help="the agent's working directory (.)")
    return parser


def parse_args(parser: Parser, arguments: list[str]) -> Namespace:
    """Parse and check the arguments. The result's `question` is what they ask for."""
    parser.set_defaults(dir=parser.default_dir)
    args = parser.parse_args(arguments)
    if args.help:
        from .help import argparse_parser

        print(argparse_parser(parser).format_help(), end="")
        raise SystemExit(0)
    _reject_empty_values(parser, arguments)
    if args.home is not None and not os.path.isdir(args.home):
        raise CallError(f"--home {printable(args.home)}: the directory does not exist")
    args.question = question_of(args)
    return args


def _reject_empty_values(parser: Parser, arguments: list[str]) -> None:
    for argument, text in parser.split(arguments)[0]:
        metavar = _MUST_NOT_BE_EMPTY.get(argument.title)
        if metavar and not text:
            raise CallError(f"{argument.title} needs a value, {metavar}; it is empty")


def question_of(args: Namespace, assembler: Assembler | None = None) -> Question:
    """Return the question that the options ask. Files named by options are read now, so that an invalid call fails early."""
    from_files = {
        "tools": _read_tools(args),
        "base": _read_base(args.base),
        "plan": document_form(read_document(args.plan, "--plan")) if args.plan else "",
        "scope": _read_scope(args.scope) if args.scope else None,
        "docs": [_parse_doc(doc) for doc in args.doc],
        "servers": read_json(args.servers, "--servers") if args.servers else None,
        "residents": [_parse_resident(text) for text in args.resident],
    }
    workspace = {"cwd": args.dir or ".", "packs": packs_of(args), "now": _parse_now(args.now)}
    unchanged = {name: getattr(args, name) for name in ("home", "layout", "settings", "set", "store", "team")}
    agent = {key: getattr(args, key) for key in KEYS if key not in from_files}
    agent["sub_agent"] = args.sub_agent or None
    names = {"tools": f"--tools {args.tools}", "scope": f"--scope {args.scope}", "servers": f"--servers {args.servers}"}
    question = Question({**workspace, **unchanged, **agent, **from_files}, names, assembler)
    question.agent  # noqa: B018
    return question


def packs_of(args: Namespace) -> dict[str, str]:
    """Return the `--pack` folders, by prefix."""
    return dict(_parse_pack(pack) for pack in args.pack)


def status(findings: Iterable[Finding], args: Namespace) -> int:
    """Return the exit status: 1 if --strict is set and a finding is an error, otherwise 0."""
    return 1 if args.strict and any(finding.severity == "error" for finding in findings) else 0


def _parse_now(now: str | None) -> datetime | None:
    if now is None:
        return None
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(now)
        return moment if moment.tzinfo else moment.astimezone()
    except (OverflowError, OSError, ValueError):
        raise CallError(f"--now must be a time such as 2026-03-07T08:55:05-06:00, not {show(now)}") from None


def _read_tools(args: Namespace) -> list[Any] | None:
    """Return the tools from the `--tools` file, then those from `--tool`. None if neither option was passed."""
    if not args.tools and not args.tool:
        return None
    rows = read_json(args.tools, "--tools") if args.tools not in ("", NO_TOOLS) else []
    if not isinstance(rows, list):
        raise CallError(f'--tools {args.tools}: the file must contain a list of tools, [{{"name": …}}]')
    if not all(name.strip() for name in args.tool):
        raise CallError("--tool needs a value, NAME; it is blank")
    return [*rows, *({"name": name} for name in args.tool)]


def _read_base(name: str) -> str | dict[str, Any]:
    """Return the text of a file, or a template's address as it is."""
    if is_address(name):
        split(name)
        return name
    return document_form(read_document(name, "--base")) if name else ""


def _parse_doc(text: str) -> tuple[str, str]:
    label, path = _parse_pair(text, "--doc", "LABEL=PATH")
    return label, path if "://" in path else absolute(os.path.expanduser(path), os.environ)


def _parse_resident(text: str) -> dict[str, str]:
    name, description = _parse_pair(text, "--resident", "KIND:SLUG=TEXT")
    kind, colon, slug = name.partition(":")
    if not colon or not slug:
        raise CallError(f"--resident needs KIND:SLUG=TEXT, such as knowledge:deploy=How we deploy; not {text!r}")
    return {"kind": kind, "slug": slug, "description": description}


def _parse_pack(text: str) -> tuple[str, str]:
    from ..packs.packs import check_packs

    name, folder = _parse_pair(text, "--pack", "NAME=DIR")
    check_packs([name])
    if not os.path.isdir(folder):
        raise CallError(f"--pack {printable(text)}: the directory does not exist")
    return name, folder


def _parse_pair(text: str, option: str, form: str) -> tuple[str, str]:
    label, equals, path = text.partition("=")
    if not equals or not label.strip() or not path.strip():
        raise CallError(f"{option} must be {form}, not {show(text)}")
    return label.strip(), path.strip()


# Files named by options


def _read_scope(path: str) -> Any:
    """Return the scope in a JSON file. `null` is rejected, because it would silently remove every restriction."""
    content = read_json(path, "--scope")
    if content is None:
        raise CallError(f"--scope {path} must be an object, not null")
    return content


def read_json(path: str, option: str) -> Any:
    """Return the value in a JSON file. `-` is standard input."""
    from .json_files import parse_json

    return parse_json(read_document(path, option).text, f"{option} {path}")


def read_document(path: str, option: str) -> Document:
    """Return the document in a file. `-` is standard input."""
    from ..sources.reader import Reader
    from ..vocabulary import Document

    reader = Reader(limit=16 << 20)
    full = path if path == "-" else absolute(path, os.environ)
    reading = reader.decode(path, standard_input()) if path == "-" else reader.read(full, trim=False)
    if reading.fate == "blank":
        return Document(printable(full), "")
    if reading.fate != "used":
        raise CallError(f"{option} {printable(path)}: {reading.reason or 'the file does not exist'}")
    return Document(printable(full), reading.text, reading.hash, reading.line)


def standard_input() -> bytes:
    """Return the contents of standard input, cached because it can be read only once."""
    if sys.stdin not in _stdin_bytes:
        _stdin_bytes[sys.stdin] = sys.stdin.buffer.read()
    return _stdin_bytes[sys.stdin]


_stdin_bytes: dict[object, bytes] = {}
