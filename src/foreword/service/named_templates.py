"""Routes for named templates, their versions, and the labels that say which version is live."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..engine.assembler import local_time
from ..errors import CallError, MissingError, StaleError, suggestion
from ..store.all_teams import position_in
from ..store.rows import ALL_TEAMS, PRODUCTION, LabelMove, TemplateVersion, check_name
from ..wire.answers import move_form, template_name_form, version_form
from ..wire.forms import TemplateForm
from ..wire.store_forms import DeletedTemplateForm, MoveForm
from . import forms
from .request import Request
from .responses import Problem, Response
from .route import DELETED, LABEL, SAVED, STORE, STORED, Route
from .service import Service
from .templates import (
    AuthorQuery,
    SaveQuery,
    TemplateBody,
    VersionsQuery,
    check_label_right,
    check_size,
    expected_version,
    refuse_errors,
    template_headers,
    template_response,
)

_MAX_SUGGESTED = 1000


class SaveVersionQuery(SaveQuery, forbid_unknown_fields=True):
    """Who saves a version, why, its language, and the label to move to it."""

    label: Annotated[str, Meta(max_length=200, pattern=r"^([A-Za-z][A-Za-z0-9_.-]*)?$")] = ""


class LabelQuery(Struct, forbid_unknown_fields=True):
    """The label of the version to return."""

    label: Annotated[str, Meta(min_length=1, max_length=200)] = "production"


class LabelBody(Struct, forbid_unknown_fields=True):
    """The version to move a label to, with `force` even if it has errors.

    With `after`, the label must still refer to that version, or to none if it is 0.
    """

    version: Annotated[float, Meta(ge=1, le=2**31 - 1, multiple_of=1)]
    author: Annotated[str, Meta(max_length=200)] = ""
    note: Annotated[str, Meta(max_length=2000)] = ""
    after: Annotated[float, Meta(ge=0, le=2**31 - 1, multiple_of=1)] | None = None
    force: bool = False


class NamesQuery(Struct, forbid_unknown_fields=True):
    """Which templates to list. To get the next page, pass the `next` of this one as `after`."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    after: Annotated[str, Meta(max_length=700)] = ""


def list_templates(service: Service, request: Request) -> Response:
    """Return the stored templates, sorted by name, each with its newest version and its labels."""
    query: NamesQuery = request.query
    rows = service.store.template_names("", query.limit + 1, query.after)
    page, next = rows[: query.limit], None
    if len(rows) > query.limit:
        last = page[-1]
        next = position_in(last.team, last.name) if service.caller.team == ALL_TEAMS else last.name
    return Response({"templates": [template_name_form(row) for row in page], "next": next})


def read_named_template(service: Service, request: Request) -> Response:
    """Return the version of a template that a label refers to, by default `production`."""
    query: LabelQuery = request.query
    name = _name(request)
    found = service.store.template(name, query.label)
    if found is None:
        raise Problem("not-found", f"template {name!r} has no label {query.label!r}; see /templates/{{name}}/versions")
    return request.if_modified(template_response(found))


def save_named_template(service: Service, request: Request) -> Response:
    """Save a new version of a template, and make it live. With If-Match, this fails unless that version is still live."""
    name = _name(request)
    after = expected_version(service, request.header("if-match"), name)
    return _add(service, request, name, after, PRODUCTION)


def list_named_versions(service: Service, request: Request) -> Response:
    """Return the versions of a template, newest first, the version of each label, and who moved the labels."""
    query: VersionsQuery = request.query
    name = _name(request)
    versions = service.store.templates(name, query.texts)
    if not versions:
        raise _unknown(service, name)
    store = service.conversations.store
    return Response(
        {
            "versions": [version_form(version, query.texts) for version in versions],
            "labels": store.labels(name),
            "moves": [move_form(move) for move in store.label_moves(name)],
        }
    )


def add_named_version(service: Service, request: Request) -> Response:
    """Save a new version of a template without making it live. A label in the query is moved to it."""
    query: SaveVersionQuery = request.query
    return _add(service, request, _name(request), None, query.label)


def read_named_version(service: Service, request: Request) -> Response:
    """Return one version of a template."""
    name, version = _name(request), request.number("version")
    found = service.store.template_version(name, version)
    if found is None:
        raise Problem("not-found", f"template {name!r} has no version {version}; see /templates/{{name}}/versions")
    return request.if_modified(template_response(found))


def read_label(service: Service, request: Request) -> Response:
    """Return the version that a label refers to, and who moved it there."""
    name, label = _name(request), request.text("label")
    store = service.conversations.store
    version = store.labels(name).get(label)
    if version is None:
        raise Problem("not-found", f"template {name!r} has no label {label!r}; see /templates/{{name}}/versions")
    moves = (move for move in store.label_moves(name) if move.label == label)
    # The move may be older than those that the store returns.
    return _move_response(next(moves, LabelMove(name, label, 0, version, "", "", "")))


