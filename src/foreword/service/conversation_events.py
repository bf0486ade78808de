"""Routes for the events of a conversation besides turns: sub-agents, messages from elsewhere, and new resources and tools."""

from __future__ import annotations

from secrets import token_hex
from typing import Any

from ..conversation.sub_agents import UNTRUSTED_TASK
from ..encoding.edition import target_of
from ..extensions import Resources
from ..template.addresses import is_only_address
from ..vocabulary import Document
from .bodies import AgentBody, MessageBody, RegistryBody, ResourcesBody, SubAgentBody
from .conversations import announce_hooks, turn_response
from .request import Request
from .requested_agents import tools_from
from .responses import Response
from .service import Service

_MAX_ID = 512


def start_sub_agent(service: Service, request: Request) -> Response:
    """Start a sub-agent in its own conversation, and return its first turn. It inherits the files that its parent has found.

    `conversation` is the id for its later turns.
    """
    body: SubAgentBody = request.body
    announce_hooks(service)
    parent_id = request.text("id")
    parent_cwd = target_of(service.current(parent_id)).cwd
    options: dict[str, Any] = {
        "settings": body.settings,
        "wording": body.wording,
        "packs": body.packs,
        "mirror": body.mirror,
    }
    parent = service.conversation(parent_id, AgentBody(cwd=parent_cwd, layout=body.layout, **options))
    task = body.task if not body.task or is_only_address(body.task) else Document(UNTRUSTED_TASK, body.task)
    sub_agent = parent.sub_agents.prepare(
        task,
        tools_from(body.tools or []),
        definition=body.definition,
        workspace=service.workspace(body.cwd) if body.cwd else None,
        append=body.append,
        with_context=body.with_context,
        with_skills=body.with_skills,
        now=body.now,
    )
    id = f"{parent_id[: _MAX_ID - 17]}.{token_hex(8)}"
    child = service.conversations.open_sub_agent(id, parent, sub_agent)
    turn = child.stored.start_sub_agent(sub_agent, body.message, body.messages, body.now)
    return turn_response(turn, body.form)


def add_message(service: Service, request: Request) -> Response:
    """Add a message to the conversation's next turn, for example from a person who is watching."""
    body: MessageBody = request.body
    id = request.text("id")
    conversation = service.conversation(id, service.body_of(id))
    return Response({"conversation": id, "waiting": conversation.stored.add_message(body.message)})


def add_resources(service: Service, request: Request) -> Response:
    """Add folders of skills and packs to a conversation. Its layout decides whether the prompt is built again."""
    body: ResourcesBody = request.body
    id = request.text("id")
    known = service.body_of(id)
    skills = tuple(service.path(folder, "skills") for folder in body.skills)
    resources = Resources(skills, service.pack_folders(body.prompts))
    return turn_response(service.conversation(id, known).stored.add_resources(resources, body.now))


def replace_tools(service: Service, request: Request) -> Response:
    """Set the conversation's tools after the set of existing tools has changed. Its layout decides whether the prompt is built again."""
    body: RegistryBody = request.body
    id = request.text("id")
    conversation = service.conversation(id, service.body_of(id))
    return turn_response(conversation.stored.replace_tools(tools_from(body.tools), body.now))
