"""The command that watches: sections, tokens and findings live, and what each save did to the prompt and its prefix."""

from __future__ import annotations

import os
import sys

from . import options
from .options import assembler, parser, status, with_dir
from .terminal import one_line, short, told_count, visible, worst_first, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Protocol

    from ..inspection.effects import Effect
    from ..tokens import Count
    from ..vocabulary import Agent, Prompt
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
    going = changes(source, tick=view.tick)
    ending = Ending()
    last: Prompt | None = None
    try:
        with ending:
            for change in going:
                if change is not None:
                    last = change.prompt
                    view.show(News(change, given))
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

    def prompt(self) -> Prompt:
        self.source.agent = self.agent()
        return self.source.prompt()

    def agent(self) -> Agent:
        from ..vocabulary import replace

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

    def __init__(self, change: Change, given: argparse.Namespace) -> None:
        from datetime import datetime

        self.change, self.prompt, self.given = change, change.prompt, given
        self.time = datetime.now().astimezone()
        self.whole = _counted(self.prompt.text, given.model, given.provider)
        self.each = [_counted(each.text, given.model, given.provider) for each in self.prompt.passages]
        self.effect = self._effect()

    def _effect(self) -> Effect | None:
        from ..inspection.effects import effect

        if self.change.before is None or self.change.error is not None:
            return None
        model, provider = self.given.model, self.given.provider
        return effect(self.change.before, self.prompt, lambda text: _counted(text, model, provider).count)

    @property
    def event(self) -> str:
        if self.change.error is not None:
            return "error"
        return "start" if self.change.before is None else "same" if self.prompt is self.change.before else "change"

    def lines(self) -> list[str]:
        """The change in sentences: what it did to the text, then which findings came and went."""
        if self.change.error is not None:
            return [visible(f"{self.files()}{_sentence(self.change.error)}")]
        if self.effect is None:
            sections = f"{len(self.each)} section{'' if len(self.each) == 1 else 's'}"
            return [f"{self.prompt.layout}: {sections}, {told_count(self.whole)}"]
        lines = [visible(f"{self.files()}{self.told()}")]
        lines += [f"  + {one_line(each)}" for each in worst_first(self.effect.found)]
        return lines + [f"  - {one_line(each)}" for each in worst_first(self.effect.gone)]

    def told(self) -> str:
        """What happened to the sections, and to the prefix."""
        effect = self.effect
        if effect is None or not effect.has_other_text:
            return f"the {'prompt' if self.event == 'same' else 'text'} is the same"
        sections = [
            f"{each.section}{'' if each.how == 'changed' else f' {each.how}'} {each.after - each.before:+,}"
            for each in effect.sections
        ]
        what = ", ".join(sections) or "only what stands between sections"
        where = f" (up to {effect.breaks})" if effect.breaks else ""
        return f"{what}; {effect.kept:,} of {effect.before:,} tokens of the prefix stay{where}"

    def files(self) -> str:
        """Which files did it, in few words."""
        names = list(self.change.files)
        if not names and self.effect is not None:
            names = sorted({path for each in self.effect.sections for path in each.sources})
        if not names:
            return ""
        shown = [short(name, self.given.dir) for name in names]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        return f"{', '.join(shown[:3])}{more}: "


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
            lines += [f"  {one_line(each)}" for each in worst_first(news.prompt.findings)]
        colon = "error: " if news.event == "error" else ""
        lines[0] = f"{news.time:%H:%M:%S}  {colon}{lines[0]}"
        for line in lines:
            write(line)
        sys.stdout.flush()

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        pass
