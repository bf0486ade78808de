"""The command that watches: sections, tokens and findings live, and what each save did to the prompt and its prefix."""

from __future__ import annotations

import os
import sys

from ..inspection.changes import BETWEEN, WHOLE
from ..inspection.effects import TOOLS
from ..vocabulary import replace
from . import options
from .options import assembler, parser, status, with_dir
from .paths import Paths, paths_of
from .terminal import info_count, one_line, told_count, visible, worst_first, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Protocol

    from ..inspection.effects import Effect, SectionEffect
    from ..tokens import Count
    from ..vocabulary import Agent, Finding, Prompt
    from ..watching import Change
    from .options import Parser

    class View(Protocol):
        """How changes are shown. `tick` is how often it wants to look after itself, in milliseconds."""

        tick: int

        def show(self, news: News) -> None: ...
        def refresh(self) -> bool: ...
        def close(self) -> None: ...


def parser_for(command: str) -> Parser:
    """The parser of the command."""
    return with_dir(parser(command))


def watch(given: argparse.Namespace) -> int:
    """`foreword watch [DIR]`: until it is interrupted, which is how it ends."""
    import gc

    from ..watching import changes
    from .signals import Ending

    gc.enable()  # this one is not over in a moment
    source = _Source(given)
    view = _view(given)
    paths = paths_of(given)
    going = changes(source, tick=view.tick)
    ending = Ending()
    last: Prompt | None = None
    tools = source.tools
    try:
        with ending:
            for change in going:
                if change is not None:
                    last = change.prompt
                    view.show(News(change, given, paths, (tools, source.tools)))
                    tools = source.tools
                elif view.refresh():
                    break
    except KeyboardInterrupt:
        pass
    finally:
        going.close()
        view.close()
    return ending.status or status(last.findings if last else (), given)


class _Source:
    """The prompt that the options ask for. The files that they name are watched too, and read again."""

    def __init__(self, given: argparse.Namespace) -> None:
        from ..engine import local_time
        from ..sources.environment import absolute
        from ..watching import Source

        given.dir = absolute(given.dir, os.environ)
        self.given, self.made = given, assembler(given)
        self.source = Source(self.made, given.agent, given.clock or local_time())
        tools = "" if given.tools == options.NO_TOOLS else given.tools
        names = [given.plan, tools, given.scope, "" if given.base.startswith("$") else given.base]
        self.files = [absolute(name, os.environ) for name in names if name and name != "-"]
        self.tools = "[]"

    def prompt(self) -> Prompt:
        """The prompt now. `tools` are the definitions that go with it."""
        from ..conversation import written_tools

        self.source.agent = self.agent()
        prompt = self.source.prompt()
        self.tools = written_tools(self.source.agent.tools or ())
        return prompt

    def agent(self) -> Agent:
        made = options.agent(self.given)
        base = self.given.base
        if base.startswith("$"):
            return replace(made, base=self.made.template(base))
        return options.as_in_a_conversation(made, self.made, self.given)

    def paths(self) -> list[str]:
        return [*self.source.paths(), *self.files]

    def lock(self) -> str:
        return self.source.lock()


