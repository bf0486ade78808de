"""The file of results: a first line about the experiment, and then one line of JSON for each attempt at a run.

A line is written and synced as soon as its run has ended, so that nothing is lost when the program is killed. A last line that was cut
off is ignored.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256

from ...errors import CallError
from ...text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .design import Design
    from .runs import RunOutcome

_KIND, _VERSION = "foreword effect", 1


def fingerprint(design: Design, texts: Mapping[str, str], head: str, command: Sequence[str]) -> str:
    """Return a hash of what must be the same for an experiment to continue: the instructions, the commit, the plan and the command."""
    parts = [design.runs, design.seed, design.margin, [arm.name for arm in design.arms], texts, head, list(command)]
    return sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class ResultsFile:
    """The results of one experiment. `retries` is how often a run without a result is repeated."""

    def __init__(self, path: str, header: Mapping[str, Any], retries: int, resume: bool) -> None:
        self.path, self._retries = path, retries
        self.scores: dict[str, dict[int, float | None]] = {}
        self.attempts: dict[tuple[str, int], int] = {}
        self.records: list[dict[str, Any]] = []
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (0 if resume else os.O_EXCL)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            raise CallError(
                f"{printable(path)} exists already; continue it with --resume, or choose another file"
            ) from None
        except OSError as error:
            raise CallError(f"the results cannot be written to {printable(path)}: {error.strerror}") from None
        if not self._read(header):
            self._write({"kind": _KIND, "version": _VERSION, **header})

    def _read(self, header: Mapping[str, Any]) -> bool:
        """Read the results that the file has already. Returns whether it has any."""
        with open(self.path, "rb") as file:
            data = file.read()
        complete, _, rest = data.rpartition(b"\n")
        if rest:  # the end of a line that could not be written
            os.ftruncate(self._descriptor, len(data) - len(rest))
        lines = complete.split(b"\n") if complete else []
        for number, line in enumerate(lines):
            record = _parse(line)
            if not number:
                _check_header(self.path, record, header)
            elif record is not None:
                self._add(record)
        return bool(lines)

    def add(self, arm: str, number: int, seed: int, outcome: RunOutcome) -> None:
        """Append the result of one attempt."""
        attempt = self.attempts.get((arm, number), 0) + 1
        record = {
            "arm": arm,
            "run": number,
            "attempt": attempt,
            "seed": seed,
            "score": outcome.score,
            "status": outcome.status,
            "seconds": round(outcome.seconds, 3),
            "cost": outcome.cost,
            "tokens": outcome.tokens,
            "reason": outcome.reason,
        }
        self._write(record)
        self._add(record)

    def _add(self, record: dict[str, Any]) -> None:
        arm, number, score = record.get("arm"), record.get("run"), record.get("score")
        if not isinstance(arm, str) or not isinstance(number, int):
            return
        self.records.append(record)
        attempts = self.attempts[arm, number] = self.attempts.get((arm, number), 0) + 1
        if score is not None or attempts > self._retries:
            self.scores.setdefault(arm, {})[number] = score

    def _write(self, record: Mapping[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(record).encode() + b"\n")
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)

    @property
    def spent(self) -> float | None:
        """What all runs cost, or None if no run has said."""
        costs = [record["cost"] for record in self.records if record.get("cost") is not None]
        return sum(costs) if costs else None


def read_header(path: str) -> dict[str, Any]:
    """Return the first line of a file of results. Raises a CallError if it is none."""
    try:
        with open(path, "rb") as file:
            record = _parse(file.readline())
    except OSError as error:
        raise CallError(f"the results in {printable(path)} cannot be read: {error.strerror}") from None
    if record is None or record.get("kind") != _KIND:
        raise CallError(f"{printable(path)} is not a file of results of foreword effect")
    return record


def _check_header(path: str, record: dict[str, Any] | None, header: Mapping[str, Any]) -> None:
    if record is None or record.get("kind") != _KIND:
        raise CallError(f"{printable(path)} is not a file of results of foreword effect")
    if record.get("fingerprint") != header["fingerprint"]:
        raise CallError(
            f"{printable(path)} is of another experiment: the command, the options, the commit or the instruction files have changed since; "
            "start a new one without --resume"
        )


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
