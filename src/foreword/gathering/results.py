"""The result of one lookup rule."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..sources.finder import Bound
    from ..sources.readings import Reading
    from ..sources.trail import Trail
    from ..vocabulary import Candidate, Document, Finding, Resident, Skill


@value
class FoundText:
    """Text that was found, as a document too, the index of its candidate, and the bound for its includes.

    `place`, `base` and `pattern` describe the pattern that found it: its place, the directory where it starts, and its path.
    """

    reading: Reading
    document: Document
    candidate: int
    bound: Bound
    place: str = ""
    base: str = ""
    pattern: str = ""


@value
class SearchStep:
    """What one step of a search found: the slots, or the texts in one of them. Its first candidate has the number `start`.

    `stamps` are those of everything that this depends on.
    """

    start: int
    found: Sequence[Any]
    trail: Trail
    stamps: Mapping[str, Any]


@value
class LookupResult:
    """What one lookup rule read and found: texts, or menu entries with each file's identity by its path.

    `directories` lists the directories of the place `down` with which the rule was run. `places` contains, by each entry's path, the
    place of the pattern that found it and the directory where the pattern starts. `withheld` is untrusted text for a message with a lower
    role. `steps` are those of the search, if the rule was run again.
    """

    entries: Sequence[Skill | Resident]
    identities: Mapping[str, tuple[int, int]]
    texts: Sequence[FoundText]
    candidates: Sequence[Candidate]
    findings: Sequence[Finding]
    stamps: Mapping[str, Any]
    readings: Mapping[str, Any]
    directories: Sequence[str] = ()
    places: Mapping[str, tuple[str, str]] = {}
    withheld: Sequence[Document] = ()
    steps: Sequence[SearchStep] = ()
