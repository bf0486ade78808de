r"""The bracket language: `[type:name]` is a variable, `[if type:name]` asks whether it exists.

    template  = { escape | tag | text }
    escape    = "\["                                    a bracket that is text; any other backslash is text
    tag       = "[" blanks body blanks "]"              on one line
    body      = variable
              | "if" blank blanks [ "!" blanks ] variable
              | "else"
              | "endif"
    variable  = type ":" blanks name
    type      = letter { letter | digit | "_" | "-" }   lower case
    name      = any characters but "[", "]", CR, LF and NUL; at least one
    blank     = space | tab

    block     = [if] template [ [else] template ] [endif]

The type must be in the catalog. A variable of any other type does not exist (it is blank, false in `[if]`, and a finding)
if it looks like a variable: the name follows the colon directly, consists of letters, digits and `_ . / -`, does not begin
with `/`, and no `(` follows the bracket. All other brackets are text: `[TODO: fix]`, `[note: a]`, `[12:30]`,
`[https://x]`, `[note:a](b)`.

If all names of a type are known, a variable with another name does not exist and is a finding: `[system:tme]`.

Only a template's size can be an error. A tag without its partner is text and a finding: an `[if]` that is never closed and
its `[else]`, an `[else]` or `[endif]` outside a block, a second `[else]`. An `[endif]` closes the nearest open `[if]`.
Something that only looks like a tag is text and a finding, and never a partner: `[if]`, `[if !]`, `[if a:b c:d]`,
`[IF file:x]`, `[elseif file:x]`, `[end if]`, `[file:]`, `[File:x]`, and `[file:x` without a closing bracket on its line.
A `[` starts over: in `[file:a[file:b]` the tag is `[file:b]`.

Neither templates nor values are trimmed, and values are never parsed.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..errors import TemplateError
from ..vocabulary import Origin, Piece, replace, value
from . import TEMPLATE_LIMIT
from .addresses import is_shipped
from .catalog import TYPES
from .catalog import names as catalog_names
from .diagnostics import Diagnostic, to_findings
from .limits import SOURCE_LIMIT, OutputLimit, utf8_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Literal, TypeAlias

    from ..vocabulary import Document, Finding, Inputs
    from .contract import Load, Lookup, RenderContext

    Lines: TypeAlias = tuple[int, int]

    # A variable is an index into BracketTemplate.variables; None is a variable that does not exist.
    Write: TypeAlias = tuple[Literal["text"], str, Lines]
    Insert: TypeAlias = tuple[Literal["insert"], int, int]
    Branch: TypeAlias = tuple[Literal["branch"], int | None, bool, int]  # is it negated; the next step if not taken
    Jump: TypeAlias = tuple[Literal["jump"], int]
    Step: TypeAlias = Write | Insert | Branch | Jump

    # Start, end and meaning.
    Tag: TypeAlias = tuple[int, int, "Meaning"]

MAX_VARIABLES = 1_000


@value
class Variable:
    """A variable as a template names it."""

    type: str
    name: str


@value
class BracketTemplate:
    """A parsed template: a flat list of steps, so that blocks may nest to any depth, and the variables they use.

    The variables are in the order of the template, without duplicates. Those in conditions count; those of unknown type do not.
    """

    steps: Sequence[Step]
    variables: Sequence[Variable]
    findings: Sequence[Finding] = ()


def parse(
    text: str, types: Collection[str], path: str = "", names: Mapping[str, Collection[str]] | None = None
) -> BracketTemplate:
    """Parse a template with these types of variables. Findings name `path`.

    `names` are all names of a type, for types whose names are known. Accepts any text up to SOURCE_LIMIT characters, and
    takes time proportional to its length.
    """
    if len(text) > SOURCE_LIMIT:
        raise TemplateError(
            f"{path or 'the template'} has {len(text):,} characters; at most {SOURCE_LIMIT:,} are accepted"
        )
    diagnostics: list[Diagnostic] = []
    tags = _tags(text, frozenset(types), diagnostics, names or {})
    ends = _pair(tags, diagnostics)
    steps, variables = _steps(text, tags, ends)
    if len(variables) > MAX_VARIABLES:
        raise TemplateError(
            f"{path or 'the template'} uses {len(variables):,} variables; at most {MAX_VARIABLES:,} are accepted"
        )
    return BracketTemplate(
        steps, tuple(Variable(*variable) for variable in variables), to_findings(diagnostics, text, path)
    )


def render(template: BracketTemplate, lookup: Lookup, origin: Origin, limit: int = TEMPLATE_LIMIT) -> tuple[Piece, ...]:
    """The output of a template; a TemplateError if it has more than `limit` bytes.

    `lookup(type, name)` returns the pieces of a value, which are inserted unchanged, or None if it does not exist. It is
    called once for each variable in a branch that is taken, and never for one of unknown type. The template's own text
    gets this origin, with its lines.
    """
    values: dict[int, tuple[Piece, ...]] = {}
    sizes: dict[int, int] = {}
    output = OutputLimit(origin.path, limit)

    def find(index: int) -> tuple[Piece, ...]:
        if index not in values:
            variable = template.variables[index]
            values[index] = lookup(variable.type, variable.name) or ()
            sizes[index] = sum(utf8_size(piece.text) for piece in values[index])
        return values[index]

    pieces: list[Piece] = []
    at = 0
    while at < len(template.steps):
        step = template.steps[at]
        at += 1
        if step[0] == "text":
            output.count(utf8_size(step[1]))
            pieces.append(Piece(step[1], Origin(origin.kind, origin.path, step[2])))
        elif step[0] == "insert":
            tag = (origin.path, step[2], step[2])
            inserted_pieces = find(step[1])
            output.count(sizes[step[1]])
            pieces.extend(replace(piece, origin=replace(piece.origin, tag=tag)) for piece in inserted_pieces)
        elif step[0] == "jump":
            at = step[1]
        else:
            _, index, is_negated, otherwise = step
            exists = index is not None and any(piece.text for piece in find(index))
            if exists == is_negated:
                at = otherwise
    return tuple(pieces)


# The functions of every language


def wanted_values(template: Document, types: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The variables of a template as type and name, including those of the additional `types`."""
    return tuple((each.type, each.name) for each in parse(template.text, TYPES | set(types)).variables)


