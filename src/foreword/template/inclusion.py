"""Finds the templates that a template includes. They are known before rendering because targets are literals.

    {% include "sibling" %}   {% include ["first", "second"] %}   {% include "sibling" ignore missing %}
    {% extends "base" %}   {% import "macros" as m %}   {% from "macros" import m %}

A target is a string or a list of strings; from a list, the first template that exists is included. Anything else would be known
only during rendering and is an error. Included templates lose their final newline, as in other Jinja engines; the root keeps its
own.
"""

from __future__ import annotations

from ..errors import CallError, ForewordError, TemplateSyntaxError
from ..vocabulary import Document, value
from .addresses import resolve
from .tags import MAX_TAGS, error_at, scan, tag_text, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .contract import Load
    from .tags import Token, Word

MAX_DEPTH = 20
"""How deeply includes may nest, counting the root."""
MAX_TEMPLATES = 200
"""How many templates may be loaded, counting the root."""
MAX_TOTAL = 1_000_000
"""How many characters all templates together may have."""

_INCLUDE_STATEMENTS = frozenset(["include", "import", "from", "extends"])


@value
class Include:
    """A tag that includes templates. `targets` are the resolved `names`; `start` and `end` are the range of the names."""

    word: str
    names: Sequence[str]
    targets: Sequence[str]
    is_optional: bool
    start: int
    end: int


@value
class LoadedTemplate:
    """A template, its tokens, and its includes, each with the address it resolved to (None if optional and missing)."""

    document: Document
    tokens: Sequence[Token]
    includes: Sequence[tuple[Include, str | None]]


def collect(root: str, load: Load) -> dict[str, LoadedTemplate]:
    """Load the template at `root` and all templates that it includes. Returns them by address, with the root first.

    `load` returns the document at an address, or None if there is none, and raises a ForewordError if it cannot be loaded.
    Missing templates, cycles and includes that nest too deeply raise a TemplateSyntaxError with line and column.
    """
    document = load(root)
    if document is None:
        raise TemplateSyntaxError(f"template {root} does not exist{_hint(root)}")
    collector = _Collector(load)
    collector.read(root, document, ())
    return dict(reversed(collector.templates.items()))


class _Collector:
    """The state of one call to collect. A template is added after the templates it includes, so the root comes last."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.templates: dict[str, LoadedTemplate] = {}
        self.heights: dict[str, int] = {}
        self.size = self.tags = 0

    def read(self, address: str, source: Document, parents: tuple[str, ...]) -> None:
        text = source.text if not parents else source.text.removesuffix("\n").removesuffix("\r")
        document = Document(address, text, source.hash, source.line)
        tokens = scan(document)
        chain = (*parents, address)
        self.size += len(text)
        self.tags += sum(token[0] != "text" for token in tokens)
        if self.size > MAX_TOTAL or self.tags > MAX_TAGS or len(self.templates) + len(chain) > MAX_TEMPLATES:
            limits = f"{MAX_TEMPLATES} templates, {MAX_TOTAL:,} characters or {MAX_TAGS:,} tags"
            raise TemplateSyntaxError(f"{chain[0]} and its includes have more than {limits}")
        links = [(include, self.read_include(document, include, chain)) for include in find_includes(document, tokens)]
        self.heights[address] = 1 + max((self.heights[target] for _, target in links if target), default=0)
        self.templates[address] = LoadedTemplate(document, tokens, links)

    def read_include(self, document: Document, include: Include, chain: tuple[str, ...]) -> str | None:
        """Read the first target that exists, with its includes, and return its address."""
        for target in include.targets:
            if target in chain:
                cycle = " -> ".join((*chain[chain.index(target) :], target))
                raise error_at(document, f"includes a template that includes it: {cycle}", include.start, include.end)
            if target not in self.templates:
                loaded = self.try_load(document, include, target)
                if loaded is None:
                    continue
                self.check_depth(document, include, (*chain, target))
                self.read(target, loaded, chain)
            self.check_depth(document, include, (*chain, target))
            return target
        if include.is_optional:
            return None
        names = " and ".join(f"{target}{_hint(target)}" for target in include.targets)
        raise error_at(document, f"includes a template that does not exist: {names}", include.start, include.end)

    def try_load(self, document: Document, include: Include, target: str) -> Document | None:
        try:
            return self.load(target)
        except ForewordError as error:
            raise error_at(document, f"cannot be included: {error}", include.start, include.end) from None

    def check_depth(self, document: Document, include: Include, chain: tuple[str, ...]) -> None:
        """Raise an error if includes nest too deeply, counting those below the last template if they are known."""
        if len(chain) - 1 + self.heights.get(chain[-1], 1) > MAX_DEPTH:
            problem = f"is included more than {MAX_DEPTH} templates deep: {' -> '.join(chain)}"
            raise error_at(document, problem, include.start, include.end)


def _hint(address: str) -> str:
    return " (an address is written without .md)" if address.endswith(".md") else ""


def find_includes(document: Document, tokens: Sequence[Token]) -> Iterator[Include]:
    """Yield the includes among a template's tokens."""
    for token in tokens:
        if token[5] in _INCLUDE_STATEMENTS:
            yield _parse_include(document, token, token[5])


def _parse_include(document: Document, token: Token, word: str) -> Include:
    """Parse an include tag. Its names must be literals because they are resolved before rendering."""
    tag_words = words(tag_text(document, token))[1:]
    literals, rest = _split_literals(tag_words, may_be_list=word == "include")
    if not literals or not _may_follow(word, rest):
        problem = "must name the template to include as a plain string, so that it can be checked before rendering"
        raise error_at(document, problem, token[1], token[2])
    start = token[3] + tag_words[0][1]
    end = token[3] + literals[-1][1] + len(literals[-1][0])
    names = [literal[1:-1] for literal, _ in literals if literal[0] in "\"'"]
    try:
        targets = [resolve(name, document.path) for name in names]
    except CallError as error:
        raise error_at(document, f"cannot be included: {error}", start, end) from None
    is_optional = word == "include" and any(literal == "ignore" for literal, _ in rest)
    return Include(word, names, targets, is_optional, start, end)


def _split_literals(tag_words: Sequence[Word], may_be_list: bool) -> tuple[Sequence[Word], Sequence[Word]]:
    """Split words into the string or list of strings at the beginning, and the remaining words."""
    if tag_words and tag_words[0][0][0] in "\"'":
        return tag_words[:1], tag_words[1:]
    if not may_be_list or not tag_words or tag_words[0][0] != "[":
        return (), tag_words
    end = next((index for index, (word, _) in enumerate(tag_words) if word == "]"), 0)
    strings, commas = tag_words[1:end:2], tag_words[2:end:2]
    is_list = all(word[0] in "\"'" for word, _ in strings) and all(word == "," for word, _ in commas)
    return (tag_words[: end + 1], tag_words[end + 1 :]) if strings and is_list else ((), tag_words)


def _may_follow(word: str, rest: Sequence[Word]) -> bool:
    """Whether these words may follow the names. An operator, for example, would make the names part of an expression."""
    next_word = rest[0][0] if rest else ""
    return next_word in {"include": ("", "ignore", "with", "without"), "import": ("as",), "from": ("import",)}.get(
        word, ("",)
    )
