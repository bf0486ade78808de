"""The Jinja-like language.

    check       loads and parses a template and its includes
    render      returns pieces: text with the template's lines, values with their variables

Using an undefined variable raises an error.
"""

from __future__ import annotations

from ..errors import CallError, TemplateError
from ..text.lines import printable
from ..vocabulary import Document
from . import TEMPLATE_LIMIT, inclusion
from .engine import FUEL, Engine
from .limits import output_too_long, utf8_size
from .tags import names_in_tag
from .trace import Tracer, as_one_piece, find_unused_character

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import TypeVar

    from ..vocabulary import Finding, Inputs, Piece
    from .contract import Load, RenderContext, Variables
    from .inclusion import LoadedTemplate

    T = TypeVar("T")

VARIABLES = {
    "date": "the day, in UTC: 2026-04-15",
    "time": "the time of day, in UTC: 09:30:00",
    "datetime": "both: 2026-04-15T09:30:00Z",
    "cwd": "the working directory",
    "language": "the language in which to answer the user",
    "tools": "the names of the agent's tools, a list",
}
DEFAULT_LANGUAGE = "match the user's language"


def builtin_variables(now: datetime, cwd: str, language: str, tools: Sequence[str]) -> dict[str, str | Sequence[str]]:
    """Return the variables that every template may use. `now` must have a time zone."""
    from datetime import UTC

    moment = now.astimezone(UTC)
    date = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    time = f"{moment.hour:02}:{moment.minute:02}:{moment.second:02}"
    return {
        "date": date,
        "time": time,
        "datetime": f"{date}T{time}Z",
        "cwd": cwd,
        "language": language or DEFAULT_LANGUAGE,
        "tools": tuple(tools),
    }


def check(
    root: str, load: Load, *, may_parse: Callable[[Iterable[str]], bool] = lambda addresses: True
) -> dict[str, Document]:
    """Check a template and return it with everything it includes, by address.

    The templates are parsed only if `may_parse` accepts all their addresses, because an untrusted template could crash the
    engine. Parsing also finds errors in branches that are never taken.

    `load` returns the document at an address, or None if there is none. If it raises a ForewordError, that is reported at
    the location of the include.
    """
    loaded: dict[str, Document] = {}

    def load_and_remember(address: str) -> Document | None:
        document = load(address)
        if document is not None:
            loaded[address] = document
        return document

    templates = inclusion.collect(root, load_and_remember)
    if may_parse(templates):
        Engine(templates)
    return {address: loaded[address] for address in templates}


def names_used(root: str, templates: Mapping[str, Document]) -> frozenset[str]:
    """Return the names that the templates look up. No other variable can change the output."""
    names: set[str] = set()
    for template in inclusion.collect(root, templates.get).values():
        for token in template.tokens:
            names.update(name for name, _ in names_in_tag(template.document, token))
    return frozenset(names)


def render(
    root: str,
    templates: Mapping[str, Document],
    variables: Variables,
    *,
    limit: int = TEMPLATE_LIMIT,
    trace: bool = True,
) -> tuple[Piece, ...]:
    """Render the template at `root`. Raises a TemplateError if the output is longer than `limit` bytes.

    The text is the same with and without `trace`. Without it, the output is one piece whose origin is the root.
    """
    values = {name: plain_copy(name, value) for name, value in variables.items()}
    return render_loaded(inclusion.collect(root, templates.get), values, limit=limit, trace=trace)


def render_loaded(
    templates: dict[str, LoadedTemplate], variables: Variables, *, limit: int = TEMPLATE_LIMIT, trace: bool = True
) -> tuple[Piece, ...]:
    """Render the first of these templates. The variables must come from `plain_copy`."""
    root = next(iter(templates.values()))
    engine = Engine(templates)
    text = engine.render("p0", variables, FUEL)
    if utf8_size(text) > limit:
        raise output_too_long(root.document.path, limit)
    pieces = _trace(engine, text, variables) if trace else None
    return pieces if pieces is not None else as_one_piece(root, text)


def _trace(engine: Engine, text: str, variables: Variables) -> tuple[Piece, ...] | None:
    """Return the rendered text as pieces with origins, or None if the origins are uncertain."""
    marker = find_unused_character(text)
    tracer = Tracer(engine.templates, variables, marker) if marker else None
    if tracer is None or not tracer.is_possible:
        return None
    try:
        for index, template in enumerate(engine.template_list):
            engine.add(f"i{index}", tracer.add_marks(template))
        pieces = tracer.pieces(engine.render("i0", variables, 4 * FUEL))
    except TemplateError:
        return None
    return pieces if pieces is not None and "".join(piece.text for piece in pieces) == text else None


def plain_copy(name: str, value: object) -> str | tuple[str, ...]:
    """Return a copy of a variable without callable attributes or lone surrogates."""
    if isinstance(value, str):
        return str.__str__(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, (list, tuple)) and all(isinstance(value, str) for value in value):
        return tuple(str(plain_copy(name, value)) for value in value)
    raise CallError(f"variable {name!r} must be a string or a list of strings, not {type(value).__name__}")


# The functions that every language implements


def referenced_variables(template: Document, types: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return an empty tuple, because this language's variables do not come from the workspace."""
    return ()


def load_all(
    template: Document, load: Load, may_parse: Callable[[Iterable[str]], bool] = lambda addresses: True
) -> dict[str, Document]:
    """Return the template and everything it includes, by address."""
    return check(template.path, load, may_parse=may_parse) if template.text else {}


def render_template(template: Document, context: RenderContext) -> tuple[tuple[Piece, ...], Sequence[Finding]]:
    """Render a template. There are never findings, because every problem raises an error."""
    if not template.text:
        return (), ()
    inputs, agent = context.inputs, context.agent
    variables = builtin_variables(
        context.now, printable(inputs.workspace.cwd), agent.language, [tool.name for tool in agent.tools or ()]
    )
    variables |= {name: text for name, text in inputs.values.items() if ":" not in name and isinstance(text, str)}
    if context.sandboxed is not None:
        return context.sandboxed(template.path, inputs.templates, variables), ()
    return render(template.path, inputs.templates, variables, limit=context.limit), ()


def variables_used(template: Document, inputs: Inputs) -> list[str]:
    """Return the sorted names of the known variables that a template and its includes use."""
    return sorted(names_used(template.path, inputs.templates) & {*VARIABLES, *inputs.values}) if template.text else []


def uses_clock(template: Document, inputs: Inputs) -> bool:
    """Whether a template or one of its includes uses the date or time."""
    return bool(template.text and names_used(template.path, inputs.templates) & {"date", "time", "datetime"})


def include_tag(address: str) -> str:
    """Return the tag that includes the template at an address."""
    return f'{{% include "{address}" %}}'
