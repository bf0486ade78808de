"""The part of migrations that SQL alone cannot do."""

from __future__ import annotations

from .contents import DEFAULT_TEMPLATE, content_hash, kind_of
from .rows import PRODUCTION, TEXT_COLUMNS
from .texts import to_text, unpack
from .times import pack_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Execute = Callable[[str, Sequence[object]], Sequence[tuple[Any, ...]]]

_POINTERS = ", ".join(TEXT_COLUMNS)
_CONTENTS = f"SELECT DISTINCT {_POINTERS} FROM foreword_editions_3"
_TEXT = "SELECT hash, form, body FROM foreword_texts WHERE id = ?"
_ADD_KIND = """
    INSERT INTO foreword_kinds (hash, layout, model, template, version) VALUES (?, ?, ?, ?, ?) RETURNING id
"""
_ADD_CONTENT = f"INSERT INTO foreword_contents (hash, kind, {_POINTERS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SAME_TEXTS = " AND ".join(f"c.{column} = e.{column}" for column in TEXT_COLUMNS)
# TIME is the function that converts a time; rows are copied in the order of their ids.
_COPY = f"""
    INSERT INTO foreword_editions (created, content, number, kind, conversation, created_text, state)
    SELECT coalesce(TIME(e.created), 0), c.id, e.number,
        CASE WHEN e.number = (SELECT max(number) FROM foreword_editions_3 AS o WHERE o.conversation = e.conversation) THEN c.kind END,
        e.conversation, CASE WHEN TIME(e.created) IS NULL THEN e.created END, e.state
    FROM foreword_editions_3 AS e JOIN foreword_contents AS c ON {_SAME_TEXTS}
    ORDER BY e.conversation, e.number
"""
_COUNT = """
    INSERT INTO foreword_counts (kind, shard, conversations, editions)
    SELECT c.kind, 0, count(e.kind), count(*) FROM foreword_editions AS e JOIN foreword_contents AS c ON c.id = e.content
    GROUP BY c.kind
"""
_COPY_TEMPLATES = f"""
    INSERT INTO foreword_templates (name, version, template, author, time, note, syntax)
    SELECT '{DEFAULT_TEMPLATE}', version, template, author, time, note, syntax FROM foreword_templates_3
"""
_LABEL = f"""
    INSERT INTO foreword_labels (name, label, version)
    SELECT '{DEFAULT_TEMPLATE}', '{PRODUCTION}', max(version) FROM foreword_templates_3 HAVING max(version) > 0
"""
_MOVES = f"""
    INSERT INTO foreword_moves (name, label, previous, version, author, time, note)
    SELECT '{DEFAULT_TEMPLATE}', '{PRODUCTION}', version - 1, version, author, time, note FROM foreword_templates_3 ORDER BY version
"""
_DROP = [f"DROP TABLE {name}" for name in ("foreword_prompts", "foreword_editions_3", "foreword_templates_3")]


def to_version_4(execute: Execute, time: str) -> None:
    """Copy the rows of version 3. `time` is an SQL function that returns the number for a time, or NULL if it is not in the usual form."""
    kinds: dict[bytes, int] = {}
    for pointers in list(execute(_CONTENTS, ())):
        texts = [execute(_TEXT, (pointer,)) for pointer in pointers]
        if not all(texts):
            continue  # `verify` has reported that a text of this edition is missing
        layout, built_for = (unpack(form, body) for ((_, form, body),) in texts[4:])
        row = kind_of(layout, built_for).row
        if row[0] not in kinds:
            ((kinds[row[0]],),) = execute(_ADD_KIND, row)
        execute(_ADD_CONTENT, (content_hash(hash for ((hash, _, _),) in texts), kinds[row[0]], *pointers))
    execute(_COPY.replace("TIME", time), ())
    for statement in (_COUNT, _COPY_TEMPLATES, _LABEL, _MOVES, *_DROP):
        execute(statement, ())


def convert_time(created: bytes) -> int | None:
    """Return the number for a stored time, or None if it does not restore the time exactly."""
    number, text = pack_time(to_text(created))
    return number if text is None else None
