"""The types of the answers to `effect`."""

from __future__ import annotations

from typing import Literal, TypedDict

from ..encoding.forms import FindingForm


class EffectArmForm(TypedDict):
    """What an arm shows. The verdict is about the instruction: if it helps, results are worse without it."""

    arm: str
    path: str | None
    lines: list[int] | None
    runs: int
    no_result: int
    rate: float | None
    difference: float | None
    low: float
    high: float
    verdict: Literal["helps", "harms", "no-difference", "undecided"]
    tokens: int
    cost: float | None


class EverythingForm(TypedDict):
    runs: int
    no_result: int
    rate: float | None


class ExperimentForm(TypedDict):
    """The arms of an experiment, compared with the arm that has everything."""

    arms: list[EffectArmForm]
    everything: EverythingForm
    correction: str
    stopping: str
    detectable: float | None
    seed: int
    results: str
    findings: list[FindingForm]


class PowerRowForm(TypedDict):
    difference: float
    rate: float
    runs: int


class PowerForm(TypedDict):
    """How many runs per arm show a difference, for several success rates with everything."""

    arms: list[str]
    everything_ratio: int
    runs: int
    planned: int
    power: float
    rows: list[PowerRowForm]
