"""Local clones of the repository, in which commands run. The repository itself is only read.

A clone has the tracked files as they are now, no remotes and no hooks, and the history of the repository. All clones share one copy of its
objects: if they borrowed those of the repository itself, git would change the times of its files. What an arm leaves out is committed in
the clone, so that git does not report it as a deletion. All clones are
in a private temporary folder with a lock. A guard process removes it when this one ends, for whatever reason; what a killed guard left
behind is removed by the next experiment.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from ...errors import CallError
from ...sources.git import GitError
from ...sources.paths import is_inside
from ...text.lines import printable
from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...sources.git import Git

_TIMEOUT = 300.0
_LINK, _SUBMODULE = "120000", "160000"
_LOCK = "lock"
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.checkStat": "minimal",  # a copy of a clone has other inodes
    "core.trustctime": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    # Large files are in the clone as they are in the working tree.
    "filter.lfs.clean": "cat",
    "filter.lfs.smudge": "cat",
    "filter.lfs.process": "",
    "filter.lfs.required": "false",
}
_AUTHOR = {
    f"GIT_{role}_{key}": text
    for role in ("AUTHOR", "COMMITTER")
    for key, text in (("NAME", "Foreword"), ("EMAIL", "foreword@localhost"), ("DATE", "2026-01-01T00:00:00Z"))
}
_GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    **_AUTHOR,
}
# Reads process groups from standard input, "+N" when one starts and "-N" when it has ended. At the end, those that are left are killed,
# and the folder is removed.
_GUARD = r"""
import os, shutil, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try: os.killpg(group, signal.SIGKILL)
    except OSError: pass
for folder, names, _ in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            try: os.chmod(path, 0o700)
            except OSError: pass
for _ in range(20):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.exists(sys.argv[1]): break
"""


class WorkFolder:
    """A private temporary folder that disappears with this process."""

    def __init__(self) -> None:
        top = _top_folder()
        _remove_stale(top)
        self.path = tempfile.mkdtemp(dir=top, prefix="")
        self._lock = os.open(os.path.join(self.path, _LOCK), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD, self.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def guard(self, group: int) -> None:
        """Let the guard kill a process group if this process ends before it."""
        self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        """Tell the guard that a process group has ended."""
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        assert self._guard.stdin is not None
        try:
            self._guard.stdin.write(line)
            self._guard.stdin.flush()
        except OSError:  # the guard was killed; the next experiment cleans up
            pass

    def remove(self) -> None:
        """Remove the folder, and kill what still runs in it."""
        assert self._guard.stdin is not None
        try:
            self._guard.stdin.close()
        except OSError:
            pass
        self._guard.wait()

    def remove_again(self) -> None:
        """Remove what a thread may have written in the meantime."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _top_folder() -> str:
    """Return the folder of all experiments of this user, which nobody else can write to."""
    top = os.path.join(os.path.realpath(tempfile.gettempdir()), f"foreword-effect-{os.getuid()}")
    try:
        os.mkdir(top, 0o700)
    except FileExistsError:
        pass
    status = os.lstat(top)
    if status.st_uid != os.getuid() or os.path.islink(top) or status.st_mode & 0o077:
        raise CallError(f"{top} belongs to somebody else, or others can write to it; remove it, or set TMPDIR")
    return top


def _remove_stale(top: str) -> None:
    """Remove the folders of experiments whose process has ended."""
    for name in os.listdir(top):
        folder = os.path.join(top, name)
        try:
            lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR)
        except OSError:
            if os.path.isdir(folder) and not os.path.exists(os.path.join(folder, _LOCK)) and not os.listdir(folder):
                shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            subprocess.run([sys.executable, "-I", "-S", "-c", _GUARD, folder], stdin=subprocess.DEVNULL, check=False)
        finally:
            os.close(lock)


# The repository


@value
class Tracked:
    """The files that git tracks, the submodules with their commits, and the commit and branch that are checked out."""

    files: Sequence[str]
    submodules: Sequence[tuple[str, str]]
    head: str
    branch: str
    object_format: str


