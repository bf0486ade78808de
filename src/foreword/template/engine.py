"""The adapter for minijinja: the only module that imports it or relies on what it does not document.

| relied on | where |
|---|---|
| the attributes `kind`, `detail`, `name`, `line` and `range` (in bytes) of its errors | `explain`, `_locate` |
| the words `caused by: … (in NAME:LINE)` of an error inside an include | `_CAUSE` |
| Rust panics arrive as a BaseException named `PanicException` | `attempt` |
| `globals` lists everything that `remove_global` must remove | `_environment` |
| `minijinja._internal` is the compiled module | `preload` |

Each row has a test in tests/template/test_engine.py, and pyproject.toml bounds the version.

Errors name file and line, quote the template, and never contain a value: the engine's own messages are not used, except for the
kind of error and the details of a syntax error.
"""

from __future__ import annotations

import re

from ..errors import TemplateError, suggestion
from .tags import error_at, names_in_tag
from .trace import flow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from minijinja import Environment

    from .contract import Variables
    from .inclusion import LoadedTemplate

    T = TypeVar("T")

FUEL = 200_000
"""How many steps a template may take. A long prompt takes some thousands."""

_GLOBALS = frozenset(["cycler", "dict", "joiner", "namespace", "range"])
_CAUSE = re.compile(r"caused by: ([a-z ]+)(: .*)? \(in p(\d+):(\d+)\)")
_KINDS_BY_WORDS = {
    "undefined value": "UndefinedError",
    "engine ran out of fuel": "OutOfFuel",
    "unknown filter": "UnknownFilter",
    "unknown test": "UnknownTest",
    "unknown function": "UnknownFunction",
    "unknown method": "UnknownMethod",
    "unknown block": "UnknownBlock",
    "too many arguments": "TooManyArguments",
    "missing argument": "MissingArgument",
}
_MESSAGES = {
    "OutOfFuel": f"takes more than {FUEL:,} steps",
    "UnknownFilter": "uses an unknown filter",
    "UnknownTest": "uses an unknown test",
    "UnknownFunction": "calls an unknown function",
    "UnknownMethod": "calls an unknown method",
    "UnknownBlock": "uses an unknown block",
    "TooManyArguments": "has too many arguments, or invalid ones",
    "MissingArgument": "is missing an argument",
    "CannotUnpack": "cannot be unpacked",
    "BadEscape": "contains an unknown escape",
}


class Engine:
    """An environment with all templates, parsed. Templates are named by number, so that no name is special."""

    def __init__(self, templates: Mapping[str, LoadedTemplate]) -> None:
        self.templates = templates
        self.order = list(templates.values())
        numbers = {address: number for number, address in enumerate(templates)}
        self.joins = {
            (f"p{numbers[address]}", name): f"p{numbers[link]}" if link == target else "-"
            for address, template in templates.items()
            for include, link in template.includes
            for name, target in zip(include.names, include.targets, strict=True)
        }
        self.environment = _environment(self.join)
        for number, template in enumerate(self.order):
            self.add(f"p{number}", template.document.text)

    def join(self, name: str, parent: str) -> str:
        """The number of the template that a name refers to in its parent. Marked templates use the numbers as names."""
        return self.joins.get((parent, name), name)

    def add(self, name: str, text: str) -> None:
        self.attempt(lambda: self.environment.add_template(name, text), {})

    def render(self, name: str, variables: Variables, fuel: int) -> str:
        self.environment.fuel = fuel
        # A fresh copy each time, because a template may change a list.
        values = {key: each if isinstance(each, str) else list(each) for key, each in variables.items()}
        return self.attempt(lambda: self.environment.render_template(name, **values), variables)

    def attempt(self, action: Callable[[], T], variables: Variables) -> T:
        """The result of an action of the engine, or our own error."""
        from minijinja import TemplateError as EngineError

        try:
            return action()
        except EngineError as error:
            raise self.explain(error, variables) from None
        except BaseException as error:
            # A Rust panic is not an Exception, and its class is not exported.
            if type(error).__name__ != "PanicException":
                raise
            raise TemplateError(f"{self.order[0].document.path} crashed the template engine") from None

    def explain(self, error: Any, variables: Variables) -> TemplateError:
        """Our error for an error of the engine, whose own message may contain values."""
        kind, template, line, span = self._locate(error)
        document = template.document
        start, end = span or _line_range(template, line)
        if kind == "BadEscape" or not document.text[start:end].strip():
            start, end = _line_range(template, line)
        if kind == "SyntaxError":
            return error_at(document, f"cannot be parsed: {error.detail or 'it is not an expression'}", start, end)
        if kind != "UndefinedError":
            return error_at(document, _MESSAGES.get(kind, "cannot be evaluated"), start, end)
        missing = self.missing(template, start, end, variables)
        if len(missing) == 1:
            name, at = missing.popitem()
            return error_at(document, f"is not defined{suggestion(name, variables)}", at, at + len(name))
        problem = f"contains a name that is not defined: {' or '.join(missing)}" if missing else "is not defined"
        return error_at(document, problem, start, end)

    def missing(self, template: LoadedTemplate, start: int, end: int, variables: Variables) -> dict[str, int]:
        """The names in a range that are neither variables nor bound by any template, with their offsets."""
        known = {*variables, *_GLOBALS, *flow(self.templates, ())}
        return {
            name: at
            for token in template.tokens
            for name, at in names_in_tag(template.document, token)
            if start <= at < end and name not in known
        }

    def _locate(self, error: Any) -> tuple[str, LoadedTemplate, int, tuple[int, int] | None]:
        """The kind, template, line and range of an error. Inside an include, only the line is known."""
        if error.kind in ("BadInclude", "EvalBlock"):
            # Without debug mode the message has names and lines; nothing else in it is used.
            causes = _CAUSE.findall(str(error))
            if causes:
                words, detail, number, line = causes[-1]
                return _kind(_KINDS_BY_WORDS.get(words, ""), detail), self.order[int(number)], int(line), None
        number = int((error.name or "p0")[1:])
        template = self.order[number] if number < len(self.order) else self.order[0]
        kind = _kind(error.kind, error.detail or "")
        return kind, template, error.line or 1, _characters(template.document.text, error.range)


def preload() -> None:
    """Import the engine now, while there is memory."""
    import minijinja._internal  # noqa: F401


def package_file() -> str:
    """The path of the engine's package, for a process that must find it."""
    import minijinja

    return str(minijinja.__file__)


def _environment(join: Any) -> Environment:
    from minijinja import Environment

    environment = Environment(
        debug=False, undefined_behavior="strict", keep_trailing_newline=True, path_join_callback=join
    )
    for name in environment.globals:
        if name not in _GLOBALS:
            environment.remove_global(name)
    # Random output would make every prompt different.
    environment.remove_filter("random")
    return environment


def _kind(kind: str, detail: str) -> str:
    """The kind of an error. Arithmetic with an undefined name counts as an undefined name."""
    is_undefined = kind in ("InvalidOperation", "") and " types " in detail and "undefined" in detail
    return "UndefinedError" if is_undefined else kind


def _characters(text: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
    """A range of characters from a range of bytes."""
    if span is None:
        return None
    start, end = (len(text.encode()[:at].decode("utf-8", "ignore")) for at in span)
    return start, max(end, start + 1)


def _line_range(template: LoadedTemplate, line: int) -> tuple[int, int]:
    """The range from the first to the last tag on a line; the line itself if it has no tags."""
    text = template.document.text
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    tags = [token for token in template.tokens if token[0] != "text" and token[1] < end and token[2] > start]
    return (tags[0][1], tags[-1][2]) if tags else (start, end)
