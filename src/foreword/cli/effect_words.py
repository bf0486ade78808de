"""The tables that `foreword effect` prints."""

from __future__ import annotations

from .terminal import write_error, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..wire.effect_forms import ExperimentForm, PowerForm

_COLOURS = {"helps": "green", "harms": "red", "no-difference": "dim", "undecided": "yellow"}


def write_report(answer: ExperimentForm) -> None:
    """Print the report as a table, and what it means."""
    from ..programs.effect.report import describe_verdict

    everything = answer["everything"]
    rows = [("everything", str(everything["runs"]), percent(everything["rate"]), "", "", "", "", "")]
    rows += [
        (
            row["arm"],
            str(row["runs"]),
            percent(row["rate"]),
            "" if row["difference"] is None else points(row["difference"]),
            f"{points(row['low'])} … {points(row['high'])}",
            describe_verdict(row),
            f"{row['tokens']:,}",
            "" if row["cost"] is None else dollars(row["cost"]),
        )
        for row in answer["arms"]
    ]
    header = ("without", "runs", "success", "difference", "95 % interval", "verdict", "tokens", "a month")
    has_costs = any(row["cost"] is not None for row in answer["arms"])
    width = None if has_costs else -1
    colours = [{}, *({5: _COLOURS[row["verdict"]]} for row in answer["arms"])]
    write_table(
        [row[:width] for row in rows],
        header[:width],
        ("", "", "", "", "", "", "dim", "dim")[:width],
        right=(1, 2, 3, 4, 6, 7),
        paths=(0,),
        row_colours=colours,
    )
    write_line(f"intervals: {answer['correction']}; {answer['stopping']}", indent=2)
    if answer["detectable"] is not None:
        write_line(f"differences of {answer['detectable'] * 100:.0f} points or more would probably have been seen")
    for each in answer["findings"]:
        write_error(f"{each['severity']}: {each['message']} [{each['code']}]", indent=2)
    write_error(f"seed {answer['seed']}; results: {answer['results']}")


def write_power(form: PowerForm) -> None:
    """Print how many runs per arm show which difference."""
    rates = list(dict.fromkeys(row["rate"] for row in form["rows"]))
    runs = {(row["difference"], row["rate"]): row["runs"] for row in form["rows"]}
    differences = dict.fromkeys(row["difference"] for row in form["rows"])
    arms = len(form["arms"])
    from_rates = ", ".join(f"{rate:.0%}" for rate in rates)
    write_line(
        f"{arms} {'arm' if arms == 1 else 'arms'}, and {form['everything_ratio']} times as many runs with everything. "
        f"Runs per arm that show a drop with {form['power']:.0%} probability, from a success rate of {from_rates}:"
    )
    rows = [
        (f"{difference * 100:.0f} points", *(f"{runs[difference, rate]:,}" for rate in rates))
        for difference in differences
    ]
    header = ("a drop of", *(f"from {rate:.0%}" for rate in rates))
    write_table(rows, header, right=range(1, len(header)))
    write_line(f"with --runs {form['runs']}: at most {form['planned']:,} runs in all")


def percent(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.0%}"


def points(number: float) -> str:
    """Return a difference in percentage points, with its sign."""
    return f"{number * 100:+.0f}"


def dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"


def duration(seconds: float) -> str:
    """Return a time in words, such as `12 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
