"""Google's Agent Development Kit: callbacks that put a conversation's prompt into each of an agent's requests.

    agent = LlmAgent(name="shop", model="gemini-3-pro", tools=tools, **foreword_callbacks(conversation, use_tool=True))

Gemini caches prefixes automatically and has neither breakpoints nor changes in the middle of a conversation. Without `use_tool`, a tool
that is added later is appended to the others, and the cache after it is lost.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.adk.tools import BaseTool
from google.genai import types

from ..providers.gemini import for_gemini
from ..vocabulary.tools import USE_TOOL, Tool
from .forms import Received, RequestOptions
from .rewriting import RewriterPool

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse

    from ..conversation.conversation import Conversation
    from .forms import OnTurn
    from .rewriting import Open, RequestRewriter


def foreword_callbacks(
    conversation: Conversation | Open,
    *,
    task: str = "",
    definition: str = "",
    on_turn: OnTurn | None = None,
    use_tool: bool = False,
) -> dict[str, Any]:
    """Return the callbacks of an `LlmAgent`, as keyword arguments, that put a conversation's prompt into requests.

    `conversation` is a conversation, or a function that takes ADK's session id and opens one. With a `task`, or the name of a `definition`,
    the agent is a sub-agent of the conversation. `on_turn` is called with each turn before its request is sent. With `use_tool`, tools that
    are added late keep the cache.
    """
    rewriters = RewriterPool(conversation, RequestOptions(task, definition, on_turn=on_turn, use_tool=use_tool))
    known: dict[str, types.FunctionDeclaration] = {}

    async def before_model(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        rewriter = rewriters.get(callback_context.session.id)
        if use_tool:
            llm_request.tools_dict[USE_TOOL] = _UseTool(rewriter.refuse_call)
        declarations = [declaration for tool in llm_request.config.tools or () for declaration in _declarations(tool)]
        tools = [_tool(declaration) for declaration in declarations]
        for tool, declaration in zip(tools, declarations, strict=True):
            known.setdefault(_key(tool.name, tool.description, tool.schema), declaration)
        messages = [content.model_dump(mode="json", exclude_none=True) for content in llm_request.contents]
        turn = await asyncio.to_thread(rewriter.turn, Received((), messages, tools))
        request = for_gemini(turn)
        listed = {
            row["name"] for tool in request["config"].get("tools", ()) for row in tool.get("function_declarations", ())
        }
        ordered = [
            known.get(_key(row["name"], row["description"], row["schema"])) or _declaration(row)
            for row in turn.tools
            if row["name"] in listed
        ]
        _write(llm_request, request, ordered)

    async def after_model(callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        await asyncio.to_thread(_call_directly, llm_response, rewriters.get(callback_context.session.id))

    return {"before_model_callback": before_model, **({"after_model_callback": after_model} if use_tool else {})}


class _UseTool(BaseTool):
    """The tool `use_tool`. It runs only if the model calls it wrongly, and then explains what is wrong."""

    def __init__(self, refuse_call: Callable[[Any], str]) -> None:
        super().__init__(name=USE_TOOL, description="")
        self._refuse_call = refuse_call

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
        return {"error": await asyncio.to_thread(self._refuse_call, args)}


def _call_directly(response: LlmResponse, rewriter: RequestRewriter) -> None:
    """Replace calls of `use_tool` in a response by calls of the tools that the model means."""
    for part in (response.content.parts if response.content else None) or ():
        function = part.function_call
        if function and (call := rewriter.inner_call(function.name or "", function.args)):
            function.name, function.args = call


def _write(llm_request: LlmRequest, request: dict[str, Any], declarations: list[Any]) -> None:
    """Write a turn into a request, followed by the framework's own instructions and other tools."""
    config = llm_request.config
    own = config.system_instruction
    config.system_instruction = "\n\n".join(filter(None, [request["config"].get("system_instruction"), _text(own)]))
    others = [tool for tool in config.tools or () if not _declarations(tool)]
    functions = [types.Tool(function_declarations=declarations)] if declarations else []
    config.tools = [*functions, *others]
    llm_request.contents = [types.Content.model_validate(content) for content in request["contents"]]


def _declarations(tool: Any) -> list[Any]:
    return list(getattr(tool, "function_declarations", None) or ())


def _tool(declaration: Any) -> Tool:
    fields = declaration.model_dump(mode="json", exclude_none=True)
    schema = fields.get("parameters_json_schema") or fields.get("parameters")
    return Tool(fields["name"], fields.get("description") or "", schema=schema)


def _declaration(row: Any) -> types.FunctionDeclaration:
    """Return the declaration of a tool that the framework no longer offers but the prompt still contains."""
    fields = {"name": row["name"], "description": row["description"], "parameters_json_schema": row["schema"] or None}
    return types.FunctionDeclaration.model_validate({key: field for key, field in fields.items() if field})


def _key(name: str, description: str, schema: Any) -> str:
    return json.dumps([name, description, schema or {}], sort_keys=True)


def _text(instruction: Any) -> str:
    """Return the text of an instruction, which is a string or has parts."""
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    parts = instruction if isinstance(instruction, list) else getattr(instruction, "parts", None) or [instruction]
    return "\n\n".join(part if isinstance(part, str) else getattr(part, "text", None) or "" for part in parts)
