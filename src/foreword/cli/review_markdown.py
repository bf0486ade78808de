"""A review as Markdown for a comment on a pull request: a short table, with the changed text folded.

The same change always gives the same bytes, so a comment is edited only if there is something new to say. Everything from the
repository is untrusted, so names and messages cannot add markup or mention anybody.
"""

from __future__ import annotations

import re

from ..inspection.agents import LOADED_VERDICTS, READ_VERDICTS
from ..inspection.hunks import changed_lines, find_hunks
from ..text.lines import escape_controls, printable
from ..text.words import common_prefix_length
from .review_words import (
    cost_period,
    describe_cost,
    describe_outcomes,
    describe_place,
    headline,
    join_layouts,
    price_note,
)
from .terminal import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..inspection.diff import Cause, SectionDiff
    from ..programs.review import FileReview, PromptReview, Review
    from ..vocabulary import Finding

_MAX_LINES = 80
_MAX_WIDTH = 240
_CONTEXT = 60
_MAX_FINDINGS = 20
_MAX_ROWS = 40
_MAX_OPEN_ROWS = 10
# A comment on GitHub may have 65,536 characters.
_MAX_LENGTH = 60_000


def markdown(review: Review) -> str:
    """Return the review as Markdown."""
    parts = [f"### {headline(review)}"]
    parts += filter(None, (_files(review), _prompts(review), _findings(review), _conversations(review)))
    length = sum(map(len, parts))
    for detail in _details(review):
        if length + len(detail) > _MAX_LENGTH:
            parts.append("The text changes do not all fit into a comment; run `foreword review` to see them.")
            break
        parts.append(detail)
        length += len(detail)
    parts += [f"- {_escape(note)}" for note in review.notes]
    return "\n\n".join(parts) + "\n"


# Tables


def _files(review: Review) -> str:
    """Return the table of files, those that prompts contain first. If it is long, most of it is folded."""
    header = ["file", "change", "what agents at the root do with it"]
    files = sorted(review.files, key=_relevance)
    rows = []
    for row in files[:_MAX_ROWS]:
        name = _code(row.path) + (f" from {_code(row.old_path)}" if row.old_path else "")
        rows.append([name, _change(row), _escape(describe_outcomes(row)) or "no agent reads it"])
    if len(files) > _MAX_ROWS:
        rows.append([f"{len(files) - _MAX_ROWS:,} more files", "", ""])
    if not rows:
        return ""
    if len(files) <= _MAX_OPEN_ROWS + 3:  # folding fewer would not make it shorter
        return _table(header, rows)
    summary = f"{len(files) - _MAX_OPEN_ROWS:,} more files"
    folded = f"<details><summary>{summary}</summary>\n\n{_table(header, rows[_MAX_OPEN_ROWS:])}\n\n</details>"
    return f"{_table(header, rows[:_MAX_OPEN_ROWS])}\n\n{folded}"


def _change(row: FileReview) -> str:
    target = row.change.removeprefix("leads to ")
    return row.change if target == row.change else f"leads to {_code(target)}"


def _relevance(row: FileReview) -> int:
    """Return 0 for a file that a prompt contains before or after, 1 for one that an agent reads otherwise, and 2 for others."""
    names = {verdict.name for pair in row.verdicts.values() for verdict in pair if verdict}
    return 0 if not names.isdisjoint(LOADED_VERDICTS) else 1 if not names.isdisjoint(READ_VERDICTS) else 2


def _prompts(review: Review) -> str:
    """Return a table with a row for each folder and a column for each agent."""
    if not review.prompts:
        return ""
    layouts = list(dict.fromkeys(prompt.layout for prompt in review.prompts))
    by_folder: dict[str, dict[str, PromptReview]] = {}
    for prompt in review.prompts:
        by_folder.setdefault(prompt.folder, {})[prompt.layout] = prompt
    rows = []
    for folder, prompts in by_folder.items():
        cells = [_cell(prompts.get(layout)) for layout in layouts]
        rows.append([_code(folder) if folder else "the root", *cells, _cost_range(review, list(prompts.values()))])
    table = _table(["tokens in", *map(_escape, layouts), cost_period(review)], rows)
    return f"{table}\n\n<sub>{_escape(price_note(review))}</sub>"


def _cell(prompt: PromptReview | None) -> str:
    if prompt is None:
        return ""
    before, after = prompt.effect.before, prompt.effect.after
    return f"{after:,} ({after - before:+,})"


def _cost_range(review: Review, prompts: Sequence[PromptReview]) -> str:
    priced = sorted(
        (prompt for prompt in prompts if review.cost(prompt) is not None), key=lambda prompt: review.cost(prompt) or 0
    )
    return " to ".join(dict.fromkeys(describe_cost(review, prompt) for prompt in (*priced[:1], *priced[-1:])))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace(chr(10), ' ') for cell in cells)} |" for cells in lines)


def _findings(review: Review) -> str:
    lines = []
    new, fixed = (
        [finding for finding in findings if finding.severity != "info"]
        for findings in (review.new_findings, review.fixed_findings)
    )
    for title, findings in (("New findings", new), ("Fixed findings", fixed)):
        if findings:
            lines += [f"**{title}**", ""]
            lines += map(_finding, findings[:_MAX_FINDINGS])
            more = len(findings) - _MAX_FINDINGS
            lines += [f"- {more:,} more", ""] if more > 0 else [""]
    return "\n".join(lines).rstrip("\n")


