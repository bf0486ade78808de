"""The report of an experiment as Markdown, for a pull request."""

from __future__ import annotations

from .report import describe_verdict, title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...wire.effect_forms import EffectArmForm, ExperimentForm


def to_markdown(answer: ExperimentForm) -> str:
    """Return the report as a table, with what the figures mean below it."""
    everything = answer["everything"]
    has_costs = any(row["cost"] is not None for row in answer["arms"])
    header = ["arm", "runs", "success", "difference in points (95 % interval)", "verdict", "tokens"]
    header += ["$ a month"] if has_costs else []
    rows = [
        ["everything", str(everything["runs"]), _percent(everything["rate"]), "", "", "", *([""] if has_costs else [])]
    ]
    rows += [_cells(row, has_costs) for row in answer["arms"]]
    lines = ["### What the instructions change", "", _line(header), _line(["---"] * len(header)), *map(_line, rows), ""]
    lines.append(f"{answer['correction']}; {answer['stopping']}.")
    if answer["detectable"] is not None:
        lines.append(f"A difference of {answer['detectable'] * 100:.0f} points or more would probably have been seen.")
    lines.append(f"Seed {answer['seed']}. *Helps* means that results are worse without it.")
    return "\n".join([*lines, *(f"- {each['message']}" for each in answer["findings"]), ""])


def _cells(row: EffectArmForm, has_costs: bool) -> list[str]:
    interval = f"{row['low'] * 100:+.0f} … {row['high'] * 100:+.0f}"
    difference = "" if row["difference"] is None else f"{row['difference'] * 100:+.0f} ({interval})"
    verdict = describe_verdict(row)
    cells = [
        title_of(row),
        str(row["runs"]),
        _percent(row["rate"]),
        difference,
        f"**{verdict}**" if row["verdict"] in ("helps", "harms") else verdict,
        f"{row['tokens']:,}",
    ]
    return [*cells, *(["" if row["cost"] is None else f"{row['cost']:.2f}"] if has_costs else [])]


def _line(cells: list[str]) -> str:
    escaped = (cell.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.0%}"
