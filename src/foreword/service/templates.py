"""The global template: read it, set it, look at its history, try one out."""

from __future__ import annotations

import json
from typing import Any

from ..encoding.prompt import finding_form
from ..engine.assembler import default_template, local_time
from ..errors import StaleError, StoreError, TemplateError
from ..findings import finding
from ..packs.packs import layout_names, shipped_layout
from ..packs.settings import parse_assignment
from ..sources.environment import resolve_workspace
from ..sources.files import Reader
from ..sources.variables import complete
from ..template.brackets import LIMIT
from ..template.catalog import CATALOG
from ..vocabulary import Access, Agent, Document, Prompt, Scope, TemplateVersion, replace
from ..wire.answers import variable_form, version_form
from ..wire.counting import counted
from .answers import Answer, Problem, line_of
from .bodies import AgentBody, AuthorQuery, CheckBody, FilesQuery, PreviewBody, SaveQuery, TemplateBody, ValuesBody
from .call import Call, tags_in
from .service import DEFAULT_LAYOUT, Service, named_layout

_TRIED = "template"
_ALONE = [parse_assignment(each) for each in ("sections=body", "body.trim=false")]
_CHECKED = ("template-", "variable-", "file-")


def read_template(service: Service, call: Call) -> Answer:
    """The global template; the default where none was set, or while the store cannot be reached."""
    try:
        kept = service.talks.store.template()
    except StoreError:
        return Answer({"template": default_template()}, counts=("store_errors",))
    answer = _answer(kept or TemplateVersion(0, default_template()))
    return call.unless_known(answer)


def set_template(service: Service, call: Call) -> Answer:
    """Keep a new version of the global template. With If-Match, only if that is still the newest."""
    body: TemplateBody = call.body
    query: SaveQuery = call.query
    after = _followed(service, call.header("if-match"))
    return _keep(service, call, TemplateVersion(0, body.template, note=query.note, syntax=query.syntax), after)


def restore_template(service: Service, call: Call) -> Answer:
    """Make a version of the global template the newest again; 0 is the one that is built in."""
    version = call.number("version")
    known = {each.version: each for each in service.talks.store.templates()}
    known[0] = TemplateVersion(0, default_template())
    if version not in known:
        raise Problem("not-found", f"there is no version {version} of the template; see /system-prompt/versions")
    again = replace(known[version], note=call.query.note or f"version {version} again")
    return _keep(service, call, again, None)


def list_versions(service: Service, call: Call) -> Answer:
    """The versions of the global template, the newest first."""
    return Answer({"versions": [version_form(each) for each in service.talks.store.templates()]})


def list_variables(service: Service, call: Call) -> Answer:
    """The variables that templates may use."""
    return Answer({"variables": [variable_form(row) for row in CATALOG]})


def count_uses(service: Service, call: Call) -> Answer:
    """How many conversations use a prompt of which version of the template, until their compaction."""
    counts: dict[int, int] = {}
    for made_for, count in service.talks.store.uses():
        version = json.loads(made_for).get("template")
        if version is not None:
            counts[version] = counts.get(version, 0) + count
    rows = [{"version": version, "conversations": counts[version]} for version in sorted(counts, reverse=True)]
    return Answer({"versions": rows})


def preview(service: Service, call: Call) -> Answer:
    """The prompt as it would be made now, with one template replaced. Nothing is kept."""
    body: PreviewBody = call.body
    _check_size(body.template or "")
    talk = service.talk(body.session or "preview", body, named_layout(body.layout) or DEFAULT_LAYOUT)
    try:
        tried = None if body.template is None else Document(_TRIED, body.template, syntax=body.syntax or "")
        prompt = talk.preview(tried, body.now)
    except StoreError:  # only the global template is in the store
        prompt = talk.preview(Document(_TRIED, default_template()), body.now)
    return Answer({**counted(prompt, body.model, body.provider), "template_lines": template_lines(prompt)})


def template_lines(prompt: Prompt) -> list[dict[str, Any]]:
    """Which lines of the global template, or of the one that is tried, wrote which characters: its text, and the values of its tags."""
    found: list[dict[str, Any]] = []
    for passage in prompt.passages:
        at = passage.start
        for piece in passage.pieces:
            path, *lines = piece.origin.tag or (piece.origin.path, *(piece.origin.lines or ()))
            is_own = piece.origin.kind == "template" or piece.origin.tag is not None
            if is_own and lines and path.startswith(_TRIED):
                form = {"start": at, "end": at + len(piece.text), "lines": lines, "value": piece.origin.tag is not None}
                found.append(form)
            at += len(piece.text)
    return found


