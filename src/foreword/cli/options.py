"""The options that every command takes, and the workspace and agent they describe."""

from __future__ import annotations

import argparse
import os
import sys

from ..encoding.agent import KEYS, agent_from, kind_of
from ..engine.assembler import Assembler
from ..errors import CallError, suggestion
from ..packs.packs import check_packs
from ..packs.settings import parse_assignment
from ..sources.environment import absolute
from ..template.addresses import is_address
from ..text.lines import printable
from ..vocabulary import Document, Tool, Workspace, replace
from .commands import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from typing import Any, NoReturn

    from ..store.contract import Store
    from ..vocabulary import Agent, Finding


# What argparse asks of `gettext` would be looked up in the machine's languages at every start; we have one.
argparse._ = str  # type: ignore[attr-defined]


def _formatter(prog: str) -> argparse.HelpFormatter:
    """With a width, or argparse would load `shutil` to find one out."""
    from .terminal import columns_of, is_terminal

    is_fitted = is_terminal(sys.stdout) or os.environ.get("COLUMNS", "")
    return argparse.HelpFormatter(prog, width=columns_of(sys.stdout) - 2 if is_fitted else 110, max_help_position=32)


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence."""

    def error(self, message: str) -> NoReturn:
        raise CallError(f"{message} (see {self.prog} --help)")

    def options_first(self, arguments: list[str]) -> list[str]:
        """The same call in the one order that argparse understands: it takes no DIR that an option parts from a NAME."""
        options: list[str] = []
        others: list[str] = []
        left = iter(arguments)
        for each in left:
            if each == "--":
                others += left
            elif each.startswith("-") and each.lstrip("-")[:1].isalpha():
                options += [each, *self._value_of(each, left)]
            else:
                others.append(each)
        border = ["--"] if any(each.startswith("-") for each in others) else []
        return options + border + others

    def _value_of(self, option: str, left: Iterator[str]) -> Iterator[str]:
        """The argument that belongs to an option: none for a switch, or where it stands behind `=`."""
        name, equals, _ = option.partition("=")
        action = self._option_string_actions.get(name)
        if action is None:
            self.error(f"no option {name!r}{suggestion(name, self._option_string_actions)}")
        if action.nargs != 0 and not equals:
            value = next(left, "--")
            if value == "--":
                self.error(f"{name} takes {action.metavar or action.dest.upper()}")
            yield value


OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--json", {"action": "store_true", "help": "print JSON"}),
    ("--layout", {"metavar": "NAME|FILE", "help": "the layout: a shipped one, an address ($user/mine) or a file"}),
    (
        "--set",
        {"action": "append", "metavar": "KEY=VALUE", "help": "set a key of the layout (skills.validation=strict)"},
    ),
    (
        "--settings",
        {"metavar": "FILE", "help": "a further foreword.toml, stronger than the user's and the workspace's"},
    ),
    (
        "--pack",
        {"action": "append", "metavar": "NAME=DIR", "help": "a folder of layouts, templates and wording, as $NAME/…"},
    ),
    ("--home", {"default": None, "metavar": "DIR", "help": "the user's home directory"}),
    (
        "--now",
        {
            "default": None,
            "metavar": "ISO",
            "help": "the time, such as 2026-03-07T08:55:05-06:00; it keeps its own offset",
        },
    ),
    (
        "--tools",
        {
            "metavar": "FILE",
            "help": 'a JSON file of tools: [{"name", "description", "snippet", "guidelines", "schema"}]; - is standard input,'
            " none is no tools (a known conversation would keep its own)",
        },
    ),
    ("--tool", {"action": "append", "metavar": "NAME", "help": "a tool the agent has"}),
    ("--model", {"help": "the model's name"}),
    ("--provider", {"help": "the provider's name"}),
    ("--session", {"metavar": "ID", "help": "the session's id"}),
    ("--sub-agent", {"action": "store_true", "help": "the agent is a sub-agent"}),
    (
        "--base",
        {"metavar": "FILE|$PREFIX/PATH", "help": "a base text that replaces the layout's own; - is standard input"},
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
    ("--language", {"help": "the language the agent answers in"}),
    ("--doc", {"action": "append", "metavar": "LABEL=PATH", "help": "documentation of the agent itself"}),
    ("--store", {"metavar": "URL", "help": "where templates, prompts and editions are kept"}),
    ("--strict", {"action": "store_true", "help": "exit with 1 if there is an error finding"}),
)


# An empty name of one of these is a variable that was never set: with --scope, all that it was to forbid would be allowed.
NO_TOOLS = "none"
_NEVER_EMPTY = {
    name: takes["metavar"]
    for name, takes in OPTIONS
    if name in ("--layout", "--settings", "--tools", "--base", "--plan", "--scope", "--store")
}


def new_parser(command: str) -> Parser:
    """A parser with the options of every command."""
    about = COMMANDS[command][1]
    parser = Parser(
        prog=f"foreword {command}",
        description=about[0].upper() + about[1:] + ".",
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    for name, takes in OPTIONS:
        by_action = {"store_true": False, "append": []}.get(takes.get("action", ""), "")
        parser.add_argument(name, **{"default": by_action, **takes})
    return parser


def with_dir(parser: Parser) -> Parser:
    """The parser with the optional argument DIR."""
    parser.add_argument(
        "dir", nargs="?", default=argparse.SUPPRESS, metavar="DIR", help="the agent's working directory"
    )
    return parser


def read(parser: Parser, arguments: list[str]) -> argparse.Namespace:
    """The options as they were given, each of them checked, with the agent they describe and the time."""
    parser.set_defaults(dir=".")
    args = parser.parse_args(parser.options_first(arguments))
    _refuse_empty(arguments)
    if args.home is not None and not os.path.isdir(args.home):
        raise CallError(f"--home {printable(args.home)}: there is no such directory")
    args.agent, args.clock = agent(args), clock(args)
    return args


def _refuse_empty(arguments: list[str]) -> None:
    for name, takes in _NEVER_EMPTY.items():
        at = arguments.index(name) if name in arguments else len(arguments)
        if f"{name}=" in arguments or arguments[at + 1 : at + 2] == [""]:
            raise CallError(f"{name} takes {takes}, not an empty text")


def assembler(args: argparse.Namespace, values: dict[str, str] | None = None) -> Assembler:
    """The assembler for the workspace and layout that the options name; `values` are given for variables of templates."""
    workspace = Workspace(args.dir, home=args.home)
    return Assembler(
        workspace,
        args.layout,
        settings=args.settings,
        assignments=[parse_assignment(each) for each in args.set],
        packs=packs_of(args),
        values=values,
    )


def packs_of(args: argparse.Namespace) -> dict[str, str]:
    """The folders of `--pack`, by their prefix."""
    return dict(_pack(each) for each in args.pack)


def agent(args: argparse.Namespace) -> Agent:
    """The agent that the options describe. An option with the name of a key is passed as it is, unless it names a file."""
    from_files = {
        "tools": _tools(args),
        "base": _base(args),
        "plan": document(args.plan, "--plan") if args.plan else "",
        "scope": _scope_rows(args.scope, args.dir) if args.scope else None,
        "docs": [_doc(each) for each in args.doc],
    }
    options = {key: getattr(args, key) for key in KEYS if key not in from_files}
    return agent_from(options | from_files, {"tools": f"--tools {args.tools}", "scope": f"--scope {args.scope}"})


def _base(args: argparse.Namespace) -> str | Document:
    """The text of a file, or of a template by its address."""
    if is_address(args.base):
        return assembler(args).template(args.base)
    return document(args.base, "--base") if args.base else ""


def status(findings: Iterable[Finding], args: argparse.Namespace) -> int:
    """The exit status: 1 with --strict and an error finding, else 0."""
    return 1 if args.strict and any(each.severity == "error" for each in findings) else 0


def store_url(args: argparse.Namespace) -> str:
    """Where conversations are kept: `--store`, `FOREWORD_STORE`, the settings, else the user's data folder."""
    return _store_url(args)[0]


