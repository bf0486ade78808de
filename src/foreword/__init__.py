"""Foreword assembles the system prompt of coding agents, keeps it stable, and can say where every character came from.

The names below are the public face. Each is loaded when it is first used: importing the package reads nothing and costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .conversation.conversation import Conversation
    from .conversation.conversations import Conversations
    from .engine.assembler import Assembler, assemble
    from .errors import CallError, ForewordError
    from .extensions import Extension
    from .programs.watching import watch
    from .providers.anthropic import for_anthropic
    from .providers.gemini import for_gemini
    from .providers.openai import for_openai_chat, for_openai_responses
    from .version import __version__ as __version__
    from .vocabulary import Access, Agent, Document, Prompt, Scope, Tool, Turn, Workspace

_HOMES = {
    "engine.assembler": ("Assembler", "assemble"),
    "errors": ("CallError", "ForewordError"),
    "extensions": ("Extension",),
    "providers.anthropic": ("for_anthropic",),
    "providers.gemini": ("for_gemini",),
    "providers.openai": ("for_openai_chat", "for_openai_responses"),
    "conversation.conversation": ("Conversation",),
    "conversation.conversations": ("Conversations",),
    "version": ("__version__",),
    "vocabulary": ("Access", "Agent", "Document", "Prompt", "Scope", "Tool", "Turn", "Workspace"),
    "programs.watching": ("watch",),
}
__all__ = [
    "Access",
    "Agent",
    "Assembler",
    "CallError",
    "Conversations",
    "Document",
    "Extension",
    "ForewordError",
    "Prompt",
    "Scope",
    "Conversation",
    "Tool",
    "Turn",
    "Workspace",
    "assemble",
    "for_anthropic",
    "for_gemini",
    "for_openai_chat",
    "for_openai_responses",
    "watch",
]


if not TYPE_CHECKING:  # to a checker that sees it, any name is one of ours

    def __getattr__(name):
        for home, names in _HOMES.items():
            if name in names:
                from importlib import import_module

                found = getattr(import_module(f"foreword.{home}"), name)
                globals()[name] = found
                return found
        raise AttributeError(f"module 'foreword' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
