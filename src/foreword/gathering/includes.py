"""Reads the files that texts with directives include, before the texts are rendered, and checks that they may be included.

A project's file may include files in the workspace that the agent's scope allows reading. A user's own file may include files in its
own folder unless the scope denies them. Links are resolved before this is checked.
"""

from __future__ import annotations

import os

from ..findings import finding
from ..sources.links import inside_for
from ..sources.paths import is_inside
from ..sources.places import real_path
from ..sources.readable import ReadableFolders
from ..sources.trail import Trail
from ..text.lines import printable
from ..vocabulary import Document, include_key, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sources.finder import Bound
    from ..sources.places import Places
    from ..sources.reader import Reader
    from ..sources.readings import Reading, Refusal
    from ..vocabulary import Candidate, Fate, Finding, Scope, Workspace


class Includes:
    """The included files, by `include_key`. Each file is read once, even if it is included through several paths.

    `names` contains the path of each file that a lookup rule found. A file that is included through another path keeps the one in `names`.
    """

    def __init__(
        self,
        workspace: Workspace,
        scope: Scope,
        reader: Reader,
        names: dict[tuple[int, int], str],
        readings: dict[tuple[str, Bound], Reading] | None = None,
    ) -> None:
        self.workspace, self.reader, self.names = workspace, reader, names
        self.readable = ReadableFolders(scope)
        self.found: dict[str, Document | Finding] = {}
        self.findings: list[Finding] = []
        self.readings: dict[tuple[str, Bound], Reading] = {} if readings is None else readings
        self._found_paths = frozenset(names.values())
        self._candidates: dict[str, Candidate] = {}
        self._disk_paths: dict[str, str] = {}  # the path on disk of each printable path

    @property
    def candidates(self) -> Sequence[Candidate]:
        return tuple(self._candidates.values())

    def follow(self, root: Document, path: str, bound: Bound) -> None:
        """Read every file that a document includes, regardless of conditions, and the files that those include."""
        from ..template import directives

        self._disk_paths[root.path] = path
        # Breadth first, so that a file is found at its lowest depth.
        pending, seen = [(root, 0)], {root.path}
        while pending:
            document, depth = pending.pop(0)
            for target in directives.includes(document.text):
                include = self._read_include(document, target, bound, is_too_deep=depth >= directives.MAX_DEPTH)
                self.found[include_key(root.path, document.path, target)] = include
                if isinstance(include, Document) and "<!--" in include.text and include.path not in seen:
                    seen.add(include.path)
                    pending.append((include, depth + 1))

    def _read_include(self, document: Document, target: str, bound: Bound, is_too_deep: bool) -> Document | Finding:
        """Return the file that an include refers to, or a finding that explains why it is left out."""
        # The target is UTF-8, regardless of the locale.
        name = os.fsdecode(target.encode("utf-8", "surrogateescape"))
        path = os.path.normpath(os.path.join(os.path.dirname(self._disk_paths[document.path]), name))
        includer = f"included by {document.path}"
        reason = "it is nested too deeply" if is_too_deep else self._name_refusal(path, bound)
        if reason:
            self._record(path, "refused", f"{includer}; {reason}")
            return _refused_finding(document, target, reason)
        reading = self._read(path, bound)
        if not reading.has_text:
            reason = reading.reason or "the file does not exist or is empty"
            self._record(path, reading.fate, f"{includer}; {reason}")
            return _refused_finding(document, target, reason)
        display_path = self.names.setdefault(reading.identity, printable(path))
        self._disk_paths.setdefault(display_path, path)
        if display_path != printable(path):
            self._record(path, "duplicate", f"{includer}; the same file as {display_path}", target=display_path)
        elif display_path not in self._found_paths:
            self._record(
                path, reading.fate, f"{includer}; {reading.reason}" if reading.reason else includer, reading.code
            )
        return replace(reading.document, path=display_path)

    def _read(self, path: str, bound: Bound) -> Reading:
        if (path, bound) not in self.readings:
            self.readings[path, bound] = self.reader.read(path, _IncludeCheck(self, bound))
        return self.readings[path, bound]

    def _name_refusal(self, path: str, bound: Bound) -> str:
        """Return why a file may not be included, judging by its name, or empty if it may."""
        self.reader.stamp_up_to(path, bound.folder)
        try:
            return self.refusal(path, real_path(path), bound)
        except ValueError:
            return "it is not a valid file name"

    def refusal(self, path: str, real: str, bound: Bound) -> str:
        """Return why a file may not be included, judging by its path and its real path, or empty if it may."""
        from ..sources.secrets import is_secret

        if not is_inside(real, self.reader.real(bound.folder)):
            return f"it is outside {printable(bound.folder)}"
        if is_secret(path) or is_secret(real):
            return "its name suggests that it contains secrets"
        if bound.is_users_own:
            return "the scope denies it" if self.readable.denies(real) else ""
        inside = inside_for(bound.folder, self.workspace)
        if inside and not any(is_inside(real, folder) for folder in inside):
            return "it is outside the folders that are served"
        return "" if self.readable.allows(real) else "it is outside what the scope may read"

    def _record(self, path: str, fate: Fate, reason: str, code: str = "", target: str = "") -> None:
        """Record a file's fate once. A fate of `used` or `cut` replaces any other."""
        trail = Trail()
        trail.record(path, "include", fate, reason, code, target)
        (candidate,) = trail.candidates
        earlier = self._candidates.get(candidate.path)
        if earlier is None or (earlier.fate not in ("used", "cut") and fate in ("used", "cut")):
            self._candidates[candidate.path] = candidate
            self.findings.extend(trail.findings)


@value
class _IncludeCheck:
    """Checks the file that was opened for an include."""

    includes: Includes
    bound: Bound

    def refusal(self, reader: Places, path: str, real: str | None = None, is_folder: bool = False) -> Refusal | None:
        reason = self.includes.refusal(path, real, self.bound) if real is not None else ""
        return ("refused", reason, "") if reason else None


def _refused_finding(document: Document, target: str, reason: str) -> Finding:
    return finding(
        "include-refused", f"{document.path} includes {target!r}, which is left out: {reason}", document.path
    )
