"""`prompts.toml`: overrides the wording of a layout for the user, the workspace or a pack.

A string without the `{}` of the original is an error, so a workspace cannot remove its own boundaries. An unknown key is a finding, and
so is an unreadable file of the workspace.
"""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError, LayoutError, suggestion
from ..findings import finding
from ..layout.forms import form
from ..layout.merging import assign, flat
from ..shapes import STRING, check
from ..sources.environment import absolute
from ..sources.links import only_inside
from ..sources.paths import config_folder
from ..text.lines import printable
from ..vocabulary import Origin, replace
from .packs import layout_names, parse_toml, shipped_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..sources.files import Reader
    from ..sources.links import Reach
    from ..vocabulary import Finding, Workspace
    from .packs import Source


def with_wording(
    source: Source, workspace: Workspace, reader: Reader, packs: Mapping[str, str]
) -> tuple[Source, list[Finding]]:
    """The layout with its wording overridden key by key by the files of the user, the workspace and the packs."""
    config = config_folder(workspace)
    inside = os.path.join(workspace.root or workspace.cwd, ".foreword")
    caller_folders = [absolute(each, workspace.environment or {}) for each in packs.values()]
    folders = [*([os.path.join(config, "foreword")] if config else []), inside, *caller_folders]
    findings: list[Finding] = []
    for folder in folders:
        path = os.path.join(folder, "prompts.toml")
        try:
            reach = only_inside(workspace.root or workspace.cwd, workspace) if folder == inside else None
            overrides = _read_wording(path, reader, reach)
        except ForewordError as error:
            if folder != inside:
                raise
            findings.append(finding("settings-invalid", f"{error}; the file was ignored", printable(path)))
            continue
        for key, content in overrides.items():
            source = _with_override(source, key, content, printable(path), findings)
            if folder == inside and isinstance(content, str):
                _refuse_hiding(key, content, printable(path))
    return source, findings


def _refuse_hiding(key: str, content: str, path: str) -> None:
    """Raise an error if a workspace's wording puts its value into a comment or a code fence, where a model would ignore it."""
    from ..text.markdown import find_unclosed

    before, place, _ = content.partition("{}")
    _, hidden_in = find_unclosed(before) if place else ("", "")
    if hidden_in:
        raise LayoutError(f"{path}: {key} puts its value into {hidden_in}; a workspace may not hide it")


def _read_wording(path: str, reader: Reader, reach: Reach | None) -> dict[str, Any]:
    reading = reader.read(path, reach)
    if reading.fate in ("absent", "blank"):
        return {}
    if reading.fate != "used":
        raise CallError(f"the wording {printable(path)} cannot be read: {reading.reason}")
    return flat(parse_toml(reading.text, printable(path)))


def _with_override(source: Source, key: str, content: Any, path: str, findings: list[Finding]) -> Source:
    shipped = flat(source.mapping.get("wording", {})).get(key)
    if shipped is None:
        if key not in _all_wording_keys():
            findings.append(
                finding(
                    "wording-unknown", f"{path}: unknown wording {key!r}{suggestion(key, _all_wording_keys())}", path
                )
            )
        return source
    check(content, STRING, f"{path}: {key}", LayoutError)
    for field in ("{}", "{name}", "{text}"):
        if field in shipped and content.count(field) != 1:
            raise LayoutError(f"{path}: {key} needs {field!r} exactly once, for its value")
    if not content.strip():
        raise LayoutError(f"{path}: {key} must not be blank")
    if "{}" in shipped:
        form(content, ("",), f"{path}: {key}")
    written = {**source.written, f"wording.{key}": Origin("setting", path)}
    return replace(source, mapping=assign(source.mapping, f"wording.{key}", content), written=written)


def _all_wording_keys() -> set[str]:
    """The wording keys of all shipped layouts: one file serves them all."""
    return {key for name in layout_names() for key in flat(shipped_layout(name).get("wording", {}))}
