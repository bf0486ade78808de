"""Faults that change no behaviour, which are not tried: path, text before, text after, and why nobody could notice."""

EQUIVALENT: dict[tuple[str, str, str], str] = {}