def url_to_read(args: argparse.Namespace) -> str:
    """Where conversations are kept, for a command that only reads: where nobody has kept anything yet, it makes no store."""
    from ..store import exists

    url = store_url(args)
    return url if exists(url) else ":memory:"


def store_to_read(args: argparse.Namespace) -> Store:
    """The store, for a command that only reads."""
    from ..store import open_store

    return open_store(url_to_read(args))


def url_of_store(args: argparse.Namespace) -> str:
    """Where conversations are kept, for a command about the store itself: one that somebody names has to be there."""
    from ..store import exists

    url, is_named = _store_url(args)
    if is_named and not exists(url):
        raise CallError(f"there is no store {printable(url)}; a first turn or a template that is set makes it")
    return url_to_read(args)


def as_in_a_conversation(who: Agent, prompts: Assembler, args: argparse.Namespace) -> Agent:
    """The agent with the global template as its base, where the layout has a place for that and the agent brings none."""
    sections = prompts.layout().each_section()
    if who.base or not any("template" in section.instead for section in sections):
        return who
    from ..store import open_store

    url = url_to_read(args)
    kept = open_store(url).template() if url != ":memory:" else None
    return (
        who
        if kept is None
        else replace(who, base=Document(f"template {kept.version}", kept.template, syntax=kept.syntax))
    )


