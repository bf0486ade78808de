"""Builds a prompt again in ways that should not matter, and says which of its words moved.

A provider's cache is lost by a byte. So the same prompt is made a little later, for the same directory under another of its names, with
the environment in another order, with directories listed backwards, and in processes that hash otherwise.
"""

from __future__ import annotations

import os
import sys

from .engine import Assembler
from .errors import ForewordError
from .sources.environment import settled
from .sources.files import Reader, real_path
from .vocabulary import replace, value
from .wire import prompt_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from typing import Any

    from .vocabulary import Agent, Prompt, Workspace

SEEDS = ("1", "2")
_PATIENCE = 120  # seconds; a prompt takes far less than one


@value
class Rebuild:
    """A prompt that was built again: what was varied, how, and what came out, or why nothing did."""

    varied: str
    how: str
    prompt: Prompt | None
    trouble: str = ""


def rebuilds(
    assembler: Assembler, agent: Agent, now: datetime, command: Sequence[str], standard_input: bytes = b""
) -> Iterator[Rebuild]:
    """The prompt again, once for each variation. `command` is what `foreword` takes to print it as JSON in another process."""
    from datetime import timedelta

    for how, later in (("a minute later", timedelta(minutes=1)), ("a day later", timedelta(days=1))):
        yield _built("clock", how, lambda moved: assembler.prompt(agent, now + moved), later)
    workspace = assembler.workspace

    def again(where: Workspace, reader: Callable[[], Reader] = Reader) -> Prompt:
        return _like(assembler, where, reader).prompt(agent, now)

    for how, cwd in _names_of(workspace):
        yield _built("directory", how, again, replace(workspace, cwd=cwd))
    environment = os.environ if workspace.environment is None else workspace.environment
    backwards = dict(reversed(list(environment.items())))
    yield _built(
        "environment", "with the environment in another order", again, replace(workspace, environment=backwards)
    )
    yield _built("listing", "with directories listed backwards", again, workspace, _backwards_reader)
    for seed in SEEDS:
        yield _built(
            "hash seed", f"in a process with hash seed {seed}", in_another_process, command, seed, standard_input
        )


def _built(varied: str, how: str, build: Callable[..., Prompt], *given: Any) -> Rebuild:
    try:
        return Rebuild(varied, how, build(*given))
    except (ForewordError, OSError, OverflowError, ValueError) as error:
        return Rebuild(varied, how, None, str(error) or type(error).__name__)


def _backwards_reader() -> Reader:
    return Reader(disk=BackwardsDisk())


def _like(assembler: Assembler, workspace: Workspace, reader: Callable[[], Reader] = Reader) -> Assembler:
    """A fresh assembler for the same prompt."""
    fresh = assembler.like(workspace=workspace)
    fresh.reader = reader
    return fresh


def _names_of(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Other names of the working directory. That of the link's target only where it is reached through a link already."""
    cwd = settled(workspace, Reader()).cwd
    yield "as a directory with a slash behind it", f"{cwd}/"
    yield "as a directory with detours in its name", os.path.join(cwd, ".", "x", "..")
    try:
        yield "as a relative directory", os.path.relpath(cwd)
    except (OSError, ValueError):  # another drive, or no working directory
        pass
    if real_path(cwd) != cwd:
        yield "as the directory that a link leads to", real_path(cwd)


class BackwardsDisk:
    """The machine's disk, but for the order in which directories are listed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def scandir(self, path: str) -> Listing:
        with os.scandir(path) as listing:
            return Listing(sorted(listing, key=lambda entry: entry.name, reverse=True))


class Listing(list["os.DirEntry[str]"]):
    """A directory's entries, to be used as `os.scandir` is."""

    def __enter__(self) -> Listing:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def in_another_process(command: Sequence[str], seed: str, standard_input: bytes) -> Prompt:
    """The prompt that a process of its own prints, whose sets and dictionaries are hashed with this seed."""
    import json
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, "-m", "foreword", *command],
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            input=standard_input,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ForewordError(f"the process was not done after {_PATIENCE} seconds") from None
    try:
        return prompt_from(json.loads(done.stdout), "another process")
    except ValueError:
        raise ForewordError(done.stderr.decode("utf-8", "replace").strip() or "the process printed nothing") from None