def _finding(finding: Finding) -> str:
    path = finding.path
    message = finding.message.partition("\n")[0].removeprefix(f"{path}: ").removeprefix(f"{path} ")
    place = f"{_code(f'{path}:{finding.line}' if finding.line else path)}: " if path else ""
    return f"- {finding.severity}: {place}{_escape(message)} ({_code(finding.code)})"


def _conversations(review: Review) -> str:
    if not review.conversations or not review.prompts:
        return ""
    lost = max(prompt.effect.before - prompt.effect.kept for prompt in review.prompts)
    keep = "keeps the old prompt until it is" if review.conversations == 1 else "keep the old prompt until they are"
    return (
        f"{count_of(review.conversations, 'stored conversation')} in this repository {keep} rebuilt. Each rebuild then loses up to "
        f"{count_of(lost, 'cached token')}."
    )


# The text


def _details(review: Review) -> Iterator[str]:
    """Yield the folded text changes: first those at the root, then in each folder only what changes besides."""
    from ..programs.review import group_by_text

    folders = list(dict.fromkeys(prompt.folder for prompt in review.prompts))
    shown: set[tuple[str, ...]] = set()
    for group in sorted(group_by_text(review.prompts), key=lambda group: folders.index(group[0].folder)):
        first = group[0]
        blocks = [block for section in first.difference.sections for block in _blocks(section, first)]
        new_blocks = [(heading, lines) for heading, lines in blocks if lines not in shown]
        if not first.folder:
            shown.update(lines for _, lines in blocks)
            new_blocks = blocks
        if new_blocks:
            yield _folded(group, new_blocks, is_partial=len(new_blocks) < len(blocks))


def _folded(group: Sequence[PromptReview], blocks: Sequence[tuple[str, tuple[str, ...]]], *, is_partial: bool) -> str:
    first = group[0]
    lines = [line for heading, changed in blocks for line in (heading, *changed)]
    more = len(lines) - _MAX_LINES
    lines = lines[:_MAX_LINES] + ([f"… {more:,} more lines"] if more > 0 else [])
    seen_by = f", as {first.layout} sees it" if len(group) > 1 else ""
    besides = ", besides the changes at the root" if is_partial else ""
    title = f"What changes for {join_layouts(group)} {describe_place(first.folder)}{besides}{seen_by}"
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    summary = _escape_html(printable(title))
    return f"<details><summary>{summary}</summary>\n\n{fence}diff\n{text}\n{fence}\n\n</details>"


def _blocks(section: SectionDiff, prompt: PromptReview) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the removed and added lines of a section in blocks, each with its cause."""
    old, new = prompt.old.text, prompt.new.text
    if "moved" in section.kinds:
        yield f"@@ {printable(section.section)} moved from position {section.old_place} to {section.new_place} @@", ()
    if "added" in section.kinds and section.new:
        lines = new[section.new[0] : section.new[1]].split("\n")
        yield _heading(section, section.causes), tuple(_signed("+", lines))
    elif "removed" in section.kinds and section.old:
        lines = old[section.old[0] : section.old[1]].split("\n")
        yield _heading(section, section.causes), tuple(_signed("-", lines))
    for hunk in find_hunks(section.edits, old, new):
        removed, added = changed_lines(hunk, old, new)
        if len(removed) == len(added):
            pairs = [_shorten_pair(*pair) for pair in zip(removed, added, strict=True)]
            removed, added = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        yield _heading(section, hunk.causes), (*_signed("-", removed), *_signed("+", added))


def _shorten_pair(old: str, new: str) -> tuple[str, str]:
    """Return two long lines without most of what they have in common at the start and the end."""
    if max(len(old), len(new)) <= _MAX_WIDTH:
        return old, new
    start = max(common_prefix_length(old, new) - _CONTEXT, 0)
    rest = common_prefix_length(old[start:][::-1], new[start:][::-1])
    end = max(rest - _CONTEXT, 0)
    first, last = "…" if start else "", "…" if end else ""
    return (
        f"{first}{old[start : len(old) - end]}{last}",
        f"{first}{new[start : len(new) - end]}{last}",
    )


def _heading(section: SectionDiff, causes: Sequence[Cause]) -> str:
    """Return where a change comes from: the files and lines, or the section if no file is the cause."""
    lines: dict[str, list[int]] = {}
    for cause in causes:
        if cause.kind in ("file", "skill", "resident", "template"):
            lines.setdefault(printable(cause.path), []).extend(cause.lines or ())
    places = [
        f"{path}:{min(numbers)}" + (f"-{max(numbers)}" if max(numbers) > min(numbers) else "") if numbers else path
        for path, numbers in lines.items()
    ]
    return f"@@ {', '.join(places[:3]) or printable(section.section)} @@"


def _signed(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        shown = escape_controls(line, keep="\t")
        yield f"{sign} {shown if len(shown) <= 2 * _MAX_WIDTH else shown[: 2 * _MAX_WIDTH - 1] + '…'}".rstrip()


# Escaping


def _code(text: str) -> str:
    """Return the text as a code span that a table can contain."""
    text = printable(text).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _escape(text: str) -> str:
    """Return the text without markup, mentions or references."""
    escaped = re.sub(r"[\\`*_|\[\]~]", r"\\\g<0>", escape_controls(" ".join(text.split())))
    return _escape_html(escaped).replace("#", "&#35;").replace("@", "&#64;")


def _escape_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
