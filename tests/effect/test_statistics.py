"""The formulas of `foreword effect`, compared with published tables."""

import pytest

from foreword.programs.effect.statistics import (
    Interval,
    Sample,
    critical_values,
    crossing_probability,
    detectable,
    difference,
    quantile,
    runs_needed,
    sample_of,
    upper_tail,
)


def equal_looks(count):
    return [number / count for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("probability", "expected"), [(0.025, 1.959964), (0.005, 2.575829), (0.5, 0.0), (0.9, -1.281552)]
)
def test_normal_quantiles(probability, expected):
    assert quantile(probability) == pytest.approx(expected, abs=1e-6)
    assert upper_tail(expected) == pytest.approx(probability, abs=1e-6)


# Jennison and Turnbull, Group Sequential Methods (1999), tables 2.1 and 2.3: two-sided tests with an error of 5 %.
@pytest.mark.parametrize(("looks", "constant"), [(2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413)])
def test_pocock_limits_have_an_error_of_five_percent(looks, constant):
    assert crossing_probability([constant] * looks, equal_looks(looks)) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize(("looks", "constant"), [(2, 1.977), (3, 2.004), (4, 2.024), (5, 2.040)])
def test_o_brien_fleming_limits_have_an_error_of_five_percent(looks, constant):
    limits = [constant * (looks / number) ** 0.5 for number in range(1, looks + 1)]
    assert crossing_probability(limits, equal_looks(looks)) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("error", [0.05, 0.05 / 6, 0.001])
def test_limits_use_up_exactly_the_permitted_error(error):
    looks = (0.35, 0.5, 0.65, 0.8, 1.0)
    limits = critical_values(error, looks)
    assert sorted(limits, reverse=True) == list(limits)
    for number, look in enumerate(looks, 1):
        assert crossing_probability(limits[:number], looks[:number]) == pytest.approx(error * look**2, rel=1e-6)


def test_one_look_has_the_usual_limit():
    assert critical_values(0.05, (1.0,)) == (pytest.approx(1.959964, abs=1e-6),)


# Agresti and Caffo, The American Statistician 54 (2000): one success and one failure are added to each sample, for z = 2. Worked out by hand.
@pytest.mark.parametrize(
    ("arm", "everything", "low", "high"),
    [
        ((9, 10), (3, 10), 0.1531, 0.8469),
        ((10, 10), (0, 10), 0.6077, 1.0),
        ((5, 5), (5, 5), -0.3741, 0.3741),
        ((56, 70), (48, 80), 0.0496, 0.3387),
    ],
)
def test_intervals_of_agresti_and_caffo(arm, everything, low, high):
    interval = difference(Sample(arm[1], arm[0], arm[0]), Sample(everything[1], everything[0], everything[0]), 2.0)
    assert (interval.low, interval.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    assert interval.difference == arm[0] / arm[1] - everything[0] / everything[1]


def test_scores_with_less_spread_have_a_narrower_interval():
    graded = difference(sample_of([0.5] * 20), sample_of([0.5] * 20), 2.0)
    binary = difference(sample_of([0, 1] * 10), sample_of([0, 1] * 10), 2.0)
    assert 0 < graded.high < binary.high


def test_without_scores_the_difference_can_be_anything():
    assert difference(sample_of([]), sample_of([1.0]), 2.0) == Interval(0.0, -1.0, 1.0)


# The usual formula without pooling (Fleiss, Statistical Methods for Rates and Proportions), for 80 % power.
@pytest.mark.parametrize(("rate", "effect", "expected"), [(0.6, 0.2, 95), (0.9, 0.2, 59), (0.5, 0.5, 8)])
def test_runs_needed(rate, effect, expected):
    assert runs_needed(effect, rate, 1.959964, 1) == expected


def test_the_smallest_detectable_difference():
    effect = detectable(95, 0.6, 1.959964, 1)
    assert effect == 0.2
    assert detectable(3, 0.1, 1.959964, 1) is None
