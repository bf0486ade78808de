"""Determines how precisely a prompt uses the time, and formats it. The time itself is always an argument."""

from __future__ import annotations

from ..layout.model import Field
from ..text import regex
from ..vocabulary import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ..layout.model import Layout, Section
    from ..vocabulary import Inputs


def time_precision(layout: Layout, inputs: Inputs) -> str:
    """Return how precisely the prompt uses the time: `time`, `date`, or empty if it does not use it."""
    parts = [part for section in layout.all_sections for part in section.form]
    if any(isinstance(part, Field) and part.name.startswith("now.") for part in parts):
        return "time"
    if any(section.name in inputs.bodies and _body_uses_clock(section, inputs) for section in layout.all_sections):
        return "time"
    for section in layout.all_sections:
        if section.language == "directives" and section.list_name:
            texts = [*inputs.found.get(section.list_name, ()), *inputs.includes.values()]
            if any(isinstance(text, Document) and regex.search(r"\{\{\s*date", text.text) for text in texts):
                return "date"
    return ""


def _body_uses_clock(section: Section, inputs: Inputs) -> bool:
    from ..template.languages import language_of

    body = inputs.bodies[section.name]
    return language_of(body, section.language).module().uses_clock(body, inputs)


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def format_time(now: datetime | None, name: str) -> str:
    """Format the time in English; `strftime` would use the machine's locale."""
    if now is None:
        raise ValueError("this layout uses the time, but `now` is None")
    if name == "now.long":
        day = f"{_DAYS[now.weekday()]}, {_MONTHS[now.month - 1]} {now.day}, {now.year}"
        time = f"{(now.hour + 11) % 12 + 1:02}:{now.minute:02}:{now.second:02} {'AM' if now.hour < 12 else 'PM'}"
        return f"{day} at {time} {now.tzname() or _offset_name(now)}".rstrip()
    if name == "now.utc":
        offset = now.utcoffset()
        moment = (now - offset if offset else now).replace(tzinfo=None)
        return moment.isoformat(timespec="milliseconds") + "Z"
    return now.date().isoformat() if name == "now.date" else now.isoformat(timespec="seconds")


def _offset_name(now: datetime) -> str:
    """Return a name for a time zone that has only an offset, such as `UTC+02:00`."""
    from datetime import timezone

    offset = now.utcoffset()
    return "" if offset is None else timezone(offset).tzname(None)


def placeholder_time() -> datetime:
    """Return an arbitrary time, for prompts that do not contain the time."""
    from datetime import UTC, datetime

    return datetime(2000, 1, 1, tzinfo=UTC)
