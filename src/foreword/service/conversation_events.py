"""Routes for the events of a conversation besides turns: sub-agents, messages from elsewhere, and new resources and tools."""

from __future__ import annotations

from secrets import token_hex
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from ..conversation.sub_agents import UNTRUSTED_TASK
from ..encoding.edition import target_of
from ..extensions import Resources
from ..template.addresses import is_only_address
from ..vocabulary import Document
from ..wire.forms import TurnForm
from . import forms
from .bodies import (
    REQUEST_HAS_MESSAGES,
    AgentBody,
    Label,
    MessagesBody,
    Moment,
    PackName,
    Path,
    Text,
    Tools,
    UserText,
    check_moment,
    check_user_text,
)
from .conversations import announce_hooks, turn_response
from .request import Request
from .requested_agents import tools_from
from .responses import Response
from .route import CONVERSATION, Route
from .service import Service

_MAX_ID = 512


class SubAgentBody(MessagesBody, forbid_unknown_fields=True, kw_only=True):
    """A sub-agent's task, or the name of a definition that its layout lists, and its tools. `cwd` defaults to the parent's.

    With `append`, the task follows the parent's base instead of replacing it.
    """

    schema_rules: ClassVar[dict[str, Any]] = {
        "allOf": [
            REQUEST_HAS_MESSAGES,
            {
                "anyOf": [
                    {
                        "type": "object",
                        "required": [used],
                        "properties": {
                            used: {"type": "string", "minLength": 1},
                            unused: {"type": "string", "maxLength": 0},
                        },
                    }
                    for used, unused in (("task", "definition"), ("definition", "task"))
                ]
            },
        ]
    }
    cwd: Path = ""
    task: Text = ""
    definition: Label = ""
    append: bool = False
    with_context: bool = True
    with_skills: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_request()


class MessageBody(Struct, forbid_unknown_fields=True):
    """A message for the conversation's next turn."""

    message: Annotated[UserText, Meta(min_length=1)]

    def __post_init__(self) -> None:
        check_user_text(self.message)


class ResourcesBody(Struct, forbid_unknown_fields=True):
    """Folders of skills, inside the served folders, and of packs, by prefix, inside those that `--pack-root` allows."""

    skills: Annotated[list[Path], Meta(max_length=100)] = []
    prompts: dict[PackName, Path] = {}
    now: Moment | None = None

    def __post_init__(self) -> None:
        check_moment(self.now)


class RegistryBody(Struct, forbid_unknown_fields=True):
    """The tools that the agent has from now on."""

    tools: Tools
    now: Moment | None = None

    def __post_init__(self) -> None:
        check_moment(self.now)


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


ROUTES = (
    Route("POST", "/conversations/{id}/sub-agents", "reading", "turn", False, start_sub_agent, TurnForm, SubAgentBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/messages", "reading", "turn", False,
          add_message, forms.WaitingForm, MessageBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/resources", "reading", "turn", False, add_resources, TurnForm, ResourcesBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/registry", "reading", "turn", False, replace_tools, TurnForm, RegistryBody, None, CONVERSATION),
)  # fmt: skip
