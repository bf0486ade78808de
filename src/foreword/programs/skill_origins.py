"""Tells which skills of a repository its owner writes for agents, and which were installed from elsewhere or are in a form of their own."""

from __future__ import annotations

import os
import re

from ..inspection.lint import GUARDS
from ..inspection.lint.material import is_example
from ..inspection.lint.patterns import lazy_pattern
from ..inspection.lint.skills import hidden_folder
from ..text.lines import printable
from .lint_report import MISSING_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Finding
    from .lint_disk import LintDisk

# What the owner of a repository cannot correct in a skill that was installed from elsewhere.
_OF_AUTHORS = frozenset((MISSING_FILE, "skill-field", "skill-name"))
# The fields of a skill in a program's own form, which no agent reads.
_OWN_FORM = lazy_pattern(r"^(?:slug|summary):", re.MULTILINE)
_OF_FORM = frozenset(("skill-name", "skill-field", "skill-no-description"))
# Fields of a skill that was published for others. In an agent's folder, it is usually a copy.
_PUBLISHED = lazy_pattern(
    r"^(?:license|homepage|repository|source|author):|^metadata:[ \t]*\n(?:[ \t].*\n)*?[ \t]+(?:author|source|repository):",
    re.MULTILINE,
)
_SKILL_CODES = frozenset(("skill-invalid", "skill-no-description", "skill-repaired", "skill-name", "skill-field"))
_NO_FRONT_MATTER = "the front matter is missing"


class SkillOrigins:
    """What is known about the origin of each skill below a root."""

    def __init__(self, root: str, disk: LintDisk) -> None:
        self.root, self.disk = root, disk
        # The folders that are not hidden and have skills with front matter.
        self._collections: set[str] = set()

    def note_form(self, skill: str, has_front_matter: bool) -> None:
        """Note whether a skill has front matter: those beside it are meant to have it too."""
        if has_front_matter and not self._is_hidden(skill):
            self._collections.add(_collection(printable(skill)))

    def is_for_owner(self, found: Finding, skill: str, head: str) -> bool:
        """Whether the owner of the repository can act on a finding about a skill, which may be an example, or installed from elsewhere.

        `head` is the skill's front matter.
        """
        folder = os.path.dirname(skill)
        if is_example(folder, self.root):
            return found.code in GUARDS
        if found.code in _OF_FORM and _OWN_FORM.search(head):
            return False
        if found.code not in _OF_AUTHORS:
            return True
        is_hidden = self._is_hidden(skill)
        is_copy = is_hidden and head.startswith("---") and _PUBLISHED.search(head)
        if is_copy or os.path.basename(folder) in self.disk.installed_skills():
            return False
        return not (is_hidden and found.code == MISSING_FILE) or self._is_of_repository(found.message, folder)

    def _is_of_repository(self, message: str, folder: str) -> bool:
        """Whether the path in a finding begins with a folder of the repository, and not with one of the skill, which may be a copy."""
        first = message.removeprefix("./").partition("/")[0]
        return os.path.isdir(f"{self.root}/{first}") and not os.path.isdir(f"{folder}/{first}")

    def is_own_form(self, found: Finding) -> bool:
        """Whether a finding is about a skill that no agent is known to read: it is neither in a hidden folder nor below one named `skills`.

        Skills without front matter in a folder where none has it are not for agents either.
        """
        if found.code not in _SKILL_CODES or self._is_hidden(found.path):
            return False
        if "skills" not in found.path[len(self.root) :].split("/")[:-2]:
            return True
        is_bare = found.code == "skill-invalid" and found.message.startswith(_NO_FRONT_MATTER)
        return is_bare and _collection(found.path) not in self._collections

    def _is_hidden(self, skill: str) -> bool:
        return bool(hidden_folder(skill[len(self.root) :]))


def _collection(skill: str) -> str:
    """Return the folder that contains the folder of a skill."""
    return os.path.dirname(os.path.dirname(skill))
