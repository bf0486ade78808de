"""Rebuild a prompt with variations that should not matter, to see whether it changes.

A single different byte invalidates a provider's cache. So the same prompt is built a little later, for the same directory under
another name, with the environment in another order, with directories listed in reverse order, and in a process with another hash seed.

Building a prompt with many skills is expensive. If a variation changes nothing that the prompt depends on (it resolves to the same
workspace, or to the same time at the layout's precision), the result is known without building. All other variations are first tried
together in one process, and separately only if the result is a different prompt.
"""

from __future__ import annotations

import os
import sys

from ..encoding.prompt import prompt_from
from ..engine.assembler import Assembler, round_to
from ..errors import ForewordError
from ..sources.environment import resolve_workspace
from ..sources.places import real_path
from ..sources.reader import Reader
from ..store import waits
from ..vocabulary import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from typing import Any

    from ..vocabulary import Agent, Prompt, Workspace

SEEDS = ("1", "2")
_TIMEOUT = 120  # seconds; a prompt takes far less than one second


@value
class Rebuild:
    """A repeated build: what was varied and how, and the resulting prompt, or the error that prevented it."""

    variation: str
    detail: str
    prompt: Prompt | None
    error: str = ""


def rebuilds(
    assembler: Assembler,
    agent: Agent,
    now: datetime,
    fields: Mapping[str, Any],
    first: Prompt | None = None,
) -> Iterator[Rebuild]:
    """Build the prompt again, once for each variation. `fields` are the question's fields, for builds in another process.

    `first` is the prompt that this assembler built originally.
    """
    first = assembler.prompt(agent, now) if first is None else first
    yield from _rebuild_later(assembler, agent, now, first)
    yield from _rebuild_under_other_names(assembler, agent, now, first)
    seed = next(other for other in SEEDS if other != os.environ.get("PYTHONHASHSEED"))
    try:
        is_same = _id_in_another_process(fields, seed) == first.id
    except (ForewordError, OSError):
        is_same = False  # the separate builds below show what is wrong
    # The other process inherits this process's environment, not one that the caller passed with the workspace.
    if not is_same or assembler.workspace.environment is not None:
        yield _rebuild_with_reordered_environment(assembler, agent, now)
    else:
        yield Rebuild("environment", _ENVIRONMENT_DETAIL, first)
    if is_same:
        yield Rebuild("listing", _LISTING_DETAIL, first)
        yield Rebuild("hash seed", f"in a process with hash seed {seed}", first)
    else:
        yield from _rebuild_separately(assembler, agent, now, fields)


def _rebuild_later(assembler: Assembler, agent: Agent, now: datetime, first: Prompt) -> Iterator[Rebuild]:
    from datetime import timedelta

    precision = assembler.snapshot(agent).precision

    def build_later(delay: timedelta) -> Prompt:
        moment = now + delay
        return first if round_to(precision, moment) == round_to(precision, now) else assembler.prompt(agent, moment)

    for detail, delay in (("a minute later", timedelta(minutes=1)), ("a day later", timedelta(days=1))):
        yield _try_build("clock", detail, build_later, delay)


def _rebuild_under_other_names(assembler: Assembler, agent: Agent, now: datetime, first: Prompt) -> Iterator[Rebuild]:
    workspace = assembler.workspace
    resolved = resolve_workspace(workspace, Reader())

    def build_in(other: Workspace) -> Prompt:
        return (
            first if resolve_workspace(other, Reader()) == resolved else _copy_of(assembler, other).prompt(agent, now)
        )

    for detail, cwd in _names_of(workspace):
        yield _try_build("directory", detail, build_in, replace(workspace, cwd=cwd))


def _rebuild_separately(
    assembler: Assembler, agent: Agent, now: datetime, fields: Mapping[str, Any]
) -> Iterator[Rebuild]:
    reversed_copy = _copy_of(assembler, assembler.workspace, _reversed_reader)
    yield _try_build("listing", _LISTING_DETAIL, reversed_copy.prompt, agent, now)
    for seed in SEEDS:
        detail = f"in a process with hash seed {seed}"
        yield _try_build("hash seed", detail, in_another_process, fields, seed)


_ENVIRONMENT_DETAIL = "with the environment in another order"
_LISTING_DETAIL = "with directories listed in reverse order"


def _rebuild_with_reordered_environment(assembler: Assembler, agent: Agent, now: datetime) -> Rebuild:
    workspace = assembler.workspace
    environment = os.environ if workspace.environment is None else workspace.environment
    reordered = replace(workspace, environment=_reverse(environment))
    return _try_build("environment", _ENVIRONMENT_DETAIL, _copy_of(assembler, reordered).prompt, agent, now)


