"""Lint: find problems in an assembled prompt, and the files in which to fix them.

Lint checks the prompt with its passages and origins, so it sees what the agent will see: two files that contradict each other, a tag
that closes a section, a section that costs too much. It also reports the findings of the build, with the severity from the table of
checks if they are listed there. Access to the disk is passed in as functions (`LintContext`).

    table           every check, with its severity and two examples
    source_text     a prompt's text, by file
    commands        the shell commands in a file
    instructions    whether a sentence instructs or describes
    changing, contradictions, references, repeated, secrets, sizes, targets, tools      the checks
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from ...errors import suggestion
from ...findings import REPLACED_BY_CHECKS, known_ids
from ...text.hidden import code_point, find_hidden, severity_of
from ...text.markdown import unclosed_start
from ...vocabulary import Finding, replace
from .changing import find_changing_text, find_changing_values
from .contradictions import find_contradictions
from .patterns import lazy_pattern
from .records import is_generated
from .references import find_missing_files, find_personal_links, find_unexpanded_includes
from .repeated import MIN_REPEATED_LENGTH, find_repetitions
from .secrets import find_secrets, mask_secrets
from .sizes import MAX_SECTION_TOKENS, find_excesses, find_large_sections
from .source_text import LintContext, SourceText, source_texts
from .table import BY_ID, CHECKS, GUARDS, about
from .targets import ProjectFiles, find_missing_scripts, find_missing_targets
from .tools import find_missing_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ...text.hidden import HiddenCharacters
    from ...vocabulary import Passage, Prompt
    from .sizes import Excess
    from .source_text import SourceCache

__all__ = ["BY_ID", "CHECKS", "GUARDS", "Linter", "LintContext", "about", "known_ids", "lint"]


def lint(prompt: Prompt, context: LintContext, disabled: Collection[str] = ()) -> list[Finding]:
    """Return the findings for a prompt, sorted by file and line, without those of `disabled` checks."""
    return Linter(context, disabled).check(prompt)


class Linter:
    """Checks a workspace's prompts. Text that several prompts share is checked only once."""

    def __init__(self, context: LintContext, disabled: Collection[str] = ()) -> None:
        self.context, self.disabled = context, frozenset(disabled)
        self._sources: SourceCache = {}

    def check(self, prompt: Prompt, skills: Iterable[str] = ()) -> list[Finding]:
        """Return the findings for a prompt. `skills` are the paths of skills, which `check_files` checks separately."""
        sources = source_texts(prompt, self._sources)
        result = [
            *_with_lines(_build_findings(prompt.findings, {*skills, *(source.path for source in sources)}), sources),
            *_check_prompt(prompt, sources, self.context),
            *(finding for source in sources for finding in self._check_text(source)),
        ]
        return self.without_ignored(result, sources)

    def check_files(self, files: Sequence[SourceText], problems: Iterable[Finding] = ()) -> list[Finding]:
        """Return the findings for complete files, such as a SKILL.md or a rule. `problems` are the findings from reading them."""
        result = [
            *_build_findings(problems),
            *(finding for source in files for finding in _check_file(source, self.context)),
        ]
        return self.without_ignored(result, files)

    def _check_text(self, source: SourceText) -> list[Finding]:
        return source.cached("findings", lambda text: list(_check_text(text, self.context)))

    def without_ignored(self, findings: Iterable[Finding], sources: Sequence[SourceText]) -> list[Finding]:
        """Return the findings that are not disabled or ignored, without duplicates, sorted by file and line, and with secrets masked."""
        with_comments = {source.path: source for source in sources if source.ignore_comments}
        remaining = dict.fromkeys(
            replace(finding, message=mask_secrets(finding.message))
            for finding in findings
            if finding.code not in self.disabled
            and (
                finding.code in GUARDS
                or finding.path not in with_comments
                or not with_comments[finding.path].suppresses(finding)
            )
        )
        return list(_limit(sorted(remaining, key=lambda finding: (finding.path, finding.line or 0, finding.code))))


