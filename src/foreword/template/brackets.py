r"""The bracket language: `[type:name]` inserts a variable, `[if type:name]` tests whether it has a value.

    template  = { escape | tag | text }
    escape    = "\["                                    a literal bracket; any other backslash is text
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

The type must be in the catalog. A variable of any other type is reported and treated as undefined (it writes nothing, and is
false in `[if]`) if it looks like a variable: the name follows the colon directly, consists of letters, digits and
`_ . / -`, does not begin with `/`, and no `(` follows the closing bracket. All other brackets are text: `[TODO: fix]`,
`[note: a]`, `[12:30]`, `[https://x]`, `[note:a](b)`.

For a type with a fixed set of names, a variable with any other name is also reported and treated as undefined: `[system:tme]`.
A name that looks like an expression is reported too: `[if file:a && file:b]` tests a file named `a && file:b`.

The only error is a template that is too large. An unmatched tag is left as text and reported: an `[if]` that is never closed
and its `[else]`, an `[else]` or `[endif]` outside a block, a second `[else]`. An `[endif]` closes the nearest open `[if]`.
Something that only looks like a tag is also left as text and reported, and never opens or closes a block: `[if]`, `[if !]`,
`[if a:b c:d]`, `[IF file:x]`, `[elseif file:x]`, `[end if]`, `[file:]`, `[File:x]`, and `[file:x` without a closing bracket
on its line. A `[` inside a tag starts a new one: in `[file:a[file:b]` the tag is `[file:b]`.

Neither templates nor values are trimmed, and values are never parsed.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..errors import TemplateSyntaxError
from ..vocabulary import Origin, Piece, replace, value
from . import TEMPLATE_LIMIT
from .addresses import is_shipped
from .catalog import TYPES, names_by_type
from .diagnostics import Diagnostic, to_findings
from .limits import SOURCE_LIMIT, OutputLimit, utf8_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Literal, TypeAlias

    from ..vocabulary import Document, Finding, Inputs
    from .contract import Load, Lookup, RenderContext

    Lines: TypeAlias = tuple[int, int]

    # A variable is an index into BracketTemplate.variables, or None if its type is unknown.
    Write: TypeAlias = tuple[Literal["text"], str, Lines]
    Insert: TypeAlias = tuple[Literal["insert"], int, int]
    Branch: TypeAlias = tuple[Literal["branch"], int | None, bool, int]  # variable, is negated, next step if not taken
    Jump: TypeAlias = tuple[Literal["jump"], int]
    Step: TypeAlias = Write | Insert | Branch | Jump

    # Start, end and meaning.
    Tag: TypeAlias = tuple[int, int, "Meaning"]

MAX_VARIABLES = 1_000


@value
class Variable:
    """A variable as it is written in a template."""

    type: str
    name: str


@value
class BracketTemplate:
    """A parsed template: a flat list of steps, so that blocks may nest to any depth, and the variables they use.

    The variables are in template order, without duplicates. Variables in conditions are included; those of unknown type
    are not.
    """

    steps: Sequence[Step]
    variables: Sequence[Variable]
    findings: Sequence[Finding] = ()


def parse(
    text: str, types: Collection[str], path: str = "", names: Mapping[str, Collection[str]] | None = None
) -> BracketTemplate:
    """Parse a template that may use these types of variables. `path` is used in findings and errors.

    `names` maps each type with a fixed set of names to those names. Parsing takes time proportional to the length of the
    text. Raises a TemplateSyntaxError if the text is longer than SOURCE_LIMIT or uses more than MAX_VARIABLES variables.
    """
    if len(text) > SOURCE_LIMIT:
        raise TemplateSyntaxError(
            f"{path or 'the template'} has {len(text):,} characters; at most {SOURCE_LIMIT:,} are accepted"
        )
    diagnostics: list[Diagnostic] = []
    tags = _scan_tags(text, frozenset(types), diagnostics, names or {})
    ends = _pair_tags(tags, diagnostics)
    steps, variables = _to_steps(text, tags, ends)
    if len(variables) > MAX_VARIABLES:
        raise TemplateSyntaxError(
            f"{path or 'the template'} uses {len(variables):,} variables; at most {MAX_VARIABLES:,} are accepted"
        )
    return BracketTemplate(
        steps, tuple(Variable(*variable) for variable in variables), to_findings(diagnostics, text, path)
    )


def render(template: BracketTemplate, lookup: Lookup, origin: Origin, limit: int = TEMPLATE_LIMIT) -> tuple[Piece, ...]:
    """Render a template as pieces. Raises a TemplateRenderError if the output is longer than `limit` bytes.

    `lookup(type, name)` returns a value's pieces, which are inserted unchanged, or None if the variable is undefined. It is
    called once for each variable in a branch that is taken, and never for one of unknown type. The template's own text
    gets `origin` with the line numbers added.
    """
    values: dict[int, tuple[Piece, ...]] = {}
    sizes: dict[int, int] = {}
    output = OutputLimit(origin.path, limit)

    def resolve(index: int) -> tuple[Piece, ...]:
        if index not in values:
            variable = template.variables[index]
            values[index] = lookup(variable.type, variable.name) or ()
            sizes[index] = sum(utf8_size(piece.text) for piece in values[index])
        return values[index]

    pieces: list[Piece] = []
    position = 0
    while position < len(template.steps):
        step = template.steps[position]
        position += 1
        if step[0] == "text":
            output.count(utf8_size(step[1]))
            pieces.append(Piece(step[1], Origin(origin.kind, origin.path, step[2])))
        elif step[0] == "insert":
            tag = (origin.path, step[2], step[2])
            inserted_pieces = resolve(step[1])
            output.count(sizes[step[1]])
            pieces.extend(replace(piece, origin=replace(piece.origin, tag=tag)) for piece in inserted_pieces)
        elif step[0] == "jump":
            position = step[1]
        else:
            _, index, is_negated, target = step
            has_value = index is not None and any(piece.text for piece in resolve(index))
            if has_value == is_negated:
                position = target
    return tuple(pieces)


# The functions that every language implements


def referenced_variables(template: Document, types: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return the type and name of each variable in a template. `types` are accepted in addition to the catalog's."""
    return tuple((variable.type, variable.name) for variable in parse(template.text, TYPES | set(types)).variables)


