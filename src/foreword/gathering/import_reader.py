"""Reads the file that a token (`@path`) imports, or says why it is not imported.

A project's file may import only from the workspace, regardless of the layout, and only files that the agent's scope allows reading.
A user's own file may import from anywhere if the layout allows it. Links are resolved before this is checked, and again for the file
that was opened. A file that may not be imported is reported as a finding, and the others are still read.
"""

from __future__ import annotations

import os

from ..findings import finding
from ..sources.links import inside_for, is_in_system_folder
from ..sources.paths import is_file_name, is_inside
from ..sources.places import real_path
from ..sources.readable import ReadableFolders
from ..sources.scoping import excluding_glob
from ..text.lines import printable
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..layout.model import Imports, Layout, Lookup
    from ..sources.finder import Bound
    from ..sources.places import Places
    from ..sources.reader import Reader
    from ..sources.readings import Reading, Refusal
    from ..sources.trail import Trail
    from ..text.imports import ImportToken
    from ..vocabulary import Fate, Scope, Workspace
    from .results import FoundText

LAYER = "import"


@value
class Importing:
    """A file whose imports are being followed.

    `lookup` is the lookup rule, `found` the text that it found, and `chain` the chain of imports from that text to this file.
    """

    lookup: Lookup
    rules: Imports
    found: FoundText
    chain: Sequence[Reading]

    @property
    def path(self) -> str:
        return self.chain[-1].path

    @property
    def identities(self) -> list[tuple[int, int]]:
        return [reading.identity for reading in self.chain]

    def with_import(self, reading: Reading) -> Importing:
        return Importing(self.lookup, self.rules, self.found, (*self.chain, reading))


@value
class NotImported:
    """Why a file is not imported: it is `missing`, `outside`, `repeated`, or `deep`."""

    kind: str
    path: str
    reason: str


