"""The statistics of an experiment: limits for planned looks, intervals for differences, and how many runs show a difference.

Looks. Whoever looks at results several times has several chances of being misled, so each look may use up only a part of the permitted
error: after a fraction t of the runs, the part t² (Kim and DeMets, 1987). `critical_values` finds the limits for which exactly that is
true, by integrating the distribution of the sums from look to look (Armitage, McPherson and Rowe, 1969).

Intervals. `difference` is the interval of Agresti and Caffo (2000): each arm gets z²/4 imaginary successes and as many failures, so that
few runs, or runs that all succeed, do not look certain. The same formula is used for scores between 0 and 1. With the critical value of
a look as z, these are repeated confidence intervals (Jennison and Turnbull, 1989): all of them hold at once, whatever made the
experiment stop.

Many arms. The permitted error is divided among the arms (Bonferroni), so that all intervals together hold in 95 % of experiments.
"""

from __future__ import annotations

from functools import cache
from math import ceil, erfc, exp, pi, sqrt

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ERROR = 0.04
"""The permitted error of a whole experiment: the probability that an interval misses the truth.

Successes are counted, and the formulas assume a continuous scale. With 0.05, simulated experiments with 40 runs per arm were wrong in up to
5.2 % of the cases; with this value, the promised 5 % hold.
"""
POWER = 0.8
_STEPS = 128  # of Simpson's rule; must be even
_SPENDING_POWER = 2


# The normal distribution


def upper_tail(x: float) -> float:
    """Return the probability that a standard normal variable is greater than x."""
    return erfc(x / sqrt(2)) / 2


@cache
def quantile(probability: float) -> float:
    """Return the x that a standard normal variable exceeds with this probability."""
    return _bisect(upper_tail, probability, -40.0, 40.0)


def _bisect(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return the x at which a falling function has this value."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > target else (low, middle)
    return (low + high) / 2


# Looks


@cache
def critical_values(error: float, looks: tuple[float, ...]) -> tuple[float, ...]:
    """Return the limit for |z| at each look, so that the error that is used up by then is `error` times the look's fraction squared.

    `looks` are fractions of the planned runs, ending with 1.
    """
    limits: list[float] = []
    walk = _Walk()
    spent = 0.0
    for look in looks:
        allowed = error * look**_SPENDING_POWER - spent
        spent += allowed
        limit = _bisect(lambda z, look=look: walk.crossing(look, z), allowed, 0.0, 40.0)  # type: ignore[misc]
        walk.advance(look, limit)
        limits.append(limit)
    return tuple(limits)


def crossing_probability(limits: Sequence[float], looks: Sequence[float]) -> float:
    """Return the probability that |z| exceeds its limit at one of the looks although there is no difference."""
    walk, total = _Walk(), 0.0
    for limit, look in zip(limits, looks, strict=True):
        total += walk.crossing(look, limit)
        walk.advance(look, limit)
    return total


class _Walk:
    """The distribution of z times the root of a look's fraction, among experiments that have not crossed a limit yet."""

    def __init__(self) -> None:
        self._look = 0.0
        self._points: list[tuple[float, float]] = [(0.0, 1.0)]  # each with its probability

    def crossing(self, look: float, limit: float) -> float:
        """Return the probability of crossing this limit at this look."""
        bound, step = limit * sqrt(look), sqrt(look - self._look)
        return sum(
            weight * (upper_tail((bound - point) / step) + upper_tail((bound + point) / step))
            for point, weight in self._points
        )

    def advance(self, look: float, limit: float) -> None:
        """Continue with the experiments that stay within this limit."""
        bound, variance = limit * sqrt(look), look - self._look
        width = 2 * bound / _STEPS
        scale = width / 3 / sqrt(2 * pi * variance)
        points = []
        for index in range(_STEPS + 1):
            point = -bound + index * width
            density = sum(weight * exp(-((point - earlier) ** 2) / (2 * variance)) for earlier, weight in self._points)
            factor = 1 if index in (0, _STEPS) else 4 if index % 2 else 2
            points.append((point, density * scale * factor))
        self._look, self._points = look, points


# Intervals


@value
class Sample:
    """Scores between 0 and 1: how many, their sum, and the sum of their squares."""

    count: int
    total: float
    squares: float

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


def sample_of(scores: Iterable[float]) -> Sample:
    """Return the sample of these scores."""
    known = list(scores)
    return Sample(len(known), sum(known), sum(score * score for score in known))


@value
class Interval:
    """A difference of two means, with the range that it probably lies in."""

    difference: float
    low: float
    high: float


def difference(arm: Sample, everything: Sample, z: float) -> Interval:
    """Return the mean of an arm minus that of "everything", with its interval. Without scores, it can be anything."""
    if not arm.count or not everything.count:
        return Interval(0.0, -1.0, 1.0)
    (mean, variance), (other_mean, other_variance) = _adjusted(arm, z), _adjusted(everything, z)
    centre, width = mean - other_mean, z * sqrt(variance + other_variance)
    return Interval(arm.mean - everything.mean, max(centre - width, -1.0), min(centre + width, 1.0))


def _adjusted(sample: Sample, z: float) -> tuple[float, float]:
    """Return the mean and its variance after adding z²/4 successes and z²/4 failures."""
    extra = z * z / 4
    count = sample.count + 2 * extra
    mean = (sample.total + extra) / count
    spread = max((sample.squares + extra) / count - mean * mean, 0.0)
    return mean, spread / count


# Planning


def runs_needed(effect: float, rate: float, z: float, ratio: float, power: float = POWER) -> int:
    """Return how many runs per arm show a drop of `effect` below `rate` with this probability.

    "Everything" has `ratio` times as many. z is the critical value of the last look.
    """
    other = max(rate - effect, 0.0)
    spread = other * (1 - other) + rate * (1 - rate) / ratio
    return max(ceil((z + quantile(1 - power)) ** 2 * spread / effect**2), 1)


@cache
def detectable(runs: int, rate: float, z: float, ratio: float, power: float = POWER) -> float | None:
    """Return the smallest drop below `rate` that this many runs per arm show with this probability, or None if there is none."""
    steps = (step / 100 for step in range(1, int(rate * 100 + 1e-9) + 1))
    return next((effect for effect in steps if runs_needed(effect, rate, z, ratio, power) <= runs), None)
