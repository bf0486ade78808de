"""The OpenAI Agents SDK: a model provider that puts a conversation's prompt into every request.

    result = await Runner.run(agent, "Hello.", run_config=RunConfig(model_provider=ForewordProvider(conversation)))

If the model should have `use_tool`, pass `use_tool=True`, and add the provider's `use_tool` to the agent's tools.

For a sub-agent, pass a model from its own provider to the agent: `Agent(model=ForewordProvider(conversation, task=…).get_model(name))`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from agents import FunctionTool, Model, ModelProvider, ModelResponse, OpenAIProvider
from openai import AsyncOpenAI

from ..conversation.shipped_definitions import shipped_tools
from ..vocabulary.tools import USE_TOOL
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
    With `use_tool=True`, the agent's tools must include `provider.use_tool`.
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
        use_tool: bool = False,
    ) -> None:
        options = RequestOptions(task, definition, ttl, on_turn=on_turn, use_tool=use_tool)
        self._rewriter = RequestRewriter(conversation, options)
        rewriting = rewriting_client(client or AsyncOpenAI(), self._rewriter)
        # Requests over a WebSocket do not pass through the client.
        self._provider = OpenAIProvider(
            openai_client=rewriting, use_responses=use_responses, use_responses_websocket=False
        )

    def get_model(self, model_name: str | None) -> Model:
        """Return the model with this name."""
        model = self._provider.get_model(model_name)
        return _with_direct_calls(model, self._rewriter) if self._rewriter.options.use_tool else model

    @property
    def use_tool(self) -> FunctionTool:
        """The tool `use_tool`, for the agent's tools. It runs only if the model calls it wrongly, and then explains what is wrong."""
        [tool] = shipped_tools(USE_TOOL)

        async def refuse(context: Any, arguments: str) -> str:
            return await asyncio.to_thread(self._rewriter.refuse_call, arguments)

        return FunctionTool(USE_TOOL, tool.description, dict(tool.schema or {}), refuse, strict_json_schema=False)

    async def aclose(self) -> None:
        """Close the models' connections."""
        await self._provider.aclose()


def _with_direct_calls(model: Model, rewriter: RequestRewriter) -> Model:
    """Return the model, so that its responses contain direct calls of the tools that it calls with `use_tool`."""
    kind = type(model)

    def convert(items: Iterable[Any]) -> None:
        for item in items:
            if getattr(item, "type", "") == "function_call" and (
                call := rewriter.inner_call(item.name, item.arguments)
            ):
                # OpenAI would use its own copy of a call that has an id.
                item.name, item.arguments, item.id = call[0], json.dumps(call[1]), None

    async def get_response(self: Any, *arguments: Any, **options: Any) -> ModelResponse:
        response = await kind.get_response(self, *arguments, **options)
        await asyncio.to_thread(convert, response.output)
        return response

    async def stream_response(self: Any, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        async for event in kind.stream_response(self, *arguments, **options):
            response = getattr(event, "response", None)
            items = [*filter(None, [getattr(event, "item", None)]), *(response.output if response else ())]
            if items:
                await asyncio.to_thread(convert, items)
            yield event

    # A subclass, because the SDK distinguishes its own classes of models.
    model.__class__ = type(kind.__name__, (kind,), {"get_response": get_response, "stream_response": stream_response})
    return model
