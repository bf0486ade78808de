"""Give functions that are already imported the code of a changed module, so that a fault can be tried without importing anything again."""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType


class NotReplaceable(Exception):
    """A fault also changes code that has run when the module was imported."""


class Functions:
    """The functions of a package, and the caches of their results, in this process."""

    def __init__(self, folder: str, package: str) -> None:
        gc.unfreeze()
        objects = gc.get_objects()
        self._functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        for function in objects:
            if type(function) is FunctionType and function.__code__.co_filename.startswith(folder):
                self._functions.setdefault(_key(function.__code__), []).append(function)
        self._caches = [
            found
            for found in objects
            if isinstance(found, functools._lru_cache_wrapper) and (found.__module__ or "").startswith(package)
        ]
        gc.freeze()

    def replacements(self, path: str, before: bytes, after: bytes) -> list[tuple[FunctionType, CodeType]]:
        """The functions whose code differs between two texts of a module, each with its new code.

        Raises NotReplaceable if other code differs too, or if a function cannot be found.
        """
        found = []
        for old, new, is_inner in _differences(compile(before, path, "exec"), compile(after, path, "exec")):
            functions = self._functions.get(_key(old), [])
            if old.co_freevars != new.co_freevars or not (functions or is_inner):
                raise NotReplaceable
            found += [(function, new) for function in functions]
        return found

    def replace(self, replacements: list[tuple[FunctionType, CodeType]]) -> None:
        for function, code in replacements:
            function.__code__ = code
        for cache in self._caches:
            cache.cache_clear()


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _differences(
    before: CodeType, after: CodeType, is_inner: bool = False
) -> Iterator[tuple[CodeType, CodeType, bool]]:
    """The functions that differ, and whether each is inside another one."""
    if _content(before) == _content(after):
        return
    is_function = bool(before.co_flags & inspect.CO_NEWLOCALS)
    if is_function:
        yield before, after, is_inner
    elif _content(before, depth=0) != _content(after, depth=0):
        raise NotReplaceable
    for old, new in zip(_inner(before), _inner(after), strict=False):
        yield from _differences(old, new, is_inner or is_function)


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _content(code: CodeType, depth: int = 100) -> tuple[object, ...]:
    """What a code does, without the numbers of its lines. At depth 0, the classes and functions inside it count only with their names."""
    constants = [_content(inner, depth - 1) if depth else inner.co_qualname for inner in _inner(code)]
    values = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, constants, values, *names, code.co_flags, code.co_exceptiontable
