"""Watching a workspace: the prompt again, as soon as a save has changed it.

    with watch(Workspace("."), agent, "ion", lambda prompt: send(prompt.text)):
        …

The system tells of changes; nothing is asked for again and again. What is watched follows from what was looked at for the prompt,
and changes with it. A program that wants to know more than the new prompt goes through `changes` itself.
"""

from __future__ import annotations

import atexit
import os
import threading

from ..engine.assembler import Assembler, local_time
from ..errors import CallError, expect
from ..sources.environment import absolute, resolve_workspace
from ..sources.files import Reader
from ..sources.notices import Notices
from ..sources.paths import is_inside
from ..sources.repository import find_repository
from ..text.lines import printable
from ..vocabulary import Agent, Workspace, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Protocol

    from ..building.lists import Rule
    from ..sources.watchfiles_adapter import Flag
    from ..vocabulary import Prompt

    class Watched(Protocol):
        """What can be watched; a `Source` is one."""

        def prompt(self) -> Prompt:
            """The prompt as it is now; the very same value where nothing changed."""

        def paths(self) -> list[str]:
            """Everything that was looked at for it, or by a look that failed."""

        def lock(self) -> str:
            """A file that is there while many others are being changed; nothing if there is none."""


@value
class Change:
    """What happened to the files, and what the prompt is now. `before` is None at the start.

    With an `error` there was no prompt to be had, and `prompt` is the last that there was.
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
    """Call `on_change` with the prompt now, and with the new one whenever a file has changed it, until it is stopped.

    The first call is made before this returns, the others by a thread. What goes wrong at the start is raised. What goes wrong
    later, a layout in the middle of an edit or an `on_change` that raises, is given to `on_error`, else to
    `threading.excepthook`, and watching goes on.
    """
    if not callable(on_change):
        raise CallError(f"watch takes a function for on_change, not {on_change!r}")
    workspace, agent = Workspace() if workspace is None else workspace, Agent() if agent is None else agent
    expect("the workspace", workspace, Workspace)
    expect("the agent", agent, Agent)
    made = Assembler(fixed(workspace), layout, settings=settings, assignments=assignments, rules=rules, packs=packs)
    return Watching(Source(made, agent, now), on_change, on_error)


def fixed(workspace: Workspace) -> Workspace:
    """The workspace by an absolute path: it may be removed, and made again."""
    environment = os.environ if workspace.environment is None else workspace.environment
    return replace(workspace, cwd=absolute(workspace.cwd, environment))


class Watching:
    """A watch under way. `stop` ends it, as does leaving it as a context manager, and waits for its thread."""

    def __init__(
        self, source: Source, on_change: Callable[[Prompt], object], on_error: Callable[[Exception], object] | None
    ) -> None:
        self._on_change, self._on_error = on_change, on_error
        self._stopping = threading.Event()
        self._was_wrong = False
        self._changes = changes(source, self._stopping)
        self._tell(next(self._changes))
        self._thread = threading.Thread(target=self._run, name="foreword-watch", daemon=True)
        self._thread.start()
        # A thread that is killed together with the interpreter, inside of the notifier, could take the process down.
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the watch. When this returns there are no more calls; from within a call, when that returns."""
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
                self._tell(change)
        except Exception as error:
            self._report(error)
        finally:
            self._changes.close()

    def _tell(self, change: Change | None) -> None:
        if change is None:
            return
        is_news = change.prompt is not change.before or self._was_wrong
        self._was_wrong = change.error is not None
        if change.error is not None:
            self._report(change.error)
        elif is_news:
            try:
                self._on_change(change.prompt)
            except Exception as error:
                self._report(error)

    def _report(self, error: Exception) -> None:
        if self._on_error is not None:
            try:
                self._on_error(error)
                return
            except Exception as another:
                error = another
        threading.excepthook(
            threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
        )


class Source:
    """Where the prompt comes from. Between two changes the clock stands still: a time that passes is no change."""

    def __init__(self, assembler: Assembler, agent: Agent, now: datetime | None = None) -> None:
        self.assembler, self.agent, self.now = assembler, agent, now
        self._moment = now or local_time()
        self._last: Prompt | None = None

    def prompt(self) -> Prompt:
        """The prompt as it is now; the very same value where it is equal to the last."""
        prompt = self.assembler.prompt(self.agent, self._moment)
        if prompt == self._last:
            return self._last
        if self.now is None and self._last is not None:
            self._moment = local_time()
            prompt = self.assembler.prompt(self.agent, self._moment)
        self._last = prompt
        return prompt

    def paths(self) -> list[str]:
        """Everything that was looked at for it."""
        return self.assembler.looked_at()

    def lock(self) -> str:
        """The file that git holds while it changes many at once; nothing outside of a repository."""
        try:
            workspace = resolve_workspace(self.assembler.workspace, Reader())
        except CallError:
            return ""
        repository = find_repository(workspace, Reader())
        return os.path.join(repository.folder, "index.lock") if repository else ""


def changes(source: Watched, stop: Flag | None = None, tick: int = 0) -> Generator[Change | None, None, None]:
    """The prompt at first, then each change, until it is to stop. With `tick`, None after so many quiet milliseconds.

    A save of a file that was looked at and that left the prompt as it was is told too: there `prompt` is `before`. What goes
    wrong at the start is raised.
    """
    with Notices() as notices:
        prompt, error = source.prompt(), None
        while notices.follow(source.paths()):
            prompt = source.prompt()  # something may have changed before it was watched
        yield Change(prompt, None)
        while (seen := notices.wait(stop, tick, source.lock())) is not None:
            if not seen:
                yield None
            is_new = bool(seen)
            while is_new and not (stop and stop.is_set()):
                before, wrong = prompt, str(error or "")
                prompt, error = _look(source, before)
                files = _named(seen, prompt, before)
                if files or prompt is not before or str(error or "") != wrong:
                    yield Change(prompt, before, files or [printable(path) for path in seen if path], error)
                seen, is_new = {}, False
                try:
                    is_new = notices.follow(source.paths())
                except CallError as refused:  # more directories than can be watched
                    yield Change(prompt, prompt, (), refused)


def _look(source: Watched, before: Prompt) -> tuple[Prompt, Exception | None]:
    try:
        return source.prompt(), None
    except Exception as error:
        return before, error


def _named(seen: Mapping[str, bool], prompt: Prompt, before: Prompt) -> list[str]:
    """The files of a change: those that something happened to and that were looked at before or are now.

    A folder that comes with all its files is told by its name only; there the files are those that came with it.
    """
    candidates = {each.path for each in (*before.candidates, *prompt.candidates)}
    named = [printable(path) for path, was_looked_at in seen.items() if was_looked_at or printable(path) in candidates]
    if candidates.isdisjoint(named) and prompt is not before:
        moved = {each.path for each in set(prompt.candidates) ^ set(before.candidates) if each.fate != "absent"}
        return sorted(path for path in moved if any(is_inside(path, folder) for folder in named)) or named
    return named
