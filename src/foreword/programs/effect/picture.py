"""The report of an experiment as a picture: for each arm the difference from "everything", with its interval."""

from __future__ import annotations

from .report import describe_verdict, title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...wire.effect_forms import EffectArmForm, ExperimentForm

_LEFT, _MIDDLE, _RIGHT, _ROW, _TOP = 260, 420, 240, 28, 44
_COLOURS = {"helps": "#1a7f37", "harms": "#cf222e", "no-difference": "#6e7781", "undecided": "#9a6700"}
_MAX_TITLE = 36


def draw(answer: ExperimentForm) -> str:
    """Return the picture as SVG."""
    rows = answer["arms"]
    width, height = _LEFT + _MIDDLE + _RIGHT, _TOP + _ROW * len(rows) + 34
    bottom = _TOP + _ROW * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-weight="600">Difference from everything, in points ({_rate(answer)})</text>',
    ]
    for tick in range(-100, 101, 50):
        x = _x(tick / 100)
        colour = "#57606a" if not tick else "#d0d7de"
        parts.append(f'<line x1="{x}" y1="{_TOP - 6}" x2="{x}" y2="{bottom}" stroke="{colour}"/>')
        parts.append(
            f'<text x="{x}" y="{bottom + 18}" text-anchor="middle" fill="#57606a">{f"{tick:+d}" if tick else 0}</text>'
        )
    parts += [_row(row, _TOP + _ROW * index + _ROW // 2) for index, row in enumerate(rows)]
    return "\n".join([*parts, "</svg>", ""])


def _row(row: EffectArmForm, y: int) -> str:
    colour = _COLOURS[row["verdict"]]
    low, high = _x(row["low"]), _x(row["high"])
    dot = (
        "" if row["difference"] is None else f'<circle cx="{_x(row["difference"])}" cy="{y}" r="4.5" fill="{colour}"/>'
    )
    return (
        f'<text x="12" y="{y + 4}">{_escape(title_of(row))}</text>'
        f'<line x1="{low}" y1="{y}" x2="{high}" y2="{y}" stroke="{colour}" stroke-width="3"/>{dot}'
        f'<text x="{_LEFT + _MIDDLE + 12}" y="{y + 4}" fill="{colour}">{_escape(describe_verdict(row))}</text>'
    )


def _x(difference: float) -> int:
    return round(_LEFT + (difference + 1) / 2 * _MIDDLE)


def _rate(answer: ExperimentForm) -> str:
    rate = answer["everything"]["rate"]
    return "no results yet" if rate is None else f"success with everything: {rate:.0%}"


def _escape(text: str) -> str:
    short = text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 1]}…"
    printable = "".join(char if char.isprintable() else "�" for char in short)
    return printable.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
