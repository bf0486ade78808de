"""The JSON form of an alignment."""

from __future__ import annotations

from ...encoding.prompt import finding_form
from ...text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...wire.align_forms import AgentReadingForm, AlignForm
    from .model import AgentReading, Alignment


def align_answer(alignment: Alignment) -> AlignForm:
    """Return the JSON form of an alignment."""
    return {
        "changes": [
            {
                "path": printable(change.path),
                "action": change.action,
                "before": change.before,
                "text": change.text,
                "agents": list(change.agents),
                "reason": change.reason,
            }
            for change in alignment.changes
        ],
        "before": {name: _reading_form(reading) for name, reading in alignment.before.items()},
        "after": {name: _reading_form(reading) for name, reading in alignment.after.items()},
        "findings": [finding_form(row) for row in alignment.findings],
    }


def _reading_form(reading: AgentReading) -> AgentReadingForm:
    return {
        "read": list(map(printable, reading.read)),
        "missing": list(map(printable, reading.missing)),
        "repeated": list(map(printable, reading.repeated)),
        "cut": list(map(printable, reading.cut)),
    }
