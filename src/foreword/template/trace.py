"""Traces each part of a rendered Jinja-like template to its origin.

The templates are rendered a second time with marks: one in place of each run of text, and one before each tag that writes a
value. A mark is a number after a character that does not occur in the output, so no output can be mistaken for a mark.
The result is used only if replacing the marks reproduces the original output.

Values never contain marks: text that a template captures instead of writing it (a macro, a `set` block, the body of a
filter) is left unmarked, and so are templates included there. So marks do not change the result of a condition.

A value's origin is the set of variables that flow into it, through loops and assignments. If those are unknown (a macro,
captured text, `a if b else c`, a name that is a constant elsewhere), the origin is the lines of the tag.
"""

from __future__ import annotations

from itertools import pairwise

from ..vocabulary import Origin, Piece, replace
from .addresses import is_shipped
from .tags import is_opening, names, names_in_tag, tag_text, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from ..vocabulary import Document
    from .inclusion import Include, LoadedTemplate
    from .tags import Token, Word

    # The text that a mark replaces (None if a value follows the mark), and the origin.
    Meaning: TypeAlias = tuple[str | None, Origin]

_CAPTURING_STATEMENTS = frozenset("filter macro call set".split())
_STATEMENTS_WRITING_CAPTURED_TEXT = frozenset(["filter", "call", "for"])
_PRIVATE_USE = range(0xE000, 0xF900)


def as_one_piece(template: LoadedTemplate, text: str) -> tuple[Piece, ...]:
    """Return the output as one piece whose origin is the whole template, which is less exact but never wrong."""
    document = template.document
    last = document.line + document.text.count("\n") - document.text.endswith("\n")
    return (Piece(text, _origin(document, document.line, max(document.line, last))),) if text else ()


def find_unused_character(text: str) -> str | None:
    """Return a private-use character that does not occur in the text, or None if all of them do."""
    return next((marker for marker in map(chr, _PRIVATE_USE) if marker not in text), None)


class Tracer:
    """Adds marks to templates and turns marked output into pieces."""

    def __init__(self, templates: Mapping[str, LoadedTemplate], variables: Collection[str], marker: str) -> None:
        self.templates, self.marker = templates, marker
        self.meanings: list[Meaning] = []
        self.flow = variable_flow(templates, variables)
        self.numbers = {address: index for index, address in enumerate(templates)}

    @property
    def is_possible(self) -> bool:
        """Whether tracing is possible. It is not if a block may be both written and captured, through `self` or `super`."""
        return "self" not in self.flow and "super" not in self.flow

    def add_marks(self, template: LoadedTemplate) -> str:
        """Return the template's text with marks. Includes use numbered names: `i3` for a marked template, `p3` for an unmarked one."""
        return "".join(_TemplateMarker(self, template).parts())

    def mark(self, text: str | None, origin: Origin) -> str:
        self.meanings.append((text, origin))
        return f"{self.marker}{len(self.meanings) - 1}:"

    def pieces(self, rendered: str) -> tuple[Piece, ...] | None:
        """Split marked output into pieces. Returns None if there is output where the marks allow none."""
        before, *parts = rendered.split(self.marker)
        pieces: list[Piece] = []
        for part in parts:
            number, _, follows = part.partition(":")
            text, origin = self.meanings[int(number)]
            if text is not None and follows:
                return None
            if text or follows:
                pieces.append(Piece(text or follows, origin))
        return None if before else tuple(pieces)

    def value_origin(self, tag_words: Sequence[Word]) -> Origin | None:
        """Return an expression's origin: the variables that flow into it. Returns None if they are unknown."""
        variables: set[str] = set()
        if _has_alternatives(tag_words):
            return None
        for name, _ in names(tag_words):
            sources = self.flow.get(name, frozenset())
            if sources is None:
                return None
            variables |= sources
        return Origin("variable", ", ".join(sorted(variables))) if variables else None


