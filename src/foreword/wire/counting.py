"""The JSON form of prompts with exact token counts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encoding.forms import PromptForm
    from ..vocabulary import Prompt


def counted_form(prompt: Prompt, model: str = "", provider: str = "") -> PromptForm:
    """A prompt with the most exact token counts available."""
    from ..encoding.prompt import prompt_form
    from ..text.tokens import count

    by_passage = [count(passage.text, model, provider) for passage in prompt.passages]
    return prompt_form(prompt, count(prompt.text, model, provider), by_passage)
