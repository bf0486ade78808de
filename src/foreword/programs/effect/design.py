"""The plan of an experiment: its arms, when to look at the results, and in which order to run."""

from __future__ import annotations

from hashlib import sha256
from math import ceil, sqrt

from ...text.leaving_out import Selection
from ...vocabulary import value
from .statistics import ERROR, critical_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    # An arm and the number of the run, from 1.
    RunKey = tuple[str, int]

EVERYTHING, NOTHING = "everything", "nothing"
LOOKS = (0.5, 0.6, 0.7, 0.8, 1.0)
"""When the results are looked at, as fractions of the planned runs. An earlier look would hardly ever decide anything."""
MARGIN = 0.3
RUNS = 40
_MAX_RATIO = 3


@value
class Arm:
    """A copy of the repository without one instruction. `path` and `lines` say where it is.

    `share` is its part of the permitted error. If it has several `paragraphs`, it can be split.
    """

    name: str
    selections: Sequence[Selection] = ()
    path: str = ""
    lines: Sequence[int] | None = None
    share: float = 0.0
    paragraphs: Sequence[Selection] = ()


@value
class Design:
    """How an experiment is run: at most `runs` per arm, and `ratio` times as many of "everything".

    An arm shows no difference if one as large as `margin` is excluded.
    """

    arms: Sequence[Arm]
    runs: int = RUNS
    seed: int = 0
    margin: float = MARGIN
    ratio: int = 1

    def limits(self, arm: Arm) -> tuple[float, ...]:
        """Return the critical value of each look for an arm."""
        return critical_values(round(ERROR * arm.share, 12), LOOKS)

    def sizes(self) -> list[int]:
        """Return how many runs of each arm there are at each look."""
        return [ceil(self.runs * look - 1e-9) for look in LOOKS]

    @property
    def planned(self) -> int:
        """The number of runs if no arm is decided early."""
        return self.runs * (len(self.arms) + self.ratio)


def new_design(arms: Sequence[Arm], runs: int = RUNS, seed: int = 0, margin: float = MARGIN) -> Design:
    """Return the design for these arms, which share the permitted error equally unless they have shares already.

    Every arm is compared with "everything", which therefore gets more runs: about the root of the number of arms.
    """
    shared = [
        Arm(arm.name, arm.selections, arm.path, arm.lines, arm.share or 1 / len(arms), arm.paragraphs) for arm in arms
    ]
    ratio = min(max(round(sqrt(len(arms))), 1), _MAX_RATIO)
    return Design(shared, runs, seed, margin, ratio)


# Runs


def seed_of(design_seed: int, number: int) -> int:
    """Return the seed for a run. Runs with the same number have the same seed in every arm."""
    return int.from_bytes(sha256(f"{design_seed}:{number}".encode()).digest()[:4], "big")


def in_order(runs: Iterable[RunKey], design: Design) -> list[RunKey]:
    """Return runs in the order in which they are started: round by round, and at random within each round.

    Every arm meets the same conditions, such as a slow hour of a provider.
    """

    def position(run: RunKey) -> tuple[int, bytes]:
        arm, number = run
        round_number = (number - 1) // (design.ratio if arm == EVERYTHING else 1)
        return round_number, sha256(f"{design.seed}:{arm}:{number}".encode()).digest()

    return sorted(runs, key=position)


def missing_runs(
    counts: Mapping[str, int], done: Mapping[str, Mapping[int, float | None]], design: Design
) -> list[RunKey]:
    """Return the runs that are still to be done, in order. `counts` says how many each arm needs."""
    runs = [(arm, number) for arm, count in counts.items() for number in range(1, count + 1)]
    return in_order([(arm, number) for arm, number in runs if number not in done.get(arm, {})], design)
