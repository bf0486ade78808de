"""The Jinja-like language, on minijinja: one adapter, so that nobody else knows the engine.

    check       everything that takes part, loaded and parsed, or the error
    render      pieces: text with the template's lines, values with their variables

Undefined variables are errors. Errors name file and line, quote the template, and never print a value: of what the
engine says while it renders only the kind of error is believed.
"""

from __future__ import annotations

import re

from ..errors import CallError, TemplateError, suggestion
from ..text.lines import printable
from ..vocabulary import Document
from . import inclusion
from .limits import TEMPLATE_LIMIT, too_long, utf8_size
from .tags import looked_up, wrong
from .trace import Tracer, flow, free_sign, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any, TypeVar

    from minijinja import Environment

    from ..vocabulary import Finding, Inputs, Piece
    from .contract import Load, RenderContext, Variables
    from .inclusion import Template

    T = TypeVar("T")

FUEL = 200_000
"""How many steps a template may take: a long prompt needs some thousands."""

VARIABLES = {
    "date": "the day, in UTC: 2026-04-15",
    "time": "the time of day, in UTC: 09:30:00",
    "datetime": "both: 2026-04-15T09:30:00Z",
    "cwd": "the working directory",
    "language": "the language in which to speak to the user",
    "tools": "the names of the agent's tools, a list",
}
LANGUAGE = "match the user's language"

_GLOBALS = frozenset(["cycler", "dict", "joiner", "namespace", "range"])


def facts(now: datetime, cwd: str, language: str, tools: Sequence[str]) -> dict[str, str | Sequence[str]]:
    """The variables of a template. `now` knows its zone."""
    from datetime import UTC

    moment = now.astimezone(UTC)
    date = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    time = f"{moment.hour:02}:{moment.minute:02}:{moment.second:02}"
    return {
        "date": date,
        "time": time,
        "datetime": f"{date}T{time}Z",
        "cwd": cwd,
        "language": language or LANGUAGE,
        "tools": tuple(tools),
    }


def check(
    root: str, load: Load, *, may_parse: Callable[[Iterable[str]], bool] = lambda addresses: True
) -> dict[str, Document]:
    """Everything that takes part when the template at `root` is rendered, by address and as it was loaded.

    Parsed only if `may_parse` says so of all these addresses: a stranger's template could bring the engine down.

    `load` gives the document at an address, or None if there is none; what it raises as a ForewordError is told with the
    place of the include. All is parsed at once: a mistake in a branch that is never taken is found, too.
    """
    loaded: dict[str, Document] = {}

    def remember(address: str) -> Document | None:
        found = load(address)
        if found is not None:
            loaded[address] = found
        return found

    templates = inclusion.collect(root, remember)
    if may_parse(templates):
        _Engine(templates)
    return {address: loaded[address] for address in templates}


def names_used(root: str, templates: Mapping[str, Document]) -> frozenset[str]:
    """Every name that is looked up anywhere: what is not among them cannot change the result."""
    found: set[str] = set()
    for template in inclusion.collect(root, templates.get).values():
        for token in template.tokens:
            found.update(name for name, _ in looked_up(template.document, token))
    return frozenset(found)


def render(
    root: str,
    templates: Mapping[str, Document],
    variables: Variables,
    *,
    limit: int = TEMPLATE_LIMIT,
    trace: bool = True,
) -> tuple[Piece, ...]:
    """The template at `root`, with all that it includes, as pieces of at most `limit` bytes.

    The text is the same with and without `trace`; without, it is one piece that came from the whole of the root.
    """
    values = {name: plain(name, given) for name, given in variables.items()}
    return rendered(inclusion.collect(root, templates.get), values, limit=limit, trace=trace)


def rendered(
    templates: dict[str, Template], variables: Variables, *, limit: int = TEMPLATE_LIMIT, trace: bool = True
) -> tuple[Piece, ...]:
    """The first of these templates as pieces; the variables are plain."""
    root = next(iter(templates.values()))
    engine = _Engine(templates)
    text = engine.render("p0", variables, FUEL)
    if utf8_size(text) > limit:
        raise too_long(root.document.path, limit)
    pieces = _traced(engine, text, variables) if trace else None
    return pieces if pieces is not None else whole(root, text)


