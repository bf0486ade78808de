"""The parts of an edition's account that turns need, parsed once for each distinct text. Pure."""

from __future__ import annotations

import json

from ..encoding.edition import ParseCache, account_of, target_of
from ..inspection.sending import files_of, root_end, split_prompt, stored_passages
from ..vocabulary import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..inspection.sending import SentPassage, SentPrompt
    from ..vocabulary import Edition


class Account:
    """A prompt's passages and findings. `files` contains each file's path and the offset of its end in the prompt."""

    def __init__(
        self, passages: Sequence[SentPassage], findings: Sequence[Finding], files: Sequence[tuple[str, int]]
    ) -> None:
        self.passages, self.findings, self.files = passages, findings, files
        self.has_messages = any(passage.message for passage in passages)
        self._sent: tuple[str, str, SentPrompt] | None = None

    def sent(self, edition: Edition) -> SentPrompt:
        """Return the prompt of an edition with this account, split into what is sent. Cached, because most turns send the same."""
        system, cwd = edition.system, target_of(edition).cwd
        cached = self._sent
        if cached is None or cached[0] != system or cached[1] != cwd:
            cached = self._sent = (system, cwd, split_prompt(system, self.passages, root_end(self.files, cwd)))
        return cached[2]


def _parse(text: str) -> Account:
    form = json.loads(text)
    findings = [Finding(**{**row, "path": row["path"] or ""}) for row in form.get("findings", ())]
    return Account(stored_passages(form), findings, list(files_of(form)))


_accounts = ParseCache(_parse)


def parsed_account(edition: Edition) -> Account:
    """Return an edition's account."""
    account: Account = _accounts[edition.account]
    return account


def leading_messages(edition: Edition) -> Sequence[Mapping[str, str]]:
    """Return the messages in an edition's prompt. Most layouts have none."""
    account = parsed_account(edition)
    return account.sent(edition).messages if account.has_messages else ()


def file_texts(edition: Edition) -> dict[str, str]:
    """Return the text of each file in an edition's prompt."""
    texts: dict[str, str] = {}
    for passage in account_of(edition).get("passages", ()):
        for origin in passage["origins"]:
            path = origin["path"]
            if origin["kind"] == "file" and origin.get("lines"):  # a field of the front matter has no lines
                texts[path] = texts.get(path, "") + edition.system[origin["start"] : origin["end"]]
    return texts
