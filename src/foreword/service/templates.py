"""Routes for the global template: read, change, check and preview it, and list its versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from ..encoding.prompt import finding_form
from ..engine.assembler import default_template, local_time
from ..errors import ForewordError, StaleError, StoreBusyError, StoreError, TemplateError, is_plain
from ..findings import finding, template_findings
from ..packs.packs import custom_layouts, layout_names, mirror_names
from ..packs.settings import parse_assignment
from ..sources.environment import resolve_workspace
from ..sources.reader import Reader
from ..sources.variables import complete
from ..store import waits
from ..store.rows import PRODUCTION, TemplateVersion
from ..template.catalog import CATALOG
from ..template.languages import DEFAULT, LANGUAGES
from ..template.limits import SOURCE_LIMIT
from ..vocabulary import Access, Agent, Document, Finding, Scope, Workspace, replace
from ..wire.answers import variable_form, version_form
from ..wire.forms import TemplateForm, VariablesForm
from . import forms
from .bodies import AgentBody, Label, Path, Syntax
from .forms import LayoutChoiceForm
from .preview_forms import PREVIEW_PATH, compact_preview_form, preview_form
from .request import Request, parse_tags
from .responses import Problem, Response
from .route import FOLDER, RESTORED, SAVED, STORE, TEMPLATE, Route
from .service import DEFAULT_LAYOUT, Service, check_layout_name

_ONLY_TEMPLATE = [parse_assignment(assignment) for assignment in ("sections=body", "body.trim=false")]


class LayoutsQuery(Struct, forbid_unknown_fields=True):
    """The folder of the workspace whose own layouts to list."""

    cwd: Path = ""


class FilesQuery(Struct, forbid_unknown_fields=True):
    """The start of a path, relative to `cwd`."""

    cwd: Path = ""
    prefix: Path = ""


class TemplateBody(Struct, forbid_unknown_fields=True):
    """The global template."""

    template: str


class PreviewBody(AgentBody, forbid_unknown_fields=True, kw_only=True):
    """An agent and the template to preview, by default the global one. `cwd` defaults to the first served folder.

    `syntax` is the language of the template, by default the layout's. With `compact`, the response is a CompactPreviewForm.
    """

    cwd: Path = ""
    template: str | None = None
    syntax: Syntax | None = None
    compact: bool = False


class CheckBody(Struct, forbid_unknown_fields=True):
    """A template to check."""

    template: str
    syntax: Syntax = DEFAULT
    cwd: Path = ""


class ValuesBody(Struct, forbid_unknown_fields=True):
    """The workspace, model and conversation whose variables to return."""

    cwd: Path = ""
    model: Label = ""
    conversation_id: Label = ""


class AuthorQuery(Struct, forbid_unknown_fields=True):
    """Who changes the template, and why."""

    author: Annotated[str, Meta(max_length=200)] = ""
    note: Annotated[str, Meta(max_length=2000)] = ""


class RestoreQuery(AuthorQuery, forbid_unknown_fields=True):
    """Who restores a version, why, and whether it becomes live even if it has errors."""

    force: bool = False


class SaveQuery(AuthorQuery, forbid_unknown_fields=True):
    """Who changes the template, why, its language, and whether it becomes live even if it has errors."""

    syntax: Syntax = DEFAULT
    force: bool = False


class VersionsQuery(Struct, forbid_unknown_fields=True):
    """Whether to return the text of each version too."""

    texts: bool = True


def read_template(service: Service, request: Request) -> Response:
    """Return the global template, or the default one if none was saved or the store is unavailable."""
    try:
        saved = service.store.template(service.caller.default_template)
    except StoreBusyError:
        raise  # the saved template can be read later, and the default one could be mistaken for it
    except StoreError:
        headers = {"Foreword-Store": "down"}
        return Response({"template": default_template()}, headers=headers, counts=("store_errors",))
    response = template_response(saved or TemplateVersion(0, default_template()))
    return request.if_modified(response)


def set_template(service: Service, request: Request) -> Response:
    """Save a new version of the global template. With If-Match, this fails unless that version is still the newest."""
    body: TemplateBody = request.body
    query: SaveQuery = request.query
    after = expected_version(service, request.header("if-match"), service.caller.default_template)
    version = TemplateVersion(0, body.template, note=query.note, syntax=query.syntax)
    return _save(service, request, version, after, force=query.force)


def restore_template(service: Service, request: Request) -> Response:
    """Save an old version of the global template as the newest. Version 0 is the built-in template."""
    version = request.number("version")
    query: RestoreQuery = request.query
    found = (
        service.store.template_version(service.caller.default_template, version)
        if version
        else TemplateVersion(0, default_template())
    )
    if found is None:
        raise Problem("not-found", f"the template has no version {version}; see /system-prompt/versions")
    restored = replace(found, note=query.note or f"Restored version {version}")
    return _save(service, request, restored, None, force=query.force)


def list_versions(service: Service, request: Request) -> Response:
    """Return the versions of the global template, newest first."""
    query: VersionsQuery = request.query
    versions = service.store.templates(service.caller.default_template, query.texts)
    return Response({"versions": [version_form(version, query.texts) for version in versions]})


def list_variables(service: Service, request: Request) -> Response:
    """Return the variables that templates can use."""
    return Response({"variables": [variable_form(row) for row in CATALOG]})


def count_uses(service: Service, request: Request) -> Response:
    """Return how many conversations currently use each version of the template."""
    default = service.caller.default_template
    counts = {
        version: count for (name, version), count in service.store.count_template_uses().items() if name == default
    }
    rows = [{"version": version, "conversations": counts[version]} for version in sorted(counts, reverse=True)]
    return Response({"versions": rows})


def preview(service: Service, request: Request) -> Response:
    """Return the prompt that would be built now with this template. Nothing is stored."""
    body: PreviewBody = request.body
    check_size(body.template or "")
    id = body.session if body.session and is_plain(body.session) else "preview"
    layout = check_layout_name(body.layout) or DEFAULT_LAYOUT
    conversation = service.conversation(id, body, layout, mirror=True)
    try:
        template = None if body.template is None else Document(PREVIEW_PATH, body.template, syntax=body.syntax or "")
        prompt = conversation.preview(template, body.now)
    except StoreError:  # the store is only needed for the global template
        prompt = conversation.preview(Document(PREVIEW_PATH, default_template()), body.now)
    waits.announce_size(len(prompt.text))
    form = compact_preview_form if body.compact else preview_form
    return Response(form(prompt, body.model, body.provider))


def check(service: Service, request: Request) -> Response:
    """Return the errors and warnings in a template."""
    body: CheckBody = request.body
    check_size(body.template)
    results = _check(service, body.template, body.syntax, body.cwd)
    return Response({"findings": [finding_form(result) for result in results]})


def _check(service: Service, template: str, syntax: str, cwd: str = "") -> list[Finding]:
    language = parse_assignment(f"body.language={syntax}")
    workspace = service.workspace(cwd)
    agent = service.agents.create(AgentBody(cwd=cwd), workspace)
    conversation = service.open("check", workspace, agent, DEFAULT_LAYOUT, [*_ONLY_TEMPLATE, language])
    try:
        results = conversation.preview(Document(PREVIEW_PATH, template)).findings
    except TemplateError as error:
        results = [finding("template-error", error.message, PREVIEW_PATH, error.line, error.column, error.end_column)]
    return template_findings(results)


def refuse_errors(service: Service, template: str, syntax: str) -> None:
    """Raise a Problem with the findings if a template has errors, so that conversations must not use it."""
    findings = _check(service, template, syntax)
    errors = [row for row in findings if row.severity == "error"]
    if errors:
        first = errors[0]
        place = f" (line {first.line})" if first.line else ""
        more = f"; {len(errors) - 1:,} more" if len(errors) > 1 else ""
        raise Problem(
            "invalid-template",
            f"the template has errors: {first.message}{place}{more}; with force=true it is made live anyway",
            reason=f"{len(errors)} errors",
            findings=[finding_form(row) for row in findings],
        )


def list_values(service: Service, request: Request) -> Response:
    """Return the current value of each variable, or null if it has none."""
    body: ValuesBody = request.body
    workspace = service.workspace(body.cwd)
    agent = Agent(model=body.model, session=body.conversation_id)
    conversation = service.open("values", workspace, agent, DEFAULT_LAYOUT, _ONLY_TEMPLATE)
    if not body.conversation_id:
        conversation.agent = replace(conversation.agent, session="")
    values: list[dict[str, str | None]] = []
    for row in CATALOG:
        if not row.dynamic:
            text = conversation.preview(Document(PREVIEW_PATH, f"[{row.type}:{row.name}]")).text
            values.append({"type": row.type, "name": row.name, "value": text or None})
    return Response({"values": values})


def list_files(service: Service, request: Request) -> Response:
    """Return the files and folders whose path starts with `prefix`, among those that `file:` may read."""
    query: FilesQuery = request.query
    workspace = resolve_workspace(service.workspace(query.cwd), Reader())
    agent = service.agents.create(AgentBody(cwd=query.cwd), workspace)
    scope = agent.scope or Scope([Access(workspace.root or workspace.cwd, "write")])
    rows = [
        {"path": path, "kind": "folder" if is_folder else "file"}
        for path, is_folder in complete(query.prefix, workspace, scope)
    ]
    return Response({"entries": rows})


def list_layouts(service: Service, request: Request) -> Response:
    """Return the shipped layouts, and those from the user, the service's packs and the workspace in `cwd`.

    `mirrors` names the program whose prompts the layout reproduces; such a layout answers questions, but cannot be used for a turn.
    `language` is the template language if the layout accepts a template, otherwise null. `stored_template` says whether conversations
    with the layout use the global template. `languages` lists all template languages, and `models` the models with known prices.
    """
    query: LayoutsQuery = request.query
    workspace = service.workspace(query.cwd)
    addresses = custom_layouts(resolve_workspace(workspace, Reader()), service.packs)
    rows = [_layout_row(service, workspace, name, ()) for name in (*layout_names(), *mirror_names())]
    rows += [_layout_row(service, workspace, address, None) for address in addresses]
    models = sorted({price.name for price in service.prices().models})
    return Response({"layouts": rows, "languages": list(LANGUAGES), "models": models})


def _layout_row(
    service: Service, workspace: Workspace, name: str, assignments: Sequence[tuple[str, Any]] | None
) -> LayoutChoiceForm:
    """Return a layout's row. If it cannot be loaded, `about` says why."""
    try:
        layout = service.open("layouts", workspace, None, name, assignments, mirror=True).layout
    except ForewordError as error:
        about = f"cannot be loaded: {error}"
        return {"name": name, "about": about, "sections": [], "language": None, "stored_template": False, "mirrors": ""}
    sections = list(layout.all_sections)
    languages = [section.language for section in sections if section.language and section.instead]
    return {
        "name": name,
        "about": layout.about,
        "sections": [section.name for section in sections],
        "language": next(iter(languages), None),
        "stored_template": any("template" in section.instead for section in sections),
        "mirrors": layout.mirrors,
    }


