"""A change to the prompt with its token counts, described for the views of `watch`."""

from __future__ import annotations

from ..inspection.changes import BETWEEN, WHOLE
from ..inspection.effects import TOOLS
from ..vocabulary import replace
from .paths import ShortPaths
from .terminal import count_sentence, info_count, one_line, visible, worst_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.effects import Effect, SectionEffect
    from ..programs.watching import Change
    from ..text.tokens import Count
    from ..vocabulary import Finding
    from .arguments import Namespace


class News:
    """A change and its token counts."""

    def __init__(
        self, change: Change, args: Namespace, paths: ShortPaths, tools: tuple[str, str] = ("[]", "[]")
    ) -> None:
        from datetime import datetime

        self.change, self.prompt, self.args, self.tools = change, change.prompt, args, tools
        self.paths = paths
        self.folder = ShortPaths("", home=paths.home).short(paths.cwd)
        self.time = datetime.now().astimezone()
        self.total = _count_tokens(self.prompt.text, args.model, args.provider)
        self.each = [_count_tokens(passage.text, args.model, args.provider) for passage in self.prompt.passages]
        self.effect = self._effect()

    def _effect(self) -> Effect | None:
        import json

        from ..inspection.effects import effect

        if self.change.before is None or self.change.error is not None:
            return None
        model, provider = self.args.model, self.args.provider
        tools = json.loads(self.tools[0]), json.loads(self.tools[1])
        return effect(self.change.before, self.prompt, lambda text: _count_tokens(text, model, provider).count, tools)

    @property
    def event(self) -> str:
        if self.change.error is not None:
            return "error"
        is_same = self.prompt is self.change.before and self.tools[0] == self.tools[1]
        return "start" if self.change.before is None else "same" if is_same else "change"

    def lines(self) -> list[str]:
        """The change in sentences: what it did to the text, then which findings are new or fixed."""
        if self.change.error is not None:
            return [visible(f"{self.files()}{sentence(self.change.error)}")]
        if self.effect is None:
            sections = f"{len(self.each)} section{'' if len(self.each) == 1 else 's'}"
            return [f"{self.prompt.layout}: {sections}, {self.size()}"]
        lines = [visible(f"{self.files()}{self.summary()}")]
        lines += [f"  + {line}" for line in self.finding_lines(self.effect.new_findings)]
        return lines + [f"  - {line}" for line in self.finding_lines(self.effect.fixed_findings, has_hint=False)]

    def size(self) -> str:
        """The prompt's token count in words."""
        return count_sentence(self.total.count, self.total.method, self.total.error, self.args.model)

    def finding_lines(self, findings: Sequence[Finding], has_hint: bool = True) -> list[str]:
        """A line for each error and warning, the worst first, and the number of infos."""
        lines = [
            one_line(replace(finding, message=self.paths.in_text(finding.message), path=self.paths.short(finding.path)))
            for finding in worst_first(findings)
            if finding.severity != "info"
        ]
        infos = sum(finding.severity == "info" for finding in findings)
        if infos:
            lines.append(info_count(infos, self.args) if has_hint else f"{infos:,} info{'' if infos == 1 else 's'}")
        return lines

    def summary(self) -> str:
        """What happened to the sections, and how much of the prefix is unchanged."""
        effect = self.effect
        if effect is None or not effect.is_changed:
            return f"the {'prompt' if self.event == 'same' else 'text'} is the same"
        parts = [_describe(section) for section in effect.sections]
        parts += [
            f"tool{'' if len(names) == 1 else 's'} {', '.join(names)} {kind}" for kind, names in effect.tools.each()
        ]
        what = ", ".join(parts)
        where = f" (up to {effect.breaks})" if effect.breaks else ""
        where = ", because tools come first" if effect.breaks == TOOLS else where
        return f"{what}; {effect.kept:,} of {effect.before:,} tokens of the prefix are unchanged{where}"

    def files(self) -> str:
        """The files that caused the change, at most three by name."""
        names = list(self.change.files)
        if not names and self.effect is not None:
            names = sorted({path for section in self.effect.sections for path in section.sources})
        if not names:
            return ""
        shown = [self.paths.short(name) for name in names]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        return f"{', '.join(shown[:3])}{more}: "


def _describe(section: SectionEffect) -> str:
    """`project +12`, `menu moved +0`, `(between sections) changed`"""
    if section.section in (WHOLE, BETWEEN):
        return f"{section.section} changed"
    how = "" if tuple(section.kinds) == ("changed",) else f" {' and '.join(section.kinds)}"
    return f"{section.section}{how} {section.after - section.before:+,}"


def sentence(error: Exception) -> str:
    from ..errors import ForewordError

    return str(error) if isinstance(error, ForewordError) else f"{type(error).__name__}: {error}"


def _count_tokens(text: str, model: str, provider: str) -> Count:
    """The number of tokens in a string. Recent counts are cached."""
    from ..text.tokens import count

    key = (text, model, provider)
    result = _COUNTS.pop(key, None) or count(text, model, provider)
    _COUNTS[key] = result
    if len(_COUNTS) > _MAX_COUNTS:
        del _COUNTS[next(iter(_COUNTS))]
    return result


_COUNTS: dict[tuple[str, str, str], Count] = {}
_MAX_COUNTS = 200
