"""The command that watches: sections, tokens and findings live, and what each save did to the prompt and its prefix."""

from __future__ import annotations

import os
import sys

from ..template.addresses import is_address
from ..vocabulary import replace
from . import options
from .news import News, sentence
from .options import assembler, new_parser, status, with_dir
from .paths import paths_of
from .terminal import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Protocol

    from ..vocabulary import Agent, Prompt
    from .options import Parser

    class View(Protocol):
        """How changes are shown. `tick` is how often it wants to look after itself, in milliseconds."""

        tick: int

        def show(self, news: News) -> None: ...
        def refresh(self) -> bool: ...
        def close(self) -> None: ...


def parser_for(command: str) -> Parser:
    """The parser of the command."""
    return with_dir(new_parser(command))


def watch(args: argparse.Namespace) -> int:
    """`foreword watch [DIR]`: until it is interrupted, which is how it ends."""
    import gc

    from ..programs.watching import changes
    from .signals import Ending

    gc.enable()  # this one is not over in a moment
    source = _Source(args)
    view = _view(args)
    paths = paths_of(args)
    going = changes(source, tick=view.tick)
    ending = Ending()
    last: Prompt | None = None
    tools = source.tools
    try:
        with ending:
            for change in going:
                if change is not None:
                    last = change.prompt
                    view.show(News(change, args, paths, (tools, source.tools)))
                    tools = source.tools
                elif view.refresh():
                    break
    except KeyboardInterrupt:
        pass
    finally:
        going.close()
        view.close()
    return ending.status or status(last.findings if last else (), args)


class _Source:
    """The prompt that the options ask for. The files that they name are watched too, and read again."""

    def __init__(self, args: argparse.Namespace) -> None:
        from ..engine.assembler import local_time
        from ..programs.watching import Source
        from ..sources.environment import absolute

        args.dir = absolute(args.dir, os.environ)
        self.args, self.prompts = args, assembler(args)
        self.source = Source(self.prompts, args.agent, args.clock or local_time())
        tools = "" if args.tools == options.NO_TOOLS else args.tools
        names = [args.plan, tools, args.scope, "" if is_address(args.base) else args.base]
        self.files = [absolute(name, os.environ) for name in names if name and name != "-"]
        self.tools = "[]"

    def prompt(self) -> Prompt:
        """The prompt now. `tools` are the definitions that go with it."""
        from ..conversation.tools import written_tools

        self.source.agent = self.agent()
        prompt = self.source.prompt()
        self.tools = written_tools(self.source.agent.tools or ())
        return prompt

    def agent(self) -> Agent:
        agent = options.agent(self.args)
        base = self.args.base
        if is_address(base):
            return replace(agent, base=self.prompts.template(base))
        return options.as_in_a_conversation(agent, self.prompts, self.args)

    def paths(self) -> list[str]:
        return [*self.source.paths(), *self.files]

    def lock(self) -> str:
        return self.source.lock()


# Views


def _view(args: argparse.Namespace) -> View:
    if args.json:
        return _Forms()
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from .screen import Screen

        return Screen()
    return _Lines()


class _Forms:
    """One JSON object a line."""

    tick = 0

    def show(self, news: News) -> None:
        import json

        from ..wire.answers import watch_form

        change = news.change
        error = None if change.error is None else sentence(change.error)
        time = news.time.isoformat(timespec="milliseconds")
        form = watch_form(news.event, time, change.files, error, news.prompt, news.whole, news.each, news.effect)
        write(json.dumps(form, ensure_ascii=False))
        sys.stdout.flush()

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        pass


class _Lines:
    """Plain lines, for a pipe or a file."""

    tick = 0

    def show(self, news: News) -> None:
        lines = news.lines()
        if news.event == "start":
            lines += [f"  {line}" for line in news.told_findings(news.prompt.findings)]
        colon = "error: " if news.event == "error" else ""
        lines[0] = f"{news.time:%H:%M:%S}  {colon}{lines[0]}"
        for line in lines:
            write(line)
        sys.stdout.flush()

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        pass
