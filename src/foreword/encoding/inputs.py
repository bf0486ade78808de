"""Convert inputs to and from their stored form."""

from __future__ import annotations

from ..vocabulary import (
    Candidate,
    Document,
    Finding,
    Inputs,
    Origin,
    Piece,
    Resident,
    Skill,
    Workspace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


_TYPES: dict[str, type] = {cls.__name__: cls for cls in (Document, Skill, Resident, Finding, Candidate)}


def inputs_form(inputs: Inputs) -> dict[str, Any]:
    """Return the stored form of inputs, from which another process can build a prompt.

    It does not contain the environment, which may contain secrets.
    """
    workspace = {name: getattr(inputs.workspace, name) for name in ("cwd", "root", "home", "platform", "is_repository")}
    return {
        "workspace": workspace,
        "found": {name: [_form_of(entry) for entry in entries] for name, entries in inputs.found.items()},
        "candidates": [_form_of(candidate) for candidate in inputs.candidates],
        "findings": [_form_of(finding) for finding in inputs.findings],
        **{name: {key: _form_of(entry) for key, entry in getattr(inputs, name).items()} for name in _MAPPINGS},
    }


_MAPPINGS = ("includes", "bodies", "templates", "values")


def inputs_from(form: Mapping[str, Any]) -> Inputs:
    """Restore inputs from their stored form."""
    mappings: Any = {name: {key: _parse(entry) for key, entry in form[name].items()} for name in _MAPPINGS}
    return Inputs(
        workspace=Workspace(**form["workspace"], environment={}),
        found={name: tuple(map(_parse, entries)) for name, entries in form["found"].items()},
        candidates=tuple(map(_parse, form["candidates"])),
        findings=tuple(map(_parse, form["findings"])),
        **mappings,
    )


def _form_of(value: Any) -> Any:
    if isinstance(value, str):
        return value
    form = {"": type(value).__name__, **value.__dict__}
    if isinstance(value, Document):
        form |= {"pieces": [[piece.text, *piece.origin.__dict__.values()] for piece in value.pieces]}
    return form


def _parse(form: Any) -> Any:
    if isinstance(form, str):
        return form
    if form.get("fields") or form.get("pieces"):
        form = {
            **form,
            "fields": [tuple(field) for field in form["fields"]],
            "pieces": list(map(_parse_piece, form["pieces"])),
        }
    fields = {name: tuple(content) if isinstance(content, list) else content for name, content in form.items() if name}
    return _TYPES[form[""]](**fields)


def _parse_piece(form: Sequence[Any]) -> Piece:
    text, kind, path, lines, tag = form
    return Piece(text, Origin(kind, path, lines and tuple(lines), tag and tuple(tag)))
