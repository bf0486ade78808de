"""Conditions of `if` directives: comparisons of facts about the agent, combined with `and`, `or` and `not`.

    condition  = term { "or" term }
    term       = factor { "and" factor }
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = fact ( "==" | "!=" ) string
    fact       = "provider" | "model" | "platform" | "cwd"
    string     = '"' any but '"' '"' | "'" any but "'" "'"

Strings have no escape sequences: a backslash is an ordinary character. Blanks are allowed between tokens. The parser does not
recurse, so parentheses may nest to any depth.
"""

from __future__ import annotations

import re

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FACTS = ("provider", "model", "platform", "cwd")

_TOKEN = r""""[^"]*"|'[^']*'|==|!=|\w+|[^ \t]"""
_PRECEDENCE = {"(": 0, "or": 1, "and": 2, "not": 3}


@value
class Comparison:
    """A fact compared with a string."""

    fact: str
    equal: bool
    string: str


@value
class DirectiveCondition:
    """A condition in postfix order: comparisons, and `not`, `and`, `or` after their operands."""

    steps: Sequence[Comparison | str]


@value
class ConditionProblem:
    """Why a string is not a valid condition. The message is the characters from `start` to `end`, followed by `problem`."""

    problem: str
    start: int
    end: int


def is_true(condition: DirectiveCondition, facts: Mapping[str, str]) -> bool:
    """Whether the condition is true. A missing fact is treated as an empty string."""
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


def parse(text: str) -> DirectiveCondition | ConditionProblem:
    """Parse a condition. Returns the first problem if it is invalid."""
    return _Parser(text).parse()


class _Parser:
    """An operator-precedence parser: operators wait on a stack until one with lower precedence follows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [(match[0], match.start(), match.end()) for match in re.finditer(_TOKEN, text)]
        self.steps: list[Comparison | str] = []
        self.operators: list[tuple[str, int]] = []

    def parse(self) -> DirectiveCondition | ConditionProblem:
        index = 0
        expects_operand = True
        while index < len(self.tokens):
            word, start, end = self.tokens[index]
            if expects_operand and word in ("not", "("):
                self.operators.append((word, start))
            elif expects_operand:
                problem = self.parse_comparison(index)
                if problem:
                    return problem
                index += 2
                expects_operand = False
            elif word in ("and", "or"):
                self.emit_operators(_PRECEDENCE[word])
                self.operators.append((word, start))
                expects_operand = True
            elif not (word == ")" and self.close_parenthesis()):
                return ConditionProblem("is not valid here; expected 'and' or 'or'", start, end)
            index += 1
        return self.finish(expects_operand)

    def parse_comparison(self, index: int) -> ConditionProblem | None:
        """Parse the comparison that begins at this token."""
        fact, start, end = self.tokens[index]
        if fact not in FACTS:
            return ConditionProblem(f"is not valid here; expected one of {', '.join(FACTS)}", start, end)
        operator, start, end = self.token(index + 1)
        if operator not in ("==", "!="):
            return ConditionProblem(f"is not valid after {fact}; expected == or !=", start, end)
        string, start, end = self.token(index + 2)
        if len(string) < 2 or string[0] not in "\"'":
            return ConditionProblem(f"cannot be compared with {fact}; expected a quoted string", start, end)
        self.steps.append(Comparison(fact, operator == "==", string[1:-1]))
        return None

    def token(self, index: int) -> tuple[str, int, int]:
        return self.tokens[index] if index < len(self.tokens) else ("", len(self.text), len(self.text))

    def emit_operators(self, precedence: int) -> None:
        """Move operators of at least this precedence from the stack to the steps."""
        while self.operators and _PRECEDENCE[self.operators[-1][0]] >= precedence:
            self.steps.append(self.operators.pop()[0])

    def close_parenthesis(self) -> bool:
        """Close the innermost parenthesis. Returns False if none is open."""
        self.emit_operators(_PRECEDENCE["or"])
        if not self.operators:
            return False
        self.operators.pop()
        return True

    def finish(self, expects_operand: bool) -> DirectiveCondition | ConditionProblem:
        size = len(self.text)
        if expects_operand:
            return ConditionProblem("comes too early; expected a comparison", size, size)
        self.emit_operators(_PRECEDENCE["or"])
        if self.operators:
            start = self.operators[-1][1]
            return ConditionProblem("is not closed", start, start + 1)
        return DirectiveCondition(self.steps)