def read_tracked(git: Git) -> Tracked:
    """Ask git for the tracked files and the current commit. Raises a CallError if it cannot say."""
    try:
        listing = git.run("ls-files", "-z", "--stage", timeout=_TIMEOUT)
        head = git.run("rev-parse", "HEAD").decode().strip()
        object_format = git.run("rev-parse", "--show-object-format").decode().strip()
    except GitError as error:
        raise CallError(f"git cannot list the files of {printable(git.root)}: {error.reason}") from None
    try:
        branch = git.run("symbolic-ref", "--quiet", "--short", "HEAD").decode().strip()
    except GitError:
        branch = ""
    rows = [row.partition("\t") for row in os.fsdecode(listing).split("\0")[:-1]]
    files = dict.fromkeys(path for facts, _, path in rows if not facts.startswith(_SUBMODULE))
    submodules = [(path, facts.split(" ")[1]) for facts, _, path in rows if facts.startswith(_SUBMODULE)]
    return Tracked(list(files), submodules, head, branch or "foreword-effect", object_format)


class Clones:
    """Makes clones of one repository. `extra` are untracked paths that are copied too, relative to the root."""

    def __init__(self, work: WorkFolder, git: Git, tracked: Tracked, extra: Sequence[str]) -> None:
        self._work, self._git, self._tracked = work, git, tracked
        self._lock = threading.Lock()
        self._root = git.root
        self.name = os.path.basename(self._root) or "repository"
        self._base = os.path.join(work.path, "base", self.name)
        self._objects = os.path.join(work.path, "objects")
        self._prepared: dict[str, str] = {}  # the folder with the `.git` of each arm
        self._extra = extra
        try:
            self._copy_files()
            shutil.copytree(os.path.join(git.repository.common, "objects"), self._objects, symlinks=True)
            self._start_repository()
        except OSError as error:
            raise CallError(f"the repository could not be cloned into {work.path}: {error}") from None

    def make(self, slot: int, arm: str, edits: Mapping[str, str | None]) -> str:
        """Return a new clone for an arm, with its edits, in the folder of a slot. What was there before is removed."""
        folder = self.slot(slot)
        clone = os.path.join(folder, self.name)
        try:
            _remove(folder)
            shutil.copytree(self._base, clone, symlinks=True, ignore=self._without_git)
            for path, text in edits.items():
                _edit(os.path.join(clone, path), text)
            shutil.copytree(self._prepare(arm, clone, edits), os.path.join(clone, ".git"), symlinks=True)
        except OSError as error:
            raise CallError(f"the repository could not be cloned into {folder}: {error}") from None
        return clone

    def _without_git(self, folder: str, names: list[str]) -> list[str]:
        return [".git"] if folder == self._base else []

    def _prepare(self, arm: str, clone: str, edits: Mapping[str, str | None]) -> str:
        """Return the `.git` of an arm, in which what it leaves out is committed. It is made once, in the first clone of the arm."""
        with self._lock:
            if arm not in self._prepared:
                folder = os.path.join(self._work.path, f"git-{len(self._prepared)}")
                shutil.copytree(os.path.join(self._base, ".git"), folder)
                self._commit(clone, edits, folder)
                self._prepared[arm] = folder
            return self._prepared[arm]

    def slot(self, slot: int) -> str:
        return os.path.join(self._work.path, str(slot))

    def _copy_files(self) -> None:
        os.makedirs(self._base)
        folders: dict[str, bool] = {}
        for path in self._tracked.files:
            folder = os.path.dirname(path)
            if folder not in folders:
                real = os.path.realpath(os.path.join(self._root, folder))
                folders[folder] = real == os.path.join(os.path.realpath(self._root), folder).rstrip("/")
                if folders[folder]:
                    os.makedirs(os.path.join(self._base, folder), exist_ok=True)
            if folders[folder]:  # otherwise a link leads elsewhere, and the tracked file is gone
                self._copy(path)
        for path, _ in self._tracked.submodules:
            os.makedirs(os.path.join(self._base, path), exist_ok=True)
        for path in self._extra:
            self._copy_extra(path)

    def _copy_extra(self, path: str) -> None:
        source, target = os.path.join(self._root, path), os.path.join(self._base, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source) or not os.path.isdir(source):
            self._copy(path)
            return
        for folder, folders, files in os.walk(source):
            relative = os.path.relpath(folder, self._root)
            os.makedirs(os.path.join(self._base, relative), exist_ok=True)
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            folders[:] = [name for name in folders if name not in links and name != ".git"]
            for name in (*files, *links):
                if name != ".git":
                    self._copy(os.path.join(relative, name))

    def _copy(self, path: str) -> None:
        """Copy a file or a link. A link into the repository must not lead back to it from the clone."""
        source, target = os.path.join(self._root, path), os.path.join(self._base, path)
        if os.path.islink(source):
            destination = os.readlink(source)
            if os.path.isabs(destination) and is_inside(destination, self._root):
                destination = os.path.relpath(destination, os.path.dirname(source))
            if not os.path.lexists(target):
                os.symlink(destination, target)
        elif os.path.isfile(source):
            shutil.copy2(source, target)

    def _start_repository(self) -> None:
        tracked, base = self._tracked, self._base
        options = [f"--object-format={tracked.object_format}", f"--initial-branch={tracked.branch}", "--template="]
        self._run(base, "init", "--quiet", *options)
        info = os.path.join(base, ".git", "objects", "info")
        os.makedirs(info, exist_ok=True)
        with open(os.path.join(info, "alternates"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self._objects + "\n")
        shallow = os.path.join(self._git.repository.common, "shallow")
        if os.path.isfile(shallow):
            shutil.copyfile(shallow, os.path.join(base, ".git", "shallow"))
        os.makedirs(os.path.join(base, ".git", "info"), exist_ok=True)
        with open(
            os.path.join(base, ".git", "info", "exclude"), "w", encoding="utf-8", errors="surrogateescape"
        ) as file:
            file.writelines(f"/{path}\n" for path in self._extra)
        for key, text in _CONFIG.items():
            self._run(base, "config", key, text)
        modules = "".join(f"{_SUBMODULE} {commit}\t{path}\0" for path, commit in tracked.submodules)
        if modules:
            self._run(base, "update-index", "-z", "--index-info", data=os.fsencode(modules))
        self._commit(base, tracked.files)

    def _commit(self, clone: str, paths: Iterable[str], folder: str = "") -> None:
        """Commit these paths as they are in the clone, on top of the repository's own commit. `folder` is its `.git`."""
        tracked = set(self._tracked.files)
        names = b"".join(os.fsencode(path) + b"\0" for path in paths if path in tracked)
        self._run(clone, "update-index", "--add", "--remove", "-z", "--stdin", data=names, folder=folder)
        tree = self._run(clone, "write-tree", folder=folder).strip()
        parent = ("-p", self._tracked.head)
        commit = self._run(clone, "commit-tree", tree, *parent, "-m", "The working tree", folder=folder).strip()
        self._run(clone, "update-ref", f"refs/heads/{self._tracked.branch}", commit, folder=folder)

    def _run(self, clone: str, *arguments: str, data: bytes = b"", folder: str = "") -> str:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        environment |= _GIT_ENVIRONMENT
        if folder:
            environment |= {"GIT_DIR": folder, "GIT_WORK_TREE": clone}
        try:
            command = ["git", *arguments]
            done = subprocess.run(
                command, cwd=clone, env=environment, input=data, capture_output=True, timeout=_TIMEOUT, check=False
            )
        except subprocess.SubprocessError as error:
            raise CallError(f"git could not make a clone: {error}") from None
        if done.returncode:
            raise CallError(f"git could not make a clone: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode()


def _remove(folder: str) -> None:
    """Remove a clone, even if a command has made parts of it read-only."""
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = os.path.join(path, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _edit(path: str, text: str | None) -> None:
    if text is None:
        if os.path.lexists(path):
            os.unlink(path)
    elif os.path.isfile(path):
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
