"""Every call to git: the branch and status of a workspace's repository, and a safe way to run git for other modules.

Nothing in a workspace is executed. The branch is read from the HEAD file. Everything else requires running git, and a
repository's configuration can make git start other programs: filters, a file-system monitor, hooks, the other end of a fetch.
Those are switched off. The folders to use are passed to git, so that it reads the configuration that was checked here. If a
configuration includes other files or defines filters in an unusual way, git is not run.
"""

from __future__ import annotations

import os
import re

from ..errors import MissingError, show
from ..text.lines import printable
from .repository import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from subprocess import Popen

    from ..vocabulary import Workspace
    from .reader import Reader
    from .repository import Report, Repository

TIMEOUT = 5
_MAX_MEMORY = 1 << 30
# A section can begin anywhere in a line, and its name can be written in several ways; only the usual way is parsed.
_UNSAFE_SECTION = re.compile(r"\[\s*(?:filter|include)", re.IGNORECASE)
_FILTER = re.compile(r'^[ \t]*\[filter "([\w.-]+)"\]', re.MULTILINE | re.IGNORECASE | re.ASCII)
_DISABLING_SETTINGS = (
    "core.fsmonitor=", "core.hooksPath=/dev/null", "core.pager=cat", "submodule.recurse=false",
    # Useful in a terminal, but here their output would appear in the prompt even if nothing has changed.
    "status.branch=false", "color.status=false",
)  # fmt: skip
# Settings that would read other files or start other programs in commands about commits and objects.
_OBJECT_SETTINGS = (
    "diff.external=", "core.attributesFile=/dev/null", "blame.ignoreRevsFile=", "mailmap.file=/dev/null", "mailmap.blob=",
    "log.showSignature=false", "core.quotePath=false",
)  # fmt: skip
# The GIT_ variables that are passed on from the caller's environment. Others could lead git to another repository.
_GIT_VARIABLES = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"))
# For commands about commits and objects: they do not read the user's configuration, and show history as it was written.
_OBJECT_VARIABLES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.path.join(os.devnull, "none"),
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
}


