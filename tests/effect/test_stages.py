"""The plan of an experiment: looks, early stopping, verdicts, narrowing, and simulated experiments."""

import random
import runpy
from pathlib import Path

import pytest

from foreword import CallError
from foreword.programs.effect.arms import arms_for
from foreword.programs.effect.design import EVERYTHING, NOTHING, Arm, in_order, new_design, seed_of
from foreword.programs.effect.report import effect_form
from foreword.programs.effect.stages import advance, judge, split
from foreword.programs.effect.statistics import Interval
from foreword.text.leaving_out import Selection


def finish(design, chance, seed=1):
    """Run a simulated experiment. Returns its final state and its results."""
    rng, results = random.Random(seed), {}
    while (progress := advance(design, results)).pending:
        for arm, number in progress.pending:
            results.setdefault(arm, {})[number] = chance(arm, rng)
    return progress, results


def verdicts(progress):
    return {row.arm.name: row.verdict for row in progress.rows}


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.4, -0.1, "helps"),
        (0.1, 0.4, "harms"),
        (-0.1, 0.19, "no-difference"),
        (-0.1, 0.2, "undecided"),
        (-0.5, 0.0, "undecided"),
    ],
)
def test_verdicts_are_about_the_instruction(low, high, expected):
    assert judge(Interval(0.0, low, high), 0.2) == expected


def test_clear_differences_stop_at_the_first_look():
    design = new_design([Arm("helps"), Arm("harms"), Arm("same")], 40)
    chance = {EVERYTHING: 0.5, "helps": 0.0, "harms": 1.0, "same": 0.5}
    progress, results = finish(design, lambda arm, rng: float(rng.random() < chance[arm]))
    assert verdicts(progress)["helps"] == "helps" and verdicts(progress)["harms"] == "harms"
    assert len(results["helps"]) < 40 and len(results["harms"]) < 40


def test_equal_arms_stop_early_too():
    progress, results = finish(new_design([Arm("a"), Arm("b")], 40), lambda arm, rng: 1.0)
    assert verdicts(progress) == {"a": "no-difference", "b": "no-difference"}
    assert len(results["a"]) < 40


def test_hopeless_arms_stop_and_stay_undecided():
    design = new_design([Arm("a")], 20)
    progress, results = finish(design, lambda arm, rng: float(rng.random() < 0.5), seed=3)
    assert verdicts(progress) == {"a": "undecided"} and progress.rows[0].is_hopeless and len(results["a"]) < 20


def test_arms_without_results_are_undecided():
    progress, results = finish(new_design([Arm("a")], 20), lambda arm, rng: None if arm == "a" else 1.0)
    assert verdicts(progress) == {"a": "undecided"}
    assert progress.rows[0].no_result == 20 and len(results["a"]) == 20


def test_every_arm_is_compared_with_everything_which_has_more_runs():
    design = new_design([Arm(str(number)) for number in range(9)], 10)
    progress = advance(design, {})
    counts = {arm: sum(1 for name, _ in progress.pending if name == arm) for arm, _ in progress.pending}
    assert (design.ratio, design.planned, progress.planned) == (3, 120, 120)
    assert counts == {EVERYTHING: 15, **{str(number): 5 for number in range(9)}}


def test_runs_are_interleaved_in_random_order():
    design = new_design([Arm("a"), Arm("b"), Arm("c")], 40, seed=7)
    runs = [(arm, number) for arm in ("a", "b", "c") for number in (1, 2, 3)]
    order = in_order(runs, design)
    assert [number for _, number in order] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert order == in_order(reversed(runs), design)
    assert len({tuple(arm for arm, _ in in_order(runs, new_design(design.arms, 40, seed))) for seed in range(20)}) > 10


def test_seeds_depend_on_the_run_and_not_on_the_arm():
    assert seed_of(1, 1) == seed_of(1, 1) and len({seed_of(seed, run) for seed in (1, 2) for run in (1, 2)}) == 4


# Arms

