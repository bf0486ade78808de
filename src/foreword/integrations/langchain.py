"""LangChain, LangGraph and deepagents: middleware that puts a conversation's prompt into each of an agent's requests.

    agent = create_agent("anthropic:claude-sonnet-5-5", tools, middleware=[ForewordMiddleware(conversation)])

It works with models that use the Anthropic SDK or the OpenAI SDK. Its position among other middleware does not matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import StructuredTool
from langgraph.config import get_config

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


class ForewordMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts a conversation's prompt into each of an agent's requests.

    `conversation` is a conversation, or a function that takes LangGraph's thread id and opens one. The other arguments are the fields of
    `RequestOptions`: with a `task`, or the name of a `definition`, the agent is a sub-agent of the conversation.
    """

    def __init__(self, conversation: Conversation | Open, **options: Unpack[RequestKeywords]) -> None:
        super().__init__()
        self._rewriters = RewriterPool(conversation, RequestOptions(**options))
        if self._rewriters.options.use_tool:
            [tool] = shipped_tools(USE_TOOL)
            schema = dict(tool.schema or {})
            self.tools = [
                StructuredTool(name=USE_TOOL, description=tool.description, args_schema=schema, func=self._refuse_call)
            ]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Send a model request with the prompt."""
        rewriter = self._rewriter()
        model = _with_rewriting_client(request.model, rewriter, is_async=False)
        return _with_direct_calls(handler(request.override(model=model)), rewriter)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Send a model request with the prompt."""
        rewriter = self._rewriter()
        model = _with_rewriting_client(request.model, rewriter, is_async=True)
        response = await handler(request.override(model=model))
        return await asyncio.to_thread(_with_direct_calls, response, rewriter)

    def _refuse_call(self, **arguments: Any) -> str:
        return self._rewriter().refuse_call(arguments)

    def _rewriter(self) -> RequestRewriter:
        return self._rewriters.get(str(get_config().get("configurable", {}).get("thread_id") or ""))


def _with_direct_calls(response: ModelResponse[Any], rewriter: RequestRewriter) -> ModelResponse[Any]:
    """Return the response with direct calls of the tools that the model calls with `use_tool`."""
    return replace(response, result=[_with_calls(message, rewriter) for message in response.result])


def _with_calls(message: BaseMessage, rewriter: RequestRewriter) -> BaseMessage:
    if not isinstance(message, AIMessage):
        return message
    inner = [rewriter.inner_call(call["name"], call["args"]) for call in message.tool_calls]
    calls = [
        {**call, "name": direct[0], "args": direct[1]} if direct else call
        for call, direct in zip(message.tool_calls, inner, strict=True)
    ]
    return message.model_copy(update={"tool_calls": calls}) if any(inner) else message


def _with_rewriting_client(model: Any, rewriter: RequestRewriter, *, is_async: bool) -> Any:
    """Return a copy of a model whose client puts the prompt into requests."""
    copied = model.model_copy()
    if hasattr(model, "root_async_client" if is_async else "root_client"):  # langchain-openai and packages built on it
        prefix = "async_" if is_async else ""
        root = rewriting_client(getattr(model, f"root_{prefix}client"), rewriter)
        setattr(copied, f"root_{prefix}client", root)
        setattr(copied, f"{prefix}client", root.chat.completions)
    elif hasattr(type(model), "_async_client") and hasattr(type(model), "_client"):  # langchain-anthropic
        name = "_async_client" if is_async else "_client"
        copied.__dict__[name] = rewriting_client(getattr(model, name), rewriter)
    else:
        raise CallError(
            f"the model {type(model).__name__} does not use an Anthropic or OpenAI SDK client; pass the prompt yourself:"
            " create_agent(…, system_prompt=conversation.turn(…).system)"
        )
    return copied
