"""Print what each line of an instruction file cost, for `foreword blame --file FILE --cost`."""

from __future__ import annotations

import sys

from ..errors import CallError
from .columns import clip, display_width
from .progress import Counter
from .session_words import amount, money, report_forms, token_sum
from .terminal import is_terminal, terminal_width, write_json, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace

_NARROW = 30


def write_line_costs(args: Namespace) -> int:
    """Print the lines of a file with their costs. Returns the exit status."""
    from ..programs.session_blame import blame_cost_answer

    if not args.cost:
        raise CallError("--file and --since need --cost")
    with Counter("reading logs") as progress:
        fields = {"file": args.file, "since": args.since, "progress": progress}
        answer = blame_cost_answer(args.question.with_fields(**fields))
    if args.json:
        write_json(answer)
        return 0
    rows = []
    room = max(terminal_width(sys.stdout) - _NARROW, 20) if is_terminal(sys.stdout) else sys.maxsize
    for line in answer["lines"]:
        tokens = token_sum(line["tokens"])
        text = line["text"] if display_width(line["text"]) <= room else clip(line["text"], room - 1) + "…"
        rows.append((str(line["line"] or ""), amount(tokens), money(line["cost"]), text))
    write_table(rows, ("line", "tokens", "cost", "text"), right=(0, 1, 2))
    total = answer["total"]
    what = f"{money(total['cost'])} at list price, {amount(token_sum(total['tokens']))} tokens in {total['times']:,} requests"
    write_line(f"{what} ({total['exactness']})")
    report_forms(answer["findings"])
    return 0