def list_roots(service: Service, request: Request) -> Response:
    """Return the folders in which agents may work."""
    return Response({"roots": service.roots})


def _save(service: Service, request: Request, version: TemplateVersion, after: int | None, *, force: bool) -> Response:
    query: AuthorQuery = request.query
    check_size(version.template)
    check_label_right(service, PRODUCTION)
    if not force:
        refuse_errors(service, version.template, version.syntax)
    version = replace(
        version,
        version=0,
        author=service.author(query.author),
        time=local_time().isoformat(timespec="seconds"),
        name=service.caller.default_template,
    )
    try:
        return template_response(service.conversations.store.add_template(version, after))
    except StaleError as error:
        raise Problem("template-changed", f"{error}; read it again and merge your changes") from None


def template_response(version: TemplateVersion) -> Response:
    """Return the response for a template, with its version and language in the headers."""
    return Response({"template": version.template}, headers=template_headers(version))


def template_headers(version: TemplateVersion) -> dict[str, str]:
    return {"ETag": f'"{version.version}"', "Template-Syntax": version.syntax}


def check_size(template: str) -> None:
    if len(template) > SOURCE_LIMIT:
        raise Problem("too-large", f"the template has {len(template):,} characters; the limit is {SOURCE_LIMIT:,}")


def check_label_right(service: Service, label: str) -> None:
    """Raise a Problem if a label is protected and the sender of the request may not change it."""
    if label in service.protected_labels and "admin" not in service.caller.rights:
        raise Problem(
            "forbidden",
            f"the label {label!r} is protected: changing which version it refers to needs the right 'admin', which the token"
            " does not have; POST /templates/{name}/versions saves a version without moving the label",
        )


