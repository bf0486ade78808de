"""Find the prompt that a question is about: a directory's, a saved one, an edition, or one from the store."""

from __future__ import annotations

import os

from ..errors import CallError, MissingError, is_id
from ..sources.environment import absolute
from ..store import waits
from ..text.lines import printable
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..encoding.forms import ToolForm
    from ..inspection.subject import Subject
    from ..store.contract import Store
    from ..vocabulary import Edition
    from .question import Question

ACCEPTED = (
    "a directory, a saved JSON or text file, conversation:ID, conversation:ID@EDITION, or sha256:…; - is standard input"
)
_SAVED_FORM = "a saved prompt or turn, which is an object with a text or a system prompt"


def read_subject(source: str | Mapping[str, Any], question: Question) -> Subject:
    """Return the prompt with this name or in this saved JSON form. `question` determines how a directory's prompt is built."""
    if not isinstance(source, str):
        return subject_from(str(source.get("name") or "the saved prompt"), source)
    if source.startswith("sha256:"):
        return _stored_prompt(source, question)
    if source.startswith("conversation:"):
        return _stored_edition(source, question)
    if is_folder(source):
        return build_subject(question.with_fields(cwd=source))
    path = absolute(source, os.environ) if source else ""
    if not os.path.lexists(path):
        raise CallError(f"{printable(source) or 'an empty name'} does not exist; expected {ACCEPTED}")
    text = _text_of(path, source)
    # `show` ends its output with a newline that is not part of the prompt.
    form = parse_form(source, text, is_json=path.endswith(".json")) or {"text": text.removesuffix("\n")}
    return subject_from(source, form)


def is_folder(name: str | Mapping[str, Any]) -> bool:
    """Whether this is the name of a directory. If the name looks like something else, write it with a leading `./`."""
    return (
        isinstance(name, str)
        and name not in ("", "-")
        and not name.startswith(("conversation:", "sha256:"))
        and os.path.isdir(absolute(name, os.environ))
    )


def build_subject(question: Question) -> Subject:
    """Return the prompt for the question's directory, with its tool definitions."""
    from ..inspection.subject import Subject
    from ..sources.environment import resolve_workspace
    from ..sources.reader import Reader

    agent = question.agent_with_template()
    prompt = question.assembler.prompt(agent, question.now)
    waits.announce_size(len(prompt.text))
    cwd = resolve_workspace(question.assembler.workspace, Reader()).cwd
    built_for = {"cwd": printable(cwd), "model": agent.model, "provider": agent.provider}
    return Subject(printable(question.cwd), prompt, tool_definitions(question), (), built_for)


def tool_definitions(question: Question) -> list[ToolForm]:
    """Return the definitions of the agent's tools, as they are sent to a provider."""
    import json

    from ..conversation.tools import serialize_tools

    rows: list[ToolForm] = json.loads(serialize_tools(question.agent.tools or ()))
    return rows


def parse_form(name: str, text: str, is_json: bool) -> dict[str, Any] | None:
    """Return the saved JSON form in a file, or None if the file is plain text. If `is_json`, it must contain a form."""
    import json

    form: Any = None
    if is_json or text.lstrip()[:1] == "{":
        try:
            form = json.loads(text)
        except (ValueError, RecursionError):
            if is_json:
                raise CallError(f"{printable(name)} is not valid JSON") from None
    if isinstance(form, dict) and ("text" in form or "system" in form):
        return form
    if is_json:
        kind = "an object without text" if isinstance(form, dict) else "not an object"
        raise CallError(f"{printable(name)} is {kind}; expected {_SAVED_FORM}")
    return None


def subject_from(name: str, form: Mapping[str, Any]) -> Subject:
    """Return the prompt in a saved JSON form."""
    from ..encoding.prompt import prompt_from
    from ..inspection.subject import Subject

    printable_name = printable(name)
    text = form.get("text") or form.get("system")
    waits.announce_size(len(text) if isinstance(text, str) else 0)
    form = _with_leading_messages(form)
    built_for = form.get("built_for", {"model": form.get("model") or ""})
    return Subject(
        printable_name,
        prompt_from(form, printable_name),
        _check_objects(form, "tools", "name", printable_name) if "tools" in form else None,
        _check_objects(form, "messages", "role", printable_name),
        {key: str(field) for key, field in built_for.items()} if isinstance(built_for, dict) else {},
        _check_objects(form, "changes", "text", printable_name),
    )