class _TemplateMarker:
    """Adds marks to one template. Tracks the current line and the open blocks that capture text."""

    def __init__(self, tracer: Tracer, template: LoadedTemplate) -> None:
        self.tracer, self.document, self.tokens = tracer, template.document, template.tokens
        self.includes = iter(template.includes)
        self.line, self.position = template.document.line, 0
        self.copied_until = 0
        self.capturing_blocks: list[str] = []

    def parts(self) -> Iterator[str]:
        text = self.document.text
        for index, token in enumerate(self.tokens):
            kind, start, end = token[:3]
            if kind == "{%":
                yield from self.statement(index)
            elif self.capturing_blocks:
                continue
            elif kind == "text":
                yield self.tracer.mark(text[token[3] : token[4]], self.range_origin(token[3], token[4]))
            else:
                yield self.tracer.mark(None, self.value_origin(token)) + text[start:end]

    def value_origin(self, token: Token) -> Origin:
        tag_origin = self.range_origin(token[1], token[2])
        origin = self.tracer.value_origin(words(tag_text(self.document, token)))
        return replace(origin, tag=(self.document.path, *(tag_origin.lines or (1, 1)))) if origin else tag_origin

    def statement(self, index: int) -> Iterator[str]:
        token, text = self.tokens[index], self.document.text
        _, start, end = token[:3]
        word = token[5]
        if not self.capturing_blocks:
            self.copied_until = start
            if _captures(self.document, token):
                self.capturing_blocks.append(word)
                if word in _STATEMENTS_WRITING_CAPTURED_TEXT:
                    yield self.tracer.mark(None, self.range_origin(start, self.closing_tag(index)[2]))
        elif is_opening(self.document, token):
            self.capturing_blocks.append(word)
        elif word.startswith("end"):
            self.capturing_blocks.pop()
        if word in ("include", "import", "from", "extends"):
            include, target = next(self.includes)
            yield text[self.copied_until : include.start] + self.include_name(include, target)
            self.copied_until = include.end
        if not self.capturing_blocks:
            yield text[self.copied_until : end]

    def include_name(self, include: Include, target: str | None) -> str:
        is_written = not self.capturing_blocks and include.word in ("include", "extends")
        return f'"{"i" if is_written else "p"}{self.tracer.numbers[target]}"' if target else '"-"'

    def closing_tag(self, index: int) -> Token:
        """Return the tag that closes the block opened by this one."""
        depth = 0
        for token in self.tokens[index:]:
            depth += is_opening(self.document, token) - token[5].startswith("end")
            if depth == 0:
                return token
        return self.tokens[-1]

    def range_origin(self, start: int, end: int) -> Origin:
        """Return the origin of a range. Ranges must be passed in text order."""
        text = self.document.text
        self.line += text.count("\n", self.position, start)
        self.position = start
        return _origin(
            self.document, self.line, self.line + text.count("\n", start, end) - text.endswith("\n", start, end)
        )


def _captures(document: Document, token: Token) -> bool:
    """Whether a statement opens a block whose output becomes a value."""
    if token[5] == "for":
        return words(tag_text(document, token))[-1][0] == "recursive"
    return token[5] in _CAPTURING_STATEMENTS and is_opening(document, token)


def _origin(document: Document, first: int, last: int) -> Origin:
    kind = "builtin" if is_shipped(document.path) else "template"
    return Origin(kind, document.path, (first, last))


# Data flow from variables to names


def variable_flow(
    templates: Mapping[str, LoadedTemplate], variables: Collection[str]
) -> dict[str, frozenset[str] | None]:
    """Map each variable and bound name to the variables that may flow into it, or to None if template text may flow into it too.

    Scopes are ignored: equal names count as the same. That can add variables, but never lose one.
    """
    bound: dict[str, list[set[str]]] = {}
    unknown = {"caller"}
    for target, sources in _bindings(templates):
        if sources is None or target in variables:
            unknown.add(target)
        else:
            bound.setdefault(target, []).append(sources)
    unknown.update(
        name for name in bound if len({bool(_sources_of(sources, bound, variables)) for sources in bound[name]}) > 1
    )
    flows: dict[str, frozenset[str] | None] = {name: frozenset([name]) for name in variables}
    for name in (*bound, *unknown):
        source_names = _sources_of({name}, bound, {*variables, *unknown})
        flows[name] = None if source_names & unknown else frozenset(source_names)
    return flows


