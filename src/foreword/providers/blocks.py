"""Split a prompt into blocks of text where lifetimes end, for providers with cache breakpoints.

    release        ends where a project's text begins; every conversation of the same agent reads it from the cache
    project        ends where a conversation's text begins; the next conversation in the project reads it from the cache
    conversation   ends with the text that stays the same until the edition changes; the next turn reads it from the cache

If a breakpoint is left over, it goes after the root's instruction file: in a large repository that file is long, while the list of
skills and files closer to the working directory change more often.

Text cannot be cached for longer than the text before it, so lifetimes only get shorter along the prompt: project instructions after a
clock last only as long as the clock. A separator belongs to the text after it; otherwise a block would change when its neighbour
appears or disappears.
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
            rank = LIFETIMES.index(blocks[-1].lifetime) if blocks else 0
            blocks += [Block(message, *part) for part in _split(text, passages, rank)]
    next_lifetimes = [*(block.lifetime for block in blocks[1:]), "turn"]
    return [
        replace(block, has_breakpoint=block.lifetime not in ("turn", next_lifetime))
        for block, next_lifetime in zip(blocks, next_lifetimes, strict=False)
    ]


def _split(text: str, passages: Sequence[tuple[int, int, Lifetime]], rank: int) -> Iterator[tuple[str, str]]:
    """Yield the parts of the text between the ends of lifetimes, each with its lifetime. Blank blocks, which the API rejects, are avoided.

    `rank` is the rank of the preceding text's lifetime. Text after the last passage was added for this turn only. A prompt without
    passages lasts as long as its edition.
    """
    start = previous_end = 0
    passages = passages or ((0, len(text), "conversation"),)
    for _, end, lifetime in (*passages, (len(text), len(text), "turn")):
        new_rank = max(rank, LIFETIMES.index(lifetime))
        if new_rank > rank and text[previous_end:].strip():
            if text[start:previous_end].strip():
                yield text[start:previous_end], LIFETIMES[rank]
                start = previous_end
            rank = new_rank
        previous_end = end
    yield text[start:], LIFETIMES[rank]


def split_after_root(blocks: list[Block], end: int) -> list[Block]:
    """Split the block that contains the end of the root's instruction file at that point."""
    start = 0
    for index, block in enumerate(blocks):
        cut, text = end - start, block.text
        if 0 < cut < len(text):
            is_useful = block.lifetime != "turn" and text[:cut].strip() and text[cut:].strip()
            halves = [replace(block, text=text[:cut], has_breakpoint=True), replace(block, text=text[cut:])]
            return [*blocks[:index], *(halves if is_useful else [block]), *blocks[index + 1 :]]
        start += len(text)
    return blocks


def keep_last_breakpoints(blocks: list[Block], count: int) -> list[Block]:
    """Return the blocks with only the last `count` breakpoints, which cover the most text."""
    surplus = max(sum(block.has_breakpoint for block in blocks) - max(count, 0), 0)
    kept: list[Block] = []
    for block in blocks:
        is_surplus = block.has_breakpoint and surplus > 0
        surplus -= is_surplus
        kept.append(replace(block, has_breakpoint=False) if is_surplus else block)
    return kept
