"""The OpenAI Agents SDK: a model provider that puts a conversation's prompt into every request.

    result = await Runner.run(agent, "Hello.", run_config=RunConfig(model_provider=ForewordProvider(conversation)))

For a sub-agent, pass a model from its own provider to the agent: `Agent(model=ForewordProvider(conversation, task=…).get_model(name))`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents import Model, ModelProvider, OpenAIProvider
from openai import AsyncOpenAI

from .clients import rewriting_client
from .forms import RequestOptions
from .rewriting import RequestRewriter

if TYPE_CHECKING:
    from ..conversation.conversation import Conversation
    from .forms import OnTurn


class ForewordProvider(ModelProvider):
    """Provides OpenAI models whose requests contain a conversation's prompt.

    `client` sends the requests; by default it is a new client. With a `task`, or the name of a `definition`, the models are for a sub-agent
    of the conversation. `use_responses=False` uses Chat Completions. `on_turn` is called with each turn before its request is sent.
    """

    def __init__(
        self,
        conversation: Conversation,
        client: AsyncOpenAI | None = None,
        *,
        task: str = "",
        definition: str = "",
        ttl: str | None = None,
        use_responses: bool | None = None,
        on_turn: OnTurn | None = None,
    ) -> None:
        rewriter = RequestRewriter(conversation, RequestOptions(task, definition, ttl, on_turn=on_turn))
        rewriting = rewriting_client(client or AsyncOpenAI(), rewriter)
        # Requests over a WebSocket do not pass through the client.
        self._provider = OpenAIProvider(
            openai_client=rewriting, use_responses=use_responses, use_responses_websocket=False
        )

    def get_model(self, model_name: str | None) -> Model:
        """Return the model with this name."""
        return self._provider.get_model(model_name)

    async def aclose(self) -> None:
        """Close the models' connections."""
        await self._provider.aclose()
