"""Measures the effect of a change on a prompt: on its sections, tools, tokens and findings, and on the cached prefix."""

from __future__ import annotations

from ..text.words import common_prefix_length
from ..vocabulary import value
from .changes import ChangedParts, Names, find_changes, prompt_side
from .sending import message_spans, sent_passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Finding, Passage, Prompt
    from .changes import Changes, Kind

    Tools = Sequence[Mapping[str, Any]]

TOOLS = "(tools)"


@value
class SectionEffect:
    """A section that differs: the kinds of change, its tokens before and after, and the sources that changed."""

    section: str
    kinds: Sequence[Kind]
    before: int
    after: int
    sources: Sequence[str] = ()


@value
class Effect(ChangedParts):
    """The differences between two prompts.

    `kept` is the number of the `before` tokens that are in the common prefix. `breaks` is the section in which that prefix ends: empty
    if nothing is lost, and `(tools)` if the tool definitions differ, because they come first.
    """

    sections: Sequence[SectionEffect]
    tools: Names
    before: int
    after: int
    kept: int
    breaks: str
    new_findings: Sequence[Finding] = ()
    fixed_findings: Sequence[Finding] = ()


def measure_effect(
    old: Prompt, new: Prompt, count: Callable[[str], int], tools: tuple[Tools, Tools] = ((), ())
) -> Effect:
    """Compare a prompt with an older one. `count` counts the tokens in a string; `tools` are the old and the new tools."""
    return effect_of(find_changes(prompt_side(old, tools[0]), prompt_side(new, tools[1])), old, new, count)


def effect_of(changes: Changes, old: Prompt, new: Prompt, count: Callable[[str], int]) -> Effect:
    """Return the effect of changes between two prompts."""
    sections = []
    for section in changes.sections:
        before = old.passages[section.old].text if section.old is not None else ""
        after = new.passages[section.new].text if section.new is not None else ""
        sections.append(SectionEffect(section.section, section.kinds, count(before), count(after), section.sources))
    tokens_before = count(old.text)
    kept, breaks = tokens_before, ""
    length = min(common_prefix_length(old.text, new.text), _first_message_difference(old, new))
    if changes.tools.has_any:
        kept, breaks = 0, TOOLS
    elif length < len(old.text):
        kept, breaks = count(old.text[:length]), _section_at(old.passages, length)
    return Effect(
        sections,
        changes.tools,
        tokens_before,
        tokens_before if new.text == old.text else count(new.text),
        kept,
        breaks,
        [finding for finding in new.findings if finding not in old.findings],
        [finding for finding in old.findings if finding not in new.findings],
    )


def _first_message_difference(old: Prompt, new: Prompt) -> int:
    """Return the first offset at which the two prompts are split into different messages."""
    before, after = (message_spans(sent_passages(prompt.passages)) for prompt in (old, new))
    for index, (role, start, _) in enumerate(before):
        if index >= len(after) or (role, start) != after[index][:2]:
            return min([start, *(span[1] for span in after[index : index + 1])])
    return after[len(before)][1] if len(after) > len(before) else len(old.text)


def _section_at(passages: Sequence[Passage], position: int) -> str:
    """Return the section at this position. A separator belongs to the section after it."""
    return next((passage.section for passage in passages if position < passage.end), "")