def check(service: Service, call: Call) -> Answer:
    """What is wrong or doubtful in a template."""
    body: CheckBody = call.body
    _check_size(body.template)
    language = parse_assignment(f"body.language={body.syntax}")
    workspace = service.workspace(body.cwd)
    agent = service.agent(AgentBody(cwd=body.cwd), workspace)
    talk = service.open("check", workspace, agent, DEFAULT_LAYOUT, [*_ALONE, language])
    try:
        found = talk.preview(Document(_TRIED, body.template)).findings
    except TemplateError as error:
        found = [finding("template-error", str(error), _TRIED, line_of(error))]
    return Answer({"findings": [finding_form(each) for each in found if each.code.startswith(_CHECKED)]})


def list_values(service: Service, call: Call) -> Answer:
    """What each variable would say now; null where it does not exist."""
    body: ValuesBody = call.body
    workspace = service.workspace(body.cwd)
    agent = Agent(model=body.model, session=body.conversation_id)
    talk = service.open("values", workspace, agent, DEFAULT_LAYOUT, _ALONE)
    if not body.conversation_id:
        talk.agent = replace(talk.agent, session="")
    values: list[dict[str, str | None]] = []
    for row in CATALOG:
        if not row.dynamic:
            text = talk.preview(Document(_TRIED, f"[{row.type}:{row.name}]")).text
            values.append({"type": row.type, "name": row.name, "value": text or None})
    return Answer({"values": values})


def list_files(service: Service, call: Call) -> Answer:
    """Files and folders whose path begins so, among those that `file:` may read."""
    query: FilesQuery = call.query
    workspace = resolve_workspace(service.workspace(query.cwd), Reader())
    agent = service.agent(AgentBody(cwd=query.cwd), workspace)
    scope = agent.scope or Scope([Access(workspace.root or workspace.cwd, "write")])
    rows = [
        {"path": path, "kind": "folder" if is_folder else "file"}
        for path, is_folder in complete(query.prefix, workspace, scope)
    ]
    return Answer({"entries": rows})


def list_layouts(service: Service, call: Call) -> Answer:
    """The shipped layouts; `language` is that of the template which takes a place in them, if any.

    `stored_template` says whether conversations in the layout use the global template.
    """
    rows: list[dict[str, Any]] = []
    for name in layout_names():
        layout = service.open("layouts", service.workspace(""), None, name, ()).layout
        sections = list(layout.each_section())
        languages = [each.language for each in sections if each.language and each.instead]
        about = str(shipped_layout(name)["about"])
        rows.append(
            {
                "name": name,
                "about": about,
                "sections": [each.name for each in sections],
                "language": next(iter(languages), None),
                "stored_template": any("template" in each.instead for each in sections),
            }
        )
    return Answer({"layouts": rows})


def list_roots(service: Service, call: Call) -> Answer:
    """The folders in which conversations may work."""
    return Answer({"roots": service.roots})


def _keep(service: Service, call: Call, version: TemplateVersion, after: int | None) -> Answer:
    query: AuthorQuery = call.query
    _check_size(version.template)
    version = replace(version, version=0, author=query.author, time=local_time().isoformat(timespec="seconds"))
    try:
        return _answer(service.talks.store.keep_template(version, after))
    except StaleError as error:
        raise Problem("template-changed", f"{error}; read it again and merge") from None


def _answer(version: TemplateVersion) -> Answer:
    """The template alone, as every client knows it; version and language are in the headers."""
    headers = {"ETag": f'"{version.version}"', "Template-Syntax": version.syntax}
    return Answer({"template": version.template}, headers=headers)


def _check_size(template: str) -> None:
    if len(template) > LIMIT:
        raise Problem("too-large", f"the template has {len(template):,} characters; at most {LIMIT:,} are accepted")


def _followed(service: Service, header: str) -> int | None:
    """The version that a write is to follow, by the tags of If-Match: the newest, if it is among them. A weak tag is none."""
    tags = tags_in(header)
    if not header.strip() or "*" in tags:
        return None
    kept = service.talks.store.template()
    newest = kept.version if kept else 0
    if f'"{newest}"' in tags:
        return newest
    raise Problem(
        "template-changed",
        f'the newest version is {newest or "none yet"}, and If-Match does not name it: its ETag "{newest}" would be right;'
        " if the template was changed meanwhile, read it again and merge",
    )
