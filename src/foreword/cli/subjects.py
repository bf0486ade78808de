"""What a command is asked about: a directory, a saved JSON file, a plain text, an edition or a prompt of the store."""

from __future__ import annotations

import argparse
import os

from ..errors import CallError
from ..inspection.subject import Subject
from ..sources.environment import absolute
from ..text.lines import printable
from ..vocabulary import Prompt
from .options import agent, as_in_a_conversation, assembler, document, store_to_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..engine.assembler import Assembler
    from ..vocabulary import Agent

TAKES = "a directory, a saved JSON or text file, talk:ID, talk:ID@EDITION, or sha256:…; - is standard input"


def read_subject(name: str, args: argparse.Namespace) -> Subject:
    """The prompt that is meant by this name."""
    if name.startswith("sha256:"):
        return _of_store(name, args)
    if name.startswith("talk:"):
        return _edition(name, args)
    if is_folder(name):
        return assembled(name, args)
    path = absolute(name, os.environ) if name else ""
    if name != "-" and not os.path.lexists(path):
        raise CallError(f"{printable(name) or 'an empty name'} is nothing that is there; it takes {TAKES}")
    return _from_text(name, document(name, "the file").text, is_json=path.endswith(".json"))


def is_folder(name: str) -> bool:
    """Whether a directory is meant; one with the name of something else is named with `./` before it."""
    return (
        name not in ("", "-")
        and not name.startswith(("talk:", "sha256:"))
        and os.path.isdir(absolute(name, os.environ))
    )


def agent_in(folder: str, args: argparse.Namespace) -> Agent:
    """The agent, as it is in this directory."""
    there = argparse.Namespace(**{**vars(args), "dir": folder})
    return as_in_a_conversation(agent(there), assembler(there), there)


def assembled(folder: str, args: argparse.Namespace) -> Subject:
    """The prompt for a directory, with the options that were given."""
    return built(folder, args, *prepared(folder, args))


def prepared(folder: str, args: argparse.Namespace) -> tuple[Assembler, Agent]:
    """What builds the prompts of a directory, and the agent there."""
    return assembler(argparse.Namespace(**{**vars(args), "dir": folder})), agent_in(folder, args)


def built(folder: str, args: argparse.Namespace, prompts: Assembler, who: Agent) -> Subject:
    """The prompt that this assembler builds for this agent."""
    import json

    from ..conversation.tools import written_tools
    from ..sources.environment import resolve_workspace
    from ..sources.files import Reader

    prompt = prompts.prompt(who, args.clock)
    cwd = resolve_workspace(prompts.workspace, Reader()).cwd
    made_for = {"cwd": printable(cwd), "model": who.model, "provider": who.provider}
    return Subject(printable(folder), prompt, json.loads(written_tools(who.tools or ())), (), made_for)


def _from_text(name: str, text: str, is_json: bool) -> Subject:
    """A saved form if it is one, else a plain text without the newline that `show` ends with. A file called JSON has to be a form."""
    import json

    form: Any = None
    if is_json or text.lstrip()[:1] == "{":
        try:
            form = json.loads(text)
        except (ValueError, RecursionError):
            if is_json:
                raise CallError(f"{printable(name)} is not JSON") from None
    if isinstance(form, dict) and ("text" in form or "system" in form):
        return _from_form(name, form)
    if is_json:
        kind = "an object without text" if isinstance(form, dict) else "no object"
        raise CallError(
            f"{printable(name)} is no prompt but {kind}; it takes what foreword show --json, talk show --json or talk turn --json print"
        )
    return Subject(printable(name), Prompt("", text.removesuffix("\n"), ()))


def _from_form(name: str, form: Mapping[str, Any]) -> Subject:
    from ..encoding.prompt import prompt_from

    shown = printable(name)
    made_for = form.get("made_for", {})
    return Subject(
        shown,
        prompt_from(form, shown),
        _objects(form, "tools", "name", shown) if "tools" in form else None,
        _objects(form, "messages", "role", shown),
        {key: str(each) for key, each in made_for.items()} if isinstance(made_for, dict) else {},
    )


def _objects(form: Mapping[str, Any], key: str, needs: str, where: str) -> list[dict[str, Any]]:
    rows = form.get(key) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get(needs), str) for row in rows):
        raise CallError(f"{where}: {key} takes a list of objects, each with a {needs}")
    return rows


def _of_store(id: str, args: argparse.Namespace) -> Subject:
    import json

    found = store_to_read(args).prompt(id)
    if found is None:
        raise CallError(
            f"no prompt {printable(id)} in the store; its whole id is needed, as foreword talk list --json prints it"
        )
    text, account = found
    return _from_form(id[:19], {**json.loads(account), "text": text})


def _edition(name: str, args: argparse.Namespace) -> Subject:
    """`talk:ID` is the edition in use. An id may hold an @, so the whole is tried as an id, too."""
    from ..wire.answers import edition_form

    store = store_to_read(args)
    whole = name.removeprefix("talk:")
    id, at, number = whole.rpartition("@")
    # More digits than any edition has are not looked up: a store's numbers are bounded.
    edition = store.edition(id, int(number)) if at and number.isdecimal() and len(number) < 10 else None
    if edition is not None:
        return _from_form(name, edition_form(id, edition))
    edition = store.current(whole)
    if edition is None:
        known = store.editions(id) if at else []
        numbers = f"; its editions are 1 to {known[-1].number}" if known else "; see foreword talk list"
        raise CallError(f"no conversation or edition {printable(whole)!r} in the store{numbers}")
    return _from_form(name, edition_form(whole, edition))
