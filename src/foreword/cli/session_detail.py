"""Print one session request by request, or when an instruction was in force."""

from __future__ import annotations

import sys

from ..text.lines import printable
from .columns import GAP, clip, display_width
from .session_words import amount, money, when, write_total
from .terminal import count_of, is_terminal, paint, terminal_width, write, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_MAX_NEW = 3
_MIN_NEW = 12
# How many requests, collapses and times at which an instruction was in force are shown in a terminal.
_MOST, _MOST_COLLAPSES, _MOST_SPANS = 40, 10, 10
_WORDS = {
    "message": "message",
    "answer": "answer",
    "result": "result of",
    "file": "",
    "tool": "tool",
    "skills": "skill",
    "skill": "skill",
    "summary": "summary",
}


def write_detail(answer: Mapping[str, Any]) -> None:
    """Print the answer to a question with `--id`."""
    if "spans" in answer:
        _write_spans(answer)
    else:
        _write_requests(answer)


def _write_requests(answer: Mapping[str, Any]) -> None:
    names = [f"{answer['agent']} {answer['version']}".strip(), answer["id"], answer["cwd"]]
    write_line(paint(printable("  ".join(filter(None, names))), "bold"))
    is_short = is_terminal(sys.stdout)
    shown = answer["requests"][-_MOST:] if is_short else answer["requests"]
    if earlier := len(answer["requests"]) - len(shown):
        write_line(f"{count_of(earlier, 'earlier request')}; --csv and --json list all")
    rows = []
    for request in shown:
        tokens = request["tokens"]
        rows.append(
            (
                str(request["number"]),
                (request["time"] or "?")[11:19],
                request["kind"] if request["kind"] != "turn" else "sub-agent" if request["thread"] else "",
                *(amount(tokens[kind]) for kind in ("fresh", "written", "read", "out")),
                money(request["cost"]),
                _new(request["new"]),
            )
        )
    header = ("", "time", "", "fresh", "written", "read", "out", "cost", "new")
    write_table(_fitted(rows, header), header, right=(0, 3, 4, 5, 6, 7))
    _write_collapses(answer["requests"], is_short)
    write("\n")
    write_total(answer["total"])
    if (
        answer["own_cost"] is not None
        and answer["cost"] is not None
        and abs(answer["own_cost"] - answer["cost"]) > 0.00005
    ):
        write_line(f"the program itself recorded {money(answer['own_cost'])} for this session", indent=2)


def _write_collapses(requests: Sequence[Mapping[str, Any]], is_short: bool) -> None:
    collapses = [request for request in requests if request["collapse"]]
    if collapses:
        write("\n")
    for request in collapses[-_MOST_COLLAPSES:] if is_short else collapses:
        collapse = request["collapse"]
        cost = "" if collapse["cost"] is None else f", {money(collapse['cost'])}"
        text = f"request {request['number']}: {collapse['cause']}: {collapse['evidence']}; {collapse['tokens']:,} tokens were not read again{cost}"
        write_line(printable(text), indent=2)
    if is_short and len(collapses) > _MOST_COLLAPSES:
        write_line(
            f"{count_of(len(collapses) - _MOST_COLLAPSES, 'earlier collapse')}; --csv and --json list all", indent=2
        )


def _fitted(rows: list[tuple[str, ...]], header: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the rows with a last column that fits into the terminal."""
    if not is_terminal(sys.stdout):
        return rows
    used = sum(max(map(display_width, column)) + GAP for column in list(zip(header, *rows, strict=True))[:-1])
    room = max(terminal_width(sys.stdout) - used, _MIN_NEW)
    return [(*row[:-1], row[-1] if display_width(row[-1]) <= room else clip(row[-1], room - 1) + "…") for row in rows]


def _new(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return what was new in a request, in a few words."""
    words: dict[str, None] = {}
    for part in parts:
        if part["kind"] in ("prompt", "clock", "server", "unknown"):
            words["the program's own text"] = None
        elif part["kind"] == "tool":
            words["tools"] = None
        else:
            name = (part["name"] or "").replace("\\", "/").rpartition("/")[2]
            words[f"{_WORDS.get(part['kind'], part['kind'])} {name}".strip()] = None
    names = list(words)
    more = len(names) - _MAX_NEW
    return ", ".join(names[:_MAX_NEW]) + (f", {more} more" if more > 0 else "")


def _write_spans(answer: Mapping[str, Any]) -> None:
    if not answer["spans"]:
        write_line(f"it was in none of {count_of(answer['requests'], 'request')} ({answer['exactness']})")
        return
    shown = answer["spans"][-_MOST_SPANS:] if is_terminal(sys.stdout) else answer["spans"]
    if earlier := len(answer["spans"]) - len(shown):
        write_line(f"{count_of(earlier, 'earlier time')}; --csv and --json list all")
    for span in shown:
        first, last = span["requests"]
        numbers = f"request {first}" if first == last else f"requests {first} to {last}"
        who = f" of sub-agent {printable(span['thread'])}" if span["thread"] else ""
        end = "still there in the last request" if span["lost"] is None else f"then lost: {span['lost']}"
        write_line(
            f"{when(span['from'])} to {when(span['to'])}: in {numbers}{who}, version {span['version'][:8]}, "
            f"at last {span['distance']:,} tokens from the end; {end}",
            indent=2,
        )
    write_line(paint(f"{answer['exactness']} from the log", "dim"))