def _sources_of(names: Iterable[str], bound: Mapping[str, Sequence[set[str]]], targets: Collection[str]) -> set[str]:
    """Return those of `targets` that these names are or, directly or indirectly, are computed from."""
    seen = set(names)
    pending = list(seen)
    while pending:
        for sources in bound.get(pending.pop(), ()):
            pending.extend(sources - seen)
            seen |= sources
    return seen.intersection(targets)


def _has_alternatives(tag_words: Sequence[Word]) -> bool:
    """Whether an expression chooses between values, one of which may be a literal in the template."""
    return any(word in ("if", "or", "and", "default", "d") for word, _ in tag_words)


def _bindings(templates: Mapping[str, LoadedTemplate]) -> Iterator[tuple[str, set[str] | None]]:
    """Yield each name that is bound, with the names in the expression it is bound to, or None if it is bound to text."""
    for template in templates.values():
        may_call_blocks = "self" in template.document.text or "super" in template.document.text
        for token in template.tokens:
            if may_call_blocks:
                names_used = names_in_tag(template.document, token)
                yield from ((name, None) for name, _ in names_used if name in ("self", "super"))
            if token[5] in _BINDERS:
                yield from _BINDERS[token[5]](words(tag_text(template.document, token)))


def _for_bindings(tag_words: Sequence[Word]) -> Iterator[tuple[str, set[str] | None]]:
    middle = next((index for index, (word, _) in enumerate(tag_words) if word == "in"), 1)
    sources = {name for name, _ in names(tag_words[middle:])}
    yield from ((name, sources) for name in ("loop", *(target for target, _ in names(tag_words[1:middle]))))


def _set_bindings(tag_words: Sequence[Word]) -> Iterator[tuple[str, set[str] | None]]:
    """`set a, b.c = expression` binds a and b; without a value, `set` binds the block's output."""
    middle = next((index for index, (word, _) in enumerate(tag_words) if word in ("=", "|")), len(tag_words))
    is_text = middle == len(tag_words) or tag_words[middle][0] == "|" or _has_alternatives(tag_words)
    sources = None if is_text else {name for name, _ in names(tag_words[middle:])}
    yield from ((target, sources) for target, _ in names(tag_words[1:middle]))


def _with_bindings(tag_words: Sequence[Word]) -> Iterator[tuple[str, set[str] | None]]:
    known = {name for name, _ in names(tag_words[1:])}
    sources = None if _has_alternatives(tag_words) else known
    for (word, _), (after, _) in pairwise(tag_words[1:]):
        if after == "=":
            # The names in a tuple cannot be distinguished from other names in the tag.
            yield from ((name, sources) for name in ([word] if word != ")" else known))


def _bindings_after(*before: str) -> Callable[[Sequence[Word]], Iterator[tuple[str, set[str] | None]]]:
    """Return a function that yields the names after one of these words, as bound to text."""

    def bound(tag_words: Sequence[Word]) -> Iterator[tuple[str, set[str] | None]]:
        return ((word, None) for (left, _), (word, _) in pairwise(tag_words) if left in before and _is_name(word))

    return bound


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] == "_"


_BINDERS = {
    "for": _for_bindings,
    "set": _set_bindings,
    "with": _with_bindings,
    "macro": _bindings_after("macro", "(", ","),
    "call": _bindings_after("(", ","),
    "import": _bindings_after("as"),
    "from": _bindings_after("import", "as", ","),
}
