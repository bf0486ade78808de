"""Builds a prompt again in ways that should not matter, and says which of its words moved.

A provider's cache is lost by a byte. So the same prompt is made a little later, for the same directory under another of its names, with
the environment in another order, with directories listed backwards, and in a process with another hash seed.

A build of many skills is expensive, so as few as possible are made. Where a variation leaves everything that a build depends on as it is,
the result is known: the same workspace, or a time that the layout does not tell. All others are tried at once, in one process; only if
that gives another prompt, each is tried on its own to see which one it was.
"""

from __future__ import annotations

import os
import sys

from ..encoding.prompt import prompt_from
from ..engine.assembler import Assembler, round_to
from ..errors import ForewordError
from ..sources.environment import resolve_workspace
from ..sources.files import Reader
from ..sources.stamps import real_path
from ..vocabulary import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..vocabulary import Agent, Prompt, Workspace

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
    assembler: Assembler,
    agent: Agent,
    now: datetime,
    command: Sequence[str],
    standard_input: bytes = b"",
    first: Prompt | None = None,
) -> Iterator[Rebuild]:
    """The prompt again, once for each variation. `command` is what `foreword` takes to print it as JSON in another process.

    `first` is the prompt as it was built by this assembler.
    """
    first = assembler.prompt(agent, now) if first is None else first
    yield from _at_other_times(assembler, agent, now, first)
    yield from _by_other_names(assembler, agent, now, first)
    seed = next(each for each in SEEDS if each != os.environ.get("PYTHONHASHSEED"))
    try:
        is_same = _id_in_another_process(command, seed, standard_input) == first.id
    except (ForewordError, OSError):
        is_same = False  # what is wrong is found out one by one
    # Another process has the environment of this one, not one that the caller gave the workspace.
    if not is_same or assembler.workspace.environment is not None:
        yield _with_environment_backwards(assembler, agent, now)
    else:
        yield Rebuild("environment", _BACKWARDS_ENVIRONMENT, first)
    if is_same:
        yield Rebuild("listing", _BACKWARDS_LISTING, first)
        yield Rebuild("hash seed", f"in a process with hash seed {seed}", first)
    else:
        yield from _one_by_one(assembler, agent, now, command, standard_input)


def _at_other_times(assembler: Assembler, agent: Agent, now: datetime, first: Prompt) -> Iterator[Rebuild]:
    from datetime import timedelta

    tells = assembler.snapshot(agent).tells

    def later(by: timedelta) -> Prompt:
        moment = now + by
        return first if round_to(tells, moment) == round_to(tells, now) else assembler.prompt(agent, moment)

    for how, by in (("a minute later", timedelta(minutes=1)), ("a day later", timedelta(days=1))):
        yield _built("clock", how, later, by)


def _by_other_names(assembler: Assembler, agent: Agent, now: datetime, first: Prompt) -> Iterator[Rebuild]:
    workspace = assembler.workspace
    known = resolve_workspace(workspace, Reader())

    def again(where: Workspace) -> Prompt:
        return first if resolve_workspace(where, Reader()) == known else _like(assembler, where).prompt(agent, now)

    for how, cwd in _names_of(workspace):
        yield _built("directory", how, again, replace(workspace, cwd=cwd))


def _one_by_one(
    assembler: Assembler, agent: Agent, now: datetime, command: Sequence[str], standard_input: bytes
) -> Iterator[Rebuild]:
    backwards = _like(assembler, assembler.workspace, _backwards_reader)
    yield _built("listing", _BACKWARDS_LISTING, backwards.prompt, agent, now)
    for seed in SEEDS:
        how = f"in a process with hash seed {seed}"
        yield _built("hash seed", how, in_another_process, command, seed, standard_input)


_BACKWARDS_ENVIRONMENT = "with the environment in another order"
_BACKWARDS_LISTING = "with directories listed backwards"


def _with_environment_backwards(assembler: Assembler, agent: Agent, now: datetime) -> Rebuild:
    workspace = assembler.workspace
    environment = os.environ if workspace.environment is None else workspace.environment
    where = replace(workspace, environment=_backwards(environment))
    return _built("environment", _BACKWARDS_ENVIRONMENT, _like(assembler, where).prompt, agent, now)


def _backwards(environment: Mapping[str, str]) -> dict[str, str]:
    return dict(reversed(list(environment.items())))


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
    cwd = resolve_workspace(workspace, Reader()).cwd
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

    scandir_of_machine: Callable[..., Any] = os.scandir

    def scandir(self, path: str = ".") -> Listing:
        with BackwardsDisk.scandir_of_machine(path) as listing:
            return Listing(sorted(listing, key=lambda entry: entry.name, reverse=True))


class Listing(list["os.DirEntry[str]"]):
    """A directory's entries, to be used as `os.scandir` is."""

    def __enter__(self) -> Listing:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def list_backwards() -> None:
    """List directories backwards from now on, everywhere in this process."""
    os.scandir = BackwardsDisk().scandir  # type: ignore[assignment]


def in_another_process(command: Sequence[str], seed: str, standard_input: bytes) -> Prompt:
    """The prompt that a process of its own prints, whose sets and dictionaries are hashed with this seed."""
    import json

    printed, trouble = _run(["-m", "foreword", *command], {**os.environ, "PYTHONHASHSEED": seed}, standard_input)
    try:
        return prompt_from(json.loads(printed), "another process")
    except ValueError:
        raise ForewordError(trouble or "the process printed nothing") from None


# The same prompt where directories are listed backwards; only its id is printed, for nothing else is needed.
_PROGRAM = """\
import sys
from foreword.programs.stability import list_backwards
list_backwards()
from foreword.cli.inspect import print_id
sys.exit(print_id(sys.argv[1:]))
"""


def _id_in_another_process(command: Sequence[str], seed: str, standard_input: bytes) -> str:
    """The id of the prompt of a process in which all is varied at once: hash seed, environment and listing."""
    environment = {**_backwards(os.environ), "PYTHONHASHSEED": seed}
    printed, trouble = _run(["-c", _PROGRAM, *command], environment, standard_input)
    if trouble:
        raise ForewordError(trouble)
    return printed.decode("ascii", "replace").strip()


def _run(arguments: Sequence[str], environment: dict[str, str], standard_input: bytes) -> tuple[bytes, str]:
    """What a Python process prints, and what it complains of."""
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            env=environment,
            input=standard_input,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ForewordError(f"the process was not done after {_PATIENCE} seconds") from None
    return done.stdout, done.stderr.decode("utf-8", "replace").strip()