def _with_leading_messages(form: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a saved turn with the messages that belong to the prompt moved into the prompt."""
    count, messages = form.get("leading"), form.get("messages")
    if "text" in form or type(count) is not int or count < 1 or not isinstance(messages, list):
        return form
    rows = [
        message for message in messages[:count] if isinstance(message, dict) and isinstance(message.get("content"), str)
    ]
    parts = [("system", form.get("system") or ""), *((row.get("role"), row["content"]) for row in rows)]
    passages: list[dict[str, Any]] = []
    text = ""
    for index, (role, content) in enumerate(parts):
        if content:
            text += "\n\n" if text else ""
            start, text = len(text), text + content
            fields = {"section": f"message {index}" if index else "system prompt", "lifetime": "conversation"}
            passages.append({**fields, "start": start, "end": len(text), "role": role, "message": index})
    return {**form, "text": text, "passages": passages, "messages": messages[count:]}


def _text_of(path: str, name: str) -> str:
    from ..sources.reader import Reader

    reading = Reader(limit=16 << 20).read(path, trim=False)
    if reading.fate == "blank":
        return ""
    if reading.fate != "used":
        raise CallError(f"{printable(name)}: {reading.reason or 'the file does not exist'}")
    return reading.text


def _check_objects(form: Mapping[str, Any], key: str, required: str, where: str) -> list[dict[str, Any]]:
    rows = form.get(key) or []
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get(required), str) for row in rows
    ):
        raise CallError(f"{where}: {key} must be a list of objects, each with a {required}")
    return rows


def _stored_prompt(id: str, question: Question) -> Subject:
    import json

    stored = question.existing_store().prompt(id)
    if stored is None:
        raise MissingError(f"no prompt {printable(id)} in the store; use the full id").with_list("prompts")
    text, account = stored
    return subject_from(id[:19], {**json.loads(account), "text": text})


def _stored_edition(name: str, question: Question) -> Subject:
    """Return the edition `conversation:ID@N`, or the current edition of `conversation:ID`. An id may contain an `@`, so the whole name is also tried."""
    store = question.existing_store()
    full_name = name.removeprefix("conversation:")
    id, separator, number = full_name.rpartition("@")
    # The store's integers are bounded, so a number with more digits than any edition has is not looked up.
    is_number = is_id(id) and number.isdecimal() and len(number) < 10
    edition = store.edition(id, int(number)) if is_number else None
    if edition is not None:
        return _edition_subject(name, id, edition, store)
    edition = store.current(full_name) if is_id(full_name) else None
    if edition is None:
        known = store.editions(id) if separator and is_id(id) else []
        numbers = f"; its editions are 1 to {known[-1].number}" if known else ""
        error = MissingError(f"no conversation or edition {printable(full_name)!r} in the store{numbers}")
        raise error if known else error.with_list("conversations")
    return _edition_subject(name, full_name, edition, store)


def _edition_subject(name: str, id: str, edition: Edition, store: Store) -> Subject:
    from ..conversation.usage import last_call

    subject = subject_from(name, _edition_with_changes(id, edition))
    return replace(subject, last_call=last_call(store, id, edition))


def _edition_with_changes(id: str, edition: Edition) -> dict[str, Any]:
    """Return an edition with the late changes that its conversation has announced, and the messages that announce them."""
    from ..conversation.notices import changes_of
    from ..conversation.state import state_of
    from ..wire.answers import edition_form

    changes = changes_of(state_of(edition).notices)
    messages = [{"role": "user", "content": change["text"]} for change in changes]
    return {**edition_form(id, edition), "messages": messages, "changes": list(changes)}
