"""Answer what a touch sends: the files that apply and that the agent does not have yet, as messages.

A conversation asks with what it has sent so far, and the command `touch` with the prompt alone.
"""

from __future__ import annotations

from ..errors import CallError, path_text, to_tuple
from ..findings import finding
from ..text.lines import printable
from ..vocabulary import Candidate, Document, digest, replace, value
from .touches import build_touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..layout.model import Touch
    from ..vocabulary import Agent, Finding, Inputs, Prompt, Resident, Skill
    from .touches import TouchReading

    Entry = Document | Skill | Resident

TOUCH_KINDS = ("read", "edit", "create")
MAX_TOUCHED_PATHS = 1_000  # in one call
_ALREADY_SENT = "it was sent earlier in this conversation"
_IN_PROMPT = "it is already in the prompt"


def check_touch(paths: Sequence[Any], how: str) -> list[str]:
    """Return the touched paths as strings. Raises a CallError if a path or `how` is invalid, or if there are too many paths."""
    texts = [path_text("a touched path", path) for path in to_tuple("the touched paths", paths)]
    if len(texts) > MAX_TOUCHED_PATHS:
        raise CallError(
            f"touch takes at most {MAX_TOUCHED_PATHS:,} paths, not {len(texts):,}; pass them in several calls"
        )
    if how not in TOUCH_KINDS:
        raise CallError(f"how must be 'read', 'edit' or 'create', not {how!r}")
    return texts


@value
class Touched:
    """The instructions that apply to touched files.

    >>> Touched([{"role": "user", "content": "Use tabs."}]).text
    'Use tabs.'

    Fields:
        messages: The messages to append to the conversation, after the results of all tool calls. If a message has the
            role `tool`, append its text to the result of the tool that touched the file.
        candidates: The instruction files and rules that were considered, and what happened to each.
        findings: What a person should know.
        text: The text of all messages.
    """

    messages: Sequence[Mapping[str, str]] = ()
    candidates: Sequence[Candidate] = ()
    findings: Sequence[Finding] = ()

    @property
    def text(self) -> str:
        return "\n\n".join(message["content"] for message in self.messages)


@value
class Choice:
    """The inputs that are new to a conversation, the hash of each file that applies, and the reasons for leaving files out.

    `originals` has, for each copy of a file in the prompt, the path of that file.
    """

    inputs: Inputs
    hashes: Mapping[str, str]
    reasons: Mapping[str, str]
    originals: Mapping[str, str]


@value
class TouchAnswer:
    """What a touch sends: the files that were chosen, and the messages that were built from them.

    `sent` has the hash of each file in the messages, and `left_out` the files for which there was no room.
    """

    reading: TouchReading
    choice: Choice
    prompt: Prompt
    messages: Sequence[Mapping[str, str]]
    sent: Mapping[str, str]
    left_out: Sequence[str]

    @property
    def touched(self) -> Touched:
        """What the caller gets."""
        copies = [
            finding("file-duplicate", f"{path}: {self.choice.reasons[path]}", path) for path in self.choice.originals
        ]
        findings = [*self.reading.findings, *self.prompt.findings, *copies]
        if self.left_out:
            message = f"there was no room for {join_paths(self.left_out)}; the next touch that needs them sends them"
            findings.append(finding("touch-later", message, self.left_out[0]))
        return Touched(self.messages, _candidates(self.prompt, self.choice), tuple(dict.fromkeys(findings)))


def answer_touch(
    reading: TouchReading, touch: Touch, agent: Agent, in_prompt: Mapping[str, str], sent_before: Mapping[str, str]
) -> TouchAnswer:
    """Return what a touch sends to an agent whose prompt contains these texts of files, and that was sent files with these hashes."""
    keep_copies = any(lookup.keep_equal_texts for lookup in touch.lookups)
    choice = choose(reading.inputs, in_prompt, sent_before, touch.changed, keep_copies=keep_copies)
    prompt = build_touch(reading, choice.inputs, agent)
    sent = _sent_files(prompt, choice)
    cut = {candidate.path for candidate in prompt.candidates if candidate.fate == "cut"}
    left_out = [path for path in choice.hashes if path in cut and path not in sent and path not in choice.reasons]
    return TouchAnswer(reading, choice, prompt, _messages(prompt), sent, left_out)