def load_all(
    template: Document, load: Load, may_parse: Callable[[Iterable[str]], bool] = lambda addresses: True
) -> dict[str, Document]:
    """Nothing: the language has no includes, and its parser accepts any text."""
    return {}


def render_template(template: Document, context: RenderContext) -> tuple[tuple[Piece, ...], Sequence[Finding]]:
    """The output of a template, and findings about it."""
    inputs = context.inputs
    names = {type_: each for type_, each in catalog_names(inputs.values).items() if type_ not in inputs.types}
    parsed = parse(template.text, _types(inputs), template.path, names)
    kind = "builtin" if is_shipped(template.path) else "template" if template.path else "caller"
    origin = Origin(kind, template.path or "base")
    return render(parsed, context.lookup, origin, context.limit), parsed.findings


def variables_used(template: Document, inputs: Inputs) -> list[str]:
    """The variables of a template, in its order."""
    return [f"{each.type}:{each.name}" for each in parse(template.text, _types(inputs)).variables]


def uses_clock(template: Document, inputs: Inputs) -> bool:
    """Whether a template uses the date or time."""
    used = parse(template.text, {"system"}).variables
    return any((each.type, each.name) in (("system", "time"), ("system", "date")) for each in used)


def include_tag(address: str) -> None:
    """None: the language has no includes."""


def _types(inputs: Inputs) -> frozenset[str]:
    return TYPES | set(inputs.types) | {name.partition(":")[0] for name in inputs.values}


# From text to tags

# Patterns are compiled on first use: compiling them all takes longer than rendering most templates.
_BRACKET = r"\\\[|\[(?=[ \t]*[A-Za-z])([^\[\]\r\n\0\\]*(?:\\(?!\[)[^\[\]\r\n\0\\]*)*)(\]?)"
_BODY = r"(?:(if)[ \t]+(?:(!)[ \t]*)?)?([a-z][a-z0-9_-]*):(.*)"
_PLAIN_NAME = r"(?!/)[\w./-]+"
_LIKE_A_WORD = r"(?i)(?:else[ \t]*)?if(?![\w-]).*[:!].*|elif[ \t].*|(?:else[ \t]*)?if|elif|else|end[ \t]*if"
_LIKE_A_TYPE = r"(?i)(?:if[ \t]+(?:![ \t]*)?)?([a-z][a-z0-9_-]*)[ \t]*:.*"


@value
class Meaning:
    """The meaning of a tag. `kind` is variable, if, else or endif; `variable` is None if its type is unknown."""

    kind: str
    variable: tuple[str, str] | None = None
    is_negated: bool = False

    @property
    def is_unknown(self) -> bool:
        return self.variable is None and self.kind in ("variable", "if")


def _tags(
    text: str, types: frozenset[str], diagnostics: list[Diagnostic], names: Mapping[str, Collection[str]]
) -> list[Tag]:
    tags: list[Tag] = []
    meanings: dict[str, Meaning | None] = {}
    for match in re.finditer(_BRACKET, text):
        body, closing = match.groups()
        start, end = match.span()
        if body is None:  # an escape
            continue
        if body not in meanings:
            meanings[body] = _read(body.strip(" \t"), types)
        meaning = meanings[body]
        if (meaning is None or meaning.is_unknown) and text.startswith("(", end):
            continue
        if meaning and closing:
            tags.append((start, end, meaning))
            if meaning.variable and meaning.variable[1] not in names.get(meaning.variable[0], meaning.variable):
                diagnostics.append(_unknown_name(*meaning.variable, names, start, end))
        if not meaning or not closing or meaning.is_unknown:
            diagnostics.extend(_diagnose(match, meaning, types))
    return tags