class ImportReader:
    """Reads imported files, and remembers which files are in the prompt so far (`seen`).

    `names` contains the path of each file that a lookup rule found, by its identity.
    """

    def __init__(
        self,
        layout: Layout,
        workspace: Workspace,
        scope: Scope,
        reader: Reader,
        names: dict[tuple[int, int], str],
        trail: Trail,
    ) -> None:
        self.layout, self.workspace, self.reader, self.trail = layout, workspace, reader, trail
        self.readable = ReadableFolders(scope)
        self.names = names
        self.seen: set[tuple[int, int]] = set()
        self.seen_in_file: set[tuple[int, int]] = set()
        self.readings: dict[tuple[str, str, Bound, str], Reading] = {}
        self.missing: set[tuple[str, str]] = set()
        self.remaining_bytes = layout.template_limit

    def read(self, token: ImportToken, importing: Importing, trim: str) -> Reading | NotImported:
        """Read the file that a token imports, or return why it is not imported."""
        path = _path_of(token, self.base_of(importing), self.workspace.home)
        if path is None:
            return NotImported("missing", token.name, "the home directory is unknown")
        bound = importing.found.bound
        self.reader.stamp_up_to(path, bound.folder)
        # A file outside is not even looked up, so that the prompt does not reveal whether it exists.
        refusal = self.refusal(path, _real(path), importing)
        if refusal:
            return self.refuse(path, token, importing, *refusal)
        if self.reader.is_folder(path):
            return NotImported("outside", path, "it is a directory")
        if not self.reader.has_entry(path):
            return self.report_missing(path, token, importing)
        if unfollowed := _unfollowed_reason(path, importing):
            return self.leave_out(path, token, importing, "deep", *unfollowed)
        if glob := excluding_glob(path, importing.lookup, self.workspace):
            self.record(path, "unused", importing, f"it is excluded by {glob!r}")
            return NotImported("missing", path, "it is excluded")
        reading = self.cached_reading(path, importing, trim)
        if reading.fate in ("refused", "untrusted"):
            return self.refuse(path, token, importing, "outside", reading.reason)
        if not (reading.has_text or (reading.fate == "blank" and importing.rules.place != "item")):
            reason = reading.reason or "it is blank"
            self.record(path, reading.fate, importing, reason, reading.code)
            return NotImported("missing", path, reason)
        return self.check_repeated(reading, token, importing) or self.use(reading, importing)

    def base_of(self, importing: Importing) -> str:
        """Return the path that relative paths in a file start from: its own, or the one that a link leads to."""
        path, bound = importing.path, importing.found.bound
        top = self.workspace.home if bound.is_users_own and self.workspace.home else bound.folder
        if importing.rules.relative_to == "link" or not self.reader.has_link(path, top):
            return path
        real, real_top = self.reader.real(path), self.reader.real(top)
        return top + real[len(real_top) :] if is_inside(real, real_top) else real

    def cached_reading(self, path: str, importing: Importing, trim: str) -> Reading:
        key = (path, importing.rules.within, importing.found.bound, trim)
        if key not in self.readings:
            check = _ImportCheck(self.refusal, importing)
            self.readings[key] = self.reader.read(path, check, trim=trim not in ("tail", "none"))
        return self.readings[key]

    def check_repeated(self, reading: Reading, token: ImportToken, importing: Importing) -> NotImported | None:
        """Return why a file may not be imported (it is already in the prompt, it imports itself, or it is too large), or None if it may."""
        if reading.identity in importing.identities:
            names = " -> ".join(os.path.basename(link.path) for link in (*importing.chain, reading))
            reason = f"it imports itself: {printable(names)}"
            self.report(importing, "import-cycle", f"imports {token.name!r} in a cycle: {printable(names)}", token)
            return NotImported("repeated", reading.path, reason)
        if self.remaining_bytes < reading.size:
            reason = f"the imported text is longer than {self.layout.template_limit:,} bytes"
            self.report(importing, "import-limit", f"imports {token.name!r}, which is left out: {reason}", token)
            return NotImported("deep", reading.path, reason)
        if not self.is_repeated(reading, importing):
            return None
        path = self.names.get(reading.identity, printable(reading.path))
        if path != printable(reading.path):
            reason = f"imported by {printable(importing.path)}; the same file as {path}"
            self.trail.record(reading.path, LAYER, "duplicate", reason, "file-duplicate", path)
        return NotImported("repeated", reading.path, "it is in the prompt already")

    def is_repeated(self, reading: Reading, importing: Importing) -> bool:
        """Whether a file was imported before and the layout allows it only once."""
        if importing.rules.once == "chain":
            return False
        if importing.rules.once == "file":
            return reading.identity in self.seen_in_file
        is_found_elsewhere = importing.rules.place != "item" and reading.identity in self.names
        return reading.identity in self.seen or is_found_elsewhere

    def use(self, reading: Reading, importing: Importing) -> Reading:
        self.seen.add(reading.identity)
        self.seen_in_file.add(reading.identity)
        self.names.setdefault(reading.identity, printable(reading.path))
        self.record(reading.path, reading.fate, importing, reading.reason, reading.code)
        return reading

    # Permission

    def refusal(self, path: str, real: str, importing: Importing) -> tuple[str, str] | None:
        """Return `outside` or, if every layout refuses the file, `refused`, and the reason. Returns None if it may be imported."""
        from ..sources.secrets import is_secret

        bound = importing.found.bound
        if is_secret(path) or is_secret(real):
            return "refused", "its name suggests that it contains secrets"
        if is_in_system_folder(real, bound.folder):
            return "refused", "it is in /proc, /sys or /dev"
        folder = _allowed_folder(importing, self.workspace)
        if folder is not None and not is_inside(real, self.reader.real(folder)):
            return "outside", f"it is outside {printable(folder)}"
        if bound.is_users_own:
            return ("refused", "the scope denies it") if self.readable.denies(real) else None
        if not is_inside(real, self.reader.real(bound.folder)):
            return "refused", f"a project's file imports nothing outside {printable(bound.folder)}"
        inside = inside_for(bound.folder, self.workspace)
        if inside and not any(is_inside(real, folder) for folder in inside):
            return "refused", "it is outside the folders that are served"
        return None if self.readable.allows(real) else ("refused", "the scope does not include it")

    # Reports

    def report_missing(self, path: str, token: ImportToken, importing: Importing) -> NotImported:
        is_text = _looks_like_text(token)
        key = importing.path, token.name
        # A form for missing files replaces the words, whatever they are.
        if (is_text or importing.rules.missing) and key not in self.missing:
            self.missing.add(key)
            self.report(importing, "import-missing", f"imports {token.name!r}, which does not exist", token)
        if is_text:
            self.record(path, "absent", importing)
        return NotImported("missing", path, "the file does not exist")

    def refuse(self, path: str, token: ImportToken, importing: Importing, kind: str, reason: str) -> NotImported:
        if kind == "outside" and not _looks_like_text(token):
            return NotImported(kind, path, reason)
        if kind == "outside":
            return self.leave_out(path, token, importing, kind, reason, "import-outside")
        note = f"; {self.layout.mirrors} would read it" if self.layout.mirrors else ""
        return self.leave_out(path, token, importing, "outside", f"{reason}{note}", "import-refused")

    def leave_out(
        self, path: str, token: ImportToken, importing: Importing, kind: str, reason: str, code: str
    ) -> NotImported:
        # A program that the layout mirrors leaves the file out too, unless only Foreword refuses it.
        self.record(path, "refused" if code == "import-refused" else "unused", importing, reason)
        self.report(importing, code, f"imports {token.name!r}, which is left out: {reason}", token)
        return NotImported(kind, path, reason)

    def record(self, path: str, fate: Fate, importing: Importing, reason: str = "", code: str = "") -> None:
        importer = f"imported by {printable(importing.path)}"
        self.trail.record(path, LAYER, fate, f"{importer}; {reason}" if reason else importer, code)

    def report(self, importing: Importing, code: str, problem: str, token: ImportToken | None = None) -> None:
        path = printable(importing.path)
        self.trail.findings.append(finding(code, f"{path} {problem}", path, *_position_of(token)))


