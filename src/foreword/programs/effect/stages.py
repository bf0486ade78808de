"""Decides, from the runs that are finished, what each arm shows and what to run next.

Everything here follows from the results alone, so an experiment that was interrupted continues as if it had not been.

An arm with several paragraphs is split in two if leaving them out makes a difference, and its halves are the arms of the next
stage. A group keeps its part of the permitted error when it is split, in proportion to its paragraphs: a false alarm further down needs
one further up (Meinshausen, 2008), so all stages together have the error of the first.
"""

from __future__ import annotations

from math import sqrt

from ...vocabulary import replace, value
from .design import EVERYTHING, LOOKS, missing_runs
from .statistics import Interval, Sample, difference, sample_of, upper_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from ...text.leaving_out import Selection
    from .design import Arm, Design, RunKey

    Verdict = Literal["helps", "harms", "no-difference", "undecided"]
    # The score of each run by its number, or None if it had no result, for each arm.
    Results = Mapping[str, Mapping[int, float | None]]

_MAX_WITHOUT_RESULT = 0.2
_SMALL_CHANCE = 0.1


@value
class ArmRow:
    """What an arm shows. `look` is the number of the last look at it, 0 if there was none yet.

    An arm is hopeless if the remaining runs would hardly decide anything.
    """

    arm: Arm
    sample: Sample
    interval: Interval
    verdict: Verdict = "undecided"
    no_result: int = 0
    look: int = 0
    is_hopeless: bool = False

    @property
    def is_open(self) -> bool:
        return self.verdict == "undecided" and not self.is_hopeless


@value
class Progress:
    """The rows so far, those of earlier stages first, the sample of "everything", and the runs that are to be done next.

    If there are none, the experiment is finished. `planned` is the number of runs if no arm of this stage is decided early.
    """

    rows: Sequence[ArmRow]
    everything: Sample
    pending: Sequence[RunKey] = ()
    planned: int = 0
    stage: int = 1


def advance(design: Design, results: Results) -> Progress:
    """Return the state of the experiment."""
    earlier: list[ArmRow] = []
    arms, stage, used = list(design.arms), 1, 0
    while True:
        rows, used, pending = _stage(arms, design, results, used)
        sample = sample_of(_scores(results, EVERYTHING, used))
        if pending:
            finished = sum(len(results.get(row.arm.name, {})) for row in earlier)
            planned = finished + design.runs * len(arms) + max(design.runs * design.ratio, used)
            return Progress([*earlier, *rows], sample, pending, planned, stage)
        arms = [half for row in rows if row.verdict in ("helps", "harms") for half in split(row.arm)]
        earlier += rows
        if not arms:
            return Progress(earlier, sample, (), 0, stage)
        stage += 1


def _stage(arms: Sequence[Arm], design: Design, results: Results, used: int) -> tuple[list[ArmRow], int, list[RunKey]]:
    """Look at the arms as often as the results allow.

    Returns their rows, how many runs of "everything" were used, and the runs that the next look needs.
    """
    rows = [ArmRow(arm, sample_of(()), Interval(0.0, -1.0, 1.0)) for arm in arms]
    for look, size in enumerate(design.sizes(), 1):
        is_open = [row.is_open for row in rows]
        if not any(is_open):
            break
        needed = max(size * design.ratio, used)
        counts = {row.arm.name: size for row, is_active in zip(rows, is_open, strict=True) if is_active}
        pending = missing_runs({EVERYTHING: needed, **counts}, results, design)
        if pending:
            return rows, used, pending
        used = needed
        everything = sample_of(_scores(results, EVERYTHING, used))
        rows = [
            _look(row.arm, design, results, everything, look, size) if is_active else row
            for row, is_active in zip(rows, is_open, strict=True)
        ]
    return rows, used, []


def _look(arm: Arm, design: Design, results: Results, everything: Sample, look: int, size: int) -> ArmRow:
    """Return what an arm shows at a look."""
    sample = sample_of(_scores(results, arm.name, size))
    limits = design.limits(arm)
    interval = difference(sample, everything, limits[look - 1])
    row = ArmRow(arm, sample, interval, "undecided", size - sample.count, look)
    if row.no_result > _MAX_WITHOUT_RESULT * size:
        return row
    verdict = judge(interval, design.margin)
    remaining = 1 - LOOKS[look - 1]
    is_hopeless = bool(remaining) and _is_hopeless(interval, limits[look - 1], limits[-1], remaining, design.margin)
    return replace(row, verdict=verdict, is_hopeless=verdict == "undecided" and is_hopeless)


def judge(interval: Interval, margin: float) -> Verdict:
    """Return the verdict about an instruction from the interval of the arm without it."""
    if interval.high < 0:
        return "helps"
    if interval.low > 0:
        return "harms"
    return "no-difference" if interval.low > -margin and interval.high < margin else "undecided"


def _is_hopeless(interval: Interval, z: float, last_z: float, remaining: float, margin: float) -> bool:
    """Whether the last look would probably find neither a difference, even if it were as large as the margin, nor that there is none."""
    centre, error = abs(interval.low + interval.high) / 2, (interval.high - interval.low) / 2 / z
    last_error = error * sqrt(1 - remaining)
    now = centre / error * sqrt(1 - remaining)
    chance = upper_tail((last_z - now - margin / last_error * remaining) / sqrt(remaining))
    return chance < _SMALL_CHANCE and centre + last_z * last_error >= margin


def _scores(results: Results, arm: str, count: int) -> list[float]:
    """Return the scores of an arm's first runs. Runs without a result have none."""
    own = results.get(arm, {})
    scores = (own.get(number) for number in range(1, count + 1))
    return [score for score in scores if score is not None]


def split(arm: Arm) -> list[Arm]:
    """Return the halves of an arm with several paragraphs."""
    paragraphs = arm.paragraphs
    if len(paragraphs) < 2:
        return []
    middle = (len(paragraphs) + 1) // 2
    return [group(half, arm, len(half) / len(paragraphs)) for half in (paragraphs[:middle], paragraphs[middle:])]


def group(paragraphs: Sequence[Selection], arm: Arm, part: float) -> Arm:
    """Return an arm without these paragraphs, with a part of another arm's share of the error."""
    lines = (paragraphs[0].first, paragraphs[-1].last)
    name = f"{arm.path}:{lines[0]}-{lines[1]}" if lines[0] != lines[1] else f"{arm.path}:{lines[0]}"
    return replace(arm, name=name, selections=paragraphs, lines=lines, share=arm.share * part, paragraphs=paragraphs)
