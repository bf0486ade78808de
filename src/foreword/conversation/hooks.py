"""Check extensions when they are registered, and run their hooks in order. A hook that fails is skipped, unless it is required."""

from __future__ import annotations

from ..errors import CallError, HookError, check_messages
from ..extensions import Extension, Resources, Start, check_extension, run, run_checks
from ..store.spans import span
from ..vocabulary import replace
from .notices import texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..extensions import About
    from ..vocabulary import Edition, Finding, Prompt

    Message = Mapping[str, Any]


def check_extensions(extensions: Sequence[Extension]) -> None:
    """Raise a CallError for a hook with the wrong signature, and for a tool that two extensions add."""
    owners: dict[str, str] = {}
    for extension in extensions:
        check_extension(extension)
        for tool in extension.tools:
            if owners.setdefault(tool.name, extension.name) != extension.name:
                raise CallError(
                    f"the extensions {owners[tool.name]!r} and {extension.name!r} both add a tool named {tool.name!r}"
                )


def _run(extension: Extension, function: Callable[..., Any], *args: Any, **checks: Any) -> Any:
    with span("hook", "foreword.extension", extension.name):
        return run(extension, function, *args, **checks)


class Hooks:
    """Runs the hooks for one conversation. Findings from hooks that run outside a turn are reported in the next turn."""

    def __init__(self, extensions: Sequence[Extension], conversation: str) -> None:
        self.extensions = extensions
        self._conversation = conversation
        self._unreported: list[Finding] = []

    def take_findings(self) -> list[Finding]:
        """Return the findings since the last call."""
        findings, self._unreported = self._unreported, []
        return findings

    def start(
        self, system: str, message: str, about: Callable[[], About], findings: list[Finding]
    ) -> tuple[str, list[Message]]:
        """Run `before_agent_start`, passing the prompt from hook to hook. Return the prompt and the messages to add."""
        added: list[Message] = []
        for extension in self.extensions:
            if extension.before_agent_start is None:
                continue
            start = _run(extension, extension.before_agent_start, findings, system, message, about(), returns=Start)
            if start is not None:
                system = system if start.prompt is None else start.prompt
                added += [{"role": "user", "content": start.message}] if (start.message or "").strip() else []
        return system, added

    def context(self, messages: list[Message], about: Callable[[], About], findings: list[Finding]) -> list[Message]:
        """Run `context` and return the messages to send. Each hook gets copies, so a hook that fails has no effect."""
        for extension in self.extensions:
            if extension.context is not None:
                copies = [_copy(message) for message in messages]
                changed = _run(
                    extension, extension.context, findings, copies, about(), list_items=dict, check=check_messages
                )
                if changed is None and "context" in extension.required:
                    raise HookError(
                        f"extension {extension.name!r}: context returned nothing; "
                        "a required hook must return the messages to send"
                    )
                messages = messages if changed is None else changed
        return messages

    def discover(self, reason: str, about: Callable[[], About]) -> list[Resources]:
        """Run `resources_discover` and return the resources that it found."""
        found: list[Resources] = []
        for extension in self.extensions:
            if extension.resources_discover is not None:
                resources = _run(
                    extension, extension.resources_discover, self._unreported, reason, about(), returns=Resources
                )
                found += [resources] if resources else []
        return found

    def notify(self, event: str, edition: Edition) -> None:
        """Run `listen` for an event."""
        values = {"conversation": self._conversation, "edition": edition.number}
        for extension in self.extensions:
            if extension.listen is not None:
                _run(extension, extension.listen, self._unreported, event, values)

    def check(self, prompt: Prompt) -> Prompt:
        """Return the prompt with the findings of the extensions' checks added."""
        found = run_checks(self.extensions, prompt)
        return replace(prompt, findings=(*prompt.findings, *found)) if found else prompt


def last_user_text(messages: Sequence[Message]) -> str:
    """Return the text of the user's last message."""
    for message in reversed(messages):
        texts = texts_of(message) if message.get("role") == "user" else []
        if texts:
            return "\n\n".join(texts)
    return ""


def _copy(content: Any) -> Any:
    """Return a deep copy of a message, because a hook may change it."""
    if isinstance(content, dict):
        return {key: _copy(inner) for key, inner in content.items()}
    return [_copy(inner) for inner in content] if isinstance(content, list) else content