class News:
    """A change, counted: what the view tells of it."""

    def __init__(
        self, change: Change, given: argparse.Namespace, paths: Paths, tools: tuple[str, str] = ("[]", "[]")
    ) -> None:
        from datetime import datetime

        self.change, self.prompt, self.given, self.tools = change, change.prompt, given, tools
        self.paths = paths
        self.folder = Paths("", home=paths.home).short(paths.cwd)
        self.time = datetime.now().astimezone()
        self.whole = _counted(self.prompt.text, given.model, given.provider)
        self.each = [_counted(each.text, given.model, given.provider) for each in self.prompt.passages]
        self.effect = self._effect()

    def _effect(self) -> Effect | None:
        import json

        from ..inspection.effects import effect

        if self.change.before is None or self.change.error is not None:
            return None
        model, provider = self.given.model, self.given.provider
        tools = json.loads(self.tools[0]), json.loads(self.tools[1])
        return effect(self.change.before, self.prompt, lambda text: _counted(text, model, provider).count, tools)

    @property
    def event(self) -> str:
        if self.change.error is not None:
            return "error"
        is_same = self.prompt is self.change.before and self.tools[0] == self.tools[1]
        return "start" if self.change.before is None else "same" if is_same else "change"

    def lines(self) -> list[str]:
        """The change in sentences: what it did to the text, then which findings came and went."""
        if self.change.error is not None:
            return [visible(f"{self.files()}{_sentence(self.change.error)}")]
        if self.effect is None:
            sections = f"{len(self.each)} section{'' if len(self.each) == 1 else 's'}"
            return [f"{self.prompt.layout}: {sections}, {told_count(self.whole)}"]
        lines = [visible(f"{self.files()}{self.told()}")]
        lines += [f"  + {line}" for line in self.told_findings(self.effect.found)]
        return lines + [f"  - {line}" for line in self.told_findings(self.effect.gone, has_hint=False)]

    def told_findings(self, findings: Sequence[Finding], has_hint: bool = True) -> list[str]:
        """Each error and warning on a line, the worst first, and the number of infos."""
        lines = [
            one_line(replace(each, message=self.paths.in_text(each.message), path=self.paths.short(each.path)))
            for each in worst_first(findings)
            if each.severity != "info"
        ]
        infos = sum(each.severity == "info" for each in findings)
        if infos:
            lines.append(info_count(infos) if has_hint else f"{infos:,} info{'' if infos == 1 else 's'}")
        return lines

    def told(self) -> str:
        """What happened to the sections, and to the prefix."""
        effect = self.effect
        if effect is None or not effect.is_changed:
            return f"the {'prompt' if self.event == 'same' else 'text'} is the same"
        parts = [_described(each) for each in effect.sections]
        parts += [
            f"tool{'' if len(names) == 1 else 's'} {', '.join(names)} {kind}" for kind, names in effect.tools.each()
        ]
        what = ", ".join(parts)
        where = f" (up to {effect.breaks})" if effect.breaks else ""
        where = ", since tools come first" if effect.breaks == TOOLS else where
        return f"{what}; {effect.kept:,} of {effect.before:,} tokens of the prefix stay{where}"

    def files(self) -> str:
        """Which files did it, in few words."""
        names = list(self.change.files)
        if not names and self.effect is not None:
            names = sorted({path for each in self.effect.sections for path in each.sources})
        if not names:
            return ""
        shown = [self.paths.short(name) for name in names]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        return f"{', '.join(shown[:3])}{more}: "


def _described(each: SectionEffect) -> str:
    """`project +12`, `menu moved +0`, `(between sections) changed`"""
    if each.section in (WHOLE, BETWEEN):
        return f"{each.section} changed"
    how = "" if tuple(each.kinds) == ("changed",) else f" {' and '.join(each.kinds)}"
    return f"{each.section}{how} {each.after - each.before:+,}"


def _sentence(error: Exception) -> str:
    from ..errors import ForewordError

    return str(error) if isinstance(error, ForewordError) else f"{type(error).__name__}: {error}"


def _counted(text: str, model: str, provider: str) -> Count:
    """The count of a text; those of the latest texts are remembered."""
    from ..tokens import count

    key = (text, model, provider)
    known = _COUNTS.pop(key, None) or count(text, model, provider)
    _COUNTS[key] = known
    if len(_COUNTS) > _MOST_COUNTS:
        del _COUNTS[next(iter(_COUNTS))]
    return known


_COUNTS: dict[tuple[str, str, str], Count] = {}
_MOST_COUNTS = 200


# Views


def _view(given: argparse.Namespace) -> View:
    if given.json:
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

        from ..wire import watch_form

        change = news.change
        error = None if change.error is None else _sentence(change.error)
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
