"""Describe a change to the prompt and its token counts, for `watch`."""

from __future__ import annotations

from ..inspection.changes import BETWEEN_SECTIONS, WHOLE_PROMPT
from ..inspection.effects import TOOLS
from ..programs.measured_change import MeasuredChange, error_sentence
from ..text.lines import escape_controls, printable
from ..vocabulary import replace
from .paths import ShortPaths
from .terminal import describe_count, describe_infos, describe_tools, finding_line, worst_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.touched import Touched
    from ..inspection.effects import SectionEffect
    from ..programs.watching import Change
    from ..vocabulary import Finding
    from .arguments import Namespace


class ChangeReport(MeasuredChange):
    """A change to the prompt, described for a person."""

    def __init__(
        self,
        change: Change,
        args: Namespace,
        paths: ShortPaths,
        tools: tuple[str, str] = ("[]", "[]"),
        touched: tuple[Touched | None, Touched | None] = (None, None),
    ) -> None:
        super().__init__(change, args.model, args.provider, tools, touched)
        self.args, self.paths = args, paths
        self.folder = ShortPaths("", home=paths.home).shorten(paths.cwd)

    def lines(self) -> list[str]:
        """Describe the change: first its effect on the text, then the findings that are new or fixed."""
        if self.change.error is not None:
            return [escape_controls(f"{self.files()}{error_sentence(self.change.error)}")]
        if self.effect is None:
            sections = f"{len(self.section_counts)} section{'' if len(self.section_counts) == 1 else 's'}"
            tools = [f"  {describe_tools(self.tool_counts)}"] if self.tool_counts else []
            return [f"{self.prompt.layout}: {sections}, {self.size()}", *tools, *self.touched_lines()]
        lines = [escape_controls(f"{self.files()}{self.summary()}"), *self.touched_lines()]
        lines += [f"  + {line}" for line in self.finding_lines(self.effect.new_findings)]
        return lines + [f"  - {line}" for line in self.finding_lines(self.effect.fixed_findings, with_hint=False)]

    def touched_lines(self) -> list[str]:
        """Describe what touching the watched paths adds, if that is new or has changed."""
        before, now = self.touched
        if now is None:
            return []
        known = before.findings if before else ()
        lines = [f"    {self.finding_text(finding)}" for finding in now.findings if finding not in known]
        if len(lines) > _MAX_TOUCH_FINDINGS:
            lines = [*lines[:_MAX_TOUCH_FINDINGS], f"    and {len(lines) - _MAX_TOUCH_FINDINGS:,} more findings"]
        if before is not None and before.messages == now.messages:
            return lines
        used = [self.paths.shorten(candidate.path) for candidate in now.candidates if candidate.fate in ("used", "cut")]
        tokens = self.count(now.text).count
        what = f"{', '.join(used)} ({tokens:,} tokens)" if now.messages else "nothing"
        touched_paths = _first_three([printable(path) for path in self.args.paths])
        return [escape_controls(f"  touching {touched_paths} adds {what}"), *lines]

    def size(self) -> str:
        """Describe the prompt's token count."""
        return describe_count(self.total.count, self.total.method, self.total.error, self.args.model)

    def finding_text(self, finding: Finding) -> str:
        """Return a line about a finding, with short paths."""
        short_message, short_path = self.paths.shorten_in(finding.message), self.paths.shorten(finding.path)
        return finding_line(replace(finding, message=short_message, path=short_path))

    def finding_lines(self, findings: Sequence[Finding], with_hint: bool = True) -> list[str]:
        """Return a line for each error and warning, most severe first, and one with the number of infos."""
        lines = [self.finding_text(finding) for finding in worst_first(findings) if finding.severity != "info"]
        infos = sum(finding.severity == "info" for finding in findings)
        if infos:
            lines.append(
                describe_infos(infos, self.args) if with_hint else f"{infos:,} info{'' if infos == 1 else 's'}"
            )
        return lines

    def summary(self) -> str:
        """Describe how the sections changed, and how much of the prefix did not."""
        effect = self.effect
        if effect is None or not effect.is_changed:
            return f"the {'prompt' if self.event == 'same' else 'text'} is the same"
        parts = [_describe(section) for section in effect.sections]
        parts += [
            f"tool{'' if len(names) == 1 else 's'} {', '.join(names)} {kind}{self._tool_tokens(names)}"
            for kind, names in effect.tools.by_kind()
        ]
        what = ", ".join(parts)
        where = f" (up to {effect.breaks})" if effect.breaks else ""
        where = ", because tools come first" if effect.breaks == TOOLS else where
        return f"{what}; {effect.kept:,} of {effect.before:,} tokens of the prefix are unchanged{where}"

    def _tool_tokens(self, names: Sequence[str]) -> str:
        """Describe by how many tokens the definitions of these tools have changed."""
        before, after = (
            sum(tool["tokens"] for tool in counts if tool["name"] in names)
            for counts in (self.count_tools(self.tools[0]), self.tool_counts)
        )
        return f" {after - before:+,}" if after != before else ""

    def files(self) -> str:
        """Return the names of up to three files that caused the change, and the number of others."""
        names = list(self.change.files)
        if not names and self.effect is not None:
            names = sorted({path for section in self.effect.sections for path in section.sources})
        if not names:
            return ""
        return f"{_first_three([self.paths.shorten(name) for name in names])}: "


def _first_three(names: Sequence[str]) -> str:
    """Return up to three names, and the number of others."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _describe(section: SectionEffect) -> str:
    """Describe a section's change, such as `project +12`, `menu moved +0` or `(between sections) changed`."""
    if section.section in (WHOLE_PROMPT, BETWEEN_SECTIONS):
        return f"{section.section} changed"
    kinds = "" if tuple(section.kinds) == ("changed",) else f" {' and '.join(section.kinds)}"
    return f"{section.section}{kinds} {section.after - section.before:+,}"


_MAX_TOUCH_FINDINGS = 5
