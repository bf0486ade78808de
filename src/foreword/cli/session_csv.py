"""Print answers about sessions as comma-separated values."""

from __future__ import annotations

import csv
import io

from .session_words import KINDS
from .terminal import write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_SESSION = ("id", "agent", "version", "cwd", "started", "ended", "models", "requests")
_REQUEST = ("number", "time", "thread", "model")
_SPAN = ("from", "to", "version", "distance", "lost", "thread")


def write_csv(answer: Mapping[str, Any]) -> None:
    """Print an answer, with a header."""
    output = io.StringIO()
    csv.writer(output, lineterminator="\n").writerows(_rows(answer))
    write_text(output.getvalue())


def _rows(answer: Mapping[str, Any]) -> Iterator[list[Any]]:
    if "spans" in answer:
        yield [*_SPAN]
        yield from ([_safe(row[name]) for name in _SPAN] for row in answer["spans"])
    elif "rows" in answer:
        yield [answer["by"], "times", *KINDS, "cost", "exactness"]
        for row in answer["rows"]:
            yield [_safe(row["key"]), row["times"], *_counts(row), row["cost"], row["exactness"]]
    elif "sessions" in answer:
        yield [*_SESSION, *KINDS, "cost", "exactness", "collapses"]
        for row in answer["sessions"]:
            texts = [_safe(" ".join(row[name]) if name == "models" else row[name]) for name in _SESSION]
            yield [*texts, *_counts(row), row["cost"], row["exactness"], row["collapses"]]
    else:
        yield [*_REQUEST, *KINDS, "cost", "exactness", "cause", "lost_tokens", "lost_cost"]
        for row in answer["requests"]:
            collapse = row["collapse"] or {}
            lost = [_safe(collapse.get(name)) for name in ("cause", "tokens", "cost")]
            yield [*(_safe(row[name]) for name in _REQUEST), *_counts(row), row["cost"], row["exactness"], *lost]


def _counts(row: Mapping[str, Any]) -> list[int]:
    return [row["tokens"][kind] for kind in KINDS]


def _safe(content: Any) -> Any:
    """Return content that a spreadsheet does not take for a formula."""
    is_formula = isinstance(content, str) and content[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{content}" if is_formula else content
