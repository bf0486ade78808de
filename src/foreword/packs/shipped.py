"""Load a shipped layout that is used unchanged, the most common case: it was parsed and checked when Foreword was built."""

from __future__ import annotations

import os
import sys

from ..sources.links import workspace_reach
from ..sources.paths import config_folder
from .agents import NAMES as MIRRORS
from .std import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace


def unchanged_layout(name: str, workspace: Workspace, reader: Reader) -> tuple[Layout, Sequence[Finding]] | None:
    """Return the shipped layout with this name, and findings about configuration files that it would read.

    Returns None if there is no such layout, or if settings, wording or configuration files change it.
    """
    if name not in NAMES and name not in MIRRORS:
        return None
    if has_changes(workspace, reader):
        return None
    layout = _load_layout(name)
    if not layout.config:
        return layout, ()
    from .config import read_config

    values, findings = read_config(layout.config, workspace, reader)
    return None if values else (layout, findings)


def pack_of(name: str) -> str:
    """Return the pack of the shipped layout with this name, or `std` if there is none."""
    return "agents" if name in MIRRORS else "std"


def has_changes(workspace: Workspace, reader: Reader) -> bool:
    """Whether there is a settings or wording file. The reader records where it looked, so that a new file is noticed."""
    root, config = workspace.root or workspace.cwd, config_folder(workspace)
    workspace_folder = (os.path.join(root, ".foreword"), workspace_reach(root, workspace))
    folders = [(os.path.join(config, "foreword"), None), workspace_folder] if config else [workspace_folder]
    return any(
        reader.read(os.path.join(folder, name), reach).fate != "absent"
        for folder, reach in folders
        for name in ("foreword.toml", "prompts.toml")
    )


def shipped_mirror(name: str) -> Layout:
    """Return a shipped layout that mirrors a program, without any settings."""
    return _load_layout(name)


def _load_layout(name: str) -> Layout:
    layout: Layout = module_of(name).LAYOUT
    return layout


def module_of(name: str) -> Any:
    """Return a shipped layout's generated module."""
    module = f"{__package__}.{pack_of(name)}.{name.replace('-', '_')}"
    __import__(module)  # `importlib` would be one more module to load
    return sys.modules[module]
