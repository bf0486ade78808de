"""The report of an experiment, as `--json` prints it."""

from __future__ import annotations

from ...encoding.prompt import finding_form
from ...findings import finding
from ...text.leaving_out import removed_text
from ...text.tokens import estimate_count
from .design import EVERYTHING, LOOKS, NOTHING
from .statistics import POWER, detectable, runs_needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...vocabulary import Finding
    from ...wire.effect_forms import EffectArmForm, EverythingForm, ExperimentForm, PowerForm
    from .design import Arm, Design
    from .stages import ArmRow, Progress, Results

_DIFFERENCES = (0.1, 0.2, 0.3, 0.4)
_RATES = (0.9, 0.7, 0.5)
_MAX_WITHOUT_RESULT = 0.2


def effect_form(
    design: Design,
    progress: Progress,
    results: Results,
    texts: Mapping[str, str],
    costs: Mapping[str, float | None],
    path: str,
    findings: Sequence[Finding],
) -> ExperimentForm:
    """Return the report. `costs` are what each file costs in a month, if that is known, and `path` is the file of results."""
    rows = [_arm_form(row, results, texts, costs) for row in progress.rows]
    everything = _everything_form(progress, results)
    problems = [*findings, *(_no_result(row) for row in rows if row["no_result"] > _MAX_WITHOUT_RESULT * row["runs"])]
    rate = progress.everything.mean if progress.everything.count else 1.0
    return {
        "arms": rows,
        "everything": everything,
        "correction": f"Bonferroni: all intervals hold at once in 95 % of experiments ({len(design.arms)} arms)",
        "stopping": f"{len(LOOKS)} planned looks, error spent as the square of the part of the runs (Kim and DeMets)",
        "detectable": detectable(design.runs, round(rate, 2), design.limits(design.arms[0])[-1], design.ratio),
        "seed": design.seed,
        "results": path,
        "findings": [finding_form(each) for each in problems],
    }


def _arm_form(
    row: ArmRow, results: Results, texts: Mapping[str, str], costs: Mapping[str, float | None]
) -> EffectArmForm:
    arm, scores = row.arm, results.get(row.arm.name, {})
    known = [score for score in scores.values() if score is not None]
    return {
        "arm": arm.name,
        "path": arm.path or None,
        "lines": list(arm.lines) if arm.lines else None,
        "runs": len(scores),
        "no_result": len(scores) - len(known),
        "rate": _round(row.sample.mean if row.look else sum(known) / len(known)) if known else None,
        "difference": _round(row.interval.difference) if row.look and known else None,
        "low": _round(row.interval.low),
        "high": _round(row.interval.high),
        "verdict": row.verdict,
        "tokens": _tokens(arm, texts),
        "cost": _monthly_cost(arm, texts, costs),
    }


def _everything_form(progress: Progress, results: Results) -> EverythingForm:
    scores = results.get(EVERYTHING, {})
    known = [score for score in scores.values() if score is not None]
    rate = progress.everything.mean if progress.everything.count else sum(known) / len(known) if known else None
    return {
        "runs": len(scores),
        "no_result": len(scores) - len(known),
        "rate": None if rate is None else _round(rate),
    }


def _tokens(arm: Arm, texts: Mapping[str, str]) -> int:
    return estimate_count(removed_text(texts, arm.selections)).count


def _monthly_cost(arm: Arm, texts: Mapping[str, str], costs: Mapping[str, float | None]) -> float | None:
    """Return what the removed text costs in a month: its share of what its files cost."""
    total, is_known = 0.0, False
    for path in dict.fromkeys(selection.path for selection in arm.selections):
        cost = costs.get(path)
        if cost is not None:
            own = [selection for selection in arm.selections if selection.path == path]
            whole = max(estimate_count(texts[path]).count, 1)
            total += cost * min(estimate_count(removed_text({path: texts[path]}, own)).count / whole, 1)
            is_known = True
    return round(total, 4) if is_known else None


def _no_result(row: EffectArmForm) -> Finding:
    message = f"{row['no_result']} of {row['runs']} runs of {row['arm']} had no result, so it is undecided"
    return finding("effect-no-result", message, row["path"] or "")


def _round(number: float) -> float:
    return round(number, 4)


# Before the first run


def power_form(design: Design) -> PowerForm:
    """Return how many runs per arm show differences of 10 to 40 points, with 80 % probability."""
    z = design.limits(design.arms[0])[-1]
    return {
        "arms": [arm.name for arm in design.arms],
        "everything_ratio": design.ratio,
        "runs": design.runs,
        "planned": design.planned,
        "power": POWER,
        "rows": [
            {"difference": difference, "rate": rate, "runs": runs_needed(difference, rate, z, design.ratio)}
            for difference in _DIFFERENCES
            for rate in _RATES
        ],
    }


def describe_verdict(row: EffectArmForm) -> str:
    """Return a verdict in words, such as "no difference larger than 24 points"."""
    if row["verdict"] != "no-difference":
        return str(row["verdict"])
    return f"no difference larger than {max(-row['low'], row['high']) * 100:.0f} points"


def title_of(row: EffectArmForm) -> str:
    """Return what an arm leaves out."""
    return "no instructions at all" if row["arm"] == NOTHING else f"without {row['arm']}"
