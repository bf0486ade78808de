"""Simulates experiments of `foreword effect`: how often the arm that matters is found, false calls, coverage, and runs that were saved.

    python bench/effect.py [--seed 1] [--experiments 500] [--runs 40]

The agent is simulated: a run succeeds with a probability that depends on the arm. No command is run.
"""

import argparse
import random

from foreword.programs.effect.design import EVERYTHING, Arm, Design, new_design
from foreword.programs.effect.stages import Progress, advance

# A name, the success rate with everything, and that of each arm.
SCENARIOS = [
    ("five arms, one matters", 0.9, [0.5, 0.9, 0.9, 0.9, 0.9]),
    ("five arms, nothing matters", 0.9, [0.9] * 5),
    ("five arms, nothing matters, rate 0.5", 0.5, [0.5] * 5),
    ("five arms, nothing matters, rate 0.99", 0.99, [0.99] * 5),
    ("five arms, one helps and one harms", 0.6, [0.2, 0.95, 0.6, 0.6, 0.6]),
    ("ten arms, one matters", 0.9, [0.5] + [0.9] * 9),
    ("ten arms, nothing matters", 0.9, [0.9] * 10),
    ("ten arms, one matters, 20 points", 0.9, [0.7] + [0.9] * 9),
    ("one arm that matters, 20 points", 0.8, [0.6]),
]


def simulate(rates: list[float], everything: float, runs: int, rng: random.Random) -> tuple[Design, Progress, int]:
    """Run one experiment. Returns its design and its final state, and the number of runs."""
    arms = [Arm(f"arm {number}") for number, _ in enumerate(rates, 1)]
    chance = {EVERYTHING: everything, **{arm.name: rate for arm, rate in zip(arms, rates, strict=True)}}
    design, count = new_design(arms, runs), 0
    results: dict[str, dict[int, float | None]] = {}
    while (progress := advance(design, results)).pending:
        for arm, number in progress.pending:
            results.setdefault(arm, {})[number] = float(rng.random() < chance[arm])
            count += 1
    return design, progress, count


def figures(rates: list[float], everything: float, runs: int, experiments: int, seed: int) -> list[float]:
    """Return the share of experiments in which every difference was found, of those with a false call, and of those whose intervals all
    cover the truth; the share of all intervals that do; and the share of runs that was saved."""
    rng = random.Random(seed)
    found = false = covered = 0
    intervals = saved = 0.0
    for _ in range(experiments):
        design, progress, count = simulate(rates, everything, runs, rng)
        rows = list(zip(progress.rows, rates, strict=True))
        expected = {True: "helps", False: "harms"}
        found += all(row.verdict == expected[rate < everything] for row, rate in rows if rate != everything)
        false += any(row.verdict in ("helps", "harms") for row, rate in rows if rate == everything)
        hits = [row.interval.low <= rate - everything <= row.interval.high for row, rate in rows]
        covered += all(hits)
        intervals += sum(hits) / len(hits)
        saved += 1 - count / design.planned
    return [each / experiments for each in (found, false, covered, intervals, saved)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate experiments of `foreword effect`.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--experiments", type=int, default=500)
    parser.add_argument("--runs", type=int, default=40)
    args = parser.parse_args()
    print(f"{args.experiments} experiments, at most {args.runs} runs per arm, seed {args.seed}\n")
    print(f"{'':44}{'found':>7}{'false':>7}{'all cover':>11}{'each covers':>13}{'saved':>7}")
    for name, everything, rates in SCENARIOS:
        found, *rest = figures(rates, everything, args.runs, args.experiments, args.seed)
        differs = any(rate != everything for rate in rates)
        cells = [f"{found:.1%}" if differs else "", *(f"{each:.1%}" for each in rest)]
        print(f"{name:44}{cells[0]:>7}{cells[1]:>7}{cells[2]:>11}{cells[3]:>13}{cells[4]:>7}")


if __name__ == "__main__":
    main()
