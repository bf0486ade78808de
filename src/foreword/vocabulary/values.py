"""`@value`, which turns a class with annotated fields into an immutable value, and the hash of a string.

`@value` replaces `@dataclass`, which generates and compiles source code for every class and would take more time than everything
else when a command starts. `typing` and `inspect` are not imported for the same reason.
"""

from __future__ import annotations

from sys import modules

from ..errors import to_tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature
    from typing import Any, TypeVar, dataclass_transform

    V = TypeVar("V")
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


_MISSING: Any = object()


@dataclass_transform(frozen_default=True)
def value(cls: type[V]) -> type[V]:
    """Turn a class with annotated fields into an immutable value with equality, a hash and a repr based on its fields.

    A Sequence field accepts any ordered iterable and stores a tuple. If the class has a method `_check`, it may reject the fields.
    """
    fields = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__.get(name, _MISSING) for name in fields}
    required_fields = tuple(name for name in fields if defaults[name] is _MISSING)
    sequences = tuple(name for name in fields if cls.__annotations__[name].startswith("Sequence"))
    size, required, check = len(fields), len(required_fields), cls.__dict__.get("_check")
    default_values = tuple(defaults.values())[required:]

    def merge_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        named = {**defaults, **kwargs}
        named.update(zip(fields, args))  # noqa: B905  the others are named or have defaults
        missing = [name for name in required_fields if named[name] is _MISSING]
        if missing or len(named) > size or len(args) > size or not kwargs.keys().isdisjoint(fields[: len(args)]):
            raise _argument_error(cls.__name__, fields, missing, args, kwargs)
        return tuple(named.values())

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs or not required <= len(args) <= size:
            args = merge_arguments(args, kwargs)
        elif len(args) < size:
            args += default_values[len(args) - required :]
        attributes = self.__dict__
        # Filling it one by one, in field order, lets the dictionaries of all instances share their keys, which halves the memory.
        for name, content in zip(fields, args):  # noqa: B905  the lengths are equal
            attributes[name] = content
        for name in sequences:
            if type(attributes[name]) is not tuple:
                attributes[name] = _to_sequence(cls, name, attributes[name])
        if check is not None:
            check(self)

    def __setattr__(self: Any, name: str, _: Any) -> None:
        raise AttributeError(f"{cls.__name__} is immutable: use replace(value, {name}=…)")

    def __delattr__(self: Any, name: str) -> None:
        raise AttributeError(f"{cls.__name__} is immutable: its field {name!r} cannot be deleted")

    def __eq__(self: Any, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self: Any) -> int:
        return hash(tuple(map(self.__dict__.__getitem__, fields)))

    def __repr__(self: Any) -> str:
        return f"{cls.__name__}({', '.join(f'{name}={self.__dict__[name]!r}' for name in fields)})"

    for method in (__init__, __setattr__, __delattr__, __eq__, __hash__, __repr__):
        if method.__name__ not in cls.__dict__:
            setattr(cls, method.__name__, method)
    cls.__match_args__ = fields  # type: ignore[misc,attr-defined,unused-ignore]
    cls.__signature__ = _FieldSignature()  # type: ignore[attr-defined,unused-ignore]
    return cls


def _to_sequence(cls: type, name: str, content: Any) -> Any:
    if type(content) is list:
        return tuple(content)
    if content is None and cls.__annotations__[name].endswith("| None"):
        return None
    return to_tuple(f"{cls.__name__}.{name}", content)


def _argument_error(
    name: str, fields: tuple[str, ...], missing: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TypeError:
    """Return an error that lists the arguments that are unknown, missing, superfluous or passed twice."""
    duplicates = kwargs.keys() & set(fields[: len(args)])
    invalid = sorted(kwargs.keys() - set(fields)) or missing or args[len(fields) :] or sorted(duplicates)
    hints = [f"did you mean {_MEANT[key]}?" for key in sorted(kwargs.keys() - set(fields)) if _MEANT.get(key) in fields]
    hint = f" ({hints[0]})" if hints else ""
    return TypeError(f"{name} takes ({', '.join(fields)}); wrong or missing: {', '.join(map(repr, invalid))}{hint}")


# Names in other programs for some of the fields.
_MEANT = {
    **dict.fromkeys(("parameters", "input_schema", "inputSchema", "parameters_json_schema"), "schema"),
    "defer_loading": "defer",
    "directory": "cwd",
    "path": "cwd",
    "system": "base",
    "prompt": "base",
    "system_prompt": "base",
    "mcp_servers": "servers",
}


class _FieldSignature:
    """The signature for `help` and `inspect.signature`, computed on access because `inspect` is slow to load."""

    def __get__(self, _: object, cls: type) -> Signature:
        from inspect import Parameter, Signature

        return Signature(
            [
                Parameter(
                    name,
                    Parameter.POSITIONAL_OR_KEYWORD,
                    default=cls.__dict__.get(name, Parameter.empty),
                    annotation=annotation,
                )
                for name, annotation in cls.__annotations__.items()
            ]
        )


def replace(original: V, **changes: Any) -> V:
    """Return a copy of a value with some fields changed."""
    attributes = original.__dict__
    if changes.keys() <= attributes.keys():
        return type(original)(*{**attributes, **changes}.values())
    return type(original)(**{**attributes, **changes})  # raises the error about an unknown field


def replace_valid(original: V, **changes: Any) -> V:
    """Return a copy of a value with some fields changed to content that is known to be valid. `replace` would check all fields again."""
    copy = object.__new__(type(original))
    copy.__dict__.update(original.__dict__, **changes)
    return copy


def digest(text: str) -> str:
    """Return a string's hash, `sha256:…`."""
    return "sha256:" + str(_sha256()(text.encode("utf-8", "surrogatepass")).hexdigest())


def digest_bytes(data: bytes) -> str:
    """Return the hash of bytes, `sha256:…`."""
    return "sha256:" + str(_sha256()(data).hexdigest())


def _sha256() -> Callable[[bytes], Any]:
    """Return OpenSSL's hash function if the program has loaded it, otherwise the built-in one, because loading all of OpenSSL takes 4 ms."""
    global _cached_sha256
    if "hashlib" in modules:
        return modules["hashlib"].sha256  # type: ignore[no-any-return]
    if _cached_sha256 is None:
        try:
            from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            try:
                from _sha256 import sha256  # type: ignore[import-not-found,no-redef,unused-ignore]
            except ImportError:
                from hashlib import sha256  # type: ignore[assignment,unused-ignore]
        _cached_sha256 = sha256
    return _cached_sha256


_cached_sha256: Callable[[bytes], Any] | None = None
