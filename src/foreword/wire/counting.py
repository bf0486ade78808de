"""Count the tokens of a prompt for an answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encoding.forms import PromptForm
    from ..vocabulary import Prompt


def counted(prompt: Prompt, model: str = "", provider: str = "") -> PromptForm:
    """The JSON form of a prompt, with its tokens as exactly as they can be counted."""
    from ..encoding.prompt import prompt_form
    from ..text.tokens import count

    each = [count(passage.text, model, provider) for passage in prompt.passages]
    return prompt_form(prompt, count(prompt.text, model, provider), each)
