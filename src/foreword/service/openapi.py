"""The OpenAPI 3.1 document, built from the table of routes and the types that parse requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
import msgspec.inspect

from .. import __version__
from .forms import ProblemForm
from .request import field_types, is_json
from .responses import PROBLEMS
from .route import Route

_REF = "#/components/schemas/{name}"
_COMMON_PROBLEMS = (
    "not-http",
    "missing-token",
    "foreign-origin",
    "slow-request",
    "headers-too-large",
    "internal-error",
    "timeout",
    "invalid-headers",
    "too-many-requests",
    "busy",
)
_PARAMETERS = {
    "id": (
        {"type": "string", "minLength": 1, "maxLength": 512, "pattern": r"^[^\x00-\x1f\x7f-\x9f]+$"},
        "The id of the conversation or prompt",
    ),
    "name": ({"type": "string", "minLength": 1}, "The name of the skill or tool"),
    "template": (
        {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "pattern": r"^[^@\s\x00-\x1f\x7f-\x9f]([^@\x00-\x1f\x7f-\x9f]*[^@\s\x00-\x1f\x7f-\x9f])?$",
        },
        "The name of the template",
    ),
    "label": ({"type": "string", "maxLength": 200, "pattern": "^[A-Za-z][A-Za-z0-9_.-]*$"}, "The label"),
    "team": (
        {
            "type": "string",
            "maxLength": 100,
            "pattern": r"^([^*\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?|\*)?$",
        },
        "The team, for a token that sees all teams",
    ),
    "version": ({"type": "integer", "minimum": 0, "maximum": 999_999_999}, "The version of the template"),
    "number": ({"type": "integer", "minimum": 0, "maximum": 999_999_999}, "The number of the edition"),
}


@cache
def document(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the OpenAPI document for these routes."""
    documented = [route for route in routes if route.response is not None]
    types = {
        type_
        for route in documented
        for type_ in (route.body, route.query, *route.responses)
        if type_ not in (None, str, dict)
    }
    ordered = sorted({*types, ProblemForm}, key=str)
    _, schemas = msgspec.json.schema_components(ordered, ref_template=_REF)
    for struct in _below(msgspec.Struct):
        if struct.__name__ in schemas:
            schemas[struct.__name__].update(getattr(struct, "schema_rules", {}))
    paths: dict[str, dict[str, Any]] = {}
    for route in documented:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Foreword",
            "version": __version__,
            "description": "Builds coding agents' system prompts, keeps them stable, and shows where every character came from.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _below(kind: type) -> Iterator[type]:
    """Yield the classes that inherit from this one."""
    inner: type
    for inner in kind.__subclasses__():
        yield inner
        yield from _below(inner)


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.function.__name__,
        "summary": route.description.splitlines()[0],
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
    kinds = ["template" if name == "name" and route.path.startswith("/templates/") else name for name in names]
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": _PARAMETERS[kind][0],
            "description": _PARAMETERS[kind][1],
        }
        for name, kind in zip(names, kinds, strict=True)
    ]


def _query_parameters(route: Route, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the query type's fields as parameters. The type itself is not listed as a schema."""
    schema, about = _PARAMETERS["team"]
    team = {"name": "team", "in": "query", "required": False, "schema": schema, "description": about}
    common = [] if route.is_open else [team]
    if route.query is None:
        return common
    fields = schemas.get(route.query.__name__) or msgspec.json.schema_components([route.query])[1][route.query.__name__]
    types = field_types(route.query)
    return [
        {
            "name": name,
            "in": "query",
            "required": name in fields.get("required", ()),
            **_parameter_schema(schema, types[name]),
        }
        for name, schema in fields["properties"].items()
    ] + common


def _parameter_schema(schema: dict[str, Any], kind: msgspec.inspect.Type) -> dict[str, Any]:
    """Return the parameter's schema, marked as JSON if the parameter is encoded that way."""
    return {"content": {"application/json": {"schema": schema}}} if is_json(kind) else {"schema": schema}


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    """Return the If-Match header, for routes that check the template's version."""
    if "template-changed" not in route.problems:
        return []
    about = "The ETag of the version that this one replaces; without it, the newest version is replaced"
    return [{"name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"}, "description": about}]


def _success(route: Route) -> dict[str, Any]:
    if route.response is str:
        return {"description": route.description, "content": {"text/plain": {"schema": {"type": "string"}}}}
    schemas, _ = msgspec.json.schema_components(route.responses, ref_template=_REF)
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    if route.lane == "stream":
        data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
        event = {"type": "object", "properties": {"data": data}, "required": ["data"]}
        return {"description": route.description, "content": {"text/event-stream": {"schema": event}}}
    return {"description": route.description, "content": {"application/json": {"schema": schema}}}


def _failures(route: Route) -> dict[str, Any]:
    kinds = [*_COMMON_PROBLEMS, *route.problems]
    kinds += ["invalid-query"] if route.query or not route.is_open else []
    kinds += ["not-found"] if not route.is_open else []
    kinds += ["ambiguous-team"] if route.path.startswith(("/conversations/", "/templates/")) else []
    kinds += ["not-json", "invalid-body", "too-large"] if route.body else []
    kinds += ["invalid-request"] if "{" in route.path or route.body or route.query else []
    by_status: dict[int, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(PROBLEMS[kind][0], []).append(PROBLEMS[kind][1])
    content = {"application/problem+json": {"schema": {"$ref": _REF.format(name="ProblemForm")}}}
    return {
        str(status): {"description": ". ".join(dict.fromkeys(titles)), "content": content}
        for status, titles in sorted(by_status.items())
    }