def expected_version(service: Service, header: str, name: str) -> int | None:
    """Return the version of a template that If-Match expects to be live, or None if it accepts any version. Weak tags never match."""
    tags = parse_tags(header)
    if not header.strip() or "*" in tags:
        return None
    saved = service.store.template(name)
    newest = saved.version if saved else 0
    if f'"{newest}"' in tags:
        return newest
    raise Problem(
        "template-changed",
        f'If-Match does not match the current version, whose ETag is "{newest}";'
        " read the template again and merge your changes",
    )


ROUTES = (
    Route("GET", "/system-prompt", "reading", "read", False, read_template, TemplateForm),
    Route("PUT", "/system-prompt", "templates", "template", True, set_template, TemplateForm, TemplateBody, SaveQuery, SAVED),
    Route("GET", "/system-prompt/variables", "reading", "read", False, list_variables, VariablesForm),
    Route("GET", "/system-prompt/versions", "reading", "read", False, list_versions, forms.VersionsForm, None, VersionsQuery, STORE),
    Route("POST", "/system-prompt/versions/{version}/restore", "templates", "template", True,
          restore_template, TemplateForm, None, RestoreQuery, RESTORED),
    Route("GET", "/system-prompt/usage", "reading", "read", False, count_uses, forms.UsesForm, None, None, STORE),
    Route("POST", "/system-prompt/preview", "templates", "read", False,
          preview, (forms.PreviewForm, forms.CompactPreviewForm), PreviewBody, None, TEMPLATE),
    Route("POST", "/system-prompt/check", "templates", "read", False, check, forms.FindingsForm, CheckBody, None, FOLDER),
    Route("POST", "/system-prompt/values", "templates", "read", False, list_values, forms.ValuesForm, ValuesBody, None, FOLDER),
    Route("GET", "/files", "questions", "read", False, list_files, forms.EntriesForm, None, FilesQuery, FOLDER),
    Route("GET", "/layouts", "questions", "read", False, list_layouts, forms.LayoutsForm, None, LayoutsQuery, FOLDER),
    Route("GET", "/roots", "inline", "read", False, list_roots, forms.RootsForm),
)  # fmt: skip
