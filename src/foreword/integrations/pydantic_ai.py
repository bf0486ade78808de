"""pydantic-ai: a capability that puts a conversation's prompt into each of an agent's requests.

    agent = pydantic_ai.Agent("anthropic:claude-sonnet-5-5", tools=tools, capabilities=[ForewordCapability(conversation)])

It works with models that use the Anthropic SDK or the OpenAI SDK.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from ..errors import CallError
from .clients import prompted_client
from .prompting import Prompting, Promptings

if TYPE_CHECKING:
    from ..conversation.conversation import Conversation
    from .prompting import Open


class ForewordCapability(AbstractCapability[Any]):
    """Puts a conversation's prompt into each of an agent's requests.

    `conversation` is a conversation, or a function that takes pydantic-ai's conversation id and opens one. With a `task`, or the name of a
    `definition`, the agent is a sub-agent of the conversation.
    """

    def __init__(
        self,
        conversation: Conversation | Open,
        *,
        task: str = "",
        definition: str = "",
        ttl: str | None = None,
        betas: bool = True,
    ) -> None:
        self._promptings = Promptings(conversation, task=task, definition=definition, ttl=ttl, betas=betas)
        self._conversation_id = ""

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None, because a conversation cannot be serialized in an agent specification."""
        return None

    async def for_run(self, ctx: RunContext[Any]) -> ForewordCapability:
        """Return the capability for the conversation that a run belongs to."""
        capability = copy.copy(self)
        capability._conversation_id = ctx.conversation_id or ""
        return capability

    def get_wrapper_model(self, model: Model) -> Model | None:
        """Return the model, wrapped so that its requests contain the prompt."""
        return _PromptedModel(model, self._promptings.of(self._conversation_id))


class _PromptedModel(WrapperModel):
    """Sends requests with a copy of a model, because other agents may share the model itself."""

    def __init__(self, model: Model, prompting: Prompting) -> None:
        super().__init__(model)
        self._prompted = _prompted_model(model, prompting)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        return await self._prompted.request(messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        stream = self._prompted.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with stream as response:
            yield response


def _prompted_model(model: Model, prompting: Prompting) -> Model:
    copied: Any = copy.copy(model)
    if isinstance(model, FallbackModel):
        copied.models = [_prompted_model(fallback, prompting) for fallback in model.models]
    elif isinstance(model, WrapperModel):
        copied.wrapped = _prompted_model(model.wrapped, prompting)
    elif getattr(copied, "_provider", None) is None:
        raise CallError(
            f"the model {type(model).__name__} does not use an Anthropic or OpenAI SDK client; pass the prompt yourself:"
            " agent.run(…, instructions=conversation.turn(…).system)"
        )
    else:
        copied._provider = copy.copy(copied._provider)
        copied._provider._client = prompted_client(copied._provider.client, prompting)
    return copied  # type: ignore[no-any-return]
