"""What an edition consists of: the hash of its texts together, and the properties by which its conversation can be found."""

from __future__ import annotations

from ..vocabulary import value
from .texts import hash_of, to_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..vocabulary import Edition

DEFAULT_TEMPLATE = "default"


def content_hash(hashes: Iterable[bytes]) -> bytes:
    """Return the hash of a content whose texts have these hashes."""
    import hashlib  # in every first turn; `from hashlib import sha256` would take six times as long

    return hashlib.sha256(b"".join(hashes)).digest()


@value
class EditionKind:
    """The properties of an edition by which conversations are filtered and counted.

    `version` is the version of the template, 0 for the layout's own, or None if the layout does not use a stored template.
    """

    layout: str
    model: str = ""
    template: str = ""
    version: int | None = None

    @property
    def row(self) -> Sequence[Any]:
        """The row of hash, layout, model, template and version."""
        texts = (self.layout, self.model, self.template)
        return (hash_of("\0".join((*texts, str(self.version)))), *map(to_bytes, texts), self.version)


def kind_of(layout: str, built_for: str) -> EditionKind:
    """Return the kind of an edition with this layout, built for this agent and template."""
    import json

    try:
        target = json.loads(built_for)
    except ValueError:
        target = None
    if not isinstance(target, dict):
        return EditionKind(layout)
    model, version = target.get("model"), target.get("template")
    is_number = isinstance(version, int) and 0 <= version < 2**31
    name = str(target.get("template_name") or DEFAULT_TEMPLATE) if is_number else ""
    return EditionKind(layout, model if isinstance(model, str) else "", name, version if is_number else None)


def kind_of_edition(edition: Edition) -> EditionKind:
    return kind_of(edition.layout, edition.built_for)
