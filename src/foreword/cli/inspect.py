"""Commands that ask questions of finished prompts: diff, cache."""

from __future__ import annotations

import argparse
import sys

from ..errors import CallError
from ..vocabulary import Workspace, replace
from .edits import write_difference, write_first
from .options import OPTIONS, assembler, new_parser, standard_input, status
from .subjects import TAKES, assembled, built, is_folder, prepared, read_subject
from .terminal import is_terminal, painted, report, write, write_json, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ..inspection.cache import CacheReuse, Misplaced, Segment
    from ..inspection.diff import SectionDiff
    from ..inspection.prices import Price, Prices, ProviderRules
    from ..inspection.subject import Subject
    from ..programs.stability import Rebuild
    from ..wire.forms import CacheForm, CacheReusesForm, MendForm, ProviderForm, RebuildForm
    from .options import Parser

_MOST_TURNS = 1_000_000


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    parser = new_parser(command)
    if command == "diff":
        parser.add_argument("old", metavar="OLD", help=f"the prompt before: {TAKES}")
        parser.add_argument("new", metavar="NEW", help="the prompt after, named in the same ways")
        parser.add_argument("--exit-code", action="store_true", help="exit with 1 if the prompts differ")
        return parser
    parser.add_argument("dir", nargs="?", default=argparse.SUPPRESS, metavar="DIR|OLD", help=f"{TAKES}")
    parser.add_argument(
        "new", nargs="?", default="", metavar="NEW", help="the prompt after a change, named in the same ways"
    )
    parser.add_argument(
        "--turns", type=int, default=30, metavar="N", help="how many turns more a change is reckoned for (30)"
    )
    parser.add_argument(
        "--prices", default="", metavar="FILE", help="a TOML file of prices that outranks the shipped ones"
    )
    parser.add_argument(
        "--exit-code", action="store_true", help="exit with 1 if there is something to mend, or tokens are lost"
    )
    return parser


# foreword diff


def diff(args: argparse.Namespace) -> int:
    """`foreword diff OLD NEW`"""
    from ..inspection.diff import compare
    from ..text.tokens import count

    if args.old == args.new == "-":
        raise CallError("only one of the two can be standard input")
    old, new = read_subject(args.old, args), read_subject(args.new, args)
    found = compare(old, new)
    tokens = count(old.prompt.text, args.model, args.provider), count(new.prompt.text, args.model, args.provider)
    if args.json:
        from ..wire.differences import difference_form

        write_json(difference_form(old, new, tokens, found))
    else:
        from .paths import paths_of

        write_difference(old, new, (tokens[0].count, tokens[1].count), found, paths_of(args))
    return _status(args, found.is_changed, old, new)


def _status(args: argparse.Namespace, has_any: bool, *subjects: Subject) -> int:
    """1 where that was asked for: by --exit-code if there is anything to tell, by --strict if a prompt has an error finding."""
    if args.exit_code and has_any:
        return 1
    return status([each for subject in subjects for each in subject.prompt.findings], args)


# foreword cache


def cache(args: argparse.Namespace) -> int:
    """`foreword cache [DIR]`, `foreword cache OLD NEW`"""
    from ..inspection.price_list import read_prices

    if not 0 <= args.turns <= _MOST_TURNS:
        raise CallError(f"--turns takes a number from 0 to {_MOST_TURNS:,}, not {args.turns}")
    args.name, args.dir = args.dir, args.dir if is_folder(args.dir) else "."
    table = read_prices(args.prices, Workspace(args.dir, home=args.home), args.settings)
    asked = [_Asked(rules, table, args) for rules in _providers(table, args)]
    return _cache_of_change(args, asked) if args.new else _cache_of_prompt(args, asked)


def _providers(table: Prices, args: argparse.Namespace) -> Sequence[ProviderRules]:
    """Every provider, or the one that was named."""
    named = [each for each in table.providers if each.name == args.provider.lower()]
    return named or table.providers


class _Asked:
    """A provider, the price of the model that is meant, and how that model counts."""

    def __init__(self, rules: ProviderRules, table: Prices, args: argparse.Namespace) -> None:
        self.rules = rules
        # A model that no row knows is the caller's provider's, else nobody's: then each has its usual one.
        owner = table.provider_of(args.model) or args.provider.lower()
        self.model = args.model if owner == rules.name else ""
        self.price: Price | None = table.of(rules, self.model)
        self._counts: dict[str, int] = {}

    def count(self, text: str) -> int:
        from ..text.tokens import count

        if text not in self._counts:
            self._counts[text] = count(text, self.model or self.rules.model, self.rules.name).count
        return self._counts[text]

    def segments(self, subject: Subject) -> list[Segment]:
        """The request as the provider reads it."""
        from ..inspection.cache import segments_of, with_last_breakpoint
        from ..providers import request_for

        try:
            segments = segments_of(request_for(self.rules.name, subject.turn), self.rules.order)
        except (AttributeError, KeyError, TypeError):
            raise CallError(
                f"{subject.name}: its tools or messages have no form that {self.rules.name} takes"
            ) from None
        return with_last_breakpoint(segments) if self.rules.caching == "breakpoints" else segments


