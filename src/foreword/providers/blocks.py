"""Split a prompt into blocks of text where lifetimes end, for providers with cache breakpoints.

    release        before the text of a project begins: read by every conversation of the same agent
    project        before the text of a conversation begins: read by the next conversation in the project
    conversation   at the end of the text that stays until the edition changes: read by the next turn

A spare breakpoint goes after the root's instruction file: in a large repository that file is long, while files closer to the agent
and the list of skills change more often.

Text lasts only as long as the text before it, so lifetimes never grow along the prompt: project instructions after a clock live as
long as the clock. A separator belongs to the text after it; otherwise a block would change when its neighbour appears or
disappears.
"""

from __future__ import annotations

from ..vocabulary import LIFETIMES, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..vocabulary import Lifetime, Turn


@value
class Block:
    """A block of the system prompt (message 0) or of one of the prompt's messages, with its lifetime."""

    message: int
    text: str
    lifetime: str
    has_breakpoint: bool = False


def blocks_of(turn: Turn) -> list[Block]:
    """Split the prompt into blocks, with a breakpoint where a lifetime longer than a turn ends."""
    blocks: list[Block] = []
    texts = [turn.system, *(message["content"] for message in turn.messages[: len(turn.leading)])]
    for message, (text, passages) in enumerate(zip(texts, (turn.passages, *turn.leading), strict=True)):
        if text.strip():
            shortest = LIFETIMES.index(blocks[-1].lifetime) if blocks else 0
            blocks += [Block(message, *part) for part in _split(text, passages, shortest)]
    lifetimes = [*(block.lifetime for block in blocks), "turn"]
    return [
        replace(block, has_breakpoint=block.lifetime not in ("turn", lifetimes[number]))
        for number, block in enumerate(blocks, 1)
    ]


def _split(text: str, passages: Sequence[tuple[int, int, Lifetime]], rank: int) -> Iterator[tuple[str, str]]:
    """Split a text where lifetimes end, each part with its lifetime. No part is blank, because the API rejects blank blocks.

    `rank` is the rank of the preceding text's lifetime. Text after the last passage was added for this turn only. A prompt without
    passages lasts as long as its edition.
    """
    start = ended = 0
    passages = passages or ((0, len(text), "conversation"),)
    for _, end, lifetime in (*passages, (len(text), len(text), "turn")):
        shorter = max(rank, LIFETIMES.index(lifetime))
        if shorter > rank and text[ended:].strip():
            if text[start:ended].strip():
                yield text[start:ended], LIFETIMES[rank]
                start = ended
            rank = shorter
        ended = end
    yield text[start:], LIFETIMES[rank]


def split_after_root(blocks: list[Block], end: int) -> list[Block]:
    """Split the block that contains the end of the root's instruction file at that point."""
    start = 0
    for number, block in enumerate(blocks):
        cut, text = end - start, block.text
        if 0 < cut < len(text):
            is_useful = block.lifetime != "turn" and text[:cut].strip() and text[cut:].strip()
            both = [replace(block, text=text[:cut], has_breakpoint=True), replace(block, text=text[cut:])]
            return [*blocks[:number], *(both if is_useful else [block]), *blocks[number + 1 :]]
        start += len(text)
    return blocks


def keep_last_breakpoints(blocks: list[Block], count: int) -> list[Block]:
    """Remove all breakpoints but the last ones, which cover the most text."""
    surplus = max(sum(block.has_breakpoint for block in blocks) - max(count, 0), 0)
    kept: list[Block] = []
    for block in blocks:
        is_surplus = block.has_breakpoint and surplus > 0
        surplus -= is_surplus
        kept.append(replace(block, has_breakpoint=False) if is_surplus else block)
    return kept
