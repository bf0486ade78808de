"""The commands `diff` and `cache`, which compare prompts and calculate what they cost."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..programs.subjects import ACCEPTED, is_folder
from .edits import describe_first_difference, write_difference
from .options import new_parser, read_document, status
from .terminal import (
    describe_own_part,
    describe_tools,
    is_terminal,
    paint,
    report,
    write,
    write_json,
    write_line,
    write_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..inspection.diff import SectionDiff
    from ..inspection.subject import Subject
    from ..programs.caching import CacheLoss, CacheReport
    from ..programs.stability import Rebuild
    from ..wire.forms import CacheForm, ProviderForm
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "cache": (
        "tokens",
        "show how well a prompt can be cached, or what a change costs",
        "foreword cache . --layout pi",
        "CacheForm | CacheReusesForm",
    ),
    "diff": (
        "review",
        "show how two prompts differ, by section and word, and what caused it",
        "foreword diff . --layout ion --layout opal",
        "DifferenceForm",
    ),
}


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    if command == "diff":
        layout_help = "the layout of both prompts; repeat it to compare a directory's prompts for two layouts"
        parser = new_parser(command, several_layouts=layout_help)
        parser.add_argument("old", metavar="OLD", help=f"the old prompt: {ACCEPTED}")
        parser.add_argument(
            "new",
            nargs="?",
            default=None,
            metavar="NEW",
            help="the new prompt, specified in the same way; omit it with two layouts",
        )
        parser.add_argument("--exit-code", action="store_true", help="exit with status 1 if the prompts differ")
        return parser
    parser = new_parser(command)
    parser.add_argument("dir", nargs="?", metavar="DIR|OLD", help=ACCEPTED)
    parser.add_argument(
        "new", nargs="?", default="", metavar="NEW", help="the prompt after the change, specified in the same way"
    )
    parser.add_argument(
        "--turns",
        type=int,
        default=None,
        metavar="N",
        help="the number of turns over which to calculate the cost of a change (30)",
    )
    parser.add_argument(
        "--prices", default="", metavar="FILE", help="a TOML file of prices that override the built-in ones"
    )
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="exit with status 1 if there is something to improve, or if cached tokens are lost",
    )
    return parser


def prompt_field(name: str) -> str | dict[str, Any]:
    """Return the value of a question's field for this prompt. Standard input is read here, because only the command line has it."""
    if name != "-":
        return name
    from ..programs.subjects import parse_form

    text = read_document("-", "the file").text
    return {**(parse_form("-", text, is_json=False) or {"text": text.removesuffix("\n")}), "name": "-"}


def _prompt_fields(old: str, new: str) -> dict[str, Any]:
    if old == new == "-":
        raise CallError("only one of the two prompts can be standard input")
    return {"old": prompt_field(old), "new": prompt_field(new)}


def _status(args: Namespace, is_notable: bool, *subjects: Subject) -> int:
    """Return the exit status: 1 if --exit-code is set and `is_notable`, or if --strict is set and a finding is an error."""
    if args.exit_code and is_notable:
        return 1
    return status([finding for subject in subjects for finding in subject.prompt.findings], args)


# foreword diff


def diff(args: Namespace) -> int:
    """`foreword diff OLD NEW`, `foreword diff DIR --layout A --layout B`"""
    from ..programs.questions import compare_prompts, diff_form

    if args.new is None and len(args.layouts) != 2:
        raise CallError("diff needs OLD and NEW, or a directory and two layouts: --layout A --layout B")
    prompts = {"old": args.old} if args.new is None else _prompt_fields(args.old, args.new)
    comparison = compare_prompts(args.question.with_fields(**prompts, layouts=args.layouts))
    if args.json:
        write_json(diff_form(comparison))
    elif comparison.agents is not None:
        from .agents import write_comparison
        from .edits import write_subjects
        from .paths import paths_of

        sizes = comparison.tokens[0].count, comparison.tokens[1].count
        write_subjects(comparison.old, comparison.new, sizes, paths_of(args, args.old))
        write_comparison(comparison.agents, args)
    else:
        from .paths import paths_of

        sizes = comparison.tokens[0].count, comparison.tokens[1].count
        write_difference(comparison.old, comparison.new, sizes, comparison.difference, paths_of(args))
        if comparison.difference.is_changed and not comparison.rebuild.rule.is_assumed:
            write_line(f"\nreplacing the old prompt would {comparison.rebuild.describe()}", indent=2)
    return _status(args, comparison.difference.is_changed, comparison.old, comparison.new)


# foreword cache


def cache(args: Namespace) -> int:
    """`foreword cache [DIR]`, `foreword cache OLD NEW`"""
    from ..programs.caching import cache_loss, cache_report

    prompt, args.dir = args.dir, args.dir if is_folder(args.dir) else "."
    question = args.question.with_fields(cwd=args.dir, prices=args.prices)
    if args.turns is not None:
        if not args.new:
            raise CallError("--turns is for the cost of a change: foreword cache OLD NEW --turns N")
        question = question.with_fields(turns=args.turns)
    if args.new:
        loss = cache_loss(question.with_fields(**_prompt_fields(prompt, args.new)))
        if args.json:
            write_json(loss.form)
        else:
            _write_loss(loss, args)
        return _status(args, any(reuse.rebuild.tokens_lost for _, reuse in loss.providers), loss.old, loss.new)
    result = cache_report(question if is_folder(prompt) else question.with_fields(prompt=prompt_field(prompt)))
    if args.json:
        write_json(result.form)
    else:
        _write_report(result)
        report(result.findings, args, with_infos=True)
    return _status(args, bool(result.findings), result.subject)


