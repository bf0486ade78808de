"""The adapter for minijinja: the only module that imports it or relies on its undocumented behaviour.

| undocumented behaviour | where it is used |
|---|---|
| its errors have the attributes `kind`, `detail`, `name`, `line` and `range` (in bytes) | `to_template_error`, `_locate` |
| the message of an error inside an include contains `caused by: … (in NAME:LINE)` | `_CAUSE` |
| Rust panics are raised as a BaseException named `PanicException` | `attempt` |
| `globals` lists everything that `remove_global` must remove | `_create_environment` |
| `minijinja._internal` is the compiled module | `preload` |

Each row has a test in tests/template/test_engine.py, and pyproject.toml limits the version.

Our errors have the file and line, quote the template, and never contain a variable's value. So the engine's own messages are not
used, except for the kind of error and the details of a syntax error.
"""

from __future__ import annotations

import re

from ..errors import TemplateError, TemplateRenderError, TemplateSyntaxError, suggestion
from .tags import error_at, names_in_tag, operand_start
from .trace import variable_flow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from minijinja import Environment

    from .contract import Variables
    from .inclusion import LoadedTemplate

    T = TypeVar("T")

FUEL = 200_000
"""How many steps a template may take. A long prompt takes a few thousand."""

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
    """An environment with all templates parsed. Templates are named by number, so that no address has a special meaning."""

    def __init__(self, templates: Mapping[str, LoadedTemplate]) -> None:
        self.templates = templates
        self.template_list = list(templates.values())
        numbers = {address: index for index, address in enumerate(templates)}
        self.include_targets = {
            (f"p{numbers[address]}", name): f"p{numbers[link]}" if link == target else "-"
            for address, template in templates.items()
            for include, link in template.includes
            for name, target in zip(include.names, include.targets, strict=True)
        }
        self.environment = _create_environment(self.resolve_include)
        for index, template in enumerate(self.template_list):
            self.add(f"p{index}", template.document.text)

    def resolve_include(self, name: str, parent: str) -> str:
        """Return the numbered name of the template that `name` refers to in `parent`. Marked templates already use numbered names."""
        return self.include_targets.get((parent, name), name)

    def add(self, name: str, text: str) -> None:
        self.attempt(lambda: self.environment.add_template(name, text), {}, TemplateSyntaxError)

    def render(self, name: str, variables: Variables, fuel: int) -> str:
        self.environment.fuel = fuel
        # A fresh copy each time, because a template may change a list.
        values = {key: value if isinstance(value, str) else list(value) for key, value in variables.items()}
        return self.attempt(lambda: self.environment.render_template(name, **values), variables, TemplateRenderError)

    def attempt(
        self, action: Callable[[], T], variables: Variables, kind: type[TemplateError] = TemplateRenderError
    ) -> T:
        """Run an action of the engine. Raises its errors as a TemplateError of this kind."""
        from minijinja import TemplateError as EngineError

        try:
            return action()
        except EngineError as error:
            raise self.to_template_error(error, variables, kind) from None
        except BaseException as error:
            # A Rust panic is not an Exception, and its class is not exported.
            if type(error).__name__ != "PanicException":
                raise
            raise kind(f"{self.template_list[0].document.path} crashed the template engine") from None

    def to_template_error(self, error: Any, variables: Variables, to: type[TemplateError]) -> TemplateError:
        """Convert an engine error to a TemplateError. The engine's message is not used because it may contain a variable's value."""
        kind, template, line, span = self._locate(error)
        document = template.document
        start, end = span or _line_range(template, line)
        if kind == "BadEscape" or not document.text[start:end].strip():
            start, end = _line_range(template, line)
        if kind == "SyntaxError":
            return error_at(document, f"cannot be parsed: {error.detail or 'it is not an expression'}", start, end, to)
        if kind != "UndefinedError":
            return error_at(document, _MESSAGES.get(kind, "cannot be evaluated"), start, end, to)
        # The engine's range of `tools.x.y` begins after `tools`.
        token = next((token for token in template.tokens if token[3] <= start < token[4]), None)
        start = operand_start(document, token, start) if token else start
        undefined_names = self.undefined_names(template, start, end, variables)
        if len(undefined_names) == 1:
            name, offset = undefined_names.popitem()
            return error_at(document, f"is not defined{suggestion(name, variables)}", offset, offset + len(name), to)
        problem = (
            f"contains a name that is not defined: {' or '.join(undefined_names)}"
            if undefined_names
            else "is not defined"
        )
        return error_at(document, problem, start, end, to)

    def undefined_names(self, template: LoadedTemplate, start: int, end: int, variables: Variables) -> dict[str, int]:
        """Return the names in a range that are neither variables nor bound in any template, with their offsets."""
        known = {*variables, *_GLOBALS, *variable_flow(self.templates, ())}
        return {
            name: offset
            for token in template.tokens
            for name, offset in names_in_tag(template.document, token)
            if start <= offset < end and name not in known
        }

    def _locate(self, error: Any) -> tuple[str, LoadedTemplate, int, tuple[int, int] | None]:
        """Return the kind, template, line and range of an error. Inside an include, only the line is known."""
        if error.kind in ("BadInclude", "EvalBlock"):
            # Without debug mode the message has names and lines; nothing else in it is used.
            causes = _CAUSE.findall(str(error))
            if causes:
                words, detail, number, line = causes[-1]
                return (
                    _normalize_kind(_KINDS_BY_WORDS.get(words, ""), detail),
                    self.template_list[int(number)],
                    int(line),
                    None,
                )
        number = int((error.name or "p0")[1:])
        template = self.template_list[number] if number < len(self.template_list) else self.template_list[0]
        kind = _normalize_kind(error.kind, error.detail or "")
        return kind, template, error.line or 1, _to_character_range(template.document.text, error.range)


def preload() -> None:
    """Import the engine before memory is limited."""
    import minijinja._internal  # noqa: F401


def package_file() -> str:
    """Return the path of the engine's package, so that another process can import it."""
    import minijinja

    return str(minijinja.__file__)


def _create_environment(resolve_include: Any) -> Environment:
    from minijinja import Environment

    environment = Environment(
        debug=False, undefined_behavior="strict", keep_trailing_newline=True, path_join_callback=resolve_include
    )
    for name in environment.globals:
        if name not in _GLOBALS:
            environment.remove_global(name)
    # Random output would make every prompt different.
    environment.remove_filter("random")
    return environment


def _normalize_kind(kind: str, detail: str) -> str:
    """Return an error's kind. An error in arithmetic with an undefined name is an UndefinedError."""
    is_undefined = kind in ("InvalidOperation", "") and " types " in detail and "undefined" in detail
    return "UndefinedError" if is_undefined else kind


def _to_character_range(text: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
    """Convert a range of bytes to a range of characters."""
    if span is None:
        return None
    start, end = (len(text.encode()[:offset].decode("utf-8", "ignore")) for offset in span)
    return start, max(end, start + 1)


def _line_range(template: LoadedTemplate, line: int) -> tuple[int, int]:
    """Return the range from the first to the last tag on a line, or the range of the line if it has no tags."""
    text = template.document.text
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    tags = [token for token in template.tokens if token[0] != "text" and token[1] < end and token[2] > start]
    return (tags[0][1], tags[-1][2]) if tags else (start, end)
