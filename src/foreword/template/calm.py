"""Which templates cannot run away: what they write is bounded by their own size and that of their variables.

The engine cannot be stopped once it asks for memory: a text that doubles forty times, a list inside itself, `"%9999999999d"`
end the process, whatever limit on steps is set. Most templates do nothing of the kind. A calm one only inserts variables,
asks, loops over them and includes others; it calls nothing, binds nothing but loop variables, and computes no numbers.
Every other template is at home in the sandbox.
"""

from __future__ import annotations

from .tags import inside, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .inclusion import Template
    from .tags import Word

MOST = 5_000_000
"""The most characters that a calm template could write, by a generous estimate."""

_STATEMENTS = frozenset("if elif else endif for endfor include".split())
_FILTERS = frozenset(
    "upper lower title capitalize trim length count first last sort reverse list unique default d join string".split()
)
_FILTERED = 4
_OPERATORS = frozenset(["==", "!=", "<", ">", "<=", ">=", "~", "|", ".", ",", "(", ")", "[", "]"])
# Before a bracket these say that it groups; after a name it would call.
_GROUPING = frozenset(["", "(", "[", ",", "~", "==", "!=", "<", ">", "<=", ">=", *"and or not in if else elif".split()])


def is_calm(templates: dict[str, Template], variables: Mapping[str, str | Sequence[str]]) -> bool:
    """Whether these templates can be rendered without a guard. The first is the one to render."""
    measure = _Measure(variables)
    for address, template in reversed(templates.items()):
        weight = measure.weight(template)
        if weight is None or weight > MOST:
            return False
        measure.weights[address] = weight
    return True


class _Measure:
    """How much these variables could become, and how much each template that was looked at."""

    def __init__(self, variables: Mapping[str, str | Sequence[str]]) -> None:
        self.weights: dict[str, int] = {}
        self.lengths = {name: len(each) for name, each in variables.items()}
        texts = [each for value in variables.values() for each in ([value] if isinstance(value, str) else value)]
        self.longest = max([1, *self.lengths.values(), *map(len, texts)])
        self.everything = len("', '".join(texts)) + 4

    def weight(self, template: Template) -> int | None:
        """How much a template could write, or do; None if that cannot be told."""
        weight, factors = 0, [1]
        links = iter(template.includes)
        for token in template.tokens:
            if token[0] == "text":
                weight += factors[-1] * (token[4] - token[3])
                continue
            found = words(inside(template.document, token))
            if not _is_plain(found, token[5]) or (token[0] == "{%" and not token[5]):
                return None
            if token[5] == "for":
                factors.append(factors[-1] * self.lengths.get(found[3][0], self.longest))
            elif token[5] == "endfor":
                factors.pop()
            elif token[5] == "include":
                target = next(links)[1]
                weight += factors[-1] * (self.weights[target] if target else 1)
            weight += factors[-1] * self.size(found)
        return weight

    def size(self, found: Sequence[Word]) -> int:
        """How much a value could be: all variables for each name in it, or all of them between any two parts of one."""
        length = sum(len(word) for word, _ in found) + 1
        named = sum(word[0].isalpha() for word, _ in found)
        if any(word == "join" for word, _ in found):
            named = self.longest
        return length + named * (length + self.everything) if named else length


def _is_plain(found: Sequence[Word], statement: str) -> bool:
    """Whether a tag does nothing that could grow."""
    if statement and statement not in _STATEMENTS:
        return False
    if statement == "for" and not (len(found) == 4 and found[2][0] == "in"):
        return False
    before, filters, joins = "", 0, 0
    for at, (word, _) in enumerate(found):
        if not (word[0].isalnum() or word[0] in "_\"'" or word in _OPERATORS):
            return False
        if word == "(" and before not in _GROUPING and not (at >= 2 and found[at - 2][0] == "|"):
            return False
        if before == "|":
            filters += 1
            joins += word == "join"
            if word not in _FILTERS:
                return False
        before = word
    return filters <= _FILTERED and joins <= 1