def _write_report(result: CacheReport) -> None:
    prompt = result.form["prompt"]
    layout = f"layout {prompt['layout']}, " if prompt["layout"] else ""
    size = f"{prompt['tokens']['count']:,} tokens by {prompt['tokens']['method']}"
    write_line(f"{paint(prompt['name'], 'bold')}  {layout}{size}")
    if own := result.form["own"]:
        write_line(describe_own_part(own), indent=2)
    if result.form["tools"]:
        write_line(describe_tools(result.form["tools"]), indent=2)
    for provider in result.form["providers"]:
        _write_provider(provider, has_messages=bool(result.subject.messages))
    write("\n")
    _write_order(result.form, result.subject.is_plain)
    _write_rebuilds(result.rebuilds)
    sys.stdout.flush()


def _write_order(form: CacheForm, is_plain: bool) -> None:
    better = form["better_order"]
    if is_plain:
        write_line("order   unknown: plain text has no sections", indent=8)
    elif better is None:
        write_line("order   good: every section comes after those with a longer lifetime", indent=8)
    else:
        write_line(f"order   better: {', '.join(better['order'])}", indent=8)
        effect = {"all": "fixes all of it", "part": "fixes part of it", "none": ""}[better["fixes"]]
        if better["set"]:
            options = " ".join(f"--set {option}" for option in better["set"])
            write_line(f"        {options}  {paint(effect, 'dim')}", indent=8)


def _write_rebuilds(rebuilds: Sequence[tuple[Rebuild, Sequence[SectionDiff]]]) -> None:
    if rebuilds:
        same = sum(not sections and rebuild.prompt is not None for rebuild, sections in rebuilds)
        write_line(f"stable  {same} of {len(rebuilds)} rebuilds produced the same bytes", indent=8)
    for rebuild, sections in rebuilds:
        if sections or rebuild.error:
            why = rebuild.error or ", ".join(section.section for section in sections)
            outcome = paint("changed" if sections else "failed", "yellow")
            write_line(f"        {outcome}  {rebuild.detail}: {why}", indent=16)


def _write_provider(form: ProviderForm, has_messages: bool) -> None:
    price = form["price"]
    minimum = f", from {price['minimum']:,} tokens" if price and price["minimum"] else ""
    caching = f"at {len(form['breakpoints'])} breakpoints" if form["caching"] == "breakpoints" else "automatically"
    model = price["model"] if price else "price unknown"
    write("\n")
    write_line(
        f"{paint(form['provider'], 'bold')}  {model}; reads {', '.join(form['order'])}; caches {caching}{minimum}",
        indent=2,
    )
    rows = [
        (
            f"  {'tools' if breakpoint_['of'] == 'tools' else breakpoint_['after'] or 'the prompt'}",
            breakpoint_["lifetime"],
            f"{breakpoint_['tokens']:,}",
            {True: "cached", False: "too short to cache", None: ""}[breakpoint_["kept"]],
        )
        for breakpoint_ in form["breakpoints"]
    ]
    write_table(rows, ("  up to", "lifetime", "tokens", ""), ("", "dim", "", "dim"), right=(2,))
    if price and form["first_request"] is not None and form["next_request"] is not None:
        first, later = format_dollars(form["first_request"]), format_dollars(form["next_request"])
        scope = "" if has_messages else ", without messages"
        write_line(f"  the first request costs {first}, the next {later}{scope}", indent=2)


def _write_loss(loss: CacheLoss, args: Namespace) -> None:
    rows = [
        (
            reuse.provider,
            provider.price.name if provider.price else "price unknown",
            f"{reuse.shared:,} of {reuse.total:,}",
            f"{reuse.rebuild.tokens_kept:,}",
            f"{reuse.rebuild.tokens_lost:,}",
            format_dollars(reuse.rebuild.cost),
            format_dollars(None if reuse.rebuild.cost is None else reuse.rebuild.cost * loss.turns),
        )
        for provider, reuse in loss.providers
    ]
    header = ("", "model", "same tokens", "cached", "sent again", "extra cost now", f"if on all {loss.turns} turns")
    write_table(rows if is_terminal(sys.stdout) else [header, *rows], header, ("bold",), right=(2, 3, 4, 5, 6))
    rebuilds = [reuse.rebuild for _, reuse in loss.providers]
    if not any(rebuild.tokens_kept or rebuild.tokens_lost for rebuild in rebuilds):
        write_line("the prompt is too short for any of these caches")
    else:
        write_line(f"tokens are counted {rebuilds[0].counted()}", indent=2)
    _write_first_differences(loss, args)


def _write_first_differences(loss: CacheLoss, args: Namespace) -> None:
    """Print where the two requests begin to differ, by provider."""
    from .paths import paths_of

    paths = paths_of(args, ".")
    providers: dict[str, list[str]] = {}
    for _, reuse in loss.providers:
        if reuse.first:
            providers.setdefault(describe_first_difference(reuse.first, paths), []).append(reuse.provider)
    write("\n")
    for description, names in providers.items():
        write_line(f"first difference for {', '.join(names)}: {description}", indent=2)
    if not providers:
        is_same = loss.old.prompt.text == loss.new.prompt.text
        write_line("the prompts are the same" if is_same else "one prompt continues where the other ends")


def format_dollars(amount: float | None) -> str:
    """Return the amount in dollars, with more decimals if it is small."""
    if amount is None:
        return "-"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"