def _store_url(args: argparse.Namespace) -> tuple[str, bool]:
    """The store, and whether somebody has named it."""
    from ..packs.settings import read_settings
    from ..sources.environment import resolve_workspace
    from ..sources.files import Reader
    from ..sources.paths import data_folder

    url = args.store or os.environ.get("FOREWORD_STORE", "")
    if url and "~" not in url:
        return url, True
    reader = Reader()
    workspace = resolve_workspace(Workspace(args.dir, home=args.home), reader)
    if url:
        return _from_home(url, workspace), True
    files, _ = read_settings(workspace, reader, args.settings)
    for each in reversed(files):
        if each.mapping.get("store") and not each.is_untrusted:
            named = _from_home(each.mapping["store"], workspace)
            is_elsewhere = "://" in named or named == ":memory:"
            return named if is_elsewhere else os.path.join(os.path.dirname(each.path), named), True
    # Another home is another user's: the folder of data in this environment is not theirs.
    data = os.path.join(workspace.home, ".local", "share") if args.home and workspace.home else data_folder(workspace)
    if not data:
        raise CallError("no home directory is known for the store; name one with --store or FOREWORD_STORE")
    return f"sqlite:///{os.path.join(data, 'foreword', 'foreword.db')}", False


def _from_home(url: str, workspace: Workspace) -> str:
    """The place with its `~` written out."""
    for start in ("~/", "sqlite:///~/"):
        if url.startswith(start) and workspace.home:
            return f"{start.removesuffix('~/')}{workspace.home}/{url.removeprefix(start)}"
    return url


def clock(args: argparse.Namespace) -> datetime | None:
    """The time that was given; None for now."""
    if args.now is None:
        return None
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(args.now)
    except ValueError:
        raise CallError(f"--now takes a time such as 2026-03-07T08:55:05-06:00, not {args.now!r}") from None
    try:
        return moment if moment.tzinfo else moment.astimezone()
    except (OverflowError, OSError, ValueError):
        raise CallError(f"--now takes a time that the calendar knows, not {args.now!r}") from None


def _tools(args: argparse.Namespace) -> list[Any] | None:
    """The rows of `--tools`, then the tools of `--tool`; None without either option."""
    if not args.tools and not args.tool:
        return None
    if not all(name.strip() for name in args.tool):
        raise CallError("--tool takes the name of a tool")
    rows = read_json(args.tools, "--tools") if args.tools not in ("", NO_TOOLS) else []
    if not isinstance(rows, list):
        raise CallError(
            f'--tools {args.tools}: the file must have a list of tools, [{{"name": …}}], not {kind_of(rows)}'
        )
    return [*rows, *map(Tool, args.tool)]


def _scope_rows(path: str, cwd: str) -> Any:
    """The content of a scope file, with absolute paths."""
    content = read_json(path, "--scope")
    for rows in content.values() if isinstance(content, dict) else ():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and isinstance(row.get("path"), str) and row["path"]:
                row["path"] = absolute(os.path.join(cwd, os.path.expanduser(row["path"])), os.environ)
    return content


def _doc(text: str) -> tuple[str, str]:
    label, path = _pair(text, "--doc", "LABEL=PATH")
    return label, path if "://" in path else absolute(os.path.expanduser(path), os.environ)


def _pack(text: str) -> tuple[str, str]:
    name, folder = _pair(text, "--pack", "NAME=DIR")
    check_packs([name])
    if not os.path.isdir(folder):
        raise CallError(f"--pack {printable(text)}: there is no such directory")
    return name, folder


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    label, equals, path = text.partition("=")
    if not equals or not label.strip() or not path.strip():
        raise CallError(f"{option} takes {form}, not {text!r}")
    return label.strip(), path.strip()


def read_json(path: str, option: str) -> Any:
    """What a JSON file of the caller's holds; `-` is standard input."""
    import json

    try:
        return json.loads(document(path, option).text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise CallError(f"{option} {path}: the file is not JSON{where}") from None


def _no_number(name: str) -> NoReturn:
    """`NaN` and the infinities, which Python would read and JSON does not know."""
    raise ValueError(name)


def standard_input() -> bytes:
    """All that standard input holds; it can be read once, and may be asked for again."""
    if sys.stdin not in _read:
        _read[sys.stdin] = sys.stdin.buffer.read()
    return _read[sys.stdin]


_read: dict[object, bytes] = {}


def document(path: str, option: str) -> Document:
    """The text of a file of the caller's; `-` is standard input."""
    from ..sources.files import Reader

    reader = Reader(limit=16 << 20)
    whole = path if path == "-" else absolute(path, os.environ)
    reading = reader.decode(path, standard_input()) if path == "-" else reader.read_whole(whole)
    if reading.fate == "blank":
        return Document(printable(whole), "")
    if reading.fate != "used":
        raise CallError(f"{option} {printable(path)}: {reading.reason or 'there is no such file'}")
    return Document(printable(whole), reading.text, reading.hash, reading.line)
