"""Compare announcing late changes with concatenation and with a rebuild after every change, over random conversations.

Each conversation has a random length, prompt, messages, edits, pauses and compactions. Each request is priced by its tokens: those
before the first change are read from the cache, if they are still in it, and the rest is written to it. The decisions are those of the
function that conversations use (`foreword.conversation.choice.choose`).

    concatenation   puts the clock at the end of the system prompt, so that every request after a new minute loses the messages
    always rebuild  has no clock, and sends the new prompt after every edit
    Foreword        announces the edit, or rebuilds if that is cheaper

It prints how much Foreword costs relative to the cheaper of the other two, wins and losses, and the worst conversation.

    python bench/late_changes.py --seed 7 --count 10000
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foreword.conversation.choice import TokenPrice, choose
from foreword.inspection.price_list import read_prices
from foreword.inspection.prices import Price, ProviderRules

MODELS = {"anthropic": "claude-sonnet-5.5", "openai": "gpt-5.6-terra", "gemini": "gemini-3.8-flash"}
INTRODUCTION = 50  # tokens of an announcement besides the changed lines
LIMIT, SHARE = 1.1, 0.95
CLOCK = 12  # tokens of the clock


class Call(NamedTuple):
    """One call: seconds since the previous one, and the tokens of the new message and of the edit before it, if there is one.

    `position` is where in the prompt the edit is, from 0 to 1, and `growth` is how many tokens it adds to the prompt.
    """

    pause: int
    message: int
    edit: int = 0
    position: float = 0.0
    growth: int = 0
    is_compacted: bool = False


class Talk(NamedTuple):
    """A conversation: the tokens of its tools, its prompt, and its calls."""

    tools: int
    prompt: int
    calls: tuple[Call, ...]


def random_talk(source: random.Random) -> Talk:
    """Return a random conversation. Most edits are small; some replace a whole file."""
    edit_rate = source.choice((0.0, 0.02, 0.05, 0.1, 0.3, 0.7))
    pause_rate, compaction_rate = source.choice((0.0, 0.02, 0.1)), source.choice((0.0, 0.0, 0.02))
    prompt = int(source.lognormvariate(8.3, 0.7))  # about 4,000 tokens
    calls = []
    for _ in range(source.choice((5, 10, 30, 60, 200))):
        pause = source.randint(300, 7200) if source.random() < pause_rate else source.randint(2, 90)
        edit = growth = 0
        if source.random() < edit_rate:
            is_whole = source.random() < 0.05
            edit = (
                source.randint(prompt // 2, prompt) if is_whole else INTRODUCTION + int(source.lognormvariate(3.5, 1))
            )
            growth = source.randint(-edit // 4, edit // 4)
        is_compacted = source.random() < compaction_rate
        calls.append(Call(pause, int(source.lognormvariate(6, 1)), edit, source.random(), growth, is_compacted))
    return Talk(source.randint(0, 6000), prompt, tuple(calls))


class Bill:
    """What a way of sending a conversation costs at one provider, in dollars for a million tokens."""

    def __init__(self, rules: ProviderRules, price: Price) -> None:
        self.rules, self.price, self.total = rules, price, 0.0
        self.cached = 0

    def send(self, tokens: int, unchanged: int, pause: int) -> None:
        """Add a request. `unchanged` of its tokens are at the beginning of the previous one, too."""
        is_expired = pause > (self.rules.lifetime or 300)
        minimum = self.price.minimum or 0
        read = 0 if is_expired else min(unchanged, self.cached)
        read = read - read % self.rules.step if read >= minimum else 0
        is_written = tokens >= minimum
        write_price = self.price.write if is_written else self.price.input
        self.total += read * self.price.read + (tokens - read) * write_price
        self.cached = tokens if is_written else 0


def price_of(talk: Talk, rules: ProviderRules, price: Price, way: str) -> float:
    """Return what a conversation costs in one of three ways: `concatenation`, `rebuild` or `foreword`."""
    bill, costs = Bill(rules, price), TokenPrice(price.read, price.write)
    prompt, history, clock, sent_minute = talk.prompt, 0, CLOCK if way == "concatenation" else 0, -1
    carried: list[tuple[int, int]] = []
    announced = seconds = 0  # the tokens that announcements would save, and the time
    growth = 0
    for call in talk.calls:
        seconds += call.pause
        head = talk.tools + prompt + clock
        unchanged = head + history
        if call.is_compacted:
            # The summary is requested under the kept prompt; then everything starts over with a fresh one.
            bill.send(head + history + 100, unchanged, call.pause)
            prompt, growth = prompt + growth, 0
            history, carried, announced = 500, [], 0
            head = talk.tools + prompt + clock
            unchanged = head
        if way == "concatenation" and seconds // 60 != sent_minute:
            unchanged, sent_minute = min(unchanged, talk.tools + prompt), seconds // 60
        changed_at = talk.tools + int(prompt * call.position)
        announcement = 0
        if way != "foreword":
            if call.edit:
                unchanged, prompt = min(unchanged, changed_at), max(prompt + call.growth, 100)
        else:
            growth += call.growth if call.edit else 0
            if call.edit or carried:
                first = min(changed_at, announced or changed_at) if call.edit else announced
                is_expired = call.pause > (rules.lifetime or 300)
                lost = 0 if is_expired else max(min(bill.cached, head + history) - first, 0)
                if choose(carried, call.edit, lost, costs).is_rebuild:
                    history -= sum(tokens for tokens, _ in carried)
                    prompt, growth, carried, announced, unchanged = max(prompt + growth, 100), 0, [], 0, first
                else:
                    announcement, announced = call.edit, first
        head = talk.tools + prompt + clock
        history += call.message + announcement
        bill.send(head + history, unchanged, 0 if call.is_compacted else call.pause)
        carried = [(tokens, calls + 1) for tokens, calls in carried] + ([(announcement, 1)] if announcement else [])
    return bill.total


def ratios(talks: Sequence[Talk], rules: ProviderRules, price: Price) -> list[tuple[float, float, float]]:
    """Return, for each conversation, Foreword's price relative to the cheaper of the others, and relative to each."""
    rows = []
    for talk in talks:
        ours, plain, rebuilt = (price_of(talk, rules, price, way) for way in ("foreword", "concatenation", "rebuild"))
        rows.append((ours / min(plain, rebuilt), ours / plain, ours / rebuilt))
    return rows


