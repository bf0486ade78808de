"""Delete a template with all its versions and labels, and any text that nothing else uses.

One record remains: who deleted it, and the number of its newest version, so that a later template with this name does not reuse a
number. Conversations that were built from the template keep their prompts.
"""

from __future__ import annotations

from ..errors import CallError, MissingError, show
from .collecting import batches
from .contents import DEFAULT_TEMPLATE
from .forgetting import ForgettingStore
from .rows import check_name
from .templates import ADD_MOVE
from .texts import to_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEMPLATE_TEXTS = "SELECT DISTINCT template FROM foreword_templates WHERE team = ? AND name = ? ORDER BY template"
_DELETE_TEMPLATE = [
    f"DELETE FROM {table} WHERE team = ? AND name = ?"
    for table in ("foreword_moves", "foreword_labels", "foreword_templates")
]


class DeletingStore(ForgettingStore):
    """The methods of a store, including the one that deletes templates. Subclasses run the statements."""

    def delete_template(self, name: str, author: str = "", time: str = "") -> int:
        check_name(name)
        if name == DEFAULT_TEMPLATE:
            raise CallError(
                f"the template {DEFAULT_TEMPLATE!r} cannot be deleted, because conversations use it unless they name another one;"
                " restore version 0 to use the text that Foreword comes with"
            )
        versions = 0

        def delete(connection: Any) -> bool:
            nonlocal versions
            self._lock_templates(connection)
            self._begin_removal(connection)
            newest = self._last_number(connection, name)
            texts = [text for (text,) in self._select(connection, _TEMPLATE_TEXTS, (self.team, name))]
            if not texts:
                raise MissingError(f"no template {show(name)}")
            versions = [self._execute(connection, statement, (self.team, name)) for statement in _DELETE_TEMPLATE][-1]
            self._execute(connection, ADD_MOVE, (self.team, name, "", newest, 0, to_bytes(author), to_bytes(time), b""))
            unused = [id for batch in batches(texts) for id in self._lock_unused(connection, batch)]
            self._record(
                connection, [hash for batch in batches(unused) for hash in self._delete_texts(connection, batch)]
            )
            return True

        self._write_once(delete, {})
        self.drop_forgotten()
        return versions
