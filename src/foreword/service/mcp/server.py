"""The MCP server: translates between the protocol's types and `McpContent`. Work is done in threads, so one request does not delay others."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable
from mimetypes import guess_type
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ... import __version__
from ...errors import ForewordError
from ..lanes import BUILDING, Job, Lanes
from ..log import Log, cause_of
from ..responses import Problem
from .content import PROMPT, McpContent, SkillEntry, layout_uri, offered_tools, skill_uri

_Result = TypeVar("_Result")
SKILLS_EXTENSION = "io.modelcontextprotocol/skills"
_MARKDOWN = "text/markdown"
_TEMPLATE_WORKERS = 2
_TEMPLATE_QUEUE = 16
_INSTRUCTIONS = (
    "Foreword knows this project's instruction files and skills. Call `touch` with a file's path before you read or edit a file in a"
    " folder that is new to you, and follow the instructions it returns. Call `use_skill` before a task that fits a skill, and `why` to"
    " find out why an instruction file is or is not in the system prompt."
)


class _SkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


def create_server(
    content_for: Callable[[Any], McpContent], log: Log | None = None, time_limit: float | None = None
) -> Server[Any]:
    """Return a server. `content_for` returns the content for an HTTP request (None over standard input and output).

    A request fails after `time_limit` seconds. Errors in the server itself are written to the log.
    """
    handlers = _Handlers(content_for, log, time_limit)
    server: Server[Any] = Server(
        "foreword",
        version=__version__,
        title="Foreword",
        instructions=_INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    server.extensions[SKILLS_EXTENSION] = {}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, handlers.list_skills)
    server.add_request_handler("skills/get", _SkillParams, handlers.get_skill)
    return server


class _Handlers:
    """One method for each request of the protocol."""

    def __init__(self, content_for: Callable[[Any], McpContent], log: Log | None, time_limit: float | None) -> None:
        self._content_for, self._log, self._time_limit = content_for, log, time_limit
        self._lanes = Lanes(_TEMPLATE_WORKERS, _TEMPLATE_QUEUE)

    async def list_tools(self, context: Any, params: object) -> types.ListToolsResult:
        read_only = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        writes = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.schema or {"type": "object"}),
                    annotations=writes if tool.name == "write_plan" else read_only,
                )
                for tool in offered_tools()
            ]
        )

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await self._run(context, lambda content: content.call(params.name, params.arguments or {}))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.text)],
            structured_content=result.data,
            is_error=result.is_error,
        )

    async def list_resources(self, context: Any, params: object) -> types.ListResourcesResult:
        skills = await self._run(context, McpContent.skills)
        prompt = types.Resource(
            uri=PROMPT, name="prompt", description="The system prompt for this workspace.", mime_type=_MARKDOWN
        )
        return types.ListResourcesResult(
            resources=[
                prompt,
                *(
                    types.Resource(
                        uri=skill_uri(skill.name), name=skill.name, description=skill.description, mime_type=_MARKDOWN
                    )
                    for skill in skills
                ),
            ]
        )

    async def list_resource_templates(self, context: Any, params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=layout_uri("") + "{layout}",
                    name="prompt for a layout",
                    description="The system prompt for this workspace with another layout.",
                    mime_type=_MARKDOWN,
                ),
                types.ResourceTemplate(
                    uri_template="skill://{name}/{+path}",
                    name="skill file",
                    description="A skill's SKILL.md, or a file that comes with it.",
                ),
            ]
        )

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        data = await self._run(context, lambda content: content.read(uri))
        contents: types.TextResourceContents | types.BlobResourceContents
        if isinstance(data, str):
            kind = _MARKDOWN if uri.startswith(PROMPT) or uri.endswith(".md") else guess_type(uri)[0] or "text/plain"
            contents = types.TextResourceContents(uri=uri, mime_type=kind, text=data)
        else:
            kind = guess_type(uri)[0] or "application/octet-stream"
            contents = types.BlobResourceContents(uri=uri, mime_type=kind, blob=b64encode(data).decode())
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, context: Any, params: object) -> types.ListPromptsResult:
        rows = await self._run(context, McpContent.layouts)
        return types.ListPromptsResult(prompts=[types.Prompt(name=name, description=about) for name, about in rows])

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        text = await self._run(context, lambda content: content.prompt(params.name))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    async def list_skills(self, context: Any, params: object) -> dict[str, Any]:
        entries = await self._run(context, McpContent.skill_entries)
        return {"skills": [_form(entry) for entry in entries], "ttlMs": 0, "cacheScope": "private"}

    async def get_skill(self, context: Any, params: _SkillParams) -> dict[str, Any]:
        return {"skill": _form(await self._run(context, lambda content: content.skill_entry(params.uri)))}

    async def _run(self, context: Any, function: Callable[[McpContent], _Result]) -> _Result:
        """Call a function with the sender's content in a thread. Its errors are reported as the client's mistakes."""
        try:
            content = self._content_for(context.request)
            result: _Result = await self._run_job(Job(lambda: function(content), token=content.token))
            return result
        except TimeoutError:
            message = f"the work took longer than {self._time_limit:g} seconds; it may still complete"
            raise MCPError(types.INTERNAL_ERROR, message) from None
        except (ForewordError, Problem) as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except Exception as error:
            if self._log is not None:
                self._log.event("mcp", "error", "a request failed", cause_of(error))
            raise MCPError(types.INTERNAL_ERROR, "this is a bug in the server; see its log") from None

    async def _run_job(self, job: Job) -> Any:
        """Return a job's result. Raises a TimeoutError after the time limit."""
        try:
            async with asyncio.timeout(self._time_limit):
                result: Any = BUILDING
                while isinstance(result, int):
                    result = await self._lanes.submit(job, result)
                return result
        finally:
            job.cancel()


def _form(entry: SkillEntry) -> dict[str, Any]:
    return {"uri": entry.uri, "frontmatter": dict(entry.front_matter), "resources": list(entry.resources)}
