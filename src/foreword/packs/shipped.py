"""Shipped layouts that are used unchanged, as in most prompts: they were parsed and checked when Foreword was built."""

from __future__ import annotations

import os
import sys

from ..sources.links import only_inside
from ..sources.paths import config_folder
from .std import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..layout.model import Layout
    from ..sources.files import Reader
    from ..vocabulary import Workspace


def unchanged_layout(name: str, workspace: Workspace, reader: Reader) -> Layout | None:
    """The shipped layout of this name; None if there is none, or if the user or the workspace has settings or wording."""
    return None if name not in NAMES or _has_changes(workspace, reader) else _load(name)


def _has_changes(workspace: Workspace, reader: Reader) -> bool:
    """Whether there is any file of settings or wording. Their absence is stamped, so that a new one is noticed."""
    root, config = workspace.root or workspace.cwd, config_folder(workspace)
    places = [(os.path.join(root, ".foreword"), only_inside(root, workspace))]
    folders = [(os.path.join(config, "foreword"), None), *places] if config else places
    return any(
        reader.read(os.path.join(folder, name), reach).fate != "absent"
        for folder, reach in folders
        for name in ("foreword.toml", "prompts.toml")
    )


def _load(name: str) -> Layout:
    module = f"{__package__}.std.{name}"
    __import__(module)  # `importlib` would be one more module to load
    layout: Layout = sys.modules[module].LAYOUT
    return layout
