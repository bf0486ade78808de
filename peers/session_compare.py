"""Compare what `foreword sessions` reads from the logs of a scripted session with what the provider recorded."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime
from typing import Any

from foreword.programs.sessions import mapping_answer

from .metered import Metered
from .session_scripts import Turn

KINDS = ("fresh", "written", "read", "out")
# What is a collapse: a request that read less than this share of the input of the one before it, less the slack.
SHARE, SLACK = 0.95, 256


def compare(base: str, settings: str, turns: list[tuple[float, Turn]], requests: list[Metered]) -> list[str]:
    """Return what differs between the logs and the provider's record. Each turn comes with the time at which it started."""
    fields = {
        "cwd": os.path.join(base, "repo"),
        "home": os.path.join(base, "home"),
        "no_cache": True,
        "settings": settings,
    }
    answer = mapping_answer(fields)
    findings, rows = list(answer["findings"]), []
    for session in answer["sessions"]:
        detail = mapping_answer({**fields, "id": session["id"]})
        findings += detail["findings"]
        rows += detail["requests"]
    problems = [row["message"] for row in findings if row["code"] == "session-rebuild-differs"]
    problems += compare_tokens(rows, answer["total"]["tokens"], requests)
    problems += compare_files(fields, answer["total"])
    return problems + compare_collapses(turns, sorted(rows, key=_time))


def compare_tokens(rows: list[dict[str, Any]], total: dict[str, int], requests: list[Metered]) -> list[str]:
    """Return what differs between the tokens of each request in the logs, or their sum, and those that the provider recorded.

    Of requests that the log has only as a sum, only the sum is compared.
    """
    problems = []
    sent = [tuple(getattr(request.metering, kind) for kind in KINDS) for request in requests]
    summed = dict(zip(KINDS, map(sum, zip(*sent, strict=True)), strict=True))
    if total != summed:
        problems.append(f"the log has {total}, the provider recorded {summed}")
    logged = [tuple(row["tokens"][kind] for kind in KINDS) for row in rows if row["exactness"] == "recorded"]
    if strange := list((Counter(logged) - Counter(sent)).elements()):
        problems.append(f"requests that the provider did not record: {strange}")
    return problems


def compare_files(fields: dict[str, Any], total: dict[str, Any]) -> list[str]:
    """Return what differs between the sum of what each file cost and the total."""
    rows = mapping_answer({**fields, "by": "file"})["rows"]
    problems = []
    for kind in KINDS:
        if (count := sum(row["tokens"][kind] for row in rows)) != total["tokens"][kind]:
            problems.append(f"the files have {count:,} tokens {kind}, the total {total['tokens'][kind]:,}")
    cost = sum(row["cost"] or 0 for row in rows)
    if abs(cost - (total["cost"] or 0)) > 1e-9:
        problems.append(f"the files cost {cost}, the total is {total['cost']}")
    return problems


def compare_collapses(turns: list[tuple[float, Turn]], rows: list[dict[str, Any]]) -> list[str]:
    """Return the collapses that were invented, missed or explained wrongly. `rows` are all requests in the order of their times.

    What happens in a turn may change too little to be a collapse: that depends on how long the conversation is, so it follows from the
    tokens. Its cause follows from the script.
    """
    problems = []
    previous = None
    for row in rows:
        if row["thread"] or row["kind"] != "turn":
            continue
        number = max(sum(start <= _time(row) + 0.5 for start, _ in turns), 1)
        turn = turns[number - 1][1]
        is_collapse = previous is not None and has_collapsed(row["tokens"], previous["tokens"])
        found = row["collapse"]["cause"] if row["collapse"] else ""
        place = f"turn {number} ({turn.message[:20]!r})"
        if is_collapse and not found:
            problems.append(f"{place}: a collapse was not found")
        elif found and not is_collapse:
            problems.append(f"{place}: nothing collapsed, but the cause is {found}")
        elif found not in turn.cause.split("|") and found:
            wanted = turn.cause or "nothing"
            problems.append(f"{place}: the cause is {wanted}, not {found} ({row['collapse']['evidence']})")
        previous = row
    return problems


def has_collapsed(tokens: dict[str, int], previous: dict[str, int]) -> bool:
    """Whether a request read much less than all of the one before it, though that was in the cache."""
    whole = previous["fresh"] + previous["written"] + previous["read"]
    cached = previous["read"] + previous["written"] if previous["written"] or tokens["written"] else whole
    return tokens["read"] < min(SHARE * whole - SLACK, cached)


def logged_requests(name: str, requests: list[Metered]) -> list[Metered]:
    """Return the requests that the program logs: OpenCode does not log the one for a title, which offers no tools."""
    return [request for request in requests if request.body.get("tools") or name != "opencode"]


def _time(row: dict[str, Any]) -> float:
    return datetime.fromisoformat(row["time"]).timestamp() if row["time"] else 0.0
