"""Foreword builds a coding agent's system prompt, keeps it stable, and records where every character came from.

The names below are the public interface. Each is loaded on first use, so importing the package costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .conversation.conversation import Conversation
    from .conversation.conversations import Conversations
    from .conversation.shipped_definitions import shipped_tools
    from .conversation.usage import Usage
    from .engine.assemble import assemble
    from .engine.assembler import Assembler
    from .engine.touched import Touched
    from .errors import (
        CallError,
        ForewordError,
        HookError,
        LayoutError,
        MissingError,
        StaleError,
        StoreBusyError,
        StoreError,
        TemplateError,
        TemplateRenderError,
        TemplateSyntaxError,
    )
    from .extensions import Extension, Start
    from .programs.watching import watch
    from .providers.anthropic import for_anthropic
    from .providers.bedrock import for_bedrock
    from .providers.gemini import for_gemini
    from .providers.openai import for_openai_chat, for_openai_responses
    from .providers.request_check import check_request
    from .vocabulary import (
        Access,
        Agent,
        Document,
        Edition,
        Finding,
        Prompt,
        Scope,
        Turn,
        Workspace,
    )
    from .vocabulary.residents import Resident, Skill
    from .vocabulary.tools import Tool

_MODULES = {
    "conversation.conversation": ("Conversation",),
    "conversation.conversations": ("Conversations",),
    "conversation.shipped_definitions": ("shipped_tools",),
    "engine.touched": ("Touched",),
    "conversation.usage": ("Usage",),
    "engine.assemble": ("assemble",),
    "engine.assembler": ("Assembler",),
    "errors": (
        "CallError",
        "ForewordError",
        "HookError",
        "LayoutError",
        "MissingError",
        "StaleError",
        "StoreBusyError",
        "StoreError",
        "TemplateError",
        "TemplateRenderError",
        "TemplateSyntaxError",
    ),
    "extensions": ("Extension", "Start"),
    "programs.watching": ("watch",),
    "providers.anthropic": ("for_anthropic",),
    "providers.bedrock": ("for_bedrock",),
    "providers.gemini": ("for_gemini",),
    "providers.openai": ("for_openai_chat", "for_openai_responses"),
    "providers.request_check": ("check_request",),
    "vocabulary": (
        "Access",
        "Agent",
        "Document",
        "Edition",
        "Finding",
        "Prompt",
        "Scope",
        "Turn",
        "Workspace",
    ),
    "vocabulary.residents": ("Resident", "Skill"),
    "vocabulary.tools": ("Tool",),
}
__all__ = [
    "Access",
    "Agent",
    "Assembler",
    "CallError",
    "Conversation",
    "Conversations",
    "Document",
    "Edition",
    "Extension",
    "Finding",
    "ForewordError",
    "HookError",
    "LayoutError",
    "MissingError",
    "Prompt",
    "Resident",
    "Scope",
    "Skill",
    "StaleError",
    "Start",
    "StoreBusyError",
    "StoreError",
    "TemplateError",
    "TemplateRenderError",
    "TemplateSyntaxError",
    "Tool",
    "Touched",
    "Turn",
    "Usage",
    "Workspace",
    "assemble",
    "check_request",
    "for_anthropic",
    "for_gemini",
    "for_bedrock",
    "for_openai_chat",
    "for_openai_responses",
    "shipped_tools",
    "watch",
]


if not TYPE_CHECKING:  # with this function, a type checker would accept any name

    def __getattr__(name):
        for module, names in _MODULES.items():
            if name in names:
                from importlib import import_module

                attribute = getattr(import_module(f"foreword.{module}"), name)
                globals()[name] = attribute
                return attribute
        raise AttributeError(f"module 'foreword' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
