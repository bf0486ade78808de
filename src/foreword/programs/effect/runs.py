"""Runs the user's command in a clone, and reads its result."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import time

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .clones import WorkFolder

_OUTPUT_END = 64 << 10
_SHOWN_ERROR = 2_000
_GRACE = 5.0
# The command starts only after the guard knows its process group: if this process is killed before that, the command never starts.
_WAIT_FOR_GUARD = 'read -r _ || exit 125; exec "$@" </dev/null'


@value
class RunOutcome:
    """What one run showed. `score` is None if there was no result, and `reason` says why."""

    score: float | None
    status: int | None
    seconds: float
    cost: float | None = None
    tokens: int | None = None
    reason: str = ""
    error: str = ""


def run_command(
    command: Sequence[str], cwd: str, output: str, environment: Mapping[str, str], limit: float, work: WorkFolder
) -> RunOutcome:
    """Run a command in a directory, for at most `limit` seconds. Its output goes to files in the folder `output`."""
    begin = time.monotonic()
    out_path, error_path = os.path.join(output, "stdout"), os.path.join(output, "stderr")
    with open(out_path, "wb") as out, open(error_path, "wb") as errors:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _WAIT_FOR_GUARD, "sh", *command],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )
        work.guard(process.pid)
        try:
            is_late = _wait(process, limit)
        finally:
            _end_group(process.pid, signal.SIGKILL)
            process.wait()
            work.release(process.pid)
    seconds = time.monotonic() - begin
    error = _end_of(error_path)[-_SHOWN_ERROR:].strip()
    if is_late:
        return RunOutcome(None, None, seconds, reason=f"it took longer than {limit:g} seconds", error=error)
    return read_outcome(process.returncode, _end_of(out_path), seconds, error)


def _wait(process: subprocess.Popen[bytes], limit: float) -> bool:
    """Let the command start, and wait for it. Returns whether it took too long and was stopped."""
    assert process.stdin is not None
    try:
        process.stdin.write(b"\n")
        process.stdin.close()
    except OSError:  # the shell could not start
        pass
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        _end_group(process.pid, signal.SIGTERM)
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            pass
        return True
    return False


def _end_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except OSError:
        pass


def _end_of(path: str) -> str:
    """Return the last part of a file."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _OUTPUT_END, 0))
        return file.read().decode("utf-8", "replace")


def read_outcome(status: int, output: str, seconds: float, error: str = "") -> RunOutcome:
    """Return what a run showed, from its exit status and output.

    0 is success and 1 is failure, unless the last line of the output is a score. Everything else counts as no result.
    """
    if status not in (0, 1):
        how = f"it was ended by signal {-status}" if status < 0 else f"it ended with status {status}"
        return RunOutcome(None, status, seconds, reason=how, error=error)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    form = _parse(lines[-1]) if lines else None
    if not isinstance(form, dict):
        score = _score(form)
        return RunOutcome(1.0 - status if score is None else score, status, seconds)
    cost, tokens = _number(form.get("cost")), _number(form.get("tokens"))
    score = _score(form["score"]) if "score" in form else 1.0 - status
    reason = "" if score is not None else f"its score is not a number from 0 to 1: {json.dumps(form['score'])[:80]}"
    return RunOutcome(
        score,
        status,
        _number(form.get("seconds")) or seconds,
        cost,
        None if tokens is None else int(tokens),
        reason,
        error,
    )


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _score(content: Any) -> float | None:
    number = _number(content)
    return number if number is not None and number <= 1 else None


def _number(content: Any) -> float | None:
    """Return a number that is not negative, or None."""
    if not isinstance(content, int | float):
        return None
    number = float(content) if abs(content) < 1e15 else math.inf
    return number if 0 <= number < math.inf else None
