"""Inputs to and from their stored form."""

from __future__ import annotations

from ..vocabulary import (
    Candidate,
    Document,
    Finding,
    Inputs,
    Resident,
    Skill,
    Workspace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


_KEPT: dict[str, type] = {each.__name__: each for each in (Document, Skill, Resident, Finding, Candidate)}


def inputs_form(inputs: Inputs) -> dict[str, Any]:
    """What was found, so that another process can format it again. The environment is not kept: it may hold secrets."""
    where = {name: getattr(inputs.workspace, name) for name in ("cwd", "root", "home", "platform", "is_repository")}
    return {
        "workspace": where,
        "found": {name: [_kept(each) for each in entries] for name, entries in inputs.found.items()},
        "candidates": [_kept(each) for each in inputs.candidates],
        "findings": [_kept(each) for each in inputs.findings],
        **{name: {key: _kept(each) for key, each in getattr(inputs, name).items()} for name in _KEPT_MAPPINGS},
    }


_KEPT_MAPPINGS = ("includes", "bodies", "templates", "values")


def inputs_from(form: Mapping[str, Any]) -> Inputs:
    """The inputs of a kept form."""
    mappings: Any = {name: {key: _made(each) for key, each in form[name].items()} for name in _KEPT_MAPPINGS}
    return Inputs(
        workspace=Workspace(**form["workspace"], environment={}),
        found={name: tuple(map(_made, entries)) for name, entries in form["found"].items()},
        candidates=tuple(map(_made, form["candidates"])),
        findings=tuple(map(_made, form["findings"])),
        **mappings,
    )


def _kept(value: Any) -> Any:
    return value if isinstance(value, str) else {"": type(value).__name__, **value.__dict__}


def _made(form: Any) -> Any:
    if isinstance(form, str):
        return form
    fields = {name: tuple(content) if isinstance(content, list) else content for name, content in form.items() if name}
    return _KEPT[form[""]](**fields)