def load_all(
    template: Document, load: Load, may_parse: Callable[[Iterable[str]], bool] = lambda addresses: True
) -> dict[str, Document]:
    """Return an empty dict, because this language has no includes."""
    return {}


def render_template(template: Document, context: RenderContext) -> tuple[tuple[Piece, ...], Sequence[Finding]]:
    """Render a template. Returns the output and the findings."""
    inputs = context.inputs
    names = {
        type_: type_names for type_, type_names in names_by_type(inputs.values).items() if type_ not in inputs.types
    }
    parsed = parse(template.text, _types(inputs), template.path, names)
    kind = "builtin" if is_shipped(template.path) else "template" if template.path else "caller"
    origin = Origin(kind, template.path or "base")
    return render(parsed, context.lookup, origin, context.limit), parsed.findings


def variables_used(template: Document, inputs: Inputs) -> list[str]:
    """Return a template's variables as `type:name`, in template order."""
    return [f"{variable.type}:{variable.name}" for variable in parse(template.text, _types(inputs)).variables]


def uses_clock(template: Document, inputs: Inputs) -> bool:
    """Whether a template uses the date or time."""
    variables = parse(template.text, {"system"}).variables
    return any((variable.type, variable.name) in (("system", "time"), ("system", "date")) for variable in variables)


def include_tag(address: str) -> None:
    """Return None, because this language has no includes."""


def _types(inputs: Inputs) -> frozenset[str]:
    return TYPES | set(inputs.types) | {name.partition(":")[0] for name in inputs.values}


# Text to tags

# Patterns are compiled on first use: compiling them all takes longer than rendering most templates.
_BRACKET = r"\\\[|\[(?=[ \t]*[A-Za-z])([^\[\]\r\n\0\\]*(?:\\(?!\[)[^\[\]\r\n\0\\]*)*)(\]?)"
_BODY = r"(?:(if)[ \t]+(?:(!)[ \t]*)?)?([a-z][a-z0-9_-]*):(.*)"
_PLAIN_NAME = r"(?!/)[\w./-]+"
# `a && file:b`, `a or file:b`, `a, file:b`, `a == "x"`
_OPERATOR = r"[ \t](?:[=!]=|&&|\|\|)[ \t]|[ \t,&|!]([a-z][a-z0-9_-]*):[^ \t]"
_LOOKS_LIKE_KEYWORD = r"(?i)(?:else[ \t]*)?if(?![\w-]).*[:!].*|elif[ \t].*|(?:else[ \t]*)?if|elif|else|end[ \t]*if"
_LOOKS_LIKE_VARIABLE = r"(?i)(?:if[ \t]+(?:![ \t]*)?)?([a-z][a-z0-9_-]*)[ \t]*:.*"


@value
class Meaning:
    """The meaning of a tag. `kind` is variable, if, else or endif; `variable` is None if its type is unknown."""

    kind: str
    variable: tuple[str, str] | None = None
    is_negated: bool = False

    @property
    def is_unknown(self) -> bool:
        return self.variable is None and self.kind in ("variable", "if")


def _scan_tags(
    text: str, types: frozenset[str], diagnostics: list[Diagnostic], names: Mapping[str, Collection[str]]
) -> list[Tag]:
    tags: list[Tag] = []
    meanings: dict[str, Meaning | None] = {}
    for match in re.finditer(_BRACKET, text):
        body, closing = match.groups()
        start, end = match.span()
        if body is None:  # an escaped bracket
            continue
        if body not in meanings:
            meanings[body] = _parse_body(body.strip(" \t"), types)
        meaning = meanings[body]
        if (meaning is None or meaning.is_unknown) and text.startswith("(", end):
            continue
        if meaning and closing:
            tags.append((start, end, meaning))
            if meaning.variable:
                diagnostics.extend(_diagnose_name(meaning.variable, types, names, start, end))
        if not meaning or not closing or meaning.is_unknown:
            diagnostics.extend(_diagnose(match, meaning, types))
    return tags


