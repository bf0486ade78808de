"""Shorten paths for display: relative in the workspace, `~/…` in the home directory, absolute elsewhere."""

from __future__ import annotations

import os

from ..text import regex
from ..text.lines import printable
from ..vocabulary import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace


class ShortPaths:
    """Shortens paths for one workspace. Paths above the working directory, up to the root, start with `../`."""

    def __init__(self, cwd: str, root: str = "", home: str = "") -> None:
        self.cwd, self.root = printable(cwd).rstrip("/"), printable(root).rstrip("/")
        self.home = printable(home).rstrip("/")
        self._prefixes = self._find_prefixes()

    def _find_prefixes(self) -> dict[str, str]:
        """Return path prefixes and their replacements, longest first, so that the deepest folder wins."""
        prefixes = {self.home + "/": "~/"} if self.home else {}
        folder, up = self.cwd, ""
        while folder:
            prefixes[folder + "/"] = up if folder != self.home or not up else "~/"
            if folder == self.root or not folder.startswith(self.root + "/") or not self.root:
                break
            folder, up = os.path.dirname(folder), up + "../"
        return dict(sorted(prefixes.items(), key=lambda pair: -len(pair[0])))

    def shorten(self, path: str) -> str:
        """Return the short form of a path."""
        if path == self.cwd:
            return "."
        for prefix, replacement in self._prefixes.items():
            if path.startswith(prefix):
                return replacement + path[len(prefix) :] or path
        return path

    def shorten_in(self, text: str) -> str:
        """Return the text with every path shortened."""
        if not any(prefix in text for prefix in self._prefixes):
            return text
        # A path must start at a word boundary, or `/b/c` would match in `/a/b/c`.
        pattern = rf"(?<![\w./~\\-])(?:{'|'.join(map(regex.escape, self._prefixes))})"
        return regex.sub(pattern, lambda match: self._prefixes[match[0]], text)


def paths_of(args: Namespace, folder: str = "") -> ShortPaths:
    """Return a path shortener for the command's workspace, or for the workspace of another folder."""
    from ..sources.environment import resolve_workspace
    from ..sources.reader import Reader

    workspace = resolve_workspace(Workspace(folder or args.dir, home=args.home), Reader())
    return ShortPaths(workspace.cwd, workspace.root or "", workspace.home or "")
