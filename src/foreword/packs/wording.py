"""Apply `prompts.toml`, which overrides a layout's wording for the user, the workspace or a pack.

A string without the original's `{}` raises an error, so that a workspace cannot remove its own boundaries. An unknown key, and a
workspace's file that cannot be read, are reported as findings.
"""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError, LayoutError, suggestion
from ..findings import finding
from ..layout.forms import describe_hiding, parse_form
from ..layout.merging import assign, flatten
from ..layout.model import Field
from ..shapes import STRING, check
from ..sources.environment import absolute
from ..sources.links import workspace_reach
from ..sources.paths import config_folder
from ..text.lines import printable
from ..vocabulary import Origin, replace
from .packs import layout_names, parse_toml, shipped_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..sources.links import Reach
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace
    from .packs import Source


def with_wording(
    source: Source, workspace: Workspace, reader: Reader, packs: Mapping[str, str], workspace_folder: str
) -> tuple[Source, list[Finding]]:
    """Return the layout with its wording overridden, key by key, from the files of the user, the workspace and the packs.

    `workspace_folder` is the name of the folder in the workspace that may contain such a file.
    """
    config = config_folder(workspace)
    workspace_folder = os.path.join(workspace.root or workspace.cwd, workspace_folder)
    pack_folders = [absolute(folder, workspace.environment or {}) for folder in packs.values()]
    folders = [*([os.path.join(config, "foreword")] if config else []), workspace_folder, *pack_folders]
    findings: list[Finding] = []
    for folder in folders:
        path = os.path.join(folder, "prompts.toml")
        try:
            is_workspace = folder == workspace_folder
            reach = workspace_reach(workspace.root or workspace.cwd, workspace) if is_workspace else None
            overrides = _read_wording(path, reader, reach)
        except ForewordError as error:
            if folder != workspace_folder:
                raise
            findings.append(finding("settings-invalid", f"{error}; the file was ignored", printable(path)))
            continue
        for key, content in overrides.items():
            source = _with_override(source, key, content, printable(path), findings)
            if folder == workspace_folder and isinstance(content, str):
                _check_is_visible(key, content, printable(path))
    return source, findings


def _check_is_visible(key: str, content: str, path: str) -> None:
    """Raise a LayoutError if wording puts its value into a comment or a code fence, where a model would ignore it."""
    before, field, _ = content.partition("{}")
    if field and (hidden_in := describe_hiding((before, Field("")))):
        raise LayoutError(f"{path}: {key} puts its value into {hidden_in}; a workspace may not hide it")


def _read_wording(path: str, reader: Reader, reach: Reach | None) -> dict[str, Any]:
    reading = reader.read(path, reach)
    if reading.fate in ("absent", "blank"):
        return {}
    if reading.fate != "used":
        raise CallError(f"the wording file {printable(path)} cannot be read: {reading.reason}")
    return flatten(parse_toml(reading.text, printable(path)))


def _with_override(source: Source, key: str, content: Any, path: str, findings: list[Finding]) -> Source:
    shipped = flatten(source.mapping.get("wording", {})).get(key)
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
        parse_form(content, ("",), f"{path}: {key}")
    origins = {**source.origins, f"wording.{key}": Origin("setting", path)}
    return replace(source, mapping=assign(source.mapping, f"wording.{key}", content), origins=origins)


def _all_wording_keys() -> set[str]:
    """Return the wording keys of all shipped layouts, because one wording file applies to all of them."""
    return {key for name in layout_names() for key in flatten(shipped_layout(name).get("wording", {}))}
