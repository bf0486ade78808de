"""pydantic-ai: a capability that puts a conversation's prompt into each of an agent's requests.

    agent = pydantic_ai.Agent("anthropic:claude-sonnet-5-5", tools=tools, capabilities=[ForewordCapability(conversation)])

It works with models that use the Anthropic SDK or the OpenAI SDK.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from ..conversation.shipped_definitions import shipped_tools
from ..errors import CallError
from ..vocabulary.tools import USE_TOOL
from .clients import rewriting_client
from .forms import RequestOptions
from .rewriting import RequestRewriter, RewriterPool

if TYPE_CHECKING:
    from typing import Unpack

    from ..conversation.conversation import Conversation
    from .forms import RequestKeywords
    from .rewriting import Open


class ForewordCapability(AbstractCapability[Any]):
    """Puts a conversation's prompt into each of an agent's requests.

    `conversation` is a conversation, or a function that takes pydantic-ai's conversation id and opens one. The other arguments are the fields of
    `RequestOptions`: with a `task`, or the name of a `definition`, the agent is a sub-agent of the conversation.
    """

    def __init__(self, conversation: Conversation | Open, **options: Unpack[RequestKeywords]) -> None:
        self._rewriters = RewriterPool(conversation, RequestOptions(**options))
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
        return _ModelWithPrompt(model, self._rewriters.get(self._conversation_id))

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return a toolset with `use_tool`, if the model should have it."""
        if not self._rewriters.options.use_tool:
            return None
        [tool] = shipped_tools(USE_TOOL)
        schema = dict(tool.schema or {})
        return FunctionToolset(
            [Tool.from_schema(self._refuse_call, USE_TOOL, tool.description, schema, takes_ctx=True)]
        )

    async def _refuse_call(self, ctx: RunContext[Any], **arguments: Any) -> str:
        rewriter = self._rewriters.get(ctx.conversation_id or "")
        return await asyncio.to_thread(rewriter.refuse_call, arguments)

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Return the response with direct calls of the tools that the model calls with `use_tool`."""
        if not self._rewriters.options.use_tool:
            return response
        rewriter = self._rewriters.get(self._conversation_id)
        parts = await asyncio.to_thread(lambda: [_direct_call(part, rewriter) for part in response.parts])
        return dataclasses.replace(response, parts=parts)


class _ModelWithPrompt(WrapperModel):
    """Sends requests with a copy of a model, because other agents may share the model itself."""

    def __init__(self, model: Model, rewriter: RequestRewriter) -> None:
        super().__init__(model)
        self._copy = _with_rewriting_client(model, rewriter)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        return await self._copy.request(messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        stream = self._copy.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with stream as response:
            yield response


def _direct_call(part: ModelResponsePart, rewriter: RequestRewriter) -> ModelResponsePart:
    if not isinstance(part, ToolCallPart) or not (call := rewriter.inner_call(part.tool_name, part.args)):
        return part
    # Without its id, because OpenAI would use its own copy of a call that has one.
    name, arguments = call
    return ToolCallPart(
        name,
        arguments,
        part.tool_call_id,
        provider_name=part.provider_name,
        provider_details=part.provider_details,
    )


def _with_rewriting_client(model: Model, rewriter: RequestRewriter) -> Model:
    copied: Any = copy.copy(model)
    if isinstance(model, FallbackModel):
        copied.models = [_with_rewriting_client(fallback, rewriter) for fallback in model.models]
    elif isinstance(model, WrapperModel):
        copied.wrapped = _with_rewriting_client(model.wrapped, rewriter)
    elif getattr(copied, "_provider", None) is None:
        raise CallError(
            f"the model {type(model).__name__} does not use an Anthropic or OpenAI SDK client; pass the prompt yourself:"
            " agent.run(…, instructions=conversation.turn(…).system)"
        )
    else:
        copied._provider = copy.copy(copied._provider)
        copied._provider._client = rewriting_client(copied._provider.client, rewriter)
    return copied  # type: ignore[no-any-return]
