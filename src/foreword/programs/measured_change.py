"""A change to a watched prompt with its token counts and effect: what `watch` reports, on a terminal, as JSON and over HTTP."""

from __future__ import annotations

import json
from datetime import datetime

from ..errors import ForewordError
from ..inspection.effects import measure_effect
from ..text.tokens import count
from ..wire.answers import watch_form
from ..wire.counting import count_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.touched import Touched
    from ..inspection.effects import Effect
    from ..text.tokens import Count
    from ..wire.forms import CountedTool, WatchForm
    from .watching import Change


class MeasuredChange:
    """A change to the prompt, with its token counts and effect. `tools` and `touched` are those before and after it."""

    def __init__(
        self,
        change: Change,
        model: str,
        provider: str,
        tools: tuple[str, str] = ("[]", "[]"),
        touched: tuple[Touched | None, Touched | None] = (None, None),
    ) -> None:
        self.change, self.prompt, self.tools, self.touched = change, change.prompt, tools, touched
        self._model, self._provider = model, provider
        self.time = datetime.now().astimezone()
        self.total = self.count(self.prompt.text)
        self.section_counts = [self.count(passage.text) for passage in self.prompt.passages]
        self.tool_counts = self.count_tools(tools[1])
        self.effect = self._effect()

    def count(self, text: str) -> Count:
        """Count the tokens in a string. Recent counts are cached."""
        key = (text, self._model, self._provider)
        result = _count_cache.pop(key, None) or count(*key)
        _count_cache[key] = result
        if len(_count_cache) > _MAX_CACHED_COUNTS:
            _count_cache.pop(next(iter(_count_cache)), None)
        return result

    def count_tools(self, definitions: str) -> list[CountedTool]:
        """Count the tokens in tool definitions."""
        return count_tools(json.loads(definitions), lambda text: self.count(text).count)

    def _effect(self) -> Effect | None:
        if self.change.before is None or self.change.error is not None:
            return None
        tools = json.loads(self.tools[0]), json.loads(self.tools[1])
        return measure_effect(self.change.before, self.prompt, lambda text: self.count(text).count, tools)

    @property
    def event(self) -> str:
        if self.change.error is not None:
            return "error"
        is_same = self.prompt is self.change.before and self.tools[0] == self.tools[1]
        return "start" if self.change.before is None else "same" if is_same else "change"

    def form(self) -> WatchForm:
        """Return the change as JSON."""
        change = self.change
        return watch_form(
            self.event,
            self.time.isoformat(timespec="milliseconds"),
            change.files,
            None if change.error is None else error_sentence(change.error),
            self.prompt,
            self.total,
            self.section_counts,
            self.tool_counts,
            self.effect,
            self.touched[1],
        )


def error_sentence(error: Exception) -> str:
    """Return an error's message, with its type unless it is one of Foreword's own."""
    return str(error) if isinstance(error, ForewordError) else f"{type(error).__name__}: {error}"


_count_cache: dict[tuple[str, str, str], Count] = {}
_MAX_CACHED_COUNTS = 200
