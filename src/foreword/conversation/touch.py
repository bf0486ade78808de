"""What a touch sends: which of the files that apply are new to the conversation, and the messages for them. Pure."""

from __future__ import annotations

from ..encoding.edition import account_of
from ..text.lines import printable
from ..vocabulary import Candidate, Document, digest, replace, value
from .state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition, Finding, Inputs, Prompt, Resident, Skill

    Entry = Document | Skill | Resident

HOW = ("read", "edit", "create")
_SENT = "it was sent before in this conversation"
_IN_PROMPT = "it is in the prompt already"


@value
class Touched:
    """The instructions that apply to touched files.

    Fields:
        messages: The messages to append to the conversation, after the results of all tool calls. The text of one with the role `tool`
            belongs at the end of the result of the tool that touched the file.
        candidates: The instruction files and rules that were considered, and what became of each.
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
    """The inputs that are new to a conversation, the hash of each file that applies, and the reasons for leaving files out."""

    inputs: Inputs
    hashes: Mapping[str, str]
    reasons: Mapping[str, str]

    @property
    def is_empty(self) -> bool:
        return not any(self.inputs.found.values())


def choose(inputs: Inputs, edition: Edition, state: State, changed: str = "", *, keeps_copies: bool = False) -> Choice:
    """The entries that neither the prompt nor an earlier touch has sent; those that were sent with other text have a field `changed`."""
    in_prompt = texts_in(edition)
    copies = {} if keeps_copies else {digest(text): path for path, text in in_prompt.items()}
    hashes: dict[str, str] = {}
    reasons: dict[str, str] = {}
    found: dict[str, Sequence[Entry]] = {}
    for name, entries in inputs.found.items():
        new: list[Entry] = []
        for each in entries:
            path = printable(each.path)
            hashes[path] = fingerprint(each)
            original = copies.get(digest(each.text)) if isinstance(each, Document) else None
            if path in in_prompt:
                reasons[path] = _IN_PROMPT
            elif state.touched.get(path) == hashes[path]:
                reasons[path] = _SENT
            elif original:
                reasons[path] = f"the same text as {original}, which is in the prompt"
            elif path in state.touched and isinstance(each, Document):
                new.append(replace(each, fields=(*each.fields, ("changed", changed))))
            else:
                new.append(each)
        found[name] = tuple(new)
    return Choice(replace(inputs, found=found), hashes, reasons)


def fingerprint(entry: Entry) -> str:
    """Return a short hash of the part of an entry that is sent to the model."""
    text = entry.text if isinstance(entry, Document) else f"{entry.name}\n{entry.description}"
    return digest(text).removeprefix("sha256:")[:16]


def texts_in(edition: Edition) -> dict[str, str]:
    """The text of each file in the prompt of an edition."""
    texts: dict[str, str] = {}
    for passage in account_of(edition).get("passages", ()):
        for each in passage["origins"]:
            if each["kind"] == "file" and each.get("lines"):  # a field of the front matter has no lines
                texts[each["path"]] = texts.get(each["path"], "") + edition.system[each["start"] : each["end"]]
    return texts


def sent_files(prompt: Prompt, choice: Choice) -> dict[str, str]:
    """The files of a choice that are in what was built, each with its hash. A budget may have left some out."""
    present = {piece.origin.path for passage in prompt.passages for piece in passage.pieces}
    return {path: hash for path, hash in choice.hashes.items() if path in present and path not in choice.reasons}


def messages_of(prompt: Prompt) -> list[dict[str, str]]:
    """The messages that were built: one for each section of the layout's table `touch`."""
    spans: dict[int, list[Any]] = {}
    for each in prompt.passages:
        span = spans.setdefault(each.message, [each.role, each.start, each.end])
        span[2] = each.end
    return [{"role": role, "content": prompt.text[start:end]} for role, start, end in spans.values()]


def candidates_of(prompt: Prompt, choice: Choice) -> list[Candidate]:
    """The candidates, without files that do not exist. A file that the conversation has already is a duplicate."""
    return [
        Candidate(each.path, each.layer, "duplicate", choice.reasons[each.path])
        if each.path in choice.reasons and each.fate not in ("waiting", "duplicate")
        else each
        for each in prompt.candidates
        if each.fate != "absent"
    ]


def after_touch(state: State, sent: Mapping[str, str]) -> State:
    """Return the state after these files were sent."""
    if not sent:
        return state
    again = tuple(path for path in state.touched_again if path not in sent)
    return replace(state, touched={**state.touched, **sent}, touched_again=again)
