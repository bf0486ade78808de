"""Short paths for people: relative to the workspace, `~/…` in the home directory, absolute elsewhere."""

from __future__ import annotations

import os
import re

from ..text.lines import printable
from ..vocabulary import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace


class ShortPaths:
    """Shortens the paths of one workspace. Folders between its root and the working directory start with `../`."""

    def __init__(self, cwd: str, root: str = "", home: str = "") -> None:
        self.cwd, self.root = printable(cwd).rstrip("/"), printable(root).rstrip("/")
        self.home = printable(home).rstrip("/")
        self._starts = self._find_starts()
        # A path must start at a word boundary, or `/b/c` would match in `/a/b/c`.
        prefixes = "|".join(map(re.escape, self._starts))
        self._pattern = re.compile(rf"(?<![\w./~\\-])(?:{prefixes})") if prefixes else None

    def _find_starts(self) -> dict[str, str]:
        """Prefixes of paths and their short forms, longest first so that the deepest folder wins."""
        starts = {self.home + "/": "~/"} if self.home else {}
        folder, up = self.cwd, ""
        while folder:
            starts[folder + "/"] = up if folder != self.home or not up else "~/"
            if folder == self.root or not folder.startswith(self.root + "/") or not self.root:
                break
            folder, up = os.path.dirname(folder), up + "../"
        return dict(sorted(starts.items(), key=lambda pair: -len(pair[0])))

    def short(self, path: str) -> str:
        """A path in its short form."""
        if path == self.cwd:
            return "."
        for start, replacement in self._starts.items():
            if path.startswith(start):
                return replacement + path[len(start) :] or path
        return path

    def in_text(self, text: str) -> str:
        """A sentence in which paths are shortened."""
        return self._pattern.sub(lambda match: self._starts[match[0]], text) if self._pattern else text


def paths_of(args: Namespace, folder: str = "") -> ShortPaths:
    """The short paths of the command's workspace, or of another folder."""
    from ..sources.environment import resolve_workspace
    from ..sources.files import Reader

    workspace = resolve_workspace(Workspace(folder or args.dir, home=args.home), Reader())
    return ShortPaths(workspace.cwd, workspace.root or "", workspace.home or "")
