"""The condition of an `if` directive: comparisons of what is known about the agent, joined by words.

    condition  = term { "or" term }
    term       = factor { "and" factor }
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = fact ( "==" | "!=" ) string
    fact       = "provider" | "model" | "platform" | "cwd"
    string     = '"' any but '"' '"' | "'" any but "'" "'"

A string has no escapes: a backslash is a backslash. Blanks may stand between any two words. Parsed without recursion,
so no number of parentheses is too many.
"""

from __future__ import annotations

import re

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FACTS = ("provider", "model", "platform", "cwd")

_TOKEN = r""""[^"]*"|'[^']*'|==|!=|\w+|[^ \t]"""
_BINDS = {"(": 0, "or": 1, "and": 2, "not": 3}


@value
class Comparison:
    """One fact beside one string."""

    fact: str
    equal: bool
    string: str


@value
class Condition:
    """A condition in postfix order: comparisons, and the words `not`, `and`, `or` after what they join."""

    steps: Sequence[Comparison | str]


@value
class Mistake:
    """Why a text is no condition, told of the stretch of it that shows this."""

    words: str
    start: int
    end: int


def holds(condition: Condition, facts: Mapping[str, str]) -> bool:
    """Whether the condition is true. A fact that is not given is the empty string."""
    stack: list[bool] = []
    for step in condition.steps:
        if isinstance(step, Comparison):
            stack.append((facts.get(step.fact, "") == step.string) is step.equal)
        elif step == "not":
            stack.append(not stack.pop())
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(left and right if step == "and" else left or right)
    return stack[0]


def parse(text: str) -> Condition | Mistake:
    """The condition in a text, or the first mistake in it."""
    return _Parser(text).parse()


class _Parser:
    """Operators wait on a stack until one that binds less tightly, or the end, lets them go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [(match[0], match.start(), match.end()) for match in re.finditer(_TOKEN, text)]
        self.steps: list[Comparison | str] = []
        self.waiting: list[tuple[str, int]] = []

    def parse(self) -> Condition | Mistake:
        at = 0
        operand = True
        while at < len(self.tokens):
            word, start, end = self.tokens[at]
            if operand and word in ("not", "("):
                self.waiting.append((word, start))
            elif operand:
                mistake = self.compare(at)
                if mistake:
                    return mistake
                at += 2
                operand = False
            elif word in ("and", "or"):
                self.release(_BINDS[word])
                self.waiting.append((word, start))
                operand = True
            elif not (word == ")" and self.close()):
                return Mistake("stands where 'and' or 'or' would", start, end)
            at += 1
        return self.finish(operand)

    def compare(self, at: int) -> Mistake | None:
        """Take the comparison that begins with this token."""
        fact, start, end = self.tokens[at]
        if fact not in FACTS:
            return Mistake(f"stands where one of {', '.join(FACTS)} would", start, end)
        operator, start, end = self.token(at + 1)
        if operator not in ("==", "!="):
            return Mistake(f"stands where == or != would after {fact}", start, end)
        string, start, end = self.token(at + 2)
        if len(string) < 2 or string[0] not in "\"'":
            return Mistake(f"stands where a string in quotes would to compare with {fact}", start, end)
        self.steps.append(Comparison(fact, operator == "==", string[1:-1]))
        return None

    def token(self, at: int) -> tuple[str, int, int]:
        return self.tokens[at] if at < len(self.tokens) else ("", len(self.text), len(self.text))

    def release(self, binds: int) -> None:
        """Let go all that wait and bind at least so tightly."""
        while self.waiting and _BINDS[self.waiting[-1][0]] >= binds:
            self.steps.append(self.waiting.pop()[0])

    def close(self) -> bool:
        """Close a parenthesis, if one is open."""
        self.release(_BINDS["or"])
        if not self.waiting:
            return False
        self.waiting.pop()
        return True

    def finish(self, operand: bool) -> Condition | Mistake:
        size = len(self.text)
        if operand:
            return Mistake("comes where a comparison would", size, size)
        self.release(_BINDS["or"])
        if self.waiting:
            start = self.waiting[-1][1]
            return Mistake("is not closed", start, start + 1)
        return Condition(self.steps)
