"""Small faults that can be put into a module: each changes one expression or statement, and nearly always the module still compiles.

Text is not changed: annotations, docstrings, messages, and anything inside an f-string, whose positions Python 3.11 does not know.

A number below ten becomes the next one: such numbers are positions, counts and steps, where one more or less is a mistake. A greater
number is doubled: such numbers are limits, sizes, times and weights. One more is noticed only by a test that repeats the number, also
where it is promised nowhere; twice as much is noticed by each test that goes beyond a limit. That a limit itself is still allowed, and
one more is not, is asked by the faults that change a comparison.

False is not replaced with None, because callers ask only whether it is true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_comment"}


class Fault(NamedTuple):
    """One change of a file: the bytes from `start` to `end` become `text`."""

    path: str
    line: int
    start: int
    end: int
    before: str
    text: str
    function: str  # which contains it, such as `Reader.read`; empty outside functions

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {shorten(self.before)}  ->  {shorten(self.text)}"


def shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 100 else f"{words[:97]}..."


def faults(path: str, source: bytes) -> list[Fault]:
    """Every fault for a module, in the order of its text."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    tree = ast.parse(source)
    functions = list(_functions(tree))
    for node, text in _changes(tree):
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        function = next((name for name, first, last in functions if first <= node.lineno <= last), "")
        found.append(Fault(path, node.lineno, start, end, before, text, function))
    return found


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, int, int]]:
    """The functions and methods of a module, without those inside others: their names, first lines and last lines."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{child.name}", child.lineno, child.end_lineno or 0
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, (ast.If, ast.Try)):
            yield from _functions(child, prefix)


def compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Every changed node below this one, with its new text."""
    for name, field in ast.iter_fields(node):
        if name in SKIPPED_FIELDS:
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.JoinedStr) or not isinstance(child, ast.AST) or _is_for_types(child):
                continue
            if isinstance(child, ast.expr):
                yield from ((child, f"({text})") for text in _changed_expression(child))
            elif isinstance(child, ast.stmt):
                yield from ((child, text) for text in _changed_statement(child))
                if isinstance(child, (ast.If, ast.While)):
                    yield child.test, f"(not ({ast.unparse(child.test)}))"
            yield from _changes(child)


def _is_for_types(node: ast.AST) -> bool:
    """Whether a statement is only for a type checker."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Name) and target.id in ("TYPE_CHECKING", "__all__", "__slots__")


def _changed_expression(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            changed = [*node.ops]
            changed[index] = OPPOSITES[type(operator)]()  # type: ignore[call-overload]
            yield ast.unparse(ast.Compare(node.left, changed, node.comparators))
    elif isinstance(node, ast.BoolOp):
        yield ast.unparse(ast.BoolOp(OPPOSITES[type(node.op)](), node.values))  # type: ignore[arg-type]
        for index in range(len(node.values)):
            kept = [value for number, value in enumerate(node.values) if number != index]
            yield ast.unparse(kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield ast.unparse(node.operand)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPPOSITES:
        yield ast.unparse(ast.BinOp(node.left, OPPOSITES[type(node.op)](), node.right))  # type: ignore[arg-type]
    elif isinstance(node, ast.IfExp):
        yield ast.unparse(node.body)
        yield ast.unparse(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield repr(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield repr(node.value + 1 if node.value < 10 else node.value * 2)


def _changed_statement(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.Expr, ast.AugAssign, ast.Raise)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text:
            yield "pass"
    elif isinstance(node, ast.Return) and node.value is not None:
        if ast.unparse(node.value) not in ("None", "False"):
            yield "return None"
    elif isinstance(node, ast.Break):
        yield "continue"
    elif isinstance(node, ast.Continue):
        yield "break"
