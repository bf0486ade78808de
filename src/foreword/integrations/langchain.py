"""LangChain, LangGraph and deepagents: middleware that puts a conversation's prompt into each of an agent's requests.

    agent = create_agent("anthropic:claude-sonnet-5-5", tools, middleware=[ForewordMiddleware(conversation)])

It works with models that use the Anthropic SDK or the OpenAI SDK. Its position among other middleware does not matter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langgraph.config import get_config

from ..errors import CallError
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

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Send a model request with the prompt."""
        return handler(request.override(model=_with_rewriting_client(request.model, self._rewriter(), is_async=False)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Send a model request with the prompt."""
        return await handler(
            request.override(model=_with_rewriting_client(request.model, self._rewriter(), is_async=True))
        )

    def _rewriter(self) -> RequestRewriter:
        return self._rewriters.get(str(get_config().get("configurable", {}).get("thread_id") or ""))


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
