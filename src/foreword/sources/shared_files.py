"""Lists the files of a repository that everybody who works on it can have: those that git tracks, or would offer to add."""

from __future__ import annotations

import os
import re

from ..text.lines import printable
from ..vocabulary import Workspace
from .git import GitError, open_git
from .overlay import SharedFiles
from .reader import Reader
from .tree import SKIPPED_FOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .git import Git

_MAX_NAMES = 200_000
_MAX_ASKED = 1_000
_LINK_MODE = b"120000"
_SUBMODULE_MODE = b"160000"
# Neither the user's own list of ignored files nor the clone's: they differ between machines.
_LIST_OTHERS = ("-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore")
_TIMEOUT = 30
_SUBMODULE_PATH = re.compile(r'^[ \t]*path[ \t]*=[ \t]*"?([^"\n]{1,1000}?)/?"?[ \t\r]*$', re.MULTILINE)


def shared_files(root: str, is_repository: bool) -> tuple[SharedFiles, str]:
    """Return the shared files below a root, and why git did not list them, or empty if it did. Without git, these are all files."""
    problems: list[str] = []
    git = open_git(Workspace(root, environment={}), Reader(), problems.append) if is_repository else None
    try:
        if git is not None:
            names, links = _list_with_git(git)
            return SharedFiles(root, names, links), ""
    except GitError as error:
        problems.append(str(error))
    names, links = _list_disk(root)
    return SharedFiles(root, names, links, is_repository), problems[0] if problems else "it is not a git repository"


def uncommitted(root: str, names: Iterable[str]) -> set[str] | None:
    """Return which of these files have changes that are not committed, or None if git cannot tell."""
    git = open_git(Workspace(root, environment={}), Reader(), lambda reason: None)
    try:
        arguments = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *sorted(names))
        output = git.run(*arguments, timeout=_TIMEOUT) if git else None
    except GitError:
        return None
    return None if output is None else {os.fsdecode(row[3:]) for row in output.split(b"\0") if row}


def ignored(root: str, names: Iterable[str]) -> set[str]:
    """Return which of these names git would ignore because a `.gitignore` says so: files there would not be shared."""
    git = open_git(Workspace(root, environment={}), Reader(), lambda reason: None)
    try:
        return git.ignored_for_all(names) if git else set()
    except GitError:
        return set()


def left_out(root: str, names: Iterable[str]) -> set[str]:
    """Return which of these names, at most the first 1,000, are files or folders that a sparse checkout leaves out."""
    asked = sorted(names)[:_MAX_ASKED]
    git = open_git(Workspace(root, environment={}), Reader(), lambda reason: None) if asked else None
    try:
        output = git.run("--literal-pathspecs", "ls-files", "-t", "-z", "--", *asked, timeout=_TIMEOUT) if git else b""
    except GitError:
        return set()
    found = {""}
    for name in (os.fsdecode(entry[2:]) for entry in output.split(b"\0") if entry.startswith(b"S ")):
        while name not in found:
            found.add(name)
            name = os.path.dirname(name)
    return found.intersection(asked)


def in_submodules(text: str, names: Iterable[str]) -> set[str]:
    """Return which of these names are in other repositories, which a `.gitmodules` with this text lists."""
    folders = tuple(f"{path}/" for path in _SUBMODULE_PATH.findall(text))
    return {name for name in names if name.startswith(folders)}


def _list_with_git(git: Git) -> tuple[set[str], set[str]]:
    """Return the names of all files and those of links."""
    names: set[str] = set()
    links: set[str] = set()
    for row in filter(None, git.run("ls-files", "-z", "--stage", timeout=_TIMEOUT).split(b"\0")):
        fields, _, name = row.partition(b"\t")
        mode = fields.partition(b" ")[0]
        if mode != _SUBMODULE_MODE:
            (links if mode == _LINK_MODE else names).add(os.fsdecode(name))
    deleted = {os.fsdecode(name) for name in git.run("ls-files", "-z", "--deleted", timeout=_TIMEOUT).split(b"\0")}
    for row in filter(None, git.run(*_LIST_OTHERS, timeout=_TIMEOUT).split(b"\0")):
        other = os.fsdecode(row)
        if not other.endswith("/"):  # another repository
            (links if os.path.islink(os.path.join(git.root, other)) else names).add(other)
    return (names | links) - deleted, links - deleted


def _list_disk(root: str) -> tuple[set[str], set[str]]:
    """Return the names of all files below the root and those of links, up to a limit."""
    names: set[str] = set()
    links: set[str] = set()
    for name, is_link in _walk(root):
        (links if is_link else names).add(name)
        if len(names) + len(links) >= _MAX_NAMES:
            break
    return names | links, links


def _walk(root: str) -> Iterator[tuple[str, bool]]:
    """Yield each file and link below the root, with whether it is a link. Links are not followed."""
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                yield name, True
            elif entry.is_dir(follow_symlinks=False):
                pending += [name] if entry.name not in SKIPPED_FOLDERS else []
            elif entry.is_file(follow_symlinks=False):
                yield name, False


def describe_unlisted(root: str, reason: str) -> str:
    """Return a sentence that says that ignored files count too."""
    return f"git did not list the files of {printable(root)} ({reason}), so that files which it would ignore count too"
