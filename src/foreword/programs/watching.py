"""Watch a workspace, and rebuild the prompt whenever a saved file changes it.

    with watch(Workspace("."), agent, "ion", lambda prompt: send(prompt.text)):
        …

The operating system reports changes, so nothing is polled. All files and folders that the prompt depends on are watched, including
those that it starts to depend on later. A program that needs more than the new prompt can iterate over `changes`.
"""

from __future__ import annotations

import atexit
import os
import threading

from ..engine.assembler import Assembler, local_time
from ..errors import CallError, expect
from ..sources.environment import absolute, resolve_workspace
from ..sources.notices import Notices
from ..sources.paths import is_inside
from ..sources.reader import Reader
from ..sources.repository import find_repository
from ..text.lines import printable
from ..vocabulary import Agent, Workspace, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Protocol

    from ..building.lists import Rule
    from ..sources.watchfiles_adapter import Flag
    from ..vocabulary import Prompt

    class Watched(Protocol):
        """A prompt that can be watched, such as a `WatchedPrompt`."""

        def prompt(self) -> Prompt:
            """Return the current prompt. If nothing changed, this is the same object as before."""

        def paths(self) -> list[str]:
            """Return every path that the prompt depends on, including those read in a failed attempt."""

        def lock(self) -> str:
            """Return the path of a file that exists while many others are being changed, or an empty string."""


@value
class Change:
    """The files that changed, and the current prompt. `before` is None at the start.

    If `error` is set, the prompt could not be built, and `prompt` is the last one that could.
    """

    prompt: Prompt
    before: Prompt | None
    files: Sequence[str] = ()
    error: Exception | None = None


def watch(
    workspace: Workspace | None = None,
    agent: Agent | None = None,
    layout: str = "",
    on_change: Callable[[Prompt], object] | None = None,
    *,
    on_error: Callable[[Exception], object] | None = None,
    now: datetime | None = None,
    settings: str = "",
    assignments: Sequence[tuple[str, Any]] = (),
    rules: Sequence[Rule] = (),
    packs: Mapping[str, str] | None = None,
) -> Watching:
    """Call `on_change` with the current prompt, and again whenever a file changes it, until stopped.

    The first call happens before this returns, later ones in a thread. An error at the start is raised. A later error, from a
    half-edited layout or from `on_change` itself, is passed to `on_error`, or to `threading.excepthook` if there is none, and watching
    continues.

    >>> watching = watch(Workspace("."), on_change=lambda prompt: None)
    >>> watching.stop()
    """
    if not callable(on_change):
        raise CallError(f"on_change must be a function, not {on_change!r}")
    workspace, agent = Workspace() if workspace is None else workspace, Agent() if agent is None else agent
    expect("the workspace", workspace, Workspace)
    expect("the agent", agent, Agent)
    assembler = Assembler(
        with_absolute_cwd(workspace), layout, settings=settings, assignments=assignments, rules=rules, packs=packs
    )
    return Watching(WatchedPrompt(assembler, agent, now), on_change, on_error)


def with_absolute_cwd(workspace: Workspace) -> Workspace:
    """Return the workspace with an absolute path, because the directory may be removed and created again."""
    environment = os.environ if workspace.environment is None else workspace.environment
    return replace(workspace, cwd=absolute(workspace.cwd, environment))


