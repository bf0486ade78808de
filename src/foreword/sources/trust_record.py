"""The record of trust in one workspace: what the user has accepted there, in a file that only the user can read.

root "/home/me/project"
ref "refs/remotes/origin/main"
sha256:… "AGENTS.md"                 an accepted file
seen:sha256:… "AGENTS.md"            a file that was used in the mode `record`, which does not make it trusted
"""

from __future__ import annotations

import os

from ..errors import CallError
from ..text.lines import printable
from ..vocabulary import digest_bytes
from .paths import is_inside, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..vocabulary import Workspace

SUFFIX = ".txt"
_SEEN = "seen:"
_MAX_RECORD = 16 << 20


class Record:
    """The hashes that a user has accepted for one workspace, by path relative to its root, and the ref that they trust.

    `seen` are the hashes that were last used in the mode `record`. Unless the record `is_required`, it is empty if there is no place for
    one.
    """

    def __init__(self, workspace: Workspace, *, is_required: bool = True) -> None:
        self.root = os.path.realpath(workspace.root or workspace.cwd)
        self.path = self.ref = ""
        self.files: dict[str, str] = {}
        self.seen: dict[str, str] = {}
        try:
            folder = trust_folder(workspace, self.root)
        except CallError:
            if is_required:
                raise
            return
        self.path = os.path.join(folder, f"{digest_bytes(os.fsencode(self.root))[7:39]}{SUFFIX}")
        self._read()

    def _read(self) -> None:
        root, self.ref, self.files, self.seen = _parse(self.path)
        if root != self.root:
            self.ref, self.files, self.seen = "", {}, {}

    def save(self, files: Mapping[str, str], ref: str) -> None:
        """Replace what is accepted."""

        def change() -> None:
            self.files, self.ref = dict(files), ref

        self._change(change)

    def save_seen(self, files: Mapping[str, str]) -> None:
        """Add files that were used to those that have been seen."""
        self._change(lambda: self.seen.update(files))

    def revoke(self) -> bool:
        """Delete the record. Returns whether there was one."""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise CallError(f"{printable(self.path)} cannot be deleted: {error.strerror}") from None
        return True

    def _change(self, change: Callable[[], None]) -> None:
        """Read the record again, change it and write it, while no other process does."""
        folder = os.path.dirname(self.path)
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            lock = _lock(folder)
            try:
                self._read()
                change()
                _replace_file(self.path, "".join(f"{line}\n" for line in self._lines()))
            finally:
                if lock is not None:
                    os.close(lock)
        except OSError as error:
            raise CallError(f"{printable(self.path)} cannot be written: {error.strerror}") from None

    def _lines(self) -> Iterator[str]:
        import json

        yield f"root {json.dumps(self.root)}"
        yield f"ref {json.dumps(self.ref)}"
        yield from (f"{hash} {json.dumps(name)}" for name, hash in sorted(self.files.items()))
        yield from (f"{_SEEN}{hash} {json.dumps(name)}" for name, hash in sorted(self.seen.items()))


def _lock(folder: str) -> int | None:
    """Wait until no other process holds a folder's lock, and return the descriptor that holds it, or None if there are no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:  # some network file systems have no locks; the last writer wins
        pass
    return descriptor


def _replace_file(path: str, text: str) -> None:
    """Write a file that only the user can read, entirely or not at all."""
    import tempfile

    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def trust_folder(workspace: Workspace, root: str) -> str:
    """Return the folder with the records of all workspaces. Raises a CallError if there is none outside the workspace."""
    folder = state_folder(workspace)
    if not folder:
        raise CallError("trust needs a home directory, which is unknown; set HOME or XDG_STATE_HOME")
    folder = os.path.join(folder, "foreword", "trust")
    if root and is_inside(os.path.realpath(folder), root):
        raise CallError(
            f"trust cannot be recorded in {printable(folder)}, which is inside the workspace; set XDG_STATE_HOME to a folder outside it"
        )
    return folder


def read_record(path: str) -> tuple[str, str, dict[str, str]]:
    """Return the root, the trusted ref and the accepted hashes in a record. A record that is missing or damaged contains nothing."""
    return _parse(path)[:3]


def _parse(path: str) -> tuple[str, str, dict[str, str], dict[str, str]]:
    import json

    facts = {"root": "", "ref": ""}
    files: dict[str, str] = {}
    seen: dict[str, str] = {}
    try:
        with open(path, encoding="ascii") as file:
            for line in file.read(_MAX_RECORD).splitlines():
                key, _, content = line.partition(" ")
                name = str(json.loads(content))
                if key in facts:
                    facts[key] = name
                elif key.startswith(_SEEN):
                    seen[name] = key.removeprefix(_SEEN)
                else:
                    files[name] = key
    except (OSError, ValueError, RecursionError):
        return "", "", {}, {}
    return facts["root"], facts["ref"], files, seen
