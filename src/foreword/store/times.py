"""Store a time as one number that sorts by time and also says in which zone it was written.

The number is the milliseconds since 1970 times 4096, plus the minutes by which the zone is ahead of UTC, plus 2048.
"""

from __future__ import annotations

from .texts import to_bytes, to_text

_ZONES = 4096
_UTC = 2048
# Of a time that a number restores, such as 2026-11-19T23:08:12.668+00:00. Without a zone it is shorter, and with seconds in the zone longer.
_LENGTH = 29
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0}


def pack_time(text: str) -> tuple[int, bytes | None]:
    """Return the number for an ISO time, and the text itself unless the number restores it exactly."""
    import datetime  # in every first turn; `from datetime import datetime` would take six times as long

    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        return 0, to_bytes(text)
    offset = time.utcoffset()
    if offset is None:
        time = time.replace(tzinfo=datetime.UTC)
    minutes = int(offset.total_seconds()) // 60 if offset else 0
    number = round(time.timestamp() * 1000) * _ZONES + minutes + _UTC
    is_exact = len(text) == _LENGTH and text == time.isoformat(timespec="milliseconds") and 1 < time.year < 9999
    return number, None if is_exact else to_bytes(text)


def unpack_time(number: int, text: bytes | None) -> str:
    """Return a time as it was passed to `pack_time`."""
    if text is not None:
        return to_text(text)
    import datetime

    milliseconds, zone = divmod(number, _ZONES)
    try:
        time = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=milliseconds)
        local_time = time.astimezone(datetime.timezone(datetime.timedelta(minutes=zone - _UTC)))
        return local_time.isoformat(timespec="milliseconds")
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