# of one prompt


def _cache_of_prompt(args: argparse.Namespace, asked: Sequence[_Asked]) -> int:
    import gc

    from ..inspection.cache import instability_findings, misplaced, order_findings

    args.clock = _moment(args)
    is_built = is_folder(args.name)
    subject, rebuilt = _built_again(args) if is_built else (read_subject(args.name, args), [])
    # Counting takes much memory as well; by now most of what the builds took is not needed any more.
    gc.collect()
    counted = asked[0].count
    found = misplaced(subject.prompt, counted)
    mend = _mend(args, subject, found, is_built)
    moved = [(each.how, sections) for each, sections in rebuilt if sections]
    behind = [counted(subject.prompt.text[_first_at(sections) :]) for _, sections in moved]
    findings = [*order_findings(found), *instability_findings(moved, behind)]
    form = _cache_form(subject, args, found, mend)
    for each in asked:
        form["providers"].append(_provider_form(subject, each))
    if args.json:
        from ..encoding.prompt import finding_form

        form["rebuilds"] = [_rebuild_form(each, sections, subject) for each, sections in rebuilt]
        form["findings"] = [finding_form(each) for each in findings]
        write_json(form)
    else:
        _write_cache(form, rebuilt, subject.is_plain)
        report(findings, args, every=True)
    return _status(args, bool(findings), subject)


def _moment(args: argparse.Namespace) -> datetime:
    """One time for every build, in the form in which another process can be told it."""
    from datetime import datetime

    from ..engine.assembler import local_time

    return datetime.fromisoformat((args.clock or local_time()).isoformat())


def _built_again(args: argparse.Namespace) -> tuple[Subject, list[tuple[Rebuild, Sequence[SectionDiff]]]]:
    """The prompt of a directory, built again in every way that should not matter, and what moved each time."""
    from ..inspection.diff import compare
    from ..inspection.subject import Subject as Again
    from ..programs.stability import rebuilds

    found: list[tuple[Rebuild, Sequence[SectionDiff]]] = []
    piped = standard_input() if "-" in (args.tools, args.scope, args.base, args.plan) else b""
    prompts, who = prepared(args.name, args)
    subject = built(args.name, args, prompts, who)
    for each in rebuilds(prompts, who, args.clock, _command(args), piped, subject.prompt):
        is_same = each.prompt is None or each.prompt.text == subject.prompt.text
        sections = () if is_same or each.prompt is None else compare(subject, Again(each.how, each.prompt)).sections
        found.append((each, sections))
    # From here on only the texts count; the candidates of many skills are much to hold on to.
    lean = replace(subject.prompt, candidates=())
    again = [(replace(each, prompt=each.prompt and lean) if not moved else each, moved) for each, moved in found]
    return replace(subject, prompt=lean), again


def print_id(arguments: Sequence[str]) -> int:
    """Print the id of the prompt that `foreword show` would print with these arguments."""
    import gc

    from .options import read
    from .prompt import parser_for as parser_of_show

    gc.disable()  # as in any command
    command, *rest = arguments or ("",)
    if command != "show":
        raise CallError(f"the arguments begin with show, not {command!r}")
    args = read(parser_of_show(command), rest)
    prompts, who = prepared(args.dir, args)
    write(prompts.prompt(who, args.clock).id)
    return 0


def _command(args: argparse.Namespace) -> list[str]:
    """The options as another process takes them."""
    command = ["show", "--json", f"--now={args.clock.isoformat()}"]
    for name, takes in OPTIONS:
        content = getattr(args, name.removeprefix("--").replace("-", "_"))
        if name in ("--json", "--now", "--strict") or not content:
            continue
        if takes.get("action") == "store_true":
            command.append(name)
        else:
            command += [f"{name}={each}" for each in (content if isinstance(content, list) else [content])]
    return [*command, "--", args.dir]


def _first_at(sections: Sequence[SectionDiff]) -> int:
    """Where the first change stands in the prompt as it was."""
    starts = [each.edits[0].old[0] if each.edits else each.old[0] if each.old else 0 for each in sections]
    return min(starts, default=0)


