"""Runs an experiment: asks what to run next, runs it in clones, writes down the results, and asks again."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from queue import Queue

from ...errors import CallError
from ...vocabulary import value
from .clones import Clones, WorkFolder
from .design import EVERYTHING, seed_of
from .runs import run_command
from .stages import advance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from ...vocabulary import Finding
    from .design import Arm, Design, RunKey
    from .results import ResultsFile
    from .runs import RunOutcome
    from .stages import Progress
    from .subject import ExperimentSubject

    class ExperimentListener(Protocol):
        """Receives what happens, and may stop the experiment."""

        def starts(self, planned: int, findings: Sequence[Finding]) -> None: ...

        def ran(self, state: Estimate) -> None: ...

        def confirms(self, state: Estimate) -> bool: ...


_FIRST_RUNS = 3
_TOLERANCE = 1.25


@value
class Conditions:
    """How each run is made."""

    command: Sequence[str]
    environment: Mapping[str, str]
    timeout: float
    jobs: int
    max_cost: float | None = None


@value
class Estimate:
    """How far an experiment is: runs that are done and planned, and the seconds and dollars spent and probably left.

    Dollars are None as long as no run has said what it cost.
    """

    done: int
    planned: int
    seconds_left: float
    spent: float | None
    cost_left: float | None


class Experiment:
    """One experiment. `results` may have some already."""

    def __init__(
        self,
        subject: ExperimentSubject,
        design: Design,
        conditions: Conditions,
        results: ResultsFile,
        listener: ExperimentListener,
    ) -> None:
        self.subject, self.design, self.conditions = subject, design, conditions
        self.results, self.listener = results, listener
        self.stop_reason = ""
        self._allowed: float | None = None
        self._lock = threading.Lock()
        self._is_stopping = False
        self._running = 0
        self._arms: dict[str, Arm] = {}

    def run(self, compare: Callable[[str], Sequence[Finding]]) -> Progress:
        """Run until every arm is decided or the money is spent. `compare` is called with the first clone."""
        work = WorkFolder()
        threads: list[threading.Thread] = []
        restore = _end_on_signals()
        try:
            clones = Clones(work, self.subject.git, self.subject.tracked, self.subject.extra)
            progress = self._advance()
            self.listener.starts(progress.planned, compare(clones.make(0, EVERYTHING, {})))
            while progress.pending and not self.stop_reason:
                self._run_batch(self._batch(progress), clones, work, threads, progress.planned)
                progress = self._advance()
                self._check_money(progress)
            return progress
        finally:
            self._is_stopping = True
            work.remove()
            for thread in threads:
                thread.join()
            work.remove_again()
            restore()

    def _advance(self) -> Progress:
        progress = advance(self.design, self.results.scores)
        self._arms = {row.arm.name: row.arm for row in progress.rows}
        return progress

    def _batch(self, progress: Progress) -> Sequence[RunKey]:
        """Return the runs until the next look, or at first only a few, to see what they cost and whether they have results at all."""
        is_first = len(self.results.records) < _FIRST_RUNS
        return progress.pending[: max(_FIRST_RUNS, self.conditions.jobs)] if is_first else progress.pending

    def _run_batch(
        self, batch: Sequence[RunKey], clones: Clones, work: WorkFolder, threads: list[threading.Thread], planned: int
    ) -> None:
        todo = deque(batch)
        done: Queue[tuple[RunKey, RunOutcome] | BaseException | None] = Queue()

        def work_on(slot: int) -> None:
            try:
                while key := self._take(todo):
                    outcome = self._run_one(slot, key, clones, work)
                    done.put((key, outcome))
                done.put(None)
            except BaseException as error:  # the main thread raises it again
                done.put(error)

        count = min(self.conditions.jobs, len(batch))
        threads[:] = [threading.Thread(target=work_on, args=(slot + 1,), daemon=True) for slot in range(count)]
        for thread in threads:
            thread.start()
        while count:
            item = done.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                count -= 1
                continue
            self._keep(*item, planned)

    def _take(self, todo: deque[RunKey]) -> RunKey | None:
        with self._lock:
            if self._is_stopping or not todo or self._is_over_budget():
                return None
            self._running += 1
            return todo.popleft()

    def _run_one(self, slot: int, key: RunKey, clones: Clones, work: WorkFolder) -> RunOutcome:
        arm, number = key
        edits = {} if arm == EVERYTHING else self.subject.edits(self._arms[arm])
        cwd = os.path.normpath(os.path.join(clones.make(slot, arm, edits), self.subject.folder))
        environment = {
            **self.conditions.environment,
            "FOREWORD_ARM": arm,
            "FOREWORD_RUN": str(number),
            "FOREWORD_SEED": str(seed_of(self.design.seed, number)),
            "PWD": cwd,
        }
        return run_command(self.conditions.command, cwd, clones.slot(slot), environment, self.conditions.timeout, work)

    def _keep(self, key: RunKey, outcome: RunOutcome, planned: int) -> None:
        arm, number = key
        with self._lock:
            self._running -= 1
            self.results.add(arm, number, seed_of(self.design.seed, number), outcome)
        records = self.results.records
        if len(records) >= _FIRST_RUNS and all(record["score"] is None for record in records):
            error = f"; its error output ends with:\n{outcome.error}" if outcome.error else ""
            raise CallError(f"the first {len(records)} runs had no result: {outcome.reason}{error}")
        self.listener.ran(self.estimate(planned))

    def estimate(self, planned: int) -> Estimate:
        """Return how far the experiment is."""
        records = self.results.records
        left = max(planned - sum(map(len, self.results.scores.values())), 0)
        seconds = [record["seconds"] for record in records]
        costs = [record["cost"] for record in records if record.get("cost") is not None]
        seconds_left = left * sum(seconds) / max(len(seconds), 1) / self.conditions.jobs
        cost_left = left * sum(costs) / len(costs) if costs else None
        return Estimate(planned - left, planned, seconds_left, self.results.spent, cost_left)

    # Money

    def _budget(self) -> float | None:
        limits = [limit for limit in (self.conditions.max_cost, self._allowed) if limit is not None]
        return min(limits) if limits else None

    def _is_over_budget(self) -> bool:
        """Whether the next run would probably exceed the budget, together with those that are running."""
        budget, spent = self._budget(), self.results.spent
        if budget is None or spent is None:
            return False
        return spent + (self._running + 1) * self._mean_cost() > budget

    def _mean_cost(self) -> float:
        costs: list[float] = [record["cost"] for record in self.results.records if record.get("cost") is not None]
        return sum(costs) / max(len(costs), 1)

    def _check_money(self, progress: Progress) -> None:
        """Stop if the money is spent. Otherwise ask once the cost is known, and again if the estimate turns out too low."""
        if not progress.pending:
            return
        state = self.estimate(progress.planned)
        is_known = self._allowed is None or self._is_over_budget()
        maximum = self.conditions.max_cost
        if maximum is not None and self._is_over_budget() and (self._allowed is None or maximum <= self._allowed):
            self.stop_reason = f"the next run would exceed --max-cost {maximum:g}"
        elif state.cost_left is not None and state.spent is not None and is_known:
            if self.listener.confirms(state):
                # At least one more run per job is allowed, however little is left.
                self._allowed = (state.spent + state.cost_left) * _TOLERANCE + self._mean_cost() * self.conditions.jobs
            else:
                self.stop_reason = "you stopped it"


def _end_on_signals() -> Callable[[], None]:
    """Treat the signals that end a program like Ctrl-C, so that clones are removed. Returns a function that undoes it."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    earlier = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}

    def restore() -> None:
        for number, handler in earlier.items():
            signal.signal(number, handler)

    return restore
