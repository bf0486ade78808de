"""Trust: which of a workspace's files a user has accepted, by their hashes, in a file outside the workspace.

    off      every file is used (the default)
    record   every file is used; what is new or has changed since it was last used is reported
    ask      what is new or changed is left out until the user or the caller accepts it

The mode comes from the user's settings or from the caller, never from the workspace.
"""

from __future__ import annotations

import os

from ..errors import CallError
from ..findings import finding
from ..text.lines import printable
from .paths import is_inside, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..vocabulary import Finding, Workspace
    from .files import Reader
    from .stamps import Refusal

MODES = ("off", "record", "ask")
CODE = "file-untrusted"
_MAX_RECORD = 16 << 20


class Trust:
    """Checks the files of one workspace as they are read. `read_files` are the hashes of those that were read, by path."""

    def __init__(
        self,
        workspace: Workspace,
        mode: str,
        accept: Callable[[str, str], bool] | None = None,
        record: Record | None = None,
    ) -> None:
        self.workspace, self.mode, self._accept = workspace, mode, accept
        self.root = workspace.root or workspace.cwd
        self.record = record or Record(workspace)
        self.read_files: dict[str, str] = {}
        self._reachable: dict[str, frozenset[str]] = {}

    def refusal(self, path: str, data: bytes) -> Refusal | None:
        """Return why a file may not be used, or None if it may. Files outside the workspace belong to the user."""
        if not is_inside(path, self.root) or is_inside(path, os.path.join(self.root, ".git")):
            return None
        name = path[len(self.root.rstrip("/")) + 1 :]
        hash = _hash(data)
        self.read_files[name] = hash
        if self.mode != "ask" or self.record.files.get(name) == hash or self._is_in_ref(name, data):
            return None
        if self._accept is not None and self._accept(path, hash):
            return None
        change = "changed since you trusted it" if name in self.record.files else "is not trusted yet"
        return "untrusted", f"it {'has ' if change[0] == 'c' else ''}{change}; to use it, run: foreword trust", CODE

    def finish(self) -> list[Finding]:
        """In the mode `record`, return findings about new and changed files, and record them."""
        if self.mode != "record":
            return []
        known, new = self.record.files, self.read_files
        different = [name for name, hash in new.items() if known.get(name) != hash]
        findings = []
        if known:
            for name in different:
                path = printable(os.path.join(self.root, name))
                change = "has changed since it was last used" if name in known else "is new in this workspace"
                findings.append(finding("file-changed", f"{path} {change}", path))
        if different:
            self.record.save({**known, **new}, self.record.ref)
        return findings

    def _is_in_ref(self, name: str, data: bytes) -> bool:
        """Whether a commit that the trusted ref contains has this file with this content."""
        if not self.record.ref:
            return False
        if name not in self._reachable:
            self._reachable[name] = _blobs(self.workspace, self.record.ref, name)
        ids = self._reachable[name]
        return bool(ids) and _blob_id(data, len(next(iter(ids)))) in ids


def _hash(data: bytes) -> str:
    from hashlib import sha256

    return f"sha256:{sha256(data).hexdigest()}"


def _blob_id(data: bytes, length: int) -> str:
    """Return the id that git gives to this content, as SHA-1 or SHA-256."""
    import hashlib

    content = b"blob %d\0" % len(data) + data
    return hashlib.sha256(content).hexdigest() if length == 64 else hashlib.sha1(content).hexdigest()


def _blobs(workspace: Workspace, ref: str, name: str) -> frozenset[str]:
    """Return the ids of all contents that a file has had in the commits of a ref. If git fails, nothing is trusted."""
    from .files import Reader
    from .git import GitError, open_git
    from .git_trees import GitTrees

    git = open_git(workspace, Reader(), lambda reason: None)
    if git is None:
        return frozenset()
    try:
        commit = GitTrees(git).resolve(ref)
        output = git.run("rev-list", "--objects", "--no-object-names", commit, "--", name, timeout=30)
    except (GitError, CallError):
        return frozenset()
    return frozenset(output.decode("ascii", "replace").split())


# What was accepted


class Record:
    """The hashes that a user has accepted for one workspace, by path relative to its root, and the ref that they trust."""

    def __init__(self, workspace: Workspace) -> None:
        self.root = os.path.realpath(workspace.root or workspace.cwd)
        self.path = os.path.join(trust_folder(workspace, self.root), f"{_hash(os.fsencode(self.root))[7:39]}.txt")
        self.ref = ""
        self.files: dict[str, str] = {}
        _, self.ref, self.files = read_record(self.path)

    @property
    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def stamp(self, reader: Reader) -> None:
        """Let the reader notice when the record changes."""
        reader.stamp(self.path)

    def save(self, files: dict[str, str], ref: str) -> None:
        """Replace the record. Only the user can read it."""
        import json
        import tempfile

        lines = [f"root {json.dumps(self.root)}", f"ref {json.dumps(ref)}"]
        lines += [f"{hash} {json.dumps(name)}" for name, hash in sorted(files.items())]
        folder = os.path.dirname(self.path)
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=folder)
            with open(descriptor, "w", encoding="ascii") as file:
                file.write("\n".join(lines) + "\n")
            os.replace(temporary, self.path)
        except OSError as error:
            raise CallError(f"{printable(self.path)} cannot be written: {error.strerror}") from None
        self.files, self.ref = dict(files), ref

    def revoke(self) -> bool:
        """Delete the record. Returns whether there was one."""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return False
        return True


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
    """Return the root, the trusted ref and the hashes in a record. A record that is missing or damaged contains nothing."""
    import json

    root = ref = ""
    files: dict[str, str] = {}
    try:
        with open(path, encoding="ascii") as file:
            for line in file.read(_MAX_RECORD).splitlines():
                key, _, content = line.partition(" ")
                name = str(json.loads(content))
                if key == "root":
                    root = name
                elif key == "ref":
                    ref = name
                else:
                    files[name] = key
    except (OSError, ValueError):
        return "", "", {}
    return root, ref, files
