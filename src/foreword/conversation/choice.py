"""Decide whether to announce a late change or to build a new edition, whichever is cheaper. Pure."""

from __future__ import annotations

from ..inspection.prices import MILLION
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..inspection.prices import Price
    from ..inspection.rebuilding import RebuildCost

# What a token costs relative to an uncached one, if the model's price is unknown.
_RELATIVE_READ, _RELATIVE_WRITE = 0.1, 1.0


@value
class TokenPrice:
    """What it costs to read a cached token and to write one to the cache, in dollars for a million, or relative to each other."""

    read: float = _RELATIVE_READ
    write: float = _RELATIVE_WRITE


def token_price(price: Price | None) -> TokenPrice:
    """Return the prices of a model, or usual proportions if they are unknown."""
    return TokenPrice(price.read, price.write) if price else TokenPrice()


@value
class PriceChoice:
    """What it would cost to go on announcing, in total since the edition was built, and to build a new edition now."""

    carrying: float
    rebuilding: float

    @property
    def is_rebuild(self) -> bool:
        return self.carrying > self.rebuilding


def choose(carried: Sequence[tuple[int, int]], announcement: int, lost: int, price: TokenPrice) -> PriceChoice:
    """Choose between announcing a change and building a new edition.

    `carried` has the tokens of each announcement in this edition, and in how many calls it was sent. `announcement` is how many tokens
    would announce what changed now (0 if nothing did), and `lost` is how many cached tokens a new edition would lose, messages included.

    This is the ski-rental problem, repeated: announcements are rent, because they are written once and read in every later call, and a new
    edition is a purchase, which ends the rent until the next change. The rule is to buy as soon as the rent since the last purchase,
    including that of the coming call, would exceed the price of buying now.

    With this rule, the total of rent and purchases is at most 2g times that of the best choice in hindsight, where g is the largest
    factor by which the price of buying differs between two calls of one edition; g is 1 if the history does not grow. Proof: between two
    purchases, the rule pays at most the price p at the second one as rent, and then p. The best choice either buys in that time, which
    costs at least p / g, or carries at least the same announcements, including the call before which the rule buys, which costs more
    than p. So 2p is at most 2g times as much. If the rule does not buy again, its rent is at most p, and the same holds.

    The bound assumes that prices do not change, that every call sends the whole history, that the provider has cached the previous
    call, and that an announcement costs the same in each edition. It does not limit how much costs more than it would without any
    change: no rule can know the next one.
    """
    tokens = sum(count for count, _ in carried)
    paid = sum(count * price.write + count * price.read * max(calls - 1, 0) for count, calls in carried)
    next_call = announcement * price.write + tokens * price.read
    return PriceChoice(paid + next_call, lost * (price.write - price.read))


@value
class Carrying:
    """What an edition's announcements have cost so far. `carried` is that of `choose`, and `count` counts tokens.

    With `is_shared`, the cache of another provider or model still holds the edition, so it is kept for the way back.
    """

    count: Callable[[str], int]
    carried: Sequence[tuple[int, int]] = ()
    price: TokenPrice = TokenPrice()
    is_shared: bool = False

    def choose(self, announcement: int, rebuild: RebuildCost) -> PriceChoice:
        """Choose between announcing and rebuilding. What the provider has dropped from its cache cannot be lost."""
        lost = 0 if rebuild.is_expired else rebuild.tokens_lost
        choice = choose(self.carried, announcement, lost, self.price)
        return PriceChoice(0, choice.rebuilding) if self.is_shared else choice

    def describe(self, number: int, choice: PriceChoice, announcement: int, rebuild: RebuildCost) -> str:
        """Return the sentence about a new edition, with both prices."""
        tokens = announcement + sum(count for count, _ in self.carried)
        carrying, rebuilding = (
            f" (${amount / MILLION:.4f})" if rebuild.cost is not None else ""
            for amount in (choice.carrying, choice.rebuilding)
        )
        lost = 0 if rebuild.is_expired else rebuild.tokens_lost
        return (
            f"edition {number} was built because that is cheaper: it loses about {lost:,} cached tokens{rebuilding}, and announcing the"
            f" changes, {tokens:,} tokens in every call, would have cost more by now{carrying}; counted {rebuild.counted()}"
        )
