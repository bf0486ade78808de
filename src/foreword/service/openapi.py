"""The description of the service, OpenAPI 3.1, made from the table of routes and the types that parse requests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import msgspec.inspect

from ..version import __version__
from .answers import PROBLEMS
from .call import fields as fields_of
from .call import is_json
from .forms import ProblemForm
from .route import Route

_REF = "#/components/schemas/{name}"
_ALWAYS = (
    "not-http",
    "no-token",
    "foreign-origin",
    "slow-request",
    "large-headers",
    "failed",
    "too-slow",
    "wrong-headers",
    "busy",
)
_SEGMENTS = {
    "id": (
        {"type": "string", "minLength": 1, "maxLength": 512, "pattern": r"^[^\x00-\x1f\x7f-\x9f]+$"},
        "The conversation, or the prompt",
    ),
    "name": ({"type": "string", "minLength": 1}, "The skill"),
    "version": ({"type": "integer", "minimum": 0, "maximum": 999_999_999}, "The version of the template"),
    "number": ({"type": "integer", "minimum": 0, "maximum": 999_999_999}, "The edition"),
}


@cache
def description(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole document."""
    described = [route for route in routes if route.answer is not None]
    types = {
        each for route in described for each in (route.body, route.query, route.answer) if each not in (None, str, dict)
    }
    ordered = sorted({*types, ProblemForm}, key=lambda each: str(getattr(each, "__name__", each)))
    _, schemas = msgspec.json.schema_components(ordered, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in described:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Foreword",
            "version": __version__,
            "description": "Assembles the system prompt of coding agents, keeps it stable, and says where every character came from.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.function.__name__,
        "summary": route.about.splitlines()[0],
        "parameters": [*_path_parameters(route), *_query_parameters(route, schemas), *_header_parameters(route)],
        "responses": {"200": _success(route), **_failures(route)},
    }
    if route.body:
        content = {"application/json": {"schema": {"$ref": _REF.format(name=route.body.__name__)}}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.is_open:
        operation["security"] = []
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
    return [
        {"name": name, "in": "path", "required": True, "schema": _SEGMENTS[name][0], "description": _SEGMENTS[name][1]}
        for name in names
    ]


def _query_parameters(route: Route, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of the query's type. They are parameters, so the type itself is no schema of its own."""
    if route.query is None:
        return []
    fields = schemas.get(route.query.__name__) or msgspec.json.schema_components([route.query])[1][route.query.__name__]
    types = fields_of(route.query)
    return [
        {"name": name, "in": "query", "required": name in fields.get("required", ()), **_as(schema, types[name])}
        for name, schema in fields["properties"].items()
    ]


def _as(schema: dict[str, Any], kind: msgspec.inspect.Type) -> dict[str, Any]:
    """How a parameter is described: one that is more than text is said as JSON."""
    return {"content": {"application/json": {"schema": schema}}} if is_json(kind) else {"schema": schema}


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    """Versions travel in headers."""
    if "template-changed" not in route.problems:
        return []
    about = "The version that this one is to follow, as its ETag says; else the newest, whichever it is"
    return [{"name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"}, "description": about}]


def _success(route: Route) -> dict[str, Any]:
    if route.answer is str:
        return {"description": route.about, "content": {"text/plain": {"schema": {"type": "string"}}}}
    schema = (
        {"type": "object"}
        if route.answer is dict
        else {"$ref": _REF.format(name=getattr(route.answer, "__name__", ""))}
    )
    return {"description": route.about, "content": {"application/json": {"schema": schema}}}


def _failures(route: Route) -> dict[str, Any]:
    kinds = [*_ALWAYS, *route.problems]
    kinds += ["wrong-query"] if route.query else []
    kinds += ["not-json", "wrong-body", "too-large"] if route.body else []
    kinds += ["wrong-call"] if "{" in route.path or route.body or route.query else []
    by_status: dict[int, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(PROBLEMS[kind][0], []).append(PROBLEMS[kind][1])
    content = {"application/problem+json": {"schema": {"$ref": _REF.format(name="ProblemForm")}}}
    return {
        str(status): {"description": ". ".join(dict.fromkeys(titles)), "content": content}
        for status, titles in sorted(by_status.items())
    }
