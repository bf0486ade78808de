"""The Claude Agent SDK: options with a conversation's prompt, and hooks that announce changes and notice compactions.

    options = foreword_options(conversation, model="claude-sonnet-5-5")
    async for message in query(prompt="Hello.", options=options): ...

The SDK runs Claude Code, which takes a single string as its system prompt and sets its own breakpoints, so lifetimes do not matter. It also orders
its own tools and those of MCP servers, and adds a late tool in a message, so that the prefix is kept. It reads a prompt when it starts:
after a compaction, the new one applies from the next `foreword_options` on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from ..conversation.conversation import Conversation
from ..errors import CallError, expect
from ..vocabulary import Turn


def foreword_options(
    conversation: Conversation, *, task: str = "", definition: str = "", **options: Any
) -> ClaudeAgentOptions:
    """Return options for `query` or `ClaudeSDKClient` with a conversation's prompt; all others are those of `ClaudeAgentOptions`.

    With a `task`, or the name of a `definition`, the prompt is for a sub-agent of the conversation. Claude Code does not load
    instruction files itself, because the prompt contains them, unless you pass `setting_sources`.
    """
    expect("the conversation", conversation, Conversation)
    if "system_prompt" in options:
        raise CallError(
            "do not pass a system_prompt: Foreword passes its own; use Agent(base=…) to replace its base text"
        )
    if task or definition:
        turn = conversation.sub_agent(task, definition=definition)
        return ClaudeAgentOptions(**{"setting_sources": [], **options, "system_prompt": _prompt(turn)})
    turn = conversation.turn()
    announcements = _Announcements(conversation, turn)
    servers = options.get("mcp_servers")
    if isinstance(servers, dict):
        options["mcp_servers"] = {name: servers[name] for name in sorted(servers)}
    hooks = {event: list(matchers) for event, matchers in (options.pop("hooks", None) or {}).items()}
    hooks.setdefault("UserPromptSubmit", []).append(HookMatcher(hooks=[announcements.on_prompt]))
    hooks.setdefault("PreCompact", []).append(HookMatcher(hooks=[announcements.on_compaction]))
    return ClaudeAgentOptions(**{"setting_sources": [], **options, "system_prompt": _prompt(turn), "hooks": hooks})


def _prompt(turn: Turn) -> str:
    """Return the whole prompt as a single string: the system prompt, and the messages that belong to it."""
    return "\n\n".join(filter(None, [turn.system, *_texts(turn.messages[: len(turn.leading)])]))


def _texts(messages: Sequence[Any]) -> list[str]:
    return [message["content"] for message in messages if isinstance(message["content"], str)]


class _Announcements:
    """Adds what a turn announces to the user's message, each announcement once. Claude Code keeps it in its history."""

    def __init__(self, conversation: Conversation, turn: Turn) -> None:
        self._conversation = conversation
        self._sent = set(_texts(turn.messages[: len(turn.leading)]))
        self._waiting = _texts(turn.messages[len(turn.leading) :])

    async def on_prompt(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Return the announcements that were not sent yet, for Claude Code to add to the message."""
        turn = await asyncio.to_thread(self._conversation.turn, event["prompt"])
        texts = dict.fromkeys((*self._waiting, *_texts(turn.messages)))
        new = [text for text in texts if text not in self._sent and text != event["prompt"]]
        self._waiting = []
        self._sent.update(new)
        if not new:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "\n\n".join(new)}}

    async def on_compaction(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Compact the conversation, so that its next edition has the current files."""
        await asyncio.to_thread(self._conversation.compact)
        self._sent.clear()
        return {}
