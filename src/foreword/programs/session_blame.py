"""Answer `foreword blame --file FILE --cost`: what each line of an instruction file cost."""

from __future__ import annotations

import os

from ..errors import CallError, MissingError
from ..inspection.lint.secrets import mask_in_place
from ..sessions.attribution import Ledger, key_for
from ..sessions.costs import apportion, dollars
from ..sessions.folders import normalize_folder
from ..sessions.values import TokenCounts
from ..sources.environment import absolute
from ..sources.reader import Reader
from ..text.lines import printable
from .session_query import SessionQuery, tokens_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..sessions.attribution import Row
    from ..sessions.chains import Step
    from ..sessions.costs import Rates
    from ..sessions.values import LoggedRequest, LogPart
    from ..wire.session_forms import FileCostForm, PricedFileForm, PricedLineForm
    from .question import Question

KINDS = ("fresh", "written", "read", "out")
REMOVED = "(lines that are no longer in the file)"


def blame_cost_answer(question: Question) -> PricedFileForm:
    """Return the lines of a file, each with what it cost in the period. They add up to the file's row in `sessions --by file`."""
    if not question.fields.get("file"):
        raise CallError("--cost needs --file FILE, an instruction file")
    query = SessionQuery(question)
    name = question.fields["file"]
    path = absolute(os.path.join(query.workspace.cwd, name), query.environment)
    paths = {normalize_folder(each) for each in (name, path, os.path.realpath(path))}
    ledger = _VersionLedger(paths)
    sessions = query.sessions(ledger)
    if not ledger.versions:
        raise MissingError(f"no session in this period read {printable(name)}")
    reading = Reader().read(path)
    current = (reading.text if reading.has_text else "").split("\n")
    lines = current[:-1] if current and not current[-1] else current
    rows = {row[0]: row for row in ledger.final_rows() if normalize_folder(row[0]) in paths}
    texts = query.file_texts(paths)
    shares = _line_shares(lines, ledger.versions, texts)
    return {
        "path": path,
        "lines": _line_forms(path, lines, rows, shares),
        "total": _total_form(rows),
        "findings": query.finding_forms(sessions),
    }


class _VersionLedger(Ledger):
    """A ledger by file that also adds up each version of some files."""

    def __init__(self, paths: set[str]) -> None:
        super().__init__(key_for("file"))
        self._paths = paths
        self._by_version = Ledger(self._version_key)

    def _version_key(self, part: LogPart) -> str:
        return part.hash if part.kind == "file" and normalize_folder(part.path) in self._paths else ""

    @property
    def versions(self) -> dict[str, Row]:
        return {key: row for key, row in self._by_version.rows.items() if key not in ("", "answers", "not in the log")}

    def start_log(self) -> None:
        super().start_log()
        self._by_version.start_log()

    def follow(self, step: Step) -> None:
        super().follow(step)
        self._by_version.follow(step)

    def add_step(self, step: Step, rates: Rates | None) -> None:
        super().add_step(step, rates)
        self._by_version.add_step(step, rates)

    def add(self, request: LoggedRequest, parts: Sequence[LogPart], rates: Rates | None) -> None:
        super().add(request, parts, rates)
        self._by_version.add(request, parts, rates)


def _line_shares(lines: Sequence[str], versions: Mapping[str, Row], texts: Mapping[str, str]) -> dict[str, list[float]]:
    """Return for each kind of tokens, and for the cost, what falls on each line. The last entry is for lines that were removed."""
    shares = {kind: [0.0] * (len(lines) + 1) for kind in (*KINDS, "cost")}
    for version, row in versions.items():
        for index, weight in _weights(lines, texts.get(version, "")).items():
            for amounts, amount in zip(shares.values(), (*row.counts, row.cost), strict=True):
                amounts[index] += weight * amount
    return shares


def _weights(lines: Sequence[str], text: str) -> dict[int, float]:
    """Return what share of a version of the file each line of the current file is. Lines that it does not have any more come last."""
    from difflib import SequenceMatcher

    old = text.split("\n")
    total = sum(len(line.encode("utf-8", "surrogatepass")) + 1 for line in old)
    kept: dict[int, int] = {}
    for block in SequenceMatcher(None, old, lines, autojunk=False).get_matching_blocks():
        kept |= {block.a + offset: block.b + offset for offset in range(block.size)}
    weights: dict[int, float] = {}
    for number, line in enumerate(old):
        index = kept.get(number, len(lines))
        weights[index] = weights.get(index, 0.0) + (len(line.encode("utf-8", "surrogatepass")) + 1) / total
    return weights


def _line_forms(
    path: str, lines: Sequence[str], rows: Mapping[str, Any], shares: Mapping[str, list[float]]
) -> list[PricedLineForm]:
    sums = {kind: sum(getattr(row[2], kind) for row in rows.values()) for kind in KINDS}
    columns = {kind: apportion(sums[kind], shares[kind]) for kind in KINDS}
    costs = [row[3] for row in rows.values() if row[3] is not None]
    forms: list[PricedLineForm] = []
    shown = [*(mask_in_place("\n".join(lines)).split("\n") if lines else lines), REMOVED]
    cost = apportion(sum(costs), shares["cost"]) if costs else [None] * len(shown)
    for index, text in enumerate(shown):
        tokens = TokenCounts(*(columns[kind][index] for kind in KINDS))
        is_removed = index == len(lines)
        if is_removed and not any(tokens):
            continue
        number = None if is_removed else index + 1
        forms.append(
            {
                "number": number,
                "text": text,
                "section": None,
                "kind": "file",
                "path": path,
                "line": number,
                "tokens": tokens_form(tokens),
                "cost": dollars(cost[index]),
            }
        )
    return forms


def _total_form(rows: Mapping[str, Any]) -> FileCostForm:
    tokens, costs = TokenCounts(), [row[3] for row in rows.values() if row[3] is not None]
    for row in rows.values():
        tokens = tokens.plus(row[2])
    exactness = [row[4] for row in rows.values()]
    times = max(row[1] for row in rows.values())
    return {
        "times": times,
        "tokens": tokens_form(tokens),
        "cost": dollars(sum(costs)) if costs else None,
        "exactness": "estimated" if "estimated" in exactness else "rebuilt",
    }
