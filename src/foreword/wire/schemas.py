"""The JSON schema of an answer, derived from its type."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from ..encoding import forms as stored
from . import align_forms, conversation_forms, effect_forms, forms, git_forms, session_forms, skills, store_forms

_MODULES = (stored, align_forms, conversation_forms, effect_forms, forms, git_forms, session_forms, skills, store_forms)
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def answer_schema(answer: str, title: str) -> dict[str, Any]:
    """Return the schema of an answer, from its type as it would be written in an annotation."""
    names = {name: kind for module in _MODULES for name, kind in vars(module).items()}
    annotated = type("Annotated", (), {"__annotations__": {"answer": answer}})
    definitions: dict[str, Any] = {}
    schema = _schema(get_type_hints(annotated, names)["answer"], definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a type's schema. The schemas of named types are added to `definitions`."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if is_typeddict(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # a type may contain itself
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(each, definitions) for each in args]}
    if origin is list:
        return {"type": "array", "items": _schema(args[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(args[1], definitions)}
    return {"type": _TYPES[kind]}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    properties, required = {}, []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        is_wrapped = get_origin(hint) in (NotRequired, Required)
        properties[name] = _schema(get_args(hint)[0] if is_wrapped else hint, definitions)
        if get_origin(hint) is not NotRequired:
            required.append(name)
    about = {"description": kind.__doc__.split("\n\n")[0]} if kind.__doc__ else {}
    return {
        **about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
