"""Syntax trees of modules, for the tests that read the source. One worker runs these, so each module is parsed and walked once."""

import ast
from functools import cache


@cache
def syntax_tree(path):
    """Return the syntax tree of a module. It is parsed on first use, by the only worker that needs it."""
    return ast.parse(path.read_text())


@cache
def walk(tree):
    """Return every node below one."""
    return tuple(ast.walk(tree))