_MAX_PER_FILE = 100


def _limit(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Limit the number of findings per file and check. The last one says how many more there are."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.path, finding.code), []).append(finding)
    for finding in findings:
        group = groups[finding.path, finding.code]
        if len(group) <= _MAX_PER_FILE or not finding.path or finding in group[: _MAX_PER_FILE - 1]:
            yield finding
        elif finding is group[_MAX_PER_FILE - 1]:
            yield replace(
                finding, message=f"{finding.message}; and {len(group) - _MAX_PER_FILE:,} more like this in the file"
            )


def _build_findings(findings: Iterable[Finding], checked_paths: Collection[str] = ()) -> Iterator[Finding]:
    """Yield the build's findings, except those that a check of these files reports in more detail."""
    for finding in findings:
        is_replaced = finding.code in REPLACED_BY_CHECKS or (
            finding.code == "hidden-characters" and finding.path in checked_paths
        )
        # A link, an exact copy or a file that only imports the other is sent once, so nothing is wrong.
        if not is_replaced and finding.code != "file-duplicate":
            yield finding


def _with_lines(findings: Iterable[Finding], sources: Iterable[SourceText]) -> Iterator[Finding]:
    """Yield these findings. Those about a fence or comment that is never closed get its line. A fence that nothing follows is harmless."""
    by_path = {source.reported_path: source for source in sources if source.reported_path}
    for finding in findings:
        source = by_path.get(finding.path) if finding.code == "file-fence" and not finding.line else None
        start = unclosed_start(source.text) if source else None
        if source is None or start is None:
            yield finding
        elif source.text.startswith("<!--", start) or source.text[start:].partition("\n")[2].strip():
            yield replace(
                finding, line=source.line(start), message=finding.message.replace("it was closed", "close it")
            )


def _finding(check: str, source: SourceText, line: int | None, message: str) -> Finding:
    prefix = "" if source.reported_path else f"{source.kind} {source.path}: "
    return Finding(
        check, BY_ID[check].severity, prefix + message, source.reported_path, line if source.reported_path else None
    )


def _check_text(source: SourceText, context: LintContext) -> Iterator[Finding]:
    """Yield the findings for one source that do not depend on the rest of the prompt."""
    yield from _check_any_text(source, context)
    for offset, description in find_changing_text(source):
        message = f"{description} is in a section that should stay the same for {_duration(source.lifetime)}"
        yield _finding("volatile-text", source, source.line(offset), message)


def _check_file(source: SourceText, context: LintContext) -> Iterator[Finding]:
    """Yield the findings for a complete file, without those that depend on a prompt."""
    yield from _check_any_text(source, context)
    yield from (_excess_finding(excess) for excess in find_excesses([source], ()))


def _check_any_text(source: SourceText, context: LintContext) -> Iterator[Finding]:
    for secret in find_secrets(source.text):
        message = f"this looks like {secret.description} ({secret.summary}); everyone who sees the prompt sees it"
        yield _finding("secret", source, source.line(secret.start), message)
    yield from _hidden_characters(source)
    if context.tools is not None:
        for offset, name in find_missing_tools(source, context.tools):
            message = f"the agent has no tool {name!r}" + suggestion(name, context.tools)
            yield _finding("missing-tool", source, source.line(offset), message)
    if source.is_file:
        for reference in find_missing_files(source, context.exists, context.exists_anywhere):
            yield _finding("missing-file", source, source.line(reference.offset), f"{reference.target} does not exist")
        for reference in find_personal_links(source, context.exists):
            message = f"{reference.target} is on one person's disk; link to it by a relative path"
            yield _finding("missing-file", source, source.line(reference.offset), message)
        yield from _missing_definitions(source, context)
    for comment in source.ignore_comments:
        yield from (
            _finding("unused-ignore", source, comment.line, message) for message in _ignore_problems(comment.checks)
        )


_MAX_KNOWN = 10
# A script with a name that is less similar does something else.
_CLOSE = 0.8


def _missing_definitions(source: SourceText, context: LintContext) -> Iterator[Finding]:
    """Yield a finding for each target or script that the instructions say to run but the project does not define."""
    files = ProjectFiles(context.files_above, context.files_anywhere, context.exists)
    for code, noun, find in (
        ("missing-target", "target", find_missing_targets),
        ("missing-script", "script", find_missing_scripts),
    ):
        for missing in find(source, files):
            known = suggestion(missing.name, _most_similar(missing.name, missing.defined), _CLOSE)
            message = f"{missing.path} has no {noun} {missing.name!r}{known}"
            yield _finding(code, source, source.line(missing.offset), message)


def _most_similar(name: str, known: Collection[str]) -> Sequence[str]:
    """Return the names that are most similar to this one if there are many."""
    return get_close_matches(name, sorted(known), _MAX_KNOWN, 0) if len(known) > _MAX_KNOWN else sorted(known)


# Put there so that a fence inside another one does not end it.
_BESIDE_FENCE = lazy_pattern("(?<!\u200b)\u200b(?=```)|(?<=```)\u200b(?!\u200b)")


def _hidden_characters(source: SourceText) -> Iterator[Finding]:
    """Yield a finding for each kind of hidden character, at its first line. Kinds that usually come from copying are only warnings."""
    runs_by_kind: dict[str, list[HiddenCharacters]] = {}
    for run in find_hidden(_BESIDE_FENCE.sub(" ", source.text) if "\u200b" in source.text else source.text):
        runs_by_kind.setdefault(run.kind, []).append(run)
    for kind, runs in runs_by_kind.items():
        count = sum(run.count for run in runs)
        characters = f"{count:,} characters" if count > 1 else code_point(runs[0].first)
        where = f" on {len(runs):,} lines, starting here" if len(runs) > 1 else ""
        decoded = "".join(run.spells for run in runs)[:120]
        # In text that was decoded as Latin-1, these are the second and third bytes of what was not ASCII.
        is_decoded = kind == "control characters" and count > 2 and all("\x80" <= run.first <= "\x9f" for run in runs)
        guess = "; was this UTF-8 decoded as Latin-1?" if is_decoded else ""
        message = f"{kind} ({characters}{where})" + (f", which spell {decoded!r}" if decoded else "") + guess
        yield replace(_finding("hidden-characters", source, runs[0].line, message), severity=severity_of(kind))


def _ignore_problems(checks: Sequence[str]) -> Iterator[str]:
    if not checks:
        yield "this comment does not say which check to ignore: <!-- foreword: ignore CHECK -->"
    for name in checks:
        if name not in known_ids():
            yield f"unknown check {name!r}" + suggestion(name, known_ids())
        elif name in GUARDS:
            yield f"a comment cannot ignore {name!r}; disable it in the user's or the caller's settings"


def _check_prompt(prompt: Prompt, sources: Sequence[SourceText], context: LintContext) -> Iterator[Finding]:
    """Yield the findings that depend on several sources, or on their position in the prompt."""
    by_path = {source.path: source for source in sources}
    for section, lifetime, description, after in find_changing_values(prompt):
        message = f"{description} is in section '{section}', which should stay the same for {_duration(lifetime)}; {after:,} characters follow it"
        yield Finding("volatile-text", BY_ID["volatile-text"].severity, message)
    for clash in find_contradictions(sources):
        message = f"{clash.family}: this file {clash.says}, {clash.other}:{clash.other_line} {clash.other_says}"
        yield _finding("contradiction", by_path[clash.path], clash.line, message)
    # The copy that a tool writes has the text of its source.
    for repetition in find_repetitions([source for source in sources if not is_generated(source)]):
        if len(repetition.text) < MIN_REPEATED_LENGTH:
            continue
        tokens = context.count_tokens(repetition.text)
        subject = "this paragraph is" if repetition.count == 1 else f"{repetition.count} paragraphs from here on are"
        message = f"{subject} the same as in {repetition.other}:{repetition.other_line} (about {tokens:,} tokens, paid for twice)"
        yield _finding("repeated-paragraph", by_path[repetition.path], repetition.line, message)
    yield from (_excess_finding(excess) for excess in find_excesses(sources, prompt.candidates))
    for passage, tokens in find_large_sections(prompt.passages, context.count_tokens):
        path, share = _main_file(passage)
        part = "most of them come" if share > 0.5 else "the largest part of them comes"
        message = f"the files in the prompt's section '{passage.section}' have about {tokens:,} tokens, more than {MAX_SECTION_TOKENS:,}; {part} from here"
        yield Finding("oversized-section", BY_ID["oversized-section"].severity, message, path)
    yield from _ignored_includes(sources, context)
    yield from _forged_tags(prompt)


def _ignored_includes(sources: Sequence[SourceText], context: LintContext) -> Iterator[Finding]:
    present = {included.path for included in sources}
    for source in sources:
        if not source.is_file:
            continue
        for reference, exists in find_unexpanded_includes(source, context.exists, context.follows_directives, present):
            explanation = ": the agent sees the line, not the file" if exists else ", and the file does not exist"
            message = f"this layout does not expand {reference.target}{explanation}"
            yield _finding("unsupported-include", source, source.line(reference.offset), message)


def _main_file(passage: Passage) -> tuple[str, float]:
    """Return the file that contributed the largest part of a passage, or empty if no file did, and its share of the characters."""
    sizes: dict[str, int] = {}
    for piece in passage.pieces:
        if piece.origin.kind == "file":
            sizes[piece.origin.path] = sizes.get(piece.origin.path, 0) + len(piece.text)
    path = max(sizes, key=lambda path: sizes[path], default="")
    return path, sizes.get(path, 0) / max(len(passage.text), 1)


def _excess_finding(excess: Excess) -> Finding:
    limit = excess.limit
    subject = f"this file, which {limit.agent} reads as {excess.read_as}," if excess.read_as else "this file"
    message = (
        f"{subject} has {excess.size:,} characters; the limit for {limit.agent} is {limit.maximum:,}: {limit.outcome}"
    )
    return Finding("over-limit", BY_ID["over-limit"].severity, message, excess.path)


def _forged_tags(prompt: Prompt) -> Iterator[Finding]:
    """Yield a finding for each closing tag that Foreword escaped with a backslash, if the file did not open it.

    A tag that is never closed is a placeholder (`deploy <environment>`), and one that is opened and closed only structures the file.
    """
    opened: dict[tuple[str, str], int] = {}
    for passage in prompt.passages:
        for before, mark, after in zip(passage.pieces, passage.pieces[1:], passage.pieces[2:], strict=False):
            if mark.origin.kind != "mark" or mark.text != "\\" or not before.text.endswith("<"):
                continue
            tag = after.text[:60].partition(">")[0].partition("\n")[0]
            line = before.origin.lines[1] if before.origin.lines else None
            path = before.origin.path if before.origin.kind in ("file", "template", "skill", "resident") else ""
            name = re.search(r"[\w-]+", tag.lower())
            key = path, name[0] if name else ""
            is_closing = tag.lstrip().startswith("/")
            starts_line = not before.text[:-1].rpartition("\n")[2].strip()
            if is_closing and not opened.get(key, 0):
                message = f"<{tag}> is a tag that this layout uses to wrap a section; Foreword escapes it with a backslash, other agents do not"
                yield Finding("forged-tag", BY_ID["forged-tag"].severity, message, path, line)
            opened[key] = max(opened.get(key, 0) + (-1 if is_closing else int(starts_line)), 0)


def _duration(lifetime: str) -> str:
    return "a release" if lifetime == "release" else f"a {lifetime}"
