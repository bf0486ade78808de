"""Convert a turn into a provider's request: one module per provider, without its SDK.

Each function is pure and returns keyword arguments for the provider's own client:

    client.messages.create(**for_anthropic(turn), model=…, max_tokens=…)
    client.responses.create(**for_openai_responses(turn), model=…)
    client.chat.completions.create(**for_openai_chat(turn), model=…)
    client.models.generate_content(**for_gemini(turn), model=…)
    client.converse(**for_bedrock(turn), modelId=…)

The same turn always gives the same bytes, and each later turn of a conversation starts with the bytes of the one before: nothing is
dated or numbered, and the user's and the model's messages are neither reordered nor merged. A message that announces a late change
(`turn.changes`) is sent in the provider's own form if the turn's model accepts that. An empty prompt is left out of the request. A
message is `{"role", "content"}`; its content is a string, or a list in which text is `{"type": "text", "text": …}`. Everything else in
the list is already in the provider's form and passes through unchanged, except for calls of tools that the model must call with
`use_tool`. Blank text is left out where the provider would refuse it (`blank_text.py`).

The first messages of a turn may belong to its prompt (`turn.leading`), with the roles `system`, `developer` and `user`. Where a
provider does not have one of these roles, `developer` becomes `system`, and a `system` message after the system prompt becomes
`user`. Other messages keep their roles.

To add a provider, follow the recipe in CONTRIBUTING.md; `tests/providers/test_table.py` lists every place that knows the providers.
"""

from __future__ import annotations

from ..errors import APIS, PROVIDERS, CallError, check_turn
from ..vocabulary import Turn, replace
from .foreign_messages import ForeignMessageError, as_text
from .tool_fields import UnsupportedToolError, without_tool_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Most other servers accept requests in this provider's form.
_DEFAULT = "openai"
_PLACEHOLDER = {"role": "user", "content": "…"}
_MESSAGE_KEYS = ("messages", "input", "contents")


def function_of(api: str) -> str:
    """Return the name of the function that converts a turn for an API."""
    return f"for_{api.replace('-', '_')}"


def check_turn_for(api: str, turn: Turn) -> None:
    """Raise a CallError unless a turn can be sent to this API: it has messages, and its agent has no other known provider."""
    function, owner = function_of(api), getattr(turn, "provider", "").lower()
    check_turn(function, turn, Turn)
    if owner in PROVIDERS and owner != api.partition("-")[0]:
        right = " or ".join(function_of(other) for other in APIS if other.partition("-")[0] == owner)
        raise CallError(
            f"{function} is not for the agent's provider, {owner}; use {right}, or if you send the request to a gateway, pass its name"
            ' instead, as in Agent(provider="openrouter")'
        )


def request_to(api: str, turn: Turn) -> dict[str, Any]:
    """Return the arguments for a provider's client in the form of one of its APIs, such as `openai-chat`."""
    from importlib import import_module

    module = import_module(f".{api.partition('-')[0]}", __name__)
    request: dict[str, Any] = getattr(module, function_of(api))(turn)
    return request


def request_for(provider: str, turn: Turn) -> dict[str, Any]:
    """Return the arguments for a provider's client, in OpenAI's form for unknown providers.

    Used only for predictions, so tool fields that the provider does not accept are left out, and messages of another provider are text.
    """
    from importlib import import_module

    name = provider if provider in PROVIDERS else _DEFAULT
    convert = import_module(f".{name}", __name__).request
    turn = replace(turn, provider="")  # what a known model costs decides, whatever the agent says
    if not turn.messages:  # a provider would refuse it, but what comes before the messages can be predicted
        request = request_for(provider, replace(turn, messages=[_PLACEHOLDER]))
        return {key: [] if key in _MESSAGE_KEYS else content for key, content in request.items()}
    try:
        return dict(convert(turn))
    except UnsupportedToolError:
        return request_for(provider, replace(turn, tools=[without_tool_fields(tool) for tool in turn.tools]))
    except ForeignMessageError:
        return request_for(provider, replace(turn, messages=[as_text(message) for message in turn.messages]))
