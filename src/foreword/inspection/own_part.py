"""The part of a mirrored program's requests that its layout does not show: its own prompt and the definitions of its tools."""

from __future__ import annotations

from ..text.tokens import counting_rule
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout


@value
class OwnPart:
    """The tokens of a program's own prompt and tools, as recorded for one version of it."""

    program: str
    prompt: int
    tools: int

    @property
    def total(self) -> int:
        return self.prompt + self.tools

    def before(self, argument: str, order: Sequence[str]) -> int:
        """Return how many of these tokens come before the end of an argument, if a provider reads the arguments in this order."""
        read = order[: order.index(argument) + 1] if argument in order else order
        return (self.prompt if "system" in read else 0) + (self.tools if "tools" in read else 0)


def own_part(layout: Layout, model: str = "", provider: str = "") -> OwnPart | None:
    """Return the own part of the program that a layout mirrors, in a model's tokens, or None if it is not known."""
    prompt, tools = layout.program.get("prompt", 0), layout.program.get("tools", 0)
    if not prompt and not tools:
        return None
    scale = counting_rule(model, provider).scale
    return OwnPart(layout.mirrors, round(prompt * scale), round(tools * scale))