def _mend(args: argparse.Namespace, subject: Subject, found: Sequence[Misplaced], is_built: bool) -> MendForm | None:
    """The order that would mend it, and the options that come nearest to it: they are tried before they are named."""
    from ..inspection.cache import best_order, misplaced, order_settings

    if not found:
        return None
    mend: MendForm = {"order": best_order(subject.prompt), "set": [], "mends": "none"}
    if not is_built:
        return mend
    options = [f"{key}={','.join(names)}" for key, names in order_settings(assembler(args).layout().sections)]
    if options:
        own = argparse.Namespace(**{**vars(args), "set": [*args.set, *options]})
        left = misplaced(assembled(args.dir, own).prompt, len)
        if len(left) < len(found):
            mend["set"], mend["mends"] = options, "part" if left else "all"
    return mend


def _provider_form(subject: Subject, asked: _Asked) -> ProviderForm:
    from ..inspection.cache import breakpoints, count_kept, request_cost
    from ..text.tokens import unload_others
    from ..wire.differences import breakpoint_form, price_form

    unload_others(asked.model or asked.rules.model, asked.rules.name)
    segments = asked.segments(subject)
    cuts = breakpoints(segments, subject.prompt, asked.rules, asked.price, asked.count)
    total, _, most = count_kept(segments, segments, asked.rules, asked.price, asked.count)
    price = asked.price
    return {
        "provider": asked.rules.name,
        "caching": asked.rules.caching,
        "order": list(asked.rules.order),
        "price": price_form(price) if price else None,
        "tokens": total,
        "breakpoints": [breakpoint_form(each) for each in cuts],
        "first_request": request_cost(total, most, price, is_read=False) if price else None,
        "next_request": request_cost(total, most, price, is_read=True) if price else None,
    }


def _cache_form(
    subject: Subject,
    args: argparse.Namespace,
    found: Sequence[Misplaced],
    mend: MendForm | None,
) -> CacheForm:
    from ..text.tokens import count
    from ..wire.differences import misplaced_form, subject_form

    return {
        "prompt": subject_form(subject, count(subject.prompt.text, args.model, args.provider)),
        "providers": [],
        "misplaced": [misplaced_form(each) for each in found],
        "mend": mend,
        "rebuilds": [],
        "findings": [],
    }


def _rebuild_form(rebuilt: Rebuild, sections: Sequence[SectionDiff], subject: Subject) -> RebuildForm:
    from ..inspection.changes import section_names
    from ..wire.answers import names_form
    from ..wire.differences import section_diff_form

    new = rebuilt.prompt.text if rebuilt.prompt else ""
    return {
        "varied": rebuilt.varied,
        "how": rebuilt.how,
        "changed": None if rebuilt.prompt is None else bool(sections),
        "trouble": rebuilt.trouble or None,
        "sections": names_form(section_names(sections)),
        "details": [section_diff_form(each, subject.prompt.text, new) for each in sections],
    }


def _write_cache(form: CacheForm, rebuilt: Sequence[tuple[Rebuild, Sequence[SectionDiff]]], is_plain: bool) -> None:
    prompt = form["prompt"]
    layout = f"layout {prompt['layout']}, " if prompt["layout"] else ""
    write_line(
        f"{painted(prompt['name'], 'bold')}  {layout}{prompt['tokens']['count']:,} tokens by {prompt['tokens']['method']}"
    )
    for each in form["providers"]:
        _write_provider(each)
    mend = form["mend"]
    write("\n")
    if is_plain:
        write_line("order   nothing is known of its sections", indent=8)
    elif mend is None:
        write_line("order   no section stands before one that lives longer", indent=8)
    else:
        write_line(f"order   this would mend it: {', '.join(mend['order'])}", indent=8)
        tried = {"all": "mends all of it", "part": "mends some of it", "none": ""}[mend["mends"]]
        if mend["set"]:
            options = " ".join(f"--set {option}" for option in mend["set"])
            write_line(f"        {options}  {painted(tried, 'dim')}", indent=8)
    if rebuilt:
        same = sum(not sections and rebuild.prompt is not None for rebuild, sections in rebuilt)
        write_line(f"again   {same} of {len(rebuilt)} other builds gave the same bytes", indent=8)
    for rebuild, sections in rebuilt:
        if sections or rebuild.trouble:
            told = rebuild.trouble or ", ".join(each.section for each in sections)
            moved = painted("moved" if sections else "failed", "yellow")
            write_line(f"        {moved}  {rebuild.how}: {told}", indent=16)
    sys.stdout.flush()


