"""A prompt as it is sent to a model: the system prompt, and any messages after it, each with its own role.

A prompt is a single string. Each passage has the role and number of its message; the system prompt is number 0. The string contains
separators between messages, which are not sent.
"""

from __future__ import annotations

from ..vocabulary import Turn, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition, Lifetime, Passage

    Span = tuple[int, int, Lifetime]


@value
class SentPassage:
    """The fields of a passage that matter when it is sent."""

    start: int
    end: int
    lifetime: Lifetime
    role: str = "system"
    message: int = 0
    section: str = ""


@value
class SentPrompt:
    """The fields of a turn that come from its prompt. `messages` and `leading` are empty for most layouts."""

    system: str
    passages: Sequence[Span]
    messages: Sequence[Mapping[str, str]] = ()
    leading: Sequence[Sequence[Span]] = ()
    root_end: int = 0
    sections: Sequence[str] = ()


def sent_passages(passages: Iterable[Passage]) -> list[SentPassage]:
    """Return a prompt's passages in the form in which they are sent."""
    return [
        SentPassage(passage.start, passage.end, passage.lifetime, passage.role, passage.message, passage.section)
        for passage in passages
    ]


def stored_passages(account: Mapping[str, Any]) -> list[SentPassage]:
    """Return a stored prompt's passages in the form in which they are sent."""
    return [
        SentPassage(
            passage["start"],
            passage["end"],
            passage["lifetime"],
            passage.get("role", "system"),
            passage.get("message", 0),
            passage["section"],
        )
        for passage in account.get("passages", ())
    ]


def split_prompt(text: str, passages: Sequence[SentPassage], root_end: int = 0) -> SentPrompt:
    """Split a prompt into the system prompt and messages. `root_end` is the offset in `text` where the root's instructions end."""
    spans = [(passage.start, passage.end, passage.lifetime) for passage in passages if not passage.message]
    sections = [passage.section for passage in passages if not passage.message]
    if len(spans) == len(passages):
        return SentPrompt(text, spans, root_end=root_end, sections=sections)
    system = text[: spans[-1][1]] if spans else ""
    messages: list[Mapping[str, str]] = []
    leading: list[Sequence[Span]] = []
    length, root = len(system), root_end if root_end <= len(system) else 0
    for start, end, message_passages in _messages(passages):
        messages.append({"role": message_passages[0].role, "content": text[start:end]})
        leading.append(
            tuple((passage.start - start, passage.end - start, passage.lifetime) for passage in message_passages)
        )
        if start < root_end <= end:
            root = length + root_end - start
        length += end - start
    return SentPrompt(system, spans, messages, leading, root, sections)


def _messages(passages: Iterable[SentPassage]) -> Iterator[tuple[int, int, list[SentPassage]]]:
    """Yield the messages after the system prompt: the start and end of each in the text, and its passages."""
    by_number: dict[int, list[SentPassage]] = {}
    for passage in passages:
        if passage.message:
            by_number.setdefault(passage.message, []).append(passage)
    for message_passages in by_number.values():
        yield message_passages[0].start, message_passages[-1].end, message_passages


def message_spans(passages: Iterable[SentPassage]) -> list[tuple[str, int, int]]:
    """Return the role, start and end of each message after the system prompt. Prompts with equal texts can differ in these."""
    return [(message_passages[0].role, start, end) for start, end, message_passages in _messages(passages)]


def turn_of(edition: Edition) -> Turn:
    """Return the turn that an edition would send to a model, without the conversation's messages."""
    import json

    account, built_for = json.loads(edition.account), json.loads(edition.built_for)
    end = root_end(files_of(account), built_for.get("cwd", ""))
    sent = split_prompt(edition.system, stored_passages(account), end)
    tools = json.loads(edition.tools)
    return Turn(
        "",
        edition.number,
        True,
        sent.system,
        sent.messages,
        tools,
        sent.passages,
        root_end=sent.root_end,
        leading=sent.leading,
    )


def files_of(account: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the files in a stored prompt, each with its end offset."""
    for passage in account.get("passages", ()):
        yield from ((origin["path"], origin["end"]) for origin in passage["origins"] if origin["kind"] == "file")


def root_end(files: Iterable[tuple[str, int]], cwd: str) -> int:
    """Return the offset where the root's instructions end: after the last file in the topmost folder at or above `cwd`, or 0 if there is none."""
    top: str | None = None
    last_end = 0
    for path, end in files:
        folder = path.rpartition("/")[0]
        if cwd != folder and not cwd.startswith(f"{folder}/"):
            continue
        if top is None or len(folder) <= len(top):
            top, last_end = folder, end
    return last_end
