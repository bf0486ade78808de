"""Makes the arms of an experiment from the repository's instruction files: by file, by section, or by paragraph."""

from __future__ import annotations

from itertools import pairwise

from ...errors import CallError, show, suggestion
from ...text.leaving_out import Selection, leave_out, only_imports
from ...text.paragraphs import paragraphs_of, parts_of
from ...vocabulary import replace
from .design import NOTHING, Arm
from .stages import group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILES, SECTIONS = "files", "sections"
_FIRST_GROUPS = 4


def arms_for(how: str, texts: Mapping[str, str]) -> list[Arm]:
    """Return the arms: `files`, `sections`, or the paragraphs of one file, in groups that can be split. The last is "nothing".

    Of arms that would be the same, such as those of a file and of its copy, only the first is kept.
    """
    if not texts:
        raise CallError("there are no instruction files in the repository whose effect could be measured")
    nothing = Arm(NOTHING, [Selection(path) for path in texts])
    if how not in (FILES, SECTIONS):
        return _distinct([*_paragraph_arms(how, texts), replace(nothing, share=1 / (_FIRST_GROUPS + 1))], texts)
    own = {path: text for path, text in texts.items() if not only_imports(path, texts)}
    arms = _file_arms(own) if how == FILES else _section_arms(own)
    return _distinct([*arms, nothing], texts)


def _file_arms(texts: Mapping[str, str]) -> list[Arm]:
    return [Arm(path, [Selection(path)], path) for path in texts]


def _section_arms(texts: Mapping[str, str]) -> list[Arm]:
    arms: dict[str, Arm] = {}
    for path, text in texts.items():
        for part in parts_of(text):
            name = f"{path}#{part.title}" if part.title else f"{path}:{part.first}-{part.last}"
            if name in arms:  # the same heading twice in a file
                name = f"{path}:{part.first}-{part.last}"
            arms[name] = Arm(name, [Selection(path, part.first, part.last)], path, (part.first, part.last))
    return list(arms.values())


def _paragraph_arms(path: str, texts: Mapping[str, str]) -> list[Arm]:
    """Return up to four groups of a file's paragraphs. Each gets a part of the permitted error in proportion to its size."""
    if path not in texts:
        known = [FILES, SECTIONS, *texts]
        raise CallError(
            f"--arms must be files, sections or an instruction file, not {show(path)}{suggestion(path, known)}"
        )
    rows = [Selection(path, row.first, row.last) for row in paragraphs_of(texts[path]) if not row.level]
    if not rows:
        raise CallError(f"{path} has no paragraphs to leave out")
    count = min(_FIRST_GROUPS, len(rows))
    bounds = [round(index * len(rows) / count) for index in range(count + 1)]
    whole = Arm(path, rows, path, share=_FIRST_GROUPS / (_FIRST_GROUPS + 1))
    groups = [rows[begin:end] for begin, end in pairwise(bounds)]
    return [group(part, whole, len(part) / len(rows)) for part in groups]


def _distinct(arms: Iterable[Arm], texts: Mapping[str, str]) -> list[Arm]:
    """Return the arms without those that leave out nothing, or the same as an earlier one."""
    found: dict[tuple[tuple[str, str | None], ...], Arm] = {}
    for arm in arms:
        edits = tuple(sorted(leave_out(texts, arm.selections).items(), key=lambda row: row[0]))
        if edits:
            found.setdefault(edits, arm)
    return list(found.values())