def _reverse(environment: Mapping[str, str]) -> dict[str, str]:
    return dict(reversed(list(environment.items())))


def _try_build(variation: str, detail: str, build: Callable[..., Prompt], *arguments: Any) -> Rebuild:
    waits.announce("build")
    try:
        return Rebuild(variation, detail, build(*arguments))
    except (ForewordError, OSError, OverflowError, ValueError) as error:
        return Rebuild(variation, detail, None, str(error) or type(error).__name__)


def _reversed_reader() -> Reader:
    return Reader(disk=ReversedDisk())


def _copy_of(assembler: Assembler, workspace: Workspace, reader: Callable[[], Reader] = Reader) -> Assembler:
    """Return a new assembler for the same prompt."""
    copy = assembler.copy_with(workspace=workspace)
    copy.reader = reader
    return copy


def _names_of(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield other names for the working directory, including its real path if it is reached through a link."""
    cwd = resolve_workspace(workspace, Reader()).cwd
    yield "as a directory with a trailing slash", f"{cwd}/"
    yield "as a directory with `.` and `..` in its path", os.path.join(cwd, ".", "x", "..")
    try:
        yield "as a relative directory", os.path.relpath(cwd)
    except (OSError, ValueError):  # another drive, or no working directory
        pass
    if real_path(cwd) != cwd:
        yield "as the directory that the link points to", real_path(cwd)


class ReversedDisk:
    """The real disk, except that directories are listed in reverse order."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    real_scandir: Callable[..., Any] = os.scandir

    def scandir(self, path: str = ".") -> DirectoryListing:
        with ReversedDisk.real_scandir(path) as listing:
            return DirectoryListing(sorted(listing, key=lambda entry: entry.name, reverse=True))


class DirectoryListing(list["os.DirEntry[str]"]):
    """A directory's entries, usable like the result of `os.scandir`."""

    def __enter__(self) -> DirectoryListing:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def reverse_listings() -> None:
    """List directories in reverse order from now on, everywhere in this process."""
    os.scandir = ReversedDisk().scandir  # type: ignore[assignment]


def in_another_process(fields: Mapping[str, Any], seed: str) -> Prompt:
    """Return the prompt that another process with this hash seed builds."""
    import json

    return prompt_from(json.loads(_run(_PROGRAM, fields, {**os.environ, "PYTHONHASHSEED": seed})), "another process")


def _id_in_another_process(fields: Mapping[str, Any], seed: str) -> str:
    """Return the id of the prompt that another process builds with everything varied: hash seed, environment and listing."""
    return _run(_VARIED_PROGRAM, fields, {**_reverse(os.environ), "PYTHONHASHSEED": seed}).strip()


# Programs that read a question's fields, and print the prompt or only its id.
_PROGRAM = """\
import json, sys
from foreword.errors import ForewordError
from foreword.programs.question import Question
from foreword.programs.questions import show
try:
    sys.stdout.write(json.dumps(show(Question(json.load(sys.stdin)))))
except ForewordError as error:
    sys.exit(str(error))
"""
_VARIED_PROGRAM = """\
import gc, json, sys
gc.disable()
from foreword.errors import ForewordError
from foreword.programs.stability import reverse_listings
reverse_listings()
from foreword.programs.question import Question
try:
    sys.stdout.write(Question(json.load(sys.stdin)).prompt().id)
except ForewordError as error:
    sys.exit(str(error))
"""


def _run(program: str, fields: Mapping[str, Any], environment: dict[str, str]) -> str:
    """Return the output of a Python program that reads a question's fields."""
    import json
    from subprocess import PIPE, Popen, TimeoutExpired

    waits.announce("build")
    # Without -P, the program would import modules from the current directory, which may be an untrusted workspace.
    command = [sys.executable, "-P", "-c", program]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment) as process:
        try:
            waits.set_interrupt(process.kill)
            output, errors = process.communicate(json.dumps(dict(fields)).encode("ascii"), _TIMEOUT)
        except TimeoutExpired:
            raise ForewordError(f"the process did not finish within {_TIMEOUT} seconds") from None
        finally:
            if process.returncode is None:
                process.kill()
            waits.set_interrupt(None)
    if process.returncode:
        error = errors.decode("utf-8", "replace").strip()
        raise ForewordError(error or f"the process failed with status {process.returncode}")
    return output.decode("ascii")
