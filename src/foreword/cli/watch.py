"""`foreword watch`: show sections, tokens and findings live, and what each save changes."""

from __future__ import annotations

import os
import sys

from ..template.addresses import is_address
from ..vocabulary import replace
from .change_report import ChangeReport
from .options import NO_TOOLS, add_dir_argument, new_parser, question_of, status
from .paths import paths_of
from .terminal import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ..engine.touched import Touched
    from ..programs.touch import FirstTouch
    from ..vocabulary import Agent, Prompt
    from .arguments import Namespace, Parser

    class View(Protocol):
        """Shows changes. `refresh` is called every `tick` milliseconds, or never if that is 0."""

        tick: int

        def show(self, report: ChangeReport) -> None: ...
        def refresh(self) -> bool: ...
        def close(self) -> None: ...


OWN_COMMANDS = {
    "watch": (
        "lock",
        "show sections, tokens and findings live, and what each save changes",
        "foreword watch . src/app.py",
        "WatchForm",
    ),
}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = add_dir_argument(new_parser(command))
    about = "a file, relative to DIR; the instructions that touching it would add are shown too"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=about)
    return parser


def watch(args: Namespace) -> int:
    """`foreword watch [DIR [PATH…]]`, until it is interrupted."""
    import gc

    from ..programs.watching import changes
    from .signals import TerminationSignals

    gc.enable()  # unlike other commands, this one runs for a long time
    source = _WatchedCommand(args)
    view = _create_view(args)
    paths = paths_of(args)
    stream = changes(source, tick=view.tick)
    signals = TerminationSignals()
    last: Prompt | None = None
    tools, touched = source.tools, None
    try:
        with signals:
            for change in stream:
                if change is not None:
                    last = change.prompt
                    view.show(ChangeReport(change, args, paths, (tools, source.tools), (touched, source.touched)))
                    tools, touched = source.tools, source.touched
                elif view.refresh():
                    break
    except KeyboardInterrupt:
        pass
    finally:
        stream.close()
        view.close()
    return signals.status or status(last.findings if last else (), args)


class _WatchedCommand:
    """The prompt that the options describe. Files named by options are also watched, and reread when they change."""

    def __init__(self, args: Namespace) -> None:
        from ..engine.assembler import local_time
        from ..programs.watching import WatchedPrompt
        from ..sources.environment import absolute

        args.dir = absolute(args.dir, os.environ)
        self.args, self.question = args, args.question.with_fields(cwd=args.dir)
        self.source = WatchedPrompt(self.question.assembler, self.question.agent, self.question.now or local_time())
        tools = "" if args.tools == NO_TOOLS else args.tools
        names = [args.plan, tools, args.scope, "" if is_address(args.base) else args.base]
        self.files = [absolute(name, os.environ) for name in names if name and name != "-"]
        self.tools = "[]"
        self.touched: Touched | None = None
        self._built: Prompt | None = None
        self._shown: Prompt | None = None
        self.touch: FirstTouch | None = None
        if args.paths:
            from ..programs.touch import FirstTouch

            self.touch = FirstTouch(self.question.assembler, args.paths)

    def prompt(self) -> Prompt:
        """Build the current prompt, and update `tools` to its tool definitions and `touched` to what a touch sends."""
        from ..conversation.tools import serialize_tools

        self.source.agent = self._agent()
        prompt = self.source.prompt()
        self.tools = serialize_tools(self.source.agent.tools or ())
        return prompt if self.touch is None else self._with_touch(prompt, self.touch)

    def _with_touch(self, prompt: Prompt, touch: FirstTouch) -> Prompt:
        """Update `touched`. If only that has changed, return a copy of the prompt, which counts as a change."""
        before, self.touched = self.touched, touch.touched(self.source.agent)
        if self._built is not prompt:
            self._built = self._shown = prompt
        elif before and (before.messages, before.findings) != (self.touched.messages, self.touched.findings):
            self._shown = replace(prompt)
        return self._shown or prompt

    def _agent(self) -> Agent:
        """Return the agent, rereading files that may have changed."""
        return question_of(self.args, self.question.assembler).agent_with_template()

    def paths(self) -> list[str]:
        return [*self.source.paths(), *self.files, *(self.touch.paths_read() if self.touch else ())]

    def lock(self) -> str:
        return self.source.lock()


# Views


def _create_view(args: Namespace) -> View:
    if args.json:
        return _JsonLines()
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from .screen import Screen

        return Screen()
    return _Lines()


class _JsonLines:
    """Prints one JSON object per line."""

    tick = 0

    def show(self, report: ChangeReport) -> None:
        import json

        write(json.dumps(report.form(), ensure_ascii=False))
        sys.stdout.flush()

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        pass


class _Lines:
    """Prints plain lines, for a pipe or a file."""

    tick = 0

    def show(self, report: ChangeReport) -> None:
        lines = report.lines()
        if report.event == "start":
            lines += [f"  {line}" for line in report.finding_lines(report.prompt.findings)]
        label = "error: " if report.event == "error" else ""
        lines[0] = f"{report.time:%H:%M:%S}  {label}{lines[0]}"
        for line in lines:
            write(line)
        sys.stdout.flush()

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        pass