def _allowed_folder(importing: Importing, workspace: Workspace) -> str | None:
    """Return the folder that the layout restricts imports to, or None if it does not."""
    within, bound = importing.rules.within, importing.found.bound
    if within == "anywhere":
        return None
    if within == "cwd":
        return workspace.cwd
    if within == "root":
        return workspace.root or workspace.cwd
    return bound.folder if bound.is_users_own or not within else os.path.dirname(importing.found.reading.path)


@value
class _ImportCheck:
    """Checks the file that was opened for an import."""

    check: Callable[[str, str, Importing], tuple[str, str] | None]
    importing: Importing

    def refusal(self, reader: Places, path: str, real: str | None = None, is_folder: bool = False) -> Refusal | None:
        refusal = self.check(path, real, self.importing) if real is not None else None
        return ("refused", refusal[1], "") if refusal else None


def _position_of(token: ImportToken | None) -> tuple[int | None, int | None, int | None]:
    """Return a token's line, its first column, and the column after it."""
    if token is None or token.column is None:
        return None, None, None
    return token.line, token.column, token.column + token.end - token.start


def _real(path: str) -> str:
    try:
        return real_path(path)
    except ValueError:
        return path


def _path_of(token: ImportToken, base: str, home: str | None) -> str | None:
    """Return the path that a token in the file `base` refers to, or None if it is in the home directory and that is unknown."""
    name = os.fsdecode(token.name.encode("utf-8", "surrogateescape"))
    if name.startswith("~/"):
        if not home:
            return None
        name = os.path.join(home, name[2:])
    return os.path.normpath(os.path.join(os.path.dirname(base), name))


def _unfollowed_reason(path: str, importing: Importing) -> tuple[str, str] | None:
    """Return why the layout does not follow an import, and the finding's code, or None if it does."""
    extension = os.path.splitext(path)[1][1:].lower()
    if importing.rules.file_extensions and extension and extension not in importing.rules.file_extensions:
        return f"files with the extension {extension!r} are not imported", "import-extension"
    if len(importing.chain) > importing.rules.depth:
        return f"imports more than {importing.rules.depth} files deep are not followed", "import-depth"
    return None


def _looks_like_text(token: ImportToken) -> bool:
    """Whether a token looks like a text file's name. Most others are names of people, packages or modules, and are not reported."""
    return is_file_name(token.name.rpartition("/")[2].rstrip(".,;:!?)"))
