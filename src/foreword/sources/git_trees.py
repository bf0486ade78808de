"""Reads commits, trees and blobs from git, without a checkout."""

from __future__ import annotations

import os

from ..errors import CallError, MissingError, show
from ..vocabulary import value
from .git import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .git import Git

    Tree = Mapping[str, "TreeEntry"]

TIMEOUT = 60
LINK, SUBMODULE = "120000", "160000"


@value
class TreeEntry:
    """A file in a tree: its mode, as git writes it, and the id of its content."""

    mode: str
    id: str


class GitTrees:
    """Reads objects of one repository. Everything in them is untrusted: names, sizes and contents."""

    def __init__(self, git: Git) -> None:
        self.git = git

    def resolve(self, name: str) -> str:
        """Return the id of the commit with this name. Raises a MissingError if there is none."""
        if not name or name.startswith("-") or not name.isprintable():
            raise CallError(f"{show(name)} is not the name of a commit; pass a branch, a tag or a commit id")
        try:
            output = self.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", timeout=TIMEOUT)
        except GitError as error:
            if error.stderr or "status" not in str(error):
                raise MissingError(f"git cannot find {show(name)}: {_first_line(error)}") from None
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
                "git fetch --unshallow, or write BASE..HEAD to compare the two commits themselves"
            ) from None

    def tree(self, commit: str) -> dict[str, TreeEntry]:
        """Return every file in a commit's tree, by path. Paths may be invalid UTF-8, as in `os.fsdecode`."""
        try:
            output = self.git.run("ls-tree", "-r", "-z", "--full-tree", commit, timeout=TIMEOUT)
        except GitError as error:
            raise CallError(f"git cannot list the files of {commit[:12]}: {_first_line(error)}") from None
        entries: dict[str, TreeEntry] = {}
        for row in output.split(b"\0"):
            facts, tab, path = row.partition(b"\t")
            if tab:
                mode, _, id = facts.decode("ascii", "replace").split(" ")
                entries[os.fsdecode(path)] = TreeEntry(mode, id)
        return entries

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the size of each object. An object that this clone does not have is left out."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        output = self._batch("--batch-check", wanted).decode("ascii", "replace")
        rows = [line.split(" ") for line in output.splitlines()]
        return {row[0]: int(row[2]) for row in rows if len(row) == 3 and row[1] == "blob"}

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

    def start_of(self, id: str, limit: int) -> bytes:
        """Return the first bytes of a blob of any size."""
        return self.git.run_start("cat-file", "blob", id, limit=limit, timeout=TIMEOUT)

    def _batch(self, option: str, ids: list[str]) -> bytes:
        data = "".join(f"{id}\n" for id in ids).encode()
        try:
            return self.git.run("cat-file", option, data=data, timeout=TIMEOUT)
        except GitError as error:
            raise CallError(f"git cannot read the files of the repository: {_first_line(error)}") from None


def _first_line(error: GitError) -> str:
    """Return what git said, or why it could not be run."""
    return show(error.stderr.strip().partition("\n")[0]) if error.stderr.strip() else str(error)
