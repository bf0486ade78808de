"""Which templates a template includes, known before rendering because targets are literals.

    {% include "sibling" %}   {% include ["first", "second"] %}   {% include "sibling" ignore missing %}
    {% extends "base" %}   {% import "macros" as m %}   {% from "macros" import m %}

A target is a string, or a list of strings: the first template that exists is included. Anything else would be known only
while rendering, and is refused. Included templates lose their final newline, as in other Jinja engines; the root keeps its own.
"""

from __future__ import annotations

from ..errors import CallError, ForewordError, TemplateError
from ..vocabulary import Document, value
from .addresses import resolve
from .tags import TAGS, error_at, scan, tag_text, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .contract import Load
    from .tags import Token, Word

DEPTH = 20
"""How deeply includes may nest, counting the root."""
FILES = 200
"""The most templates, counting the root."""
MAX_TOTAL = 1_000_000
"""The most characters of all templates together."""

_INCLUDING = frozenset(["include", "import", "from", "extends"])


@value
class Include:
    """A tag that includes: its statement, the names as written and as resolved, and the range of the names in the text."""

    word: str
    names: Sequence[str]
    targets: Sequence[str]
    is_optional: bool
    start: int
    end: int


@value
class LoadedTemplate:
    """A template, its tokens, and for each include the address of the template it resolved to."""

    document: Document
    tokens: Sequence[Token]
    includes: Sequence[tuple[Include, str | None]]


def collect(root: str, load: Load) -> dict[str, LoadedTemplate]:
    """The template at `root` and all templates that it includes, the root first.

    `load` returns the document at an address or None, and raises a ForewordError if it cannot be loaded. Missing
    templates, cycles and includes that nest too deeply are errors with line and column.
    """
    found = load(root)
    if found is None:
        raise TemplateError(f"template {root} does not exist{_hint(root)}")
    collector = _Collector(load)
    collector.read(root, found, ())
    return dict(reversed(collector.templates.items()))


class _Collector:
    """The state of one call of collect. A template is added after those it includes, so the root comes last."""

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
        if self.size > MAX_TOTAL or self.tags > TAGS or len(self.templates) + len(chain) > FILES:
            limits = f"{FILES} templates, {MAX_TOTAL:,} characters or {TAGS:,} tags"
            raise TemplateError(f"{chain[0]} and its includes have more than {limits}")
        links = [(each, self.follow(document, each, chain)) for each in includes(document, tokens)]
        self.heights[address] = 1 + max((self.heights[target] for _, target in links if target), default=0)
        self.templates[address] = LoadedTemplate(document, tokens, links)

    def follow(self, document: Document, include: Include, chain: tuple[str, ...]) -> str | None:
        """The first target that exists, read with its includes."""
        for target in include.targets:
            if target in chain:
                shown = " -> ".join((*chain[chain.index(target) :], target))
                raise error_at(document, f"includes a template that includes it: {shown}", include.start, include.end)
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
        """Refuse a chain that is too long, counting the includes below its end if they are known."""
        if len(chain) - 1 + self.heights.get(chain[-1], 1) > DEPTH:
            problem = f"is included more than {DEPTH} templates deep: {' -> '.join(chain)}"
            raise error_at(document, problem, include.start, include.end)


def _hint(address: str) -> str:
    return " (an address is written without .md)" if address.endswith(".md") else ""


def includes(document: Document, tokens: Sequence[Token]) -> Iterator[Include]:
    """The includes of a template with these tokens."""
    for token in tokens:
        if token[5] in _INCLUDING:
            yield _include(document, token, token[5])


def _include(document: Document, token: Token, word: str) -> Include:
    """The include of a tag. Its names must be literals because they are followed before rendering."""
    tag_words = words(tag_text(document, token))[1:]
    literals, rest = _literals(tag_words, may_be_list=word == "include")
    if not literals or not _may_follow(word, rest):
        problem = "must name what it includes with a plain string, so that it can be checked before rendering"
        raise error_at(document, problem, token[1], token[2])
    start = token[3] + tag_words[0][1]
    end = token[3] + literals[-1][1] + len(literals[-1][0])
    names = [each[1:-1] for each, _ in literals if each[0] in "\"'"]
    try:
        targets = [resolve(name, document.path) for name in names]
    except CallError as error:
        raise error_at(document, f"cannot be included: {error}", start, end) from None
    is_optional = word == "include" and any(each == "ignore" for each, _ in rest)
    return Include(word, names, targets, is_optional, start, end)


def _literals(tag_words: Sequence[Word], may_be_list: bool) -> tuple[Sequence[Word], Sequence[Word]]:
    """The string or list of strings at the beginning of these words, and the remaining words."""
    if tag_words and tag_words[0][0][0] in "\"'":
        return tag_words[:1], tag_words[1:]
    if not may_be_list or not tag_words or tag_words[0][0] != "[":
        return (), tag_words
    end = next((at for at, (word, _) in enumerate(tag_words) if word == "]"), 0)
    strings, commas = tag_words[1:end:2], tag_words[2:end:2]
    is_list = all(word[0] in "\"'" for word, _ in strings) and all(word == "," for word, _ in commas)
    return (tag_words[: end + 1], tag_words[end + 1 :]) if strings and is_list else ((), tag_words)


def _may_follow(word: str, rest: Sequence[Word]) -> bool:
    """Whether these words may follow the names. An operator would make the names part of an expression."""
    after = rest[0][0] if rest else ""
    return after in {"include": ("", "ignore", "with", "without"), "import": ("as",), "from": ("import",)}.get(
        word, ("",)
    )