class Watching:
    """A running watch. Calling `stop`, or leaving its `with` block, ends it and waits for its thread."""

    def __init__(
        self, source: Watched, on_change: Callable[[Prompt], object], on_error: Callable[[Exception], object] | None
    ) -> None:
        self._on_change, self._on_error = on_change, on_error
        self._stopping = threading.Event()
        self._had_error = False
        self._changes = changes(source, self._stopping)
        self._handle(next(self._changes))
        self._thread = threading.Thread(target=self._run, name="foreword-watch", daemon=True)
        self._thread.start()
        # If the interpreter exits while the thread is inside the notifier, the process could crash.
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the watch. No callback runs after this returns or, if a callback calls it, after that callback returns."""
        self._stopping.set()
        atexit.unregister(self.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    @property
    def is_stopped(self) -> bool:
        """Whether the watch has ended."""
        return not self._thread.is_alive()

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            for change in self._changes:
                if self._stopping.is_set():
                    break
                self._handle(change)
        except Exception as error:
            self._report(error)
        finally:
            self._changes.close()

    def _handle(self, change: Change | None) -> None:
        if change is None:
            return
        is_new = change.prompt is not change.before or self._had_error
        self._had_error = change.error is not None
        if change.error is not None:
            self._report(change.error)
        elif is_new:
            try:
                self._on_change(change.prompt)
            except Exception as error:
                self._report(error)

    def _report(self, error: Exception) -> None:
        if self._on_error is not None:
            try:
                self._on_error(error)
                return
            except Exception as callback_error:
                error = callback_error
        threading.excepthook(
            threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
        )


class WatchedPrompt:
    """A prompt to watch. Its clock advances only when a file changes, because the passing of time is not a change."""

    def __init__(self, assembler: Assembler, agent: Agent, now: datetime | None = None) -> None:
        self.assembler, self.agent, self.now = assembler, agent, now
        self._moment = now or local_time()
        self._last: Prompt | None = None

    def prompt(self) -> Prompt:
        """Return the current prompt. If it equals the last one, this is the same object."""
        prompt = self.assembler.prompt(self.agent, self._moment)
        if prompt == self._last:
            return self._last
        if self.now is None and self._last is not None:
            self._moment = local_time()
            prompt = self.assembler.prompt(self.agent, self._moment)
        self._last = prompt
        return prompt

    def paths(self) -> list[str]:
        """Return every path that the prompt depends on."""
        return self.assembler.paths_read()

    def lock(self) -> str:
        """Return the lock file that git holds while it changes many files, or an empty string outside a repository."""
        try:
            workspace = resolve_workspace(self.assembler.workspace, Reader())
        except CallError:
            return ""
        repository = find_repository(workspace, Reader())
        return os.path.join(repository.folder, "index.lock") if repository else ""


def changes(source: Watched, stop: Flag | None = None, tick: int = 0) -> Generator[Change | None, None, None]:
    """Yield the current prompt, then every change until `stop` is set, and None after each `tick` milliseconds without a change.

    Saving a file that does not affect the prompt is also a change, with `prompt` equal to `before`. An error at the start is raised.
    """
    with Notices() as notices:
        prompt, error = source.prompt(), ""
        while notices.follow(source.paths()):
            prompt = source.prompt()  # a file may have changed before it was watched
        yield Change(prompt, None)
        while (notified := notices.wait(stop, tick, source.lock())) is not None:
            if not notified:
                yield None
            is_new = bool(notified)
            while is_new and not (stop and stop.is_set()):
                change = _change(source, prompt, notified)
                message = str(change.error or "")
                if change.files or change.prompt is not prompt or message != error:
                    yield (
                        change
                        if change.files
                        else replace(change, files=[printable(path) for path in notified if path])
                    )
                prompt, error, notified = change.prompt, message, {}
                try:
                    is_new = notices.follow(source.paths())
                except CallError as failure:  # more directories than can be watched
                    is_new = False
                    yield Change(prompt, prompt, (), failure)


def _change(source: Watched, before: Prompt, notified: Mapping[str, bool]) -> Change:
    """Return the change that these paths caused. If its `files` are empty, none of them mattered."""
    try:
        prompt = source.prompt()
    except Exception as error:
        return Change(before, before, _changed_files(notified, before, before), error)
    return Change(prompt, before, _changed_files(notified, prompt, before))


def _changed_files(notified: Mapping[str, bool], prompt: Prompt, before: Prompt) -> list[str]:
    """Return the changed files that the prompt depended on before, or depends on now.

    If a folder appears with all its files, only the folder is reported, and a file may already have changed when something else is
    reported first. In both cases, the changed files are found by comparing the prompts.
    """
    candidates = {candidate.path for candidate in (*before.candidates, *prompt.candidates)}
    files = [printable(path) for path, is_watched in notified.items() if is_watched or printable(path) in candidates]
    if candidates.isdisjoint(files) and prompt is not before:
        changed = {path for path, _ in set(_states(prompt)) ^ set(_states(before))}
        in_notified = {path for path in changed if any(is_inside(path, folder) for folder in files)}
        return sorted(in_notified) or files or sorted(changed)
    return files


def _states(prompt: Prompt) -> Iterator[tuple[str, object]]:
    """Yield the files that were considered for a prompt, each with what happened to it and with its text in the prompt."""
    for candidate in prompt.candidates:
        if candidate.fate != "absent":
            yield candidate.path, candidate
    for passage in prompt.passages:
        for piece in passage.pieces:
            if piece.origin.kind == "file":
                yield piece.origin.path, piece.text
