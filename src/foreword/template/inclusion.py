"""Which templates a template includes: known before anything is rendered, because every target is written out.

    {% include "sibling" %}   {% include ["first", "second"] %}   {% include "sibling" ignore missing %}
    {% extends "base" %}   {% import "macros" as m %}   {% from "macros" import m %}

A target is a string, or a list of strings of which the first that exists is taken. Anything else would be known only
while rendering, and is refused. What is included enters without its final newline, as in every Jinja; the template that
is rendered keeps its own.
"""

from __future__ import annotations

from ..errors import CallError, ForewordError, TemplateError
from ..vocabulary import Document, value
from .addresses import resolve
from .tags import TAGS, inside, scan, words, wrong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .contract import Load
    from .tags import Token, Word

DEPTH = 20
"""How many templates may include each other, the first one counted."""
FILES = 200
"""How many templates may take part."""
WHOLE = 1_000_000
"""The most characters of all templates together."""

_INCLUDING = frozenset(["include", "import", "from", "extends"])


@value
class Include:
    """A tag that includes: its statement, what it names, and where the names stand in the text."""

    word: str
    names: Sequence[str]
    targets: Sequence[str]
    is_optional: bool
    start: int
    end: int


@value
class Template:
    """A template that was read: its address and text, its tokens, and by token which template is included there."""

    document: Document
    tokens: Sequence[Token]
    includes: Sequence[tuple[Include, str | None]]


def collect(root: str, load: Load) -> dict[str, Template]:
    """All templates that take part when the one at `root` is rendered, the root first.

    `load` gives what stands at an address, None if there is nothing, and raises a ForewordError for what cannot be
    loaded. A missing template, one that includes itself, and one too deep are errors that name the place.
    """
    found = load(root)
    if found is None:
        raise TemplateError(f"there is no template {root}{_hint(root)}")
    reading = _Reading(load)
    reading.read(root, found, ())
    return dict(reversed(reading.templates.items()))


class _Reading:
    """One call of collect. A template is entered below those that it includes, so the root comes last."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.templates: dict[str, Template] = {}
        self.heights: dict[str, int] = {}
        self.size = self.tags = 0

    def read(self, address: str, found: Document, above: tuple[str, ...]) -> None:
        text = found.text if not above else found.text.removesuffix("\n").removesuffix("\r")
        document = Document(address, text, found.hash, found.line)
        tokens = scan(document)
        chain = (*above, address)
        self.size += len(text)
        self.tags += sum(token[0] != "text" for token in tokens)
        if self.size > WHOLE or self.tags > TAGS or len(self.templates) + len(chain) > FILES:
            most = f"{FILES} templates, {WHOLE:,} characters or {TAGS:,} tags"
            raise TemplateError(f"{chain[0]} with all that it includes has more than {most}")
        links = [(each, self.follow(document, each, chain)) for each in includes(document, tokens)]
        self.heights[address] = 1 + max((self.heights[target] for _, target in links if target), default=0)
        self.templates[address] = Template(document, tokens, links)

    def follow(self, document: Document, include: Include, chain: tuple[str, ...]) -> str | None:
        """The first target that exists, read together with all that it includes."""
        for target in include.targets:
            if target in chain:
                shown = " -> ".join((*chain[chain.index(target) :], target))
                raise wrong(document, f"includes a template that includes it: {shown}", include.start, include.end)
            if target not in self.templates:
                found = self.ask(document, include, target)
                if found is None:
                    continue
                self.bound(document, include, (*chain, target))
                self.read(target, found, chain)
            self.bound(document, include, (*chain, target))
            return target
        if include.is_optional:
            return None
        names = " and ".join(f"{target}{_hint(target)}" for target in include.targets)
        raise wrong(document, f"names no template: there is no {names}", include.start, include.end)

    def ask(self, document: Document, include: Include, target: str) -> Document | None:
        try:
            return self.load(target)
        except ForewordError as error:
            raise wrong(document, f"cannot be included: {error}", include.start, include.end) from None

    def bound(self, document: Document, include: Include, chain: tuple[str, ...]) -> None:
        """Refuse a chain that is too long, counting what lies below its end where that is known."""
        if len(chain) - 1 + self.heights.get(chain[-1], 1) > DEPTH:
            told = f"is included more than {DEPTH} templates deep: {' -> '.join(chain)}"
            raise wrong(document, told, include.start, include.end)


def _hint(address: str) -> str:
    return " (an address is written without .md)" if address.endswith(".md") else ""


def includes(document: Document, tokens: Sequence[Token]) -> Iterator[Include]:
    """What a template with these tokens includes."""
    for token in tokens:
        if token[5] in _INCLUDING:
            yield _include(document, token, token[5])


def _include(document: Document, token: Token, word: str) -> Include:
    """The include of a tag; its names must be strings, since they are followed before anything has a value."""
    found = words(inside(document, token))[1:]
    named, rest = _literals(found, may_be_list=word == "include")
    if not named or not _may_follow(word, rest):
        told = "does not say by a plain string what it includes; only then can it be checked before it is rendered"
        raise wrong(document, told, token[1], token[2])
    start = token[3] + found[0][1]
    end = token[3] + named[-1][1] + len(named[-1][0])
    written = [each[1:-1] for each, _ in named if each[0] in "\"'"]
    try:
        targets = [resolve(name, document.path) for name in written]
    except CallError as error:
        raise wrong(document, f"cannot be included: {error}", start, end) from None
    is_optional = word == "include" and any(each == "ignore" for each, _ in rest)
    return Include(word, written, targets, is_optional, start, end)


def _literals(found: Sequence[Word], may_be_list: bool) -> tuple[Sequence[Word], Sequence[Word]]:
    """The string, or the list of strings, with which these words begin, and the rest of them."""
    if found and found[0][0][0] in "\"'":
        return found[:1], found[1:]
    if not may_be_list or not found or found[0][0] != "[":
        return (), found
    end = next((at for at, (word, _) in enumerate(found) if word == "]"), 0)
    strings, commas = found[1:end:2], found[2:end:2]
    is_list = all(word[0] in "\"'" for word, _ in strings) and all(word == "," for word, _ in commas)
    return (found[: end + 1], found[end + 1 :]) if strings and is_list else ((), found)


def _may_follow(word: str, rest: Sequence[Word]) -> bool:
    """Whether these words may stand after the names: an operator there would make them part of an expression."""
    after = rest[0][0] if rest else ""
    return after in {"include": ("", "ignore", "with", "without"), "import": ("as",), "from": ("import",)}.get(
        word, ("",)
    )