def _diagnose_name(
    variable: tuple[str, str], types: frozenset[str], names: Mapping[str, Collection[str]], start: int, end: int
) -> Iterator[Diagnostic]:
    """Yield a diagnostic if a name looks like an expression, or is none of the names of its type."""
    from ..errors import suggestion

    type, name = variable
    if any(match[1] is None or match[1] in types for match in re.finditer(_OPERATOR, name)):
        problem = f"is read as a single variable whose name is '{name}': a tag cannot combine or compare variables"
        yield Diagnostic("template-expression", problem, start, end)
    elif name not in names.get(type, (name,)):
        problem = f"is not a known {type} variable and is treated as undefined{suggestion(name, names[type])}"
        yield Diagnostic("template-unknown-name", problem, start, end)


def _parse_body(body: str, types: frozenset[str]) -> Meaning | None:
    """Return the meaning of the text between brackets, or None if it is not a tag."""
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
    """Yield a diagnostic if a bracket only looks like a tag or has an unknown type."""
    body, closing = match.groups()
    code = "template-malformed"
    if meaning and not closing and (meaning.variable or meaning.kind != "variable"):
        problem = "is not closed on its line and is left as text"
    elif meaning and closing:
        code = "template-unknown-type"
        problem = f"has an unknown type and is treated as undefined; known types: {', '.join(sorted(types))}"
    elif not meaning and closing and _resembles_tag(body.strip(" \t"), types):
        problem = "looks like a tag but is not one, and is left as text"
    else:
        return
    yield Diagnostic(code, problem, *match.span())


def _resembles_tag(body: str, types: frozenset[str]) -> bool:
    if re.fullmatch(_LOOKS_LIKE_KEYWORD, body):
        return True
    match = re.fullmatch(_LOOKS_LIKE_VARIABLE, body)
    return bool(match and match[1].lower() in types)


# Tags to steps


def _pair_tags(tags: list[Tag], diagnostics: list[Diagnostic]) -> dict[int, int]:
    """Map each tag of a complete block to the tag that ends its branch, by index; an [endif] maps to itself."""
    ends: dict[int, int] = {}
    open_blocks: list[list[int]] = []
    for index, (start, end, meaning) in enumerate(tags):
        kind = meaning.kind
        if kind == "if":
            open_blocks.append([index])
        elif kind == "endif" and open_blocks:
            ends.update(pairwise([*open_blocks.pop(), index, index]))
        elif kind == "else" and open_blocks and len(open_blocks[-1]) == 1:
            open_blocks[-1].append(index)
        elif kind in ("else", "endif"):
            problem = "is the second [else] of its [if]" if open_blocks else "has no [if]"
            diagnostics.append(Diagnostic("template-unmatched", f"{problem} and is left as text", start, end))
    for start, end, _ in (tags[index] for block in open_blocks for index in block):
        diagnostics.append(Diagnostic("template-unmatched", "has no [endif] and is left as text", start, end))
    return ends


def _to_steps(text: str, tags: list[Tag], ends: dict[int, int]) -> tuple[list[Step], list[tuple[str, str]]]:
    """Return a template's steps and the variables that they use."""
    steps: list[Step] = []
    variable_indexes: dict[tuple[str, str], int] = {}
    pending: dict[int, int] = {}  # the tag that ends a branch -> the step whose target is not yet known
    line, position = 1, 0
    for index, (start, end, meaning) in enumerate(tags):
        kind, variable = meaning.kind, meaning.variable
        if index not in ends and kind in ("if", "else", "endif"):
            continue
        if start > position:
            line = _add_text(steps, text[position:start], line)
        position = end
        variable_index = variable_indexes.setdefault(variable, len(variable_indexes)) if variable else None
        if kind == "variable" and variable_index is not None:
            steps.append(("insert", variable_index, line))
        if kind == "if":
            steps.append(("branch", variable_index, meaning.is_negated, 0))
        if kind == "else":
            steps.append(("jump", 0))
        if kind in ("else", "endif"):
            _set_target(steps, pending.pop(index))
        if kind in ("if", "else"):
            pending[ends[index]] = len(steps) - 1
    if position < len(text):
        _add_text(steps, text[position:], line)
    return steps, list(variable_indexes)


def _add_text(steps: list[Step], text: str, line: int) -> int:
    """Add text that begins on this line, and return the line where the next text begins."""
    text = text.replace("\\[", "[")
    next_line = line + text.count("\n")
    steps.append(("text", text, (line, next_line - text.endswith("\n"))))
    return next_line


def _set_target(steps: list[Step], index: int) -> None:
    """Point the branch or jump at `index` to the next step that will be added."""
    step = steps[index]
    if step[0] == "branch":
        steps[index] = (*step[:3], len(steps))
    else:
        steps[index] = ("jump", len(steps))
