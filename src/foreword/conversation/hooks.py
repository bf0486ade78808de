"""Hooks of extensions at work: checked when they are registered, run in order, and skipped or fatal where they fail."""

from __future__ import annotations

from ..errors import CallError, HookError
from ..extensions import Extension, Resources, Start, check_extension, run
from .notices import texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..extensions import About
    from ..vocabulary import Finding

    Message = Mapping[str, Any]


def check_extensions(extensions: Sequence[Extension]) -> None:
    """A CallError for a hook that does not take what it is called with, and for a tool that two extensions add."""
    owners: dict[str, str] = {}
    for extension in extensions:
        check_extension(extension)
        for tool in extension.tools:
            if owners.setdefault(tool.name, extension.name) != extension.name:
                raise CallError(
                    f"the extensions {owners[tool.name]!r} and {extension.name!r} both add a tool named {tool.name!r}"
                )


def started(
    extensions: Iterable[Extension], system: str, message: str, about: About, findings: list[Finding]
) -> tuple[str, list[Message]]:
    """Run `before_agent_start`: each hook sees the prompt of the one before. The prompt, and the messages to add."""
    added: list[Message] = []
    for extension in extensions:
        if extension.before_agent_start is None:
            continue
        start = run(extension, extension.before_agent_start, findings, system, message, about, gives=Start)
        if start is not None:
            system = system if start.prompt is None else start.prompt
            added += [{"role": "user", "content": start.message}] if start.message else []
    return system, added


def in_context(
    extensions: Iterable[Extension], messages: list[Message], about: About, findings: list[Finding]
) -> list[Message]:
    """Run `context`: the messages to send. Each hook gets copies, so that one that fails leaves nothing behind."""
    for extension in extensions:
        if extension.context is not None:
            copies = [_copy(each) for each in messages]
            changed = run(extension, extension.context, findings, copies, about, lists=dict)
            if changed is None and "context" in extension.required:
                raise HookError(
                    f"context of the extension {extension.name!r} returned nothing; a required one returns the messages to send"
                )
            messages = messages if changed is None else changed
    return messages


def discovered(extensions: Iterable[Extension], reason: str, about: About, findings: list[Finding]) -> list[Resources]:
    """Run `resources_discover`."""
    found: list[Resources] = []
    for extension in extensions:
        if extension.resources_discover is not None:
            resources = run(extension, extension.resources_discover, findings, reason, about, gives=Resources)
            found += [resources] if resources else []
    return found


def last_said(messages: Sequence[Message]) -> str:
    """What the user said last, as text."""
    for message in reversed(messages):
        texts = texts_of(message) if message.get("role") == "user" else []
        if texts:
            return "\n\n".join(texts)
    return ""


def _copy(content: Any) -> Any:
    """A message that a hook may change all the way down."""
    if isinstance(content, dict):
        return {key: _copy(each) for key, each in content.items()}
    return [_copy(each) for each in content] if isinstance(content, list) else content