TEXTS = {
    "AGENTS.md": "# A\n\nIntro.\n\n## One\n\n1\n\n## Two\n\n2\n",
    "CLAUDE.md": "@AGENTS.md\n",
    "copy.md": "Intro.\n\n1\n\n2\n",
    "docs/AGENTS.md": "# Docs\n\nOther.\n",
}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("files", ["AGENTS.md", "docs/AGENTS.md", NOTHING]),
        ("sections", ["AGENTS.md:1-3", "AGENTS.md#One", "AGENTS.md#Two", "copy.md:1-5", "docs/AGENTS.md:1-3", NOTHING]),
        ("AGENTS.md", ["AGENTS.md:3", "AGENTS.md:7", "AGENTS.md:11", NOTHING]),
    ],
)
def test_arms_by_file_section_and_paragraph(how, expected):
    texts = TEXTS if how != "sections" else {**TEXTS, "copy.md": "Intro.\n\nMore.\n\nText.\n"}
    assert [arm.name for arm in arms_for(how, texts)] == expected


def test_a_single_file_is_the_same_as_nothing():
    assert [arm.name for arm in arms_for("files", {"AGENTS.md": "A.\n", "CLAUDE.md": "@AGENTS.md\n"})] == ["AGENTS.md"]


def test_unknown_arms_are_an_error():
    with pytest.raises(CallError, match=r"not 'AGENT.md'; did you mean 'AGENTS.md'"):
        arms_for("AGENT.md", TEXTS)
    with pytest.raises(CallError, match="no instruction files"):
        arms_for("files", {})


# Narrowing

LONG = {"AGENTS.md": "".join(f"Rule {number}.\n\n" for number in range(40))}


def test_a_group_is_split_in_halves_that_share_its_error():
    paragraphs = [Selection("a.md", line, line) for line in (1, 3, 5)]
    halves = split(Arm("a.md:1-5", paragraphs, "a.md", (1, 5), 0.3, paragraphs))
    assert [(arm.name, arm.lines, arm.share) for arm in halves] == [
        ("a.md:1-3", (1, 3), pytest.approx(0.2)),
        ("a.md:5", (5, 5), pytest.approx(0.1)),
    ]
    assert split(halves[1]) == []


def test_the_paragraph_that_matters_is_found_with_few_arms():
    arms = arms_for("AGENTS.md", LONG)
    assert [len(arm.paragraphs) for arm in arms] == [10, 10, 10, 10, 0]
    assert sum(arm.share for arm in arms) == pytest.approx(1)

    def chance(arm, rng):
        first, _, last = arm.rpartition(":")[2].partition("-")
        is_without = arm == NOTHING or (arm != EVERYTHING and int(first) <= 35 <= int(last or first))
        return float(rng.random() < (0.3 if is_without else 0.95))

    progress, results = finish(new_design(arms, 40), chance)
    helpful = [row.arm.name for row in progress.rows if row.verdict == "helps"]
    assert helpful[-1] == "AGENTS.md:35" and progress.stage in (4, 5)
    assert len(results) < 16, "40 paragraphs need far fewer than 40 arms"


def test_nothing_is_split_where_nothing_matters():
    progress, _ = finish(new_design(arms_for("AGENTS.md", LONG), 20), lambda arm, rng: 1.0)
    assert progress.stage == 1 and len(progress.rows) == 5


# Simulations; bench/effect.py prints these figures for more scenarios and experiments

figures = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "effect.py"))["figures"]


@pytest.mark.parametrize(
    ("everything", "rates"), [(0.9, [0.5, 0.9, 0.9, 0.9, 0.9]), (0.9, [0.9] * 5), (0.5, [0.5] * 5)]
)
def test_simulated_experiments(everything, rates):
    """Sixty experiments are few, so the limits are wide: the benchmark with many more holds the promised ones."""
    found, false, covered, intervals, saved = figures(rates, everything, runs=40, experiments=60, seed=1)
    assert found >= 0.88 and false <= 0.12 and covered >= 0.88 and intervals >= 0.94 and saved >= 0.12


def test_the_rate_is_known_before_the_first_look():
    design, results = new_design([Arm("a")], 40), {EVERYTHING: {1: 1.0, 2: 0.0, 3: None}}
    form = effect_form(design, advance(design, results), results, {}, {}, "", ())
    assert form["everything"] == {"runs": 3, "no_result": 1, "rate": 0.5}
    assert form["arms"][0]["rate"] is None