def _unknown_name(type: str, name: str, names: Mapping[str, Collection[str]], start: int, end: int) -> Diagnostic:
    from ..errors import suggestion

    close = suggestion(name, names[type])
    return Diagnostic(
        "template-unknown-name", f"is not a variable of type {type} and does not exist{close}", start, end
    )


def _read(body: str, types: frozenset[str]) -> Meaning | None:
    """The meaning of the text between brackets; None if it is not a tag."""
    if body in ("else", "endif"):
        return Meaning(body)
    match = re.fullmatch(_BODY, body)
    if not match:
        return None
    word, negation, type, rest = match.groups()
    name = rest.lstrip(" \t")
    if type in types and name:
        return Meaning(word or "variable", (type, name), bool(negation))
    if type not in types and re.fullmatch(_PLAIN_NAME, rest):
        return Meaning(word or "variable", None, bool(negation))
    return None


def _diagnose(match: re.Match[str], meaning: Meaning | None, types: frozenset[str]) -> Iterator[Diagnostic]:
    """The problem with a bracket that only looks like a tag, or whose variable has an unknown type."""
    body, closing = match.groups()
    code = "template-malformed"
    if meaning and not closing and (meaning.variable or meaning.kind != "variable"):
        words = "is not closed on its line and is left as text"
    elif meaning and closing:
        code = "template-unknown-type"
        words = f"has an unknown type and does not exist; known types: {', '.join(sorted(types))}"
    elif not meaning and closing and _is_almost_a_tag(body.strip(" \t"), types):
        words = "looks like a tag but is not one, and is left as text"
    else:
        return
    yield Diagnostic(code, words, *match.span())


def _is_almost_a_tag(body: str, types: frozenset[str]) -> bool:
    if re.fullmatch(_LIKE_A_WORD, body):
        return True
    match = re.fullmatch(_LIKE_A_TYPE, body)
    return bool(match and match[1].lower() in types)


# From tags to steps


def _pair(tags: list[Tag], diagnostics: list[Diagnostic]) -> dict[int, int]:
    """For each tag of a complete block, by index, the tag that ends its branch; an [endif] ends itself."""
    ends: dict[int, int] = {}
    opened: list[list[int]] = []
    for index, (start, end, meaning) in enumerate(tags):
        kind = meaning.kind
        if kind == "if":
            opened.append([index])
        elif kind == "endif" and opened:
            ends.update(pairwise([*opened.pop(), index, index]))
        elif kind == "else" and opened and len(opened[-1]) == 1:
            opened[-1].append(index)
        elif kind in ("else", "endif"):
            problem = "is the second [else] of its [if]" if opened else "has no [if]"
            diagnostics.append(Diagnostic("template-unmatched", f"{problem} and is left as text", start, end))
    for start, end, _ in (tags[index] for block in opened for index in block):
        diagnostics.append(Diagnostic("template-unmatched", "has no [endif] and is left as text", start, end))
    return ends


def _steps(text: str, tags: list[Tag], ends: dict[int, int]) -> tuple[list[Step], list[tuple[str, str]]]:
    """The steps of a template and the variables they use."""
    steps: list[Step] = []
    places: dict[tuple[str, str], int] = {}
    waiting: dict[int, int] = {}  # by the tag that ends a branch: the step whose target is still unknown
    line, at = 1, 0
    for index, (start, end, meaning) in enumerate(tags):
        kind, variable = meaning.kind, meaning.variable
        if index not in ends and kind in ("if", "else", "endif"):
            continue
        if start > at:
            line = _add_text(steps, text[at:start], line)
        at = end
        place = places.setdefault(variable, len(places)) if variable else None
        if kind == "variable" and place is not None:
            steps.append(("insert", place, line))
        if kind == "if":
            steps.append(("branch", place, meaning.is_negated, 0))
        if kind == "else":
            steps.append(("jump", 0))
        if kind in ("else", "endif"):
            _set_target(steps, waiting.pop(index))
        if kind in ("if", "else"):
            waiting[ends[index]] = len(steps) - 1
    if at < len(text):
        _add_text(steps, text[at:], line)
    return steps, list(places)


def _add_text(steps: list[Step], text: str, line: int) -> int:
    """Add text that begins on this line, and return the line where the next text begins."""
    text = text.replace("\\[", "[")
    after = line + text.count("\n")
    steps.append(("text", text, (line, after - text.endswith("\n"))))
    return after


def _set_target(steps: list[Step], waiting: int) -> None:
    """Make a branch or jump continue at the next step to be added."""
    step = steps[waiting]
    if step[0] == "branch":
        steps[waiting] = (*step[:3], len(steps))
    else:
        steps[waiting] = ("jump", len(steps))
