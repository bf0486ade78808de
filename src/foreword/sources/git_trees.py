"""Reads commits, trees and blobs from git, without a checkout."""

from __future__ import annotations

import os

from ..errors import CallError, MissingError, show
from .git import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .git import Git

    # The files of a tree by path. Each entry is a mode, a type and an id, as git writes them. There may be very many.
    Tree = Mapping[str, str]

TIMEOUT = 60
LINK, SUBMODULE = "120000", "160000"
_MAX_LISTING = 128 << 20  # more than a million files
_MAX_PATH = 4096  # no checkout can have a file with a longer path


def tree_entry(mode: str, id: str) -> str:
    """Return the entry of a file or submodule in a tree."""
    return f"{mode} {'commit' if mode == SUBMODULE else 'blob'} {id}"


def mode_of(entry: str) -> str:
    """Return the mode in an entry."""
    return entry[:6]


def id_of(entry: str) -> str:
    """Return the id of an entry's content."""
    return entry.rpartition(" ")[2]


class GitTrees:
    """Reads objects of one repository. Everything in them is untrusted: names, sizes and contents."""

    def __init__(self, git: Git) -> None:
        self.git = git
        self._commits: dict[str, None] = {}  # those whose trees were read

    def resolve(self, name: str) -> str:
        """Return the id of the commit with this name. Raises a MissingError if there is none."""
        if not name or name.startswith("-") or not name.isprintable():
            raise CallError(f"{show(name)} is not the name of a commit; pass a branch, a tag or a commit id")
        try:
            output = self.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", timeout=TIMEOUT)
        except GitError as error:
            if error.stderr or "status" not in str(error):
                raise MissingError(f"git cannot find {show(name)}: {error.reason}") from None
            raise MissingError(
                f"there is no commit {show(name)} in this repository; if it exists elsewhere, run git fetch first"
            ) from None
        return output.decode("ascii", "replace").strip()

    def merge_base(self, base: str, head: str) -> str:
        """Return the newest common ancestor of two commits, given by their ids. Raises a CallError if there is none."""
        try:
            return self.git.run("merge-base", base, head, timeout=TIMEOUT).decode("ascii", "replace").split()[0]
        except (GitError, IndexError):
            raise CallError(
                f"the commits {base[:12]} and {head[:12]} have no common ancestor in this clone; if it is shallow, run "
                "git fetch --unshallow (in a GitHub workflow, set fetch-depth: 0 for actions/checkout), or write BASE..HEAD to"
                " compare the two commits directly"
            ) from None

    def tree(self, commit: str) -> dict[str, str]:
        """Return every file in a commit's tree, by path. Paths may be invalid UTF-8, as in `os.fsdecode`."""
        try:
            output = self.git.run_start(
                "ls-tree", "-r", "-z", "--full-tree", commit, limit=_MAX_LISTING, timeout=TIMEOUT
            )
        except GitError as error:
            raise CallError(
                f"git cannot list the files of {commit[:12]}: {error.reason}; if this is a partial clone, "
                "git fetch --refetch --no-filter completes it"
            ) from None
        self._commits[commit] = None
        if len(output) >= _MAX_LISTING:
            raise CallError(f"the commit {commit[:12]} has too many files; git lists more than 128 MB of names")
        rows = (row.partition("\t") for row in _rows(output))
        return {path: entry for entry, _, path in rows if len(path) <= _MAX_PATH}

    def differences(self, base: str, head: str) -> dict[str, str]:
        """Return the paths at which the trees of two commits differ, each with its entry in the second, or empty if it has none."""
        arguments = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
        try:
            output = self.git.run_start("diff-tree", *arguments, base, head, limit=_MAX_LISTING, timeout=TIMEOUT)
        except GitError as error:
            raise CallError(f"git cannot compare {base[:12]} and {head[:12]}: {error.reason}") from None
        if len(output) >= _MAX_LISTING:
            raise CallError(
                f"{base[:12]} and {head[:12]} differ in too many files; git lists more than 128 MB of names"
            )
        self._commits.update(dict.fromkeys((base, head)))
        rows = iter(_rows(output))
        changes: dict[str, str] = {}
        for facts, path in zip(rows, rows):  # noqa: B905  a row of facts, then a path
            _, mode, _, id, _ = facts.split(" ")
            if len(path) <= _MAX_PATH:
                changes[path] = "" if mode == "000000" else tree_entry(mode, id)
        return changes

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the size of each object. An object that this clone does not have is left out."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        try:
            output = self._batch("--batch-check", wanted).decode("ascii", "replace")
        except CallError:  # in a partial clone, git fails instead of reporting that an object is missing
            missing = self._missing_objects()
            if missing.isdisjoint(wanted):
                raise
            output = self._batch("--batch-check", [id for id in wanted if id not in missing]).decode("ascii", "replace")
        rows = [line.split(" ") for line in output.splitlines()]
        return {row[0]: int(row[2]) for row in rows if len(row) == 3 and row[1] == "blob"}

    def _missing_objects(self) -> set[str]:
        """Return the ids of the objects in the trees that this clone does not have. Nothing is fetched."""
        arguments = ("--objects", "--no-walk", "--missing=print")
        try:
            output = self.git.run_start("rev-list", *arguments, *self._commits, limit=_MAX_LISTING, timeout=TIMEOUT)
        except GitError:
            return set()
        return {line[1:].decode("ascii", "replace") for line in output.split(b"\n") if line.startswith(b"?")}

    def contents(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each blob. The caller has checked their sizes."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        output, position, contents = self._batch("--batch", wanted), 0, dict[str, bytes]()
        while position < len(output):
            end = output.index(b"\n", position)
            row = output[position:end].decode("ascii", "replace").split(" ")
            position = end + 1
            if len(row) == 3 and row[2].isdecimal():
                contents[row[0]] = output[position : position + int(row[2])]
                position += int(row[2]) + 1
        return contents

    def start_of(self, id: str, limit: int) -> bytes | None:
        """Return the first bytes of a blob of any size, or None if git cannot read it."""
        try:
            return self.git.run_start("cat-file", "blob", id, limit=limit, timeout=TIMEOUT)
        except GitError:
            return None

    def _batch(self, option: str, ids: list[str]) -> bytes:
        data = "".join(f"{id}\n" for id in ids).encode()
        try:
            return self.git.run("cat-file", option, data=data, timeout=TIMEOUT)
        except GitError as error:
            raise CallError(f"git cannot read the files of the repository: {error.reason}") from None


def _rows(output: bytes) -> list[str]:
    return os.fsdecode(output).split("\0")[:-1]
