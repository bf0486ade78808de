"""Trust: which of a workspace's files a user has accepted, by their hashes, in a file outside the workspace.

    off      every file is used (the default)
    record   every file is used; what is new or has changed since it was last used is reported
    ask      what is new or changed is untrusted until the user or the caller accepts it

The mode comes from the user's settings or from the caller, never from the workspace. So does what happens to untrusted text:

    drop     it is left out (the default)
    user     instruction files are sent as a user message after the system prompt; everything else is left out
"""

from __future__ import annotations

import os

from ..errors import CallError
from ..findings import finding
from ..text.lines import printable
from ..vocabulary import digest_bytes
from .paths import is_inside, normalize
from .readings import UNTRUSTED_CODE
from .trust_record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..vocabulary import Finding, Workspace
    from .reader import Reader
    from .readings import LineCheck, Refusal
    from .trusted_versions import TrustedVersions

MODES = ("off", "record", "ask")
UNTRUSTED_CHOICES = ("drop", "user")
# The files in `.git` that are read without a check, because they are not text for prompts.
_GIT_FILES = frozenset(("HEAD", "config", "config.worktree", "commondir", "gitdir", "alternates"))


class Trust:
    """Checks the files of one workspace as they are read. `read_files` are the hashes of those that were read, by path.

    `accept` decides about files that the record does not contain. `untrusted` is `drop` or `user`.
    """

    def __init__(
        self,
        workspace: Workspace,
        mode: str,
        accept: Callable[[str, str], bool] | None = None,
        record: Record | None = None,
        untrusted: str = "drop",
    ) -> None:
        self.workspace, self.mode, self._accept, self.untrusted = workspace, mode, accept, untrusted
        self.root = workspace.root or workspace.cwd
        self.record = record or Record(workspace, is_required=accept is None)
        self.read_files: dict[str, str] = {}
        self._real_root = os.path.realpath(self.root)
        self._versions: TrustedVersions | None = None

    def name_of(self, path: str, real: str) -> str | None:
        """Return a file's path relative to the root, or None if it is not the workspace's. A link into the workspace leads to its files."""
        path = normalize(path)
        for file, root in ((path, self.root), (real, self._real_root)):
            if is_inside(file, root):
                name = file[len(root.rstrip("/")) + 1 :]
                folder, _, git_file = name.rpartition("/")
                is_git_file = name == ".git" or (is_inside(folder, ".git") and git_file in _GIT_FILES)
                return None if is_git_file else name
        return None

    def refusal(self, path: str, data: bytes, real: str = "") -> Refusal | None:
        """Return why a file may not be used, or None if it may. Files outside the workspace belong to the user.

        `real` is the path of the open file with links resolved.
        """
        name = self.name_of(path, real)
        if name is None:
            return None
        hash = digest_bytes(data)
        self.read_files[name] = hash
        if self.mode != "ask" or self.record.files.get(name) == hash:
            return None
        if self.is_in_ref(name, data, real):
            return None
        if self._accept is not None and self._accept(path, hash):
            return None
        change = "has changed since you trusted it" if name in self.record.files else "is not trusted yet"
        return "untrusted", f"it {change}; to use it, run: foreword trust", UNTRUSTED_CODE

    def is_in_ref(self, name: str, data: bytes, real: str) -> bool:
        """Whether a commit in the history of the trusted ref has a file, given by its path relative to the root, with this content."""
        versions = self.versions
        return versions is not None and versions.contain(self._name_in_ref(versions, name, real), data)

    def check_lines(self, path: str, data: bytes, real: str) -> LineCheck | None:
        """Return which lines of a file that may not be used as a whole are in the trusted ref, or None if that is unknown."""
        versions, name = self.versions, self.name_of(path, real)
        if versions is None:
            return None
        assert name is not None, "a file outside the workspace may be used"
        return versions.check_lines(self._name_in_ref(versions, name, real), data)

    def _name_in_ref(self, versions: TrustedVersions, name: str, real: str) -> str:
        """Return the name under which the ref has a file's content: that of a link's target if the ref has the same link, or its own."""
        if not is_inside(real, self._real_root):
            return name
        link = os.path.join(self._real_root, name)
        try:
            target = os.readlink(link)
        except OSError:  # it is not a link itself
            return name
        is_target = normalize(os.path.join(os.path.dirname(link), target)) == real
        is_in_ref = is_target and versions.contain(name, os.fsencode(target))
        return os.path.relpath(real, self._real_root) if is_in_ref else name

    @property
    def versions(self) -> TrustedVersions | None:
        """The versions of files that the trusted ref contains, or None if the user trusts no ref."""
        if self._versions is None and self.record.ref:
            from .trusted_versions import TrustedVersions

            self._versions = TrustedVersions(self.workspace, self.record.ref)
        return self._versions

    def stamp(self, reader: Reader) -> None:
        """Let the reader notice when the record changes, or the commit that the trusted ref points to."""
        if self.record.path:
            reader.stamp(self.record.path)
        if self.record.ref:
            from .repository import find_repository

            repository = find_repository(self.workspace, reader)
            for name in (self.record.ref, "packed-refs", "reftable/tables.list"):
                if repository is not None:
                    reader.stamp(os.path.join(repository.common, name))

    def finish(self) -> list[Finding]:
        """In the mode `record`, return findings about new and changed files, and record them."""
        if self.mode != "record":
            return []
        known, new = self.record.seen, self.read_files
        different = [name for name, hash in new.items() if known.get(name) != hash]
        findings = []
        if known:
            for name in different:
                path = printable(os.path.join(self.root, name))
                change = "has changed since it was last used" if name in known else "is new in this workspace"
                findings.append(finding("file-changed", f"{path} {change}", path))
        if different:
            try:
                self.record.save_seen(new)
            except CallError as error:  # nothing is blocked in this mode
                message = f"{error}; the changes will be reported again"
                findings.append(finding("file-changed", message, printable(self.record.path)))
        return findings