def _traced(engine: _Engine, text: str, variables: Variables) -> tuple[Piece, ...] | None:
    """The pieces of a text that was rendered; None if they cannot be told for certain."""
    sign = free_sign(text)
    tracer = Tracer(engine.templates, variables, sign) if sign else None
    if tracer is None or not tracer.is_possible:
        return None
    try:
        for number, template in enumerate(engine.order):
            engine.add(f"i{number}", tracer.marked(template))
        pieces = tracer.pieces(engine.render("i0", variables, 4 * FUEL))
    except TemplateError:
        return None
    return pieces if pieces is not None and "".join(piece.text for piece in pieces) == text else None


def plain(name: str, given: object) -> str | tuple[str, ...]:
    """A copy of a variable that has nothing to call, and no half of a character."""
    if isinstance(given, str):
        return str.__str__(given).encode("utf-8", "backslashreplace").decode()
    if isinstance(given, (list, tuple)) and all(isinstance(each, str) for each in given):
        return tuple(str(plain(name, each)) for each in given)
    raise CallError(f"the variable {name!r} must be a text or a list of texts, not {type(given).__name__}")


# As one of the languages


def wanted_values(template: Document, types: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Nothing: the variables of this language are known without reading the workspace."""
    return ()


def load_all(
    template: Document, load: Load, may_parse: Callable[[Iterable[str]], bool] = lambda addresses: True
) -> dict[str, Document]:
    """The template and everything it includes, by address."""
    return check(template.path, load, may_parse=may_parse) if template.text else {}


def render_template(template: Document, context: RenderContext) -> tuple[tuple[Piece, ...], Sequence[Finding]]:
    """The output of a template; what is wrong with it is an error, so there are no findings."""
    if not template.text:
        return (), ()
    inputs, agent = context.inputs, context.agent
    variables = facts(
        context.now, printable(inputs.workspace.cwd), agent.language, [tool.name for tool in agent.tools or ()]
    )
    variables |= {name: text for name, text in inputs.values.items() if ":" not in name and isinstance(text, str)}
    if context.sandboxed is not None:
        return context.sandboxed(template.path, inputs.templates, variables), ()
    return render(template.path, inputs.templates, variables, limit=context.limit), ()


def variables_used(template: Document, inputs: Inputs) -> list[str]:
    """The names of variables that a template and its includes look up, sorted."""
    return sorted(names_used(template.path, inputs.templates) & {*VARIABLES, *inputs.values}) if template.text else []


def uses_clock(template: Document, inputs: Inputs) -> bool:
    """Whether a template or one of its includes uses the date or time."""
    return bool(template.text and names_used(template.path, inputs.templates) & {"date", "time", "datetime"})


def include_tag(address: str) -> str:
    """The tag that includes the template at an address."""
    return f'{{% include "{address}" %}}'


# The engine

_BLAME = re.compile(r"caused by: ([a-z ]+)(: .*)? \(in p(\d+):(\d+)\)")
_KINDS = {
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
_TOLD = {
    "OutOfFuel": f"takes more than {FUEL:,} steps",
    "UnknownFilter": "names a filter that does not exist",
    "UnknownTest": "names a test that does not exist",
    "UnknownFunction": "calls a function that does not exist",
    "UnknownMethod": "calls a method that does not exist",
    "UnknownBlock": "names a block that does not exist",
    "TooManyArguments": "is given too many arguments, or wrong ones",
    "MissingArgument": "lacks an argument",
    "CannotUnpack": "cannot be taken apart",
    "BadEscape": "holds an escape that does not exist",
}


class _Engine:
    """An environment with all templates in it, parsed. A template is named by its number, so that no name is special."""

    def __init__(self, templates: Mapping[str, Template]) -> None:
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
        """The number of the template that a name means where it stands. In marked templates the numbers are written out."""
        return self.joins.get((parent, name), name)

    def add(self, name: str, text: str) -> None:
        self.attempt(lambda: self.environment.add_template(name, text), {})

    def render(self, name: str, variables: Variables, fuel: int) -> str:
        self.environment.fuel = fuel
        # A fresh copy each time: a template may call what changes a list.
        values = {key: given if isinstance(given, str) else list(given) for key, given in variables.items()}
        return self.attempt(lambda: self.environment.render_template(name, **values), variables)

    def attempt(self, action: Callable[[], T], variables: Variables) -> T:
        """What the engine answers, or our own error."""
        from minijinja import TemplateError as EngineError

        try:
            return action()
        except EngineError as error:
            raise self.explain(error, variables) from None
        except BaseException as error:
            # Rust's panic comes as an exception of this name, which is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            raise TemplateError(f"{self.order[0].document.path} made the template engine give up") from None

    def explain(self, error: Any, variables: Variables) -> TemplateError:
        """What went wrong, in our words: those of the engine may hold values."""
        kind, template, line, span = self.place(error)
        document = template.document
        start, end = span or _line(template, line)
        if kind == "BadEscape" or not document.text[start:end].strip():
            start, end = _line(template, line)
        if kind == "SyntaxError":
            return wrong(document, f"cannot be parsed: {error.detail or 'it is no expression'}", start, end)
        if kind != "UndefinedError":
            return wrong(document, _TOLD.get(kind, "cannot be computed"), start, end)
        missing = self.missing(template, start, end, variables)
        if len(missing) == 1:
            name, at = missing.popitem()
            return wrong(document, f"is not defined{suggestion(name, variables)}", at, at + len(name))
        told = f"holds a name that is not defined: {' or '.join(missing)}" if missing else "is not defined"
        return wrong(document, told, start, end)

    def missing(self, template: Template, start: int, end: int, variables: Variables) -> dict[str, int]:
        """The names in a stretch that are neither given nor bound by any template, and where they snapshot."""
        known = {*variables, *_GLOBALS, *flow(self.templates, ())}
        return {
            name: at
            for token in template.tokens
            for name, at in looked_up(template.document, token)
            if start <= at < end and name not in known
        }

    def place(self, error: Any) -> tuple[str, Template, int, tuple[int, int] | None]:
        """The kind of an error, and its template, line and stretch. Of one inside an include only the line is known."""
        if error.kind in ("BadInclude", "EvalBlock"):
            # The environment is not in debug mode, so this holds names and lines; of the rest nothing is used.
            blames = _BLAME.findall(str(error))
            if blames:
                told, detail, number, line = blames[-1]
                return _kind(_KINDS.get(told, ""), detail), self.order[int(number)], int(line), None
        number = int((error.name or "p0")[1:])
        template = self.order[number] if number < len(self.order) else self.order[0]
        kind = _kind(error.kind, error.detail or "")
        return kind, template, error.line or 1, _characters(template.document.text, error.range)


def _environment(join: Any) -> Environment:
    from minijinja import Environment

    environment = Environment(
        debug=False, undefined_behavior="strict", keep_trailing_newline=True, path_join_callback=join
    )
    for name in environment.globals:
        if name not in _GLOBALS:
            environment.remove_global(name)
    # What is drawn by lot would make two prompts of one.
    environment.remove_filter("random")
    return environment


def _kind(kind: str, detail: str) -> str:
    """The kind of an error; one of arithmetic with nothing is that of the name that is not defined."""
    is_undefined = kind in ("InvalidOperation", "") and " types " in detail and "undefined" in detail
    return "UndefinedError" if is_undefined else kind


def _characters(text: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
    """A range of bytes as a range of characters."""
    if span is None:
        return None
    start, end = (len(text.encode()[:at].decode("utf-8", "ignore")) for at in span)
    return start, max(end, start + 1)


def _line(template: Template, line: int) -> tuple[int, int]:
    """The tags that stand on a line of a template's text, from the first to the last; the line itself if there are none."""
    text = template.document.text
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    tags = [token for token in template.tokens if token[0] != "text" and token[1] < end and token[2] > start]
    return (tags[0][1], tags[-1][2]) if tags else (start, end)