def _write_provider(form: ProviderForm) -> None:
    price = form["price"]
    from_ = f", from {price['minimum']:,} tokens on" if price and price["minimum"] else ""
    how = f"at {len(form['breakpoints'])} breakpoints" if form["caching"] == "breakpoints" else "by itself"
    write("\n")
    write_line(
        f"{painted(form['provider'], 'bold')}  {price['model'] if price else 'no price is known'}; reads {', '.join(form['order'])}; "
        f"caches {how}{from_}",
        indent=2,
    )
    rows = [
        (
            f"  {'tools' if each['of'] == 'tools' else each['after'] or 'the prompt'}",
            each["lifetime"],
            f"{each['tokens']:,}",
            {True: "kept", False: "too short to be kept", None: ""}[each["kept"]],
        )
        for each in form["breakpoints"]
    ]
    write_table(rows, ("  behind", "lives for", "tokens", ""), ("", "dim", "", "dim"), right=(2,))
    if price and form["first_request"] is not None and form["next_request"] is not None:
        first, later = dollars(form["first_request"]), dollars(form["next_request"])
        write_line(f"  the first request costs {first}, the next {later}", indent=2)


# of a change


def _cache_of_change(args: argparse.Namespace, asked: Sequence[_Asked]) -> int:
    from ..inspection.cache import cache_reuse

    if args.name == args.new == "-":
        raise CallError("only one of the two can be standard input")
    args.clock = _moment(args)
    old, new = read_subject(args.name, args), read_subject(args.new, args)
    if old.tools is None or new.tools is None:
        # What is not known of one is not held against the other.
        old, new = replace(old, tools=None), replace(new, tools=None)
    found = [
        cache_reuse((old, each.segments(old)), (new, each.segments(new)), each.rules, each.price, each.count)
        for each in asked
    ]
    if args.json:
        _write_kept_json(args, old, new, asked, found)
    else:
        _write_kept(args, (old, new), asked, found)
    return _status(args, any(each.lost for each in found), old, new)


def _write_kept_json(
    args: argparse.Namespace, old: Subject, new: Subject, asked: Sequence[_Asked], found: Sequence[CacheReuse]
) -> None:
    from ..inspection.changes import changes, sent
    from ..text.tokens import count
    from ..wire.answers import changes_form
    from ..wire.differences import cache_reuse_form, subject_form

    found_changes = changes(sent(old.prompt, old.tools), sent(new.prompt, new.tools))
    tokens = [count(each.prompt.text, args.model, args.provider) for each in (old, new)]
    rows = [cache_reuse_form(kept, each.rules, each.price, args.turns) for each, kept in zip(asked, found, strict=True)]
    subjects = subject_form(old, tokens[0]), subject_form(new, tokens[1])
    form: CacheReusesForm = {
        **changes_form(found_changes),
        "old": subjects[0],
        "new": subjects[1],
        "turns": args.turns,
        "providers": rows,
    }
    write_json(form)


def _write_kept(
    args: argparse.Namespace, subjects: tuple[Subject, Subject], asked: Sequence[_Asked], found: Sequence[CacheReuse]
) -> None:
    rows = [
        (
            kept.provider,
            each.price.name if each.price else "no price is known",
            f"{kept.shared:,} of {kept.total:,}",
            f"{kept.tokens:,}",
            f"{kept.lost:,}",
            dollars(kept.rewrite),
            dollars(None if kept.rewrite is None else kept.rewrite * args.turns),
        )
        for each, kept in zip(asked, found, strict=True)
    ]
    head = ("", "model", "same tokens", "kept", "written again", "costs more now", f"on each of {args.turns} turns")
    write_table(rows if is_terminal(sys.stdout) else [head, *rows], head, ("bold",), right=(2, 3, 4, 5, 6))
    if not any(kept.most for kept in found):
        write_line("the prompt is too short to be kept by any of them")
    from .paths import paths_of

    paths = paths_of(args, ".")
    firsts: dict[str, list[str]] = {}
    for kept in found:
        if kept.first:
            firsts.setdefault(write_first(kept.first, paths), []).append(kept.provider)
    write("\n")
    for sentence, names in firsts.items():
        write_line(f"first difference for {', '.join(names)}: {sentence}", indent=2)
    if not firsts:
        write_line(
            "nothing differs"
            if subjects[0].prompt.text == subjects[1].prompt.text
            else "the one goes on where the other ends"
        )


def dollars(amount: float | None) -> str:
    """An amount as a person reads it: small ones with as many places as they need."""
    if amount is None:
        return "-"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"
