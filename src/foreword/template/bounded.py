"""Decides whether the size of a template's output is bounded by the size of the template and its variables.

The engine cannot be stopped while it allocates memory: a string doubled forty times, a list that contains itself or
`"%9999999999d"` kills the process, even if steps are limited. Most templates do nothing like that. A bounded template only
inserts variables, tests conditions, loops over variables and includes other bounded templates: it does not call functions, do
arithmetic or assign anything except loop variables. All other templates run in the sandbox.
"""

from __future__ import annotations

from itertools import pairwise

from .tags import tag_text, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .inclusion import LoadedTemplate
    from .tags import Word

MAX_OUTPUT = 5_000_000
"""The largest output a bounded template may have, in characters. The estimate is an upper bound."""

_STATEMENTS = frozenset("if elif else endif for endfor include".split())
_FILTERS = frozenset(
    "upper lower title capitalize trim length count first last sort reverse list unique default d join string".split()
)
_MAX_FILTERS = 4
_OPERATORS = frozenset(["==", "!=", "<", ">", "<=", ">=", "~", "|", ".", ",", "(", ")", "[", "]"])
# A parenthesis after one of these groups an expression; after a name it would be a call.
_BEFORE_GROUP = frozenset(
    ["", "(", "[", ",", "~", "==", "!=", "<", ">", "<=", ">=", *"and or not in if else elif".split()]
)


def is_bounded(templates: dict[str, LoadedTemplate], variables: Mapping[str, str | Sequence[str]]) -> bool:
    """Whether these templates can be rendered outside the sandbox. The first is the one to render."""
    bounds = _SizeBounds(variables)
    for address, template in reversed(templates.items()):
        size = bounds.output_size(template)
        if size is None or size > MAX_OUTPUT:
            return False
        bounds.sizes[address] = size
    return True


class _SizeBounds:
    """Computes upper bounds on the sizes of values and templates. `sizes` contains those of the templates so far."""

    def __init__(self, variables: Mapping[str, str | Sequence[str]]) -> None:
        self.sizes: dict[str, int] = {}
        self.lengths = {name: len(value) for name, value in variables.items()}
        strings = [text for value in variables.values() for text in ([value] if isinstance(value, str) else value)]
        self.longest = max([1, *self.lengths.values(), *map(len, strings)])
        self.total_length = len("', '".join(strings)) + 4

    def output_size(self, template: LoadedTemplate) -> int | None:
        """Return an upper bound on a template's output and steps, or None if there is no known bound."""
        size, factors = 0, [1]
        links = iter(template.includes)
        for token in template.tokens:
            if token[0] == "text":
                size += factors[-1] * (token[4] - token[3])
                continue
            tag_words = words(tag_text(template.document, token))
            if not _is_bounded_tag(tag_words, token[5]) or (token[0] == "{%" and not token[5]):
                return None
            if token[5] == "for":
                factors.append(factors[-1] * self.lengths.get(tag_words[3][0], self.longest))
            elif token[5] == "endfor":
                factors.pop()
            elif token[5] == "include":
                target = next(links)[1]
                size += factors[-1] * (self.sizes[target] if target else 1)
            size += factors[-1] * self.value_size(tag_words)
        return size

    def value_size(self, tag_words: Sequence[Word]) -> int:
        """Return an upper bound on a value's size. Each name counts as if it were all variables; with `join`, each separator does too."""
        length = sum(len(word) for word, _ in tag_words) + 1
        name_count = sum(word[0].isalpha() for word, _ in tag_words)
        if any(word == "join" for word, _ in tag_words):
            name_count = self.longest
        return length + name_count * (length + self.total_length) if name_count else length


def _is_bounded_tag(tag_words: Sequence[Word], statement: str) -> bool:
    if statement and statement not in _STATEMENTS:
        return False
    if statement == "for" and not (len(tag_words) == 4 and tag_words[2][0] == "in"):
        return False
    return (
        all(_is_known_word(word) for word, _ in tag_words)
        and not _calls_function(tag_words)
        and _has_bounded_filters(tag_words)
    )


def _is_known_word(word: str) -> bool:
    return word[0].isalnum() or word[0] in "_\"'" or word in _OPERATORS


def _calls_function(tag_words: Sequence[Word]) -> bool:
    """Whether a tag calls a function. Filter arguments do not count: `_has_bounded_filters` checks filters."""
    previous_words = ["", *(word for word, _ in tag_words)]
    return any(
        word == "("
        and previous_words[position] not in _BEFORE_GROUP
        and not (position >= 2 and previous_words[position - 1] == "|")
        for position, (word, _) in enumerate(tag_words)
    )


def _has_bounded_filters(tag_words: Sequence[Word]) -> bool:
    filters = [word for (before, _), (word, _) in pairwise(tag_words) if before == "|"]
    return len(filters) <= _MAX_FILTERS and filters.count("join") <= 1 and _FILTERS.issuperset(filters)
