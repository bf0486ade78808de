"""Store a time as one number that sorts by time and also says in which zone it was written.

The number is the milliseconds since 1970 times 4096, plus the minutes by which the zone is ahead of UTC, plus 2048.
"""

from __future__ import annotations

from .texts import to_bytes, to_text

_ZONES = 4096
_UTC = 2048
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0}


def pack_time(text: str) -> tuple[int, bytes | None]:
    """Return the number for an ISO time, and the text itself unless the number restores it exactly."""
    from datetime import UTC, datetime

    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return 0, to_bytes(text)
    offset = time.utcoffset()
    minutes = 0 if offset is None else int(offset.total_seconds()) // 60
    seconds = (time.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    number = (round(seconds * 1000) - minutes * 60_000) * _ZONES + minutes + _UTC
    return number, None if unpack_time(number, None) == text else to_bytes(text)


def unpack_time(number: int, text: bytes | None) -> str:
    """Return a time as it was passed to `pack_time`."""
    if text is not None:
        return to_text(text)
    from datetime import UTC, datetime, timedelta, timezone

    milliseconds, zone = divmod(number, _ZONES)
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
        return time.astimezone(timezone(timedelta(minutes=zone - _UTC))).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError):
        return ""


def seconds_of(age: str) -> float | None:
    """Return the seconds in an age such as 90d, 12h or 30m, or None if it is not written like that."""
    number, unit = age[:-1], age[-1:]
    if not (number.isascii() and number.isdecimal() and len(number) < 7 and unit in _UNITS):
        return None
    return int(number) * _UNITS[unit]


def first_number(seconds: float) -> int:
    """Return the lowest number of any time that is not before this one, which is in seconds since 1970."""
    return round(seconds * 1000) * _ZONES
