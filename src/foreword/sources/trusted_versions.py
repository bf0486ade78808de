"""The versions of a workspace's files that are in the history of a ref, which the user trusts.

A file that equals one of its versions there is trusted. In any other file, a line is trusted if it is also in the file at the ref or at
the newest commit that the ref and the checkout have in common, and in the same order. Only versions with the same path count, so a
renamed file is untrusted: its text was reviewed as something else. If git cannot answer, nothing is trusted.
"""

from __future__ import annotations

from ..errors import CallError
from ..text.same_lines import same_lines
from .git import GitError
from .readings import LineCheck

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..vocabulary import Workspace
    from .git import Git

TIMEOUT = 30
_MAX_SIZE = 1 << 20
_MAX_LINES = 20_000
_MAX_BASES = 3


class TrustedVersions:
    """The versions of files that are in the history of a ref."""

    def __init__(self, workspace: Workspace, ref: str) -> None:
        self.workspace, self.ref = workspace, ref
        self._commits: Sequence[str] = ()
        self._git: Git | None = None
        self._open()
        self._ids: dict[str, frozenset[str]] = {}

    def _open(self) -> None:
        from .git import open_git
        from .git_trees import GitTrees
        from .reader import Reader

        git = open_git(self.workspace, Reader(), lambda reason: None)
        if git is None:
            return
        try:
            tip = GitTrees(git).resolve(self.ref)
        except CallError:
            return
        try:
            bases = _words(git.run("merge-base", "--all", tip, "HEAD", timeout=TIMEOUT))
        except GitError:  # they have nothing in common, or the clone is too shallow to tell
            bases = []
        self._git, self._commits = git, tuple(dict.fromkeys((*bases[:_MAX_BASES], tip)))

    def contain(self, name: str, data: bytes) -> bool:
        """Whether a commit in the history of the ref has this file with this content. Windows line endings do not matter."""
        if name not in self._ids:
            self._ids[name] = self._ids_of(name)
        ids = self._ids[name]
        length = len(next(iter(ids), ""))
        return bool(ids) and any(_blob_id(content, length) in ids for content in {data, data.replace(b"\r\n", b"\n")})

    def _ids_of(self, name: str) -> frozenset[str]:
        """Return the ids of all contents that a file has had in the commits of the ref."""
        if self._git is None:
            return frozenset()
        arguments = ("rev-list", "--objects", "--no-object-names", self._commits[-1], "--", name)
        try:
            return frozenset(_words(self._git.run(*arguments, timeout=TIMEOUT)))
        except GitError:
            return frozenset()

    def check_lines(self, name: str, data: bytes) -> LineCheck | None:
        """Return which lines of a file are trusted, or None if no trusted version is known or a file is too large to compare."""
        lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
        versions = [version for commit in self._commits if (version := self._version(commit, name)) is not None]
        if not versions or len(lines) > _MAX_LINES:
            return None
        matches = [same_lines(version, lines) for version in versions]
        trusted = [any(index in match for match in matches) for index in range(len(lines))]
        # Which lines have been removed can only be said about the version that the file was changed from.
        original = versions[0]
        missing = [index for index in set(range(len(original))) - set(matches[0].values()) if original[index].strip()]
        is_front_changed = any(index < _front_matter_length(original) for index in missing)
        return LineCheck(trusted, len(missing), short_ref(self.ref), is_front_changed)

    def _version(self, commit: str, name: str) -> Sequence[bytes] | None:
        """Return the lines of a file in a commit, or None if it has no such file or a large one."""
        assert self._git is not None
        try:
            data = self._git.run_start("cat-file", "blob", f"{commit}:{name}", limit=_MAX_SIZE + 1, timeout=TIMEOUT)
        except GitError:
            return None
        lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
        return lines if len(data) <= _MAX_SIZE and len(lines) <= _MAX_LINES else None


def _front_matter_length(lines: Sequence[bytes]) -> int:
    """Return the number of lines of front matter, or 0 if there is none."""
    if lines[0].removeprefix(b"\xef\xbb\xbf").strip() != b"---":
        return 0
    return next((index + 1 for index in range(1, len(lines)) if lines[index].strip() == b"---"), 0)


def _blob_id(data: bytes, length: int) -> str:
    """Return the id that git gives to this content, as SHA-1 or SHA-256."""
    import hashlib

    content = b"blob %d\0" % len(data) + data
    return hashlib.sha256(content).hexdigest() if length == 64 else hashlib.sha1(content).hexdigest()


def short_ref(ref: str) -> str:
    """Return the name of a ref for display: `origin/main`, or the first characters of an id."""
    for folder in ("refs/heads/", "refs/remotes/", "refs/tags/"):
        if ref.startswith(folder):
            return ref.removeprefix(folder)
    return ref[:12]


def _words(output: bytes) -> list[str]:
    return output.decode("ascii", "replace").split()


def full_ref(git: Git, name: str) -> str:
    """Return the full name of a branch or tag, such as `refs/remotes/origin/main`, or the id of any other commit.

    A short name is not recorded, because a tag that is fetched later could have the same one and would come first. Raises a CallError
    if there is no such commit or more than one.
    """
    from .git_trees import GitTrees

    commit = GitTrees(git).resolve(name)
    choices = [f"{folder}{name}" for folder in ("refs/heads/", "refs/remotes/", "refs/tags/", "")]
    try:
        known = _words(git.run("for-each-ref", "--format=%(refname)", *choices[:3], name, timeout=TIMEOUT))
        symbolic = _words(git.run("rev-parse", "--symbolic-full-name", name, timeout=TIMEOUT))
    except GitError as error:
        raise CallError(f"git cannot find {name!r}: {error}") from None
    matches = [choice for choice in choices if choice in known]
    if len(matches) > 1:
        raise CallError(f"{name!r} is the name of {' and of '.join(matches)}; pass one of these names")
    if matches:
        return matches[0]
    return symbolic[0] if symbolic and symbolic[0].startswith("refs/") else commit