def lines(seed: int, count: int) -> Iterator[str]:
    """Yield the report: the distribution of the ratios for each provider, and the worst conversation."""
    table = read_prices()
    for provider, model in MODELS.items():
        rules = next(row for row in table.providers if row.name == provider)
        price = table.price_of(rules, model)
        assert price is not None
        source = random.Random(f"{seed} {provider}")
        talks = [random_talk(source) for _ in range(count)]
        rows = ratios(talks, rules, price)
        best = sorted(row[0] for row in rows)
        within = sum(ratio <= LIMIT for ratio in best) / count
        verdict = "" if within >= SHARE else f"; below the goal of {SHARE:.0%}"
        yield f"{provider} {model}: {count:,} conversations, seed {seed}; {within:.2%} cost at most {LIMIT} times the cheaper way{verdict}"
        for name, column in (("cheaper of both", 0), ("concatenation", 1), ("always rebuild", 2)):
            sample = sorted(row[column] for row in rows)
            points = [f"{share:.0%} {sample[min(int(share * count), count - 1)]:.3f}" for share in (0.01, 0.1, 0.5, 0.9, 0.95, 0.99)]  # fmt: skip
            yield f"  relative to {name:16} {'  '.join(points)}  most {sample[-1]:.3f}"
        worst = talks[max(range(count), key=lambda index: rows[index][0])]
        edits = [(number, call.edit) for number, call in enumerate(worst.calls) if call.edit]
        yield f"  worst: {best[-1]:.3f}, {len(worst.calls)} calls, {worst.tools:,} tokens of tools, {worst.prompt:,} of prompt"
        yield f"         edits (call, tokens): {edits[:12]}{' …' if len(edits) > 12 else ''}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000)
    args = parser.parse_args()
    for line in lines(args.seed, args.count):
        print(line, flush=True)
