"""The parts of an edition's account that turns need, parsed once for each distinct text. Pure."""

from __future__ import annotations

import json

from ..encoding.edition import ParseCache
from ..inspection.sending import files_of, split_prompt, stored_passages
from ..vocabulary import Finding, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..inspection.sending import SentPassage
    from ..vocabulary import Edition


@value
class Account:
    """A prompt's passages and findings. `files` contains the path of each file and where it ends in the prompt."""

    passages: Sequence[SentPassage]
    findings: Sequence[Finding]
    files: Sequence[tuple[str, int]]
    has_messages: bool


def _parse(text: str) -> Account:
    form = json.loads(text)
    passages = stored_passages(form)
    findings = [Finding(**{**row, "path": row["path"] or ""}) for row in form.get("findings", ())]
    return Account(passages, findings, list(files_of(form)), any(passage.message for passage in passages))


_accounts = ParseCache(_parse)


def parsed_account(edition: Edition) -> Account:
    """Return an edition's account."""
    account: Account = _accounts.get(edition.account)
    return account


def leading_messages(edition: Edition) -> Sequence[Mapping[str, str]]:
    """Return the messages of an edition's prompt. For most layouts, there are none."""
    account = parsed_account(edition)
    return split_prompt(edition.system, account.passages).messages if account.has_messages else ()
