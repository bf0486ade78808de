"""What became of a prompt: which sections changed, by how much, which sources did it, and how much of the prefix stays."""

from __future__ import annotations

from ..vocabulary import value
from .words import common_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..vocabulary import Finding, Passage, Prompt


@value
class SectionEffect:
    """A section that came, went or changed: its tokens before and after, and the sources that are not what they were."""

    section: str
    how: str
    before: int
    after: int
    sources: Sequence[str] = ()


@value
class Effect:
    """What stands between two prompts.

    `kept` are the tokens that both begin with, of `before`; `breaks` is the section in which the old one ends to be the beginning
    of the new one, and empty where nothing of it is lost.
    """

    sections: Sequence[SectionEffect]
    before: int
    after: int
    kept: int
    breaks: str
    found: Sequence[Finding] = ()
    gone: Sequence[Finding] = ()

    @property
    def has_other_text(self) -> bool:
        return bool(self.sections) or self.kept != self.before or self.after != self.before


def effect(old: Prompt, new: Prompt, count: Callable[[str], int]) -> Effect:
    """How a prompt differs from an older one; `count` gives the tokens of a text."""
    before, after = ({each.section: each for each in prompt.passages} for prompt in (old, new))
    sections = []
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is None or other is None or one.text != other.text:
            how = "came" if one is None else "went" if other is None else "changed"
            sources = sorted({path for path, _ in _sources(one) ^ _sources(other)})
            tokens_before, tokens_after = (count(each.text) if each else 0 for each in (one, other))
            sections.append(SectionEffect(name, how, tokens_before, tokens_after, sources))
    length = common_start(old.text, new.text)
    has_lost = length < len(old.text)
    return Effect(
        sections,
        count(old.text),
        count(new.text),
        count(old.text[:length]) if has_lost else count(old.text),
        _section_at(old.passages, length) if has_lost else "",
        [each for each in new.findings if each not in old.findings],
        [each for each in old.findings if each not in new.findings],
    )


def _sources(passage: Passage | None) -> set[tuple[str, str]]:
    """What the words came from, each with the hash it had; without Foreword's own texts."""
    return {
        (piece.origin.path, piece.origin.hash)
        for piece in (passage.pieces if passage else ())
        if piece.origin.path and piece.origin.kind not in ("builtin", "mark", "environment")
    }


def _section_at(passages: Sequence[Passage], position: int) -> str:
    """The section that a character belongs to; a separator belongs to what follows it."""
    return next((each.section for each in passages if position < each.end), "")
