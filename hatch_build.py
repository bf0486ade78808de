"""Makes the page into wheel and sdist. An sdist carries it, so that a wheel made from one needs no Node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """An editable install goes without the page: the service then says how to make it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable" or (root / "PKG-INFO").exists() or not is_stale(root):
            return
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError("the page is not built, and npm is not there to build it: install Node 20 or later")
        for command in (("ci", "--no-audit", "--no-fund"), ("run", "build")):
            subprocess.run([npm, *command], cwd=root / "web", check=True, stdin=subprocess.DEVNULL)


def is_stale(root: Path) -> bool:
    """Whether the page is not there, or older than what it is made of."""
    page = root / "src" / "foreword" / "service" / "static" / "index.html"
    if not page.exists():
        return True
    made = page.stat().st_mtime
    sources = (path for path in (root / "web").rglob("*") if "node_modules" not in path.parts and path.is_file())
    return any(path.stat().st_mtime > made for path in sources)
