"""`foreword effect`: run an experiment, and print what each instruction changes."""

from __future__ import annotations

import sys

from ..errors import CallError
from .effect_words import dollars, duration, write_power, write_report
from .options import OPTIONS, add_dir_argument, new_parser
from .progress import ProgressLine
from .terminal import is_terminal, report, write, write_error, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..programs.effect.command import EffectOptions
    from ..programs.effect.experiment import Estimate
    from ..vocabulary import Finding
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "effect": (
        "cache",
        "measure whether an instruction changes what your agent achieves",
        "foreword effect . --arms sections -- ./check.sh",
        "ExperimentForm | PowerForm",
    ),
}

_SHARED = ("--json", "--home", "--now", "--settings")
_UNITS = {"s": 1, "m": 60, "h": 3600}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = add_dir_argument(new_parser(command, without=[name for name, _ in OPTIONS if name not in _SHARED]))
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="after --: runs your agent and checks the result")
    about = "what each arm leaves out: files, sections, or the paragraphs of one file (files)"
    parser.add_argument("--arms", default="files", metavar="files|sections|FILE", help=about)
    parser.add_argument("--runs", default="40", metavar="N", help="at most this many runs per arm (40)")
    parser.add_argument("--jobs", default="1", metavar="N", help="how many runs at the same time (1)")
    parser.add_argument("--seed", default="", metavar="N", help="the seed for the order and for FOREWORD_SEED")
    about = "call it no difference if one as large as this is excluded (30)"
    parser.add_argument("--margin", default="30", metavar="POINTS", help=about)
    parser.add_argument("--timeout", default="30m", metavar="TIME", help="a run that takes longer has no result (30m)")
    parser.add_argument("--retries", default="2", metavar="N", help="how often a run without a result is repeated (2)")
    parser.add_argument("--max-cost", default="", metavar="DOLLARS", help="stop before the runs cost more than this")
    about = "copy an untracked path into every arm, such as node_modules; may be repeated"
    parser.add_argument("--with", action="append", default=[], dest="extra", metavar="PATH", help=about)
    parser.add_argument("--results", default="", metavar="FILE", help="the file of results, outside the repository")
    about = "continue --results, or this repository's latest experiment"
    parser.add_argument("--resume", action="store_true", help=about)
    about = "say how many runs show which difference, and run nothing"
    parser.add_argument("--power", action="store_true", help=about)
    about = "show what each instruction costs in a month, from the logs of agents"
    parser.add_argument("--sessions", action="store_true", help=about)
    parser.add_argument("--markdown", action="store_true", help="print the report as Markdown, for a pull request")
    parser.add_argument("--svg", default="", metavar="FILE", help="also write a picture of the intervals")
    parser.add_argument("--yes", action="store_true", help="never ask whether to go on")
    return parser


def configured(parser: Parser, arguments: list[str]) -> list[str]:
    """Keep the command's own options from being parsed: everything after `--` is the command."""
    index = arguments.index("--") if "--" in arguments else len(arguments)
    parser.set_defaults(after=arguments[index + 1 :])
    return arguments[:index]


def effect(args: Namespace) -> int:
    """`foreword effect [DIR] -- COMMAND…`"""
    from ..programs.effect.command import effect_answer, power_answer

    if args.command:
        raise CallError("write -- before the command: foreword effect . -- ./check.sh")
    options = _options(args)
    if args.power:
        form = power_answer(args.question, options)
        if args.json:
            write_json(form)
        else:
            write_power(form)
        return 0
    listener = _Listener(args, options.max_cost)
    try:
        answer = effect_answer(args.question, options, listener)
    except KeyboardInterrupt:
        listener.clear()
        write_error("interrupted; the results of finished runs are kept, and --resume continues")
        return 130
    listener.clear()
    if args.svg:
        from ..programs.effect.picture import draw

        _write_file(args.svg, draw(answer))
    if args.json:
        write_json(answer)
    elif args.markdown:
        from ..programs.effect.markdown import to_markdown

        write(to_markdown(answer))
    else:
        write_report(answer)
    return 0


def _options(args: Namespace) -> EffectOptions:
    from ..programs.effect.command import EffectOptions

    return EffectOptions(
        arms=args.arms,
        command=args.after,
        runs=_whole(args.runs, "--runs", 4),
        jobs=_whole(args.jobs, "--jobs", 1),
        seed=_whole(args.seed, "--seed", 0) if args.seed else None,
        margin=_number(args.margin, "--margin", 1, 100) / 100,
        timeout=_seconds(args.timeout),
        retries=_whole(args.retries, "--retries", 0),
        max_cost=_number(args.max_cost, "--max-cost", 0, 1e9) if args.max_cost else None,
        extra=args.extra,
        results=args.results,
        resume=args.resume,
        sessions=args.sessions,
    )


def _whole(text: str, option: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise CallError(f"{option} must be a whole number from {least} on, not {text!r}")
    return int(text)


def _number(text: str, option: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        raise CallError(f"{option} must be a number from {least:g} to {most:g}, not {text!r}")
    return number


def _seconds(text: str) -> float:
    unit = text[-1:] if text[-1:] in _UNITS else "s"
    number = text.removesuffix(unit) if text[-1:] in _UNITS else text
    if not number.isdecimal() or not int(number):
        raise CallError(f"--timeout must be a time such as 90s, 30m or 2h, not {text!r}")
    return float(int(number) * _UNITS[unit])


def _write_file(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CallError(f"--svg {path}: the file cannot be written: {error.strerror}") from None


class _Listener:
    """Prints progress to standard error, and asks before money is spent if there is somebody to ask."""

    def __init__(self, args: Namespace, max_cost: float | None) -> None:
        self.args, self.max_cost = args, max_cost
        self._line = ProgressLine()
        self._asks = is_terminal(sys.stdin) and is_terminal(sys.stderr) and not args.yes

    def starts(self, planned: int, findings: Sequence[Finding]) -> None:
        report(findings, self.args, with_infos=True)
        write_error(f"at most {planned:,} runs; arms that are decided stop earlier")

    def ran(self, state: Estimate) -> None:
        self._line.show(_describe(state))

    def clear(self) -> None:
        self._line.clear()

    def confirms(self, state: Estimate) -> bool:
        self.clear()
        write_error(_describe(state))
        if not self._asks or self.max_cost is not None:
            return True
        sys.stderr.write("go on? [Y/n] ")
        sys.stderr.flush()
        line = sys.stdin.readline()  # empty after Ctrl-D, which is not consent
        return bool(line) and line.strip().lower() in ("", "y", "yes")


def _describe(state: Estimate) -> str:
    money = ""
    if state.spent is not None and state.cost_left is not None:
        money = f"; {dollars(state.spent)} spent, at most about {dollars(state.cost_left)} more"
    return f"{state.done:,} of at most {state.planned:,} runs, about {duration(state.seconds_left)} left{money}"