class GitError(Exception):
    """Git could not be run, took too long or failed. `str(error)` says why; `stderr` is what git printed."""

    def __init__(self, message: str, stderr: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.stderr, self.status = stderr, status

    @property
    def reason(self) -> str:
        """What git printed about the failure, or if it printed nothing, the message."""
        lines = [line for line in self.stderr.strip().split("\n") if not line.startswith("warning:")]
        return show(lines[0]) if lines and lines[0] else str(self)


class Git:
    """Runs git on a repository that has been checked. Create it with `open_git`."""

    def __init__(self, repository: Repository, root: str, filters: Sequence[str]) -> None:
        self.root, self.repository = root, repository
        disabled = [f"filter.{name}.{key}=" for name in filters for key in ("clean", "smudge", "process")]
        disabled += [f"filter.{name}.required=false" for name in filters]
        self._disabled = [*_DISABLING_SETTINGS, *disabled]

    def run(self, *arguments: str, data: bytes = b"", timeout: float = TIMEOUT) -> bytes:
        """Run a command about commits and objects in the root, and return its output. Raises a GitError if it fails.

        The arguments must not contain names from outside without a check that they are not options.
        """
        settings = [*self._disabled, *_OBJECT_SETTINGS]
        return self._run(settings, arguments, self.root, _OBJECT_VARIABLES, data, timeout)

    def run_start(self, *arguments: str, limit: int, timeout: float = TIMEOUT) -> bytes:
        """Like `run`, but return only the first bytes of the output, and stop git then."""
        from threading import Timer

        settings = [*self._disabled, *_OBJECT_SETTINGS]
        process = self._start(settings, arguments, self.root, _OBJECT_VARIABLES, keeps_errors=False, timeout=timeout)
        timer = Timer(timeout, process.kill)
        timer.start()
        with process:
            try:
                output = process.stdout.read(limit) if process.stdout else b""
                status = 0 if len(output) == limit else process.wait()
            finally:
                process.kill()
                timer.cancel()
        if status:
            raise GitError(
                f"git exited with status {status}" if status > 0 else f"git took longer than {timeout:g} seconds"
            )
        return output

    def status(self, cwd: str) -> bytes:
        """Return the output of `git status --short` in a directory."""
        return self._run(self._disabled, ("status", "--short", "--ignore-submodules=dirty"), cwd, {}, b"", TIMEOUT)

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return which of these paths, relative to the root, git ignores for this user. A tracked file is never ignored."""
        data = b"".join(os.fsencode(path) + b"\0" for path in paths)
        try:
            output = self._run(self._disabled, ("check-ignore", "-z", "--stdin"), self.root, {}, data, TIMEOUT)
        except GitError as error:
            if error.status == 1:  # none of them
                return set()
            raise
        return {os.fsdecode(path) for path in output.split(b"\0") if path}

    def ignored_for_all(self, paths: Iterable[str]) -> set[str]:
        """Return which of these paths a `.gitignore` in the repository ignores, whatever this user ignores besides."""
        data = b"".join(os.fsencode(path) + b"\0" for path in sorted(paths))
        arguments = ("check-ignore", "--no-index", "--verbose", "-z", "--stdin")
        try:
            output = self._run(self._disabled, arguments, self.root, {}, data, TIMEOUT) if data else b""
        except GitError as error:
            if error.status == 1:  # none of them
                return set()
            raise
        fields = output.split(b"\0")  # for each path: the file with the pattern, the line, the pattern and the path
        rows = zip(fields[0::4], fields[2::4], fields[3::4], strict=False)
        return {
            os.fsdecode(path)
            for file, pattern, path in rows
            if os.path.basename(file) == b".gitignore" and not pattern.startswith(b"!")
        }

    def _run(
        self,
        settings: Sequence[str],
        arguments: Sequence[str],
        cwd: str,
        variables: dict[str, str],
        data: bytes,
        timeout: float,
    ) -> bytes:
        import subprocess

        process = self._start(settings, arguments, cwd, variables, keeps_errors=True, timeout=timeout)
        with process:
            try:
                output, errors = process.communicate(data, timeout)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                raise GitError(_describe_failure(error, timeout)) from None
            finally:
                process.kill()
        if process.returncode:
            stderr = errors.decode("utf-8", "backslashreplace")
            if "out of memory" in stderr.lower():
                raise GitError("git needs more than 1 GB of memory for it", stderr)
            raise GitError(f"git exited with status {process.returncode}", stderr, process.returncode)
        return output

    def _start(
        self,
        settings: Sequence[str],
        arguments: Sequence[str],
        cwd: str,
        variables: dict[str, str],
        *,
        keeps_errors: bool,
        timeout: float,
    ) -> Popen[bytes]:
        import subprocess

        try:
            process = subprocess.Popen(
                self._command(settings, arguments),
                cwd=cwd,
                env=self._environment(variables),
                stdin=subprocess.PIPE if keeps_errors else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if keeps_errors else subprocess.DEVNULL,
            )
        except (OSError, ValueError) as error:
            raise GitError(_describe_failure(error, timeout)) from None
        _limit_memory(process.pid)
        return process

    def _command(self, settings: Sequence[str], arguments: Sequence[str]) -> list[str]:
        return ["git", *(word for setting in settings for word in ("-c", setting)), *arguments]

    def _environment(self, variables: dict[str, str]) -> dict[str, str]:
        folders = {
            "GIT_DIR": self.repository.folder,
            "GIT_COMMON_DIR": self.repository.common,
            "GIT_WORK_TREE": self.root,
        }
        return {**_environment(), **variables, **folders}


def open_git(workspace: Workspace, reader: Reader, report: Report) -> Git | None:
    """Return an object that runs git on the workspace's repository, or None if there is none or git is not safe to run.

    If this is a repository, `report` is then called with the reason.
    """
    repository = find_repository(workspace, reader, report)
    head = repository.read_head(reader, report) if repository else ""
    if repository is None or not head:
        return None
    if reason := repository.unsafe_reason(reader, head):
        report(f"{reason}, so git is not run on it")
        return None
    filters = _find_filters(repository, reader)
    if filters is None:
        report(
            "the repository's configuration includes other files or defines filters in an unusual way, so git is not run on it"
        )
        return None
    return Git(repository, workspace.root or workspace.cwd, filters)


def require_git(workspace: Workspace, reader: Reader, command: str) -> Git:
    """Open the workspace's repository for a command. Raises a MissingError that says why git cannot be used."""
    reasons: list[str] = []
    git = open_git(workspace, reader, reasons.append)
    if git is None:
        reason = reasons[0] if reasons else "it is not in a git repository with a commit"
        raise MissingError(f"{command} cannot use git in {printable(workspace.cwd)}: {reason}")
    return git


_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\b", re.ASCII)
# A branch name cannot be longer, because it is a file name.
_MAX_BRANCH_LENGTH = 255


def read_branch(workspace: Workspace, reader: Reader, report: Report) -> str | None:
    """Read the current branch from the HEAD file. Returns `HEAD` if it is detached, and None outside a repository.

    `report` is called with the reason if a repository cannot be read.
    """
    repository = find_repository(workspace, reader, report)
    head = repository.read_head(reader, report) if repository else ""
    name = head.removeprefix("ref: refs/heads/").split("\n", 1)[0].strip()[:_MAX_BRANCH_LENGTH]
    if not name or name == ".invalid":  # a repository that stores its references in tables
        return None
    if head.startswith("ref: refs/heads/"):
        return name
    if not head.startswith("ref: refs/") and not _COMMIT.match(head):
        report(f"the HEAD file contains neither a branch nor a commit: {show(head)}")
        return None
    return "HEAD"


def read_status(workspace: Workspace, reader: Reader, report: Report) -> str | None:
    """Run `git status --short` in the working directory and return its output, or None if git fails or is not safe to run.

    If this is a repository, `report` is then called with the reason.
    """
    git = open_git(workspace, reader, report)
    if git is None:
        return None
    try:
        return git.status(workspace.cwd).decode("utf-8", "backslashreplace").rstrip("\n")
    except GitError as error:
        report(str(error))
        return None


def _limit_memory(process: int) -> None:
    """Limit the memory of a process, because git loads whole files. Packs, which are mapped, do not count."""
    try:
        import resource

        resource.prlimit(process, resource.RLIMIT_DATA, (_MAX_MEMORY, _MAX_MEMORY))
    except (ImportError, AttributeError, OSError, ValueError):  # it is not Linux, or git has already exited
        pass


def _describe_failure(error: Exception, timeout: float) -> str:
    if isinstance(error, FileNotFoundError):
        return "git is not installed, or not on the PATH"
    if type(error).__name__ == "TimeoutExpired":
        return f"git took longer than {timeout:g} seconds"
    return f"git could not be run: {getattr(error, 'strerror', None) or type(error).__name__}"


def _environment() -> dict[str, str]:
    """Return the caller's environment, without variables that select another repository, and without relative folders in PATH."""
    environment = {
        name: text for name, text in os.environ.items() if name in _GIT_VARIABLES or not name.startswith("GIT_")
    }
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    environment["PATH"] = os.pathsep.join(filter(os.path.isabs, folders))
    # Git would fetch missing objects with a program from the repository's configuration.
    return {
        **environment,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


def _find_filters(repository: Repository, reader: Reader) -> list[str] | None:
    """Return the filters that the repository's configuration defines, or None if it cannot be read or could define others."""
    names: set[str] = set()
    for path in (os.path.join(repository.common, "config"), os.path.join(repository.folder, "config.worktree")):
        reading = reader.read(path)
        filters = _FILTER.findall(reading.text)
        if reading.fate not in ("used", "absent", "blank") or len(_UNSAFE_SECTION.findall(reading.text)) != len(
            filters
        ):
            return None
        names.update(filters)
    return sorted(names)