def move_label(service: Service, request: Request) -> Response:
    """Move a label to a version. With `after`, this fails unless the label still refers to that version (0 if it must be new)."""
    body: LabelBody = request.body
    name, label = _name(request), request.text("label")
    check_label_right(service, label)
    version = None if body.force else service.store.template_version(name, int(body.version))
    if version is not None:
        refuse_errors(service, version.template, version.syntax)
    move = LabelMove(name, label, 0, int(body.version), service.author(body.author), _now(), body.note)
    try:
        after = None if body.after is None else int(body.after)
        return _move_response(service.conversations.store.move_label(move, after))
    except MissingError:
        if not service.store.templates(name, texts=False):
            raise _unknown(service, name) from None
        raise
    except StaleError as error:
        raise Problem("template-changed", f"{error}; read it again") from None


def remove_label(service: Service, request: Request) -> Response:
    """Remove a label from a template. The label `production` cannot be removed, only moved."""
    query: AuthorQuery = request.query
    name, label = _name(request), request.text("label")
    check_label_right(service, label)
    if label == PRODUCTION:
        raise Problem("in-use", f"the label {label!r} cannot be removed; move it to another version instead")
    move = LabelMove(name, label, 0, 0, service.author(query.author), _now(), query.note)
    return Response(move_form(service.conversations.store.remove_label(move)))


def delete_template(service: Service, request: Request) -> Response:
    """Delete a template with its labels, and any text that nothing else uses. Conversations that were built from it keep their prompts."""
    name = _name(request)
    if name == service.caller.default_template:
        raise Problem(
            "in-use", f"template {name!r} cannot be deleted: conversations use it unless they name another one"
        )
    try:
        versions = service.conversations.store.delete_template(name, service.author(""), _now())
    except MissingError:
        raise _unknown(service, name) from None
    return Response({"deleted": name, "versions": versions})


def _add(service: Service, request: Request, name: str, after: int | None, label: str) -> Response:
    body: TemplateBody = request.body
    query: SaveQuery = request.query
    check_size(body.template)
    check_label_right(service, label)
    if label and not query.force:
        refuse_errors(service, body.template, query.syntax)
    author = service.author(query.author)
    version = TemplateVersion(0, body.template, author, _now(), query.note, query.syntax, name)
    store = service.conversations.store
    try:
        saved = store.add_template(version, after, label)
        return Response(version_form(saved), headers=template_headers(saved), reason=f"label {label}" if label else "")
    except StaleError as error:
        raise Problem("template-changed", f"{error}; read it again and merge your changes") from None


def _move_response(move: LabelMove) -> Response:
    """Return the response for a label, whose ETag is its version."""
    return Response(move_form(move), headers={"ETag": f'"{move.version}"'})


def _name(request: Request) -> str:
    """Return the name in the path."""
    name = request.text("name")
    try:
        check_name(name)
    except CallError as error:
        raise Problem("invalid-request", str(error)) from None
    return name


def _unknown(service: Service, name: str) -> Problem:
    names = [row.name for row in service.store.template_names(limit=_MAX_SUGGESTED)]
    return Problem("not-found", f"no template {name!r}{suggestion(name, names)}; see /templates")


def _now() -> str:
    return local_time().isoformat(timespec="seconds")


ROUTES = (
    Route("GET", "/templates", "reading", "read", False, list_templates, forms.TemplatesForm, None, NamesQuery, STORE),
    Route("GET", "/templates/{name}", "reading", "read", False, read_named_template, TemplateForm, None, LabelQuery, STORED),
    Route("PUT", "/templates/{name}", "templates", "template", True,
          save_named_template, forms.SavedVersionForm, TemplateBody, SaveQuery, SAVED),
    Route("DELETE", "/templates/{name}", "reading", "admin", True, delete_template, DeletedTemplateForm, None, None, DELETED),
    Route("GET", "/templates/{name}/versions", "reading", "read", False,
          list_named_versions, forms.NamedVersionsForm, None, VersionsQuery, STORED),
    Route("POST", "/templates/{name}/versions", "templates", "template", True,
          add_named_version, forms.SavedVersionForm, TemplateBody, SaveVersionQuery, SAVED),
    Route("GET", "/templates/{name}/versions/{version}", "reading", "read", False, read_named_version, TemplateForm, None, None, STORED),
    Route("GET", "/templates/{name}/labels/{label}", "reading", "read", False, read_label, MoveForm, None, None, STORED),
    Route("PUT", "/templates/{name}/labels/{label}", "templates", "template", True,
          move_label, MoveForm, LabelBody, None, (*LABEL, "invalid-template")),
    Route("DELETE", "/templates/{name}/labels/{label}", "reading", "template", True, remove_label, MoveForm, None, AuthorQuery, DELETED),
)  # fmt: skip