def choose(
    inputs: Inputs,
    in_prompt: Mapping[str, str],
    sent_before: Mapping[str, str],
    changed: str = "",
    *,
    keep_copies: bool = False,
) -> Choice:
    """Choose the entries that neither the prompt nor an earlier touch has sent.

    An entry that was sent with different text gets a field `changed`.
    """
    copies = {} if keep_copies else {digest(text): path for path, text in in_prompt.items()}
    hashes: dict[str, str] = {}
    reasons: dict[str, str] = {}
    originals: dict[str, str] = {}
    found: dict[str, Sequence[Entry]] = {}
    for name, entries in inputs.found.items():
        chosen: list[Entry] = []
        for entry in entries:
            path = printable(entry.path)
            hashes[path] = fingerprint(entry)
            original = copies.get(digest(entry.text)) if isinstance(entry, Document) else None
            if path in in_prompt:
                reasons[path] = _IN_PROMPT
            elif sent_before.get(path) == hashes[path]:
                reasons[path] = _ALREADY_SENT
            elif original:
                reasons[path], originals[path] = f"the same text as {original}, which is in the prompt", original
            elif path in sent_before and isinstance(entry, Document):
                chosen.append(replace(entry, fields=(*entry.fields, ("changed", changed))))
            else:
                chosen.append(entry)
        found[name] = tuple(chosen)
    return Choice(replace(inputs, found=found), hashes, reasons, originals)


def fingerprint(entry: Entry) -> str:
    """Return a short hash of the part of an entry that is sent to the model."""
    text = entry.text if isinstance(entry, Document) else f"{entry.name}\n{entry.description}"
    return digest(text).removeprefix("sha256:")[:16]


def _sent_files(prompt: Prompt, choice: Choice) -> dict[str, str]:
    """Return the chosen files that the built prompt contains, each with its hash. A budget may have left some out."""
    paths = {piece.origin.path for passage in prompt.passages for piece in passage.pieces}
    return {path: hash for path, hash in choice.hashes.items() if path in paths and path not in choice.reasons}


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    """Return the messages that were built, one for each section of the layout's table `touch`."""
    spans: dict[int, list[Any]] = {}
    for passage in prompt.passages:
        span = spans.setdefault(passage.message, [passage.role, passage.start, passage.end])
        span[2] = passage.end
    return [{"role": role, "content": prompt.text[start:end]} for role, start, end in spans.values()]


def _candidates(prompt: Prompt, choice: Choice) -> list[Candidate]:
    """Return the candidates, without files that do not exist. A file that the conversation already contains is a duplicate."""
    return [
        Candidate(
            candidate.path,
            candidate.layer,
            "duplicate",
            choice.reasons[candidate.path],
            choice.originals.get(candidate.path, ""),
        )
        if candidate.path in choice.reasons and candidate.fate not in ("waiting", "duplicate")
        else candidate
        for candidate in prompt.candidates
        if candidate.fate != "absent"
    ]


def texts_in(prompt: Prompt) -> dict[str, str]:
    """Return the text of each file in a prompt."""
    texts: dict[str, str] = {}
    for passage in prompt.passages:
        for piece in passage.pieces:
            if piece.origin.kind == "file" and piece.origin.lines:  # a field of the front matter has no lines
                texts[piece.origin.path] = texts.get(piece.origin.path, "") + piece.text
    return texts


def join_paths(paths: Sequence[str]) -> str:
    """Return the first three of these paths, and the number of the others."""
    shown = [printable(path) for path in paths[:3]]
    return ", ".join(shown) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
