"""Says which files belong to the project of a repository. This is the one place that every check asks whose a file is.

A repository also contains what others wrote or what is kept for others: samples, templates, sources of other projects, backups, installed
skills. Its owner cannot or need not correct these, so only what is unsafe is reported there.
"""

from __future__ import annotations

import json
import re
from posixpath import basename, dirname, join, splitext

from ..inspection.lint import GUARDS
from ..inspection.lint.material import is_material
from ..inspection.lint.patterns import lazy_pattern
from ..inspection.lint.skills import hidden_folder
from ..sources.paths import is_inside
from ..sources.search import SKILL_FILE
from ..text.lines import printable
from .lint_report import MISSING_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ..inspection.lint.skills import Readers
    from ..vocabulary import Finding
    from .repository_files import RepositoryFiles

_SKILL_LOCKS = ("skills-lock.json", ".skill-lock.json", ".agents/.skill-lock.json", ".agents/skills-lock.json")
# A plugin or extension, whose skills agents load.
_MANIFESTS = (".claude-plugin", ".codex-plugin", ".cursor-plugin", "gemini-extension.json", "plugin.json")
# A template of dotnet, cookiecutter or copier.
_TEMPLATES = (".template.config", "cookiecutter.json", "copier.yml", "copier.yaml")
# The fields of a skill in a program's own form, which no agent reads.
_OWN_FORM = lazy_pattern(r"^(?:slug|summary):", re.MULTILINE)
# Fields of a skill that was published for others. In an agent's folder, it is usually a copy.
_PUBLISHED = lazy_pattern(
    r"^(?:license|homepage|repository|source|author|origin):|^metadata:[ \t]*\n(?:[ \t].*\n)*?[ \t]+(?:author|source|repository):",
    re.MULTILINE,
)
_NAME = lazy_pattern(r"^name:[ \t]*[\"']?([^\"'\n]{1,200}?)[\"']?[ \t]*$", re.MULTILINE)
# What only the author of a skill can correct. That an agent skips it concerns whoever installed it too.
_OF_AUTHORS = frozenset((MISSING_FILE, "skill-field", "skill-name"))


class OwnFiles:
    """Which files of a repository belong to its project. All paths are printable.

    `readers` are the hidden folders in which known agents search for skills, with these agents. Someone who checks a folder of samples works in it, so only
    the folders below the working directory count.
    """

    def __init__(self, files: RepositoryFiles) -> None:
        self.files, self.root, self.cwd = files, files.root, printable(files.workspace.cwd)
        self.readers: Mapping[str, Readers] = {}
        self._installed: Collection[str] | None = None

    def is_workplace(self, folder: str) -> bool:
        """Whether someone might start an agent in a folder. Nobody does that in material, a hidden folder or a skill."""
        return not (self._is_material(folder) or "/." in self._below(folder) or self.files.is_in_skill(folder))

    def is_own(self, path: str) -> bool:
        """Whether an instruction file or a skill belongs to the project. Files outside the repository are the user's own."""
        if not is_inside(path, self.root):
            return True
        folder = dirname(path)
        if self._is_material(folder):
            return False
        if basename(path) == SKILL_FILE:
            return self._is_searched(folder)
        # An AGENTS.md somewhere below a hidden folder came with something else.
        is_in_bundle = splitext(basename(path))[0].isupper() and "/." in self._below(dirname(folder))
        return not (is_in_bundle or self.files.is_in_skill(folder))

    def concerns(self, found: Finding) -> bool:
        """Whether the owner of the repository can act on a finding. What is unsafe concerns everybody."""
        if found.code in GUARDS or not found.path:
            return True
        if not self.is_own(found.path):
            return False
        return basename(found.path) != SKILL_FILE or self._concerns_author(found)

    def _is_material(self, folder: str) -> bool:
        top = self.cwd if is_inside(folder, self.cwd) else self.root
        return is_material(folder, top) or self._is_in_template(folder, top)

    def _is_in_template(self, folder: str, top: str) -> bool:
        """Whether a folder below `top` belongs to a template from which a program makes projects."""
        while folder != top and is_inside(folder, top):
            if any(name in self.files.entries(folder) for name in _TEMPLATES):
                return True
            folder = dirname(folder)
        return False

    def _below(self, path: str) -> str:
        """Return the part of a path below the working directory, or below the root if it is elsewhere in the repository."""
        return path[len(self.cwd if is_inside(path, self.cwd) else self.root) :]

    def _is_searched(self, folder: str) -> bool:
        """Whether an agent searches a skill's folder, here or in the working directory."""
        tops = (self.root, self.cwd) if is_inside(folder, self.cwd) else (self.root,)
        return any(self._is_searched_below(top, folder[len(top) :]) for top in tops)

    def _is_searched_below(self, top: str, below: str) -> bool:
        """Whether this is a hidden folder of a known agent, `skills` at the top, or that of a plugin."""
        if hidden := hidden_folder(f"{below}/"):
            inside = below.partition(f"/{hidden}/")[2]
            return not self.readers or any(inside.startswith(f"{name}/") for name in self._skill_folders(hidden))
        parent, _, _ = below.rpartition("/skills/")
        return "/skills/" in below and (not parent or self._is_in_plugin(top + parent))

    def _skill_folders(self, hidden: str) -> set[str]:
        """Return the names of the folders in a hidden one that agents search for skills."""
        readers = self.readers.get(hidden, {}).values()
        return {glob.split("/")[1] for reader in readers for glob in reader.globs}

    def _is_in_plugin(self, folder: str) -> bool:
        while is_inside(folder, self.root):
            if any(name in self.files.entries(folder) for name in _MANIFESTS):
                return True
            if folder == self.root:
                break
            folder = dirname(folder)
        return False

    def _concerns_author(self, found: Finding) -> bool:
        """Whether a finding about a skill says more than what only its author can correct, or the skill is the owner's own."""
        folder, source = dirname(found.path), self.files.read(found.path)
        head = source.text.partition("\n---")[0] if source else ""
        is_hidden, has_fields = bool(hidden_folder(self._below(found.path))), head.startswith("---")
        if not is_hidden and found.code.startswith("skill-") and (not has_fields or _OWN_FORM.search(head)):
            return False
        if found.code not in _OF_AUTHORS:
            return found.code != "skill-invalid" or not self._has_valid_twin(found.path)
        name = _NAME.search(head)
        names = {basename(folder), name[1] if name else ""}
        if not names.isdisjoint(self._installed_skills()) or (is_hidden and has_fields and _PUBLISHED.search(head)):
            return False
        return not (is_hidden and found.code == MISSING_FILE) or self._is_in_repository(found.message, folder)

    def _has_valid_twin(self, path: str) -> bool:
        """Whether every agent that searches a skill's folder finds a skill with front matter and this name in another one too."""
        below = path[len(self.root) :]
        hidden = hidden_folder(below)
        for folder, agents in self.readers.items() if hidden in self.readers else ():
            if folder != hidden and set(self.readers[hidden]).issubset(agents):
                twin = self.files.read(self.root + below.replace(f"/{hidden}/", f"/{folder}/", 1))
                if twin and twin.text.startswith("---"):
                    return True
        return False

    def _is_in_repository(self, message: str, skill: str) -> bool:
        """Whether the path in a finding begins with a folder of the repository, and not with one of the skill, which may be a copy."""
        first = message.removeprefix("./").partition("/")[0]
        return self._has_folder(self.root, first) and not self._has_folder(skill, first)

    def _has_folder(self, folder: str, name: str) -> bool:
        return self.files.entries(folder).get(name, "file") != "file"

    def _installed_skills(self) -> Collection[str]:
        """Return the names of the skills that were installed from elsewhere: a lock file lists them, or an agent's folder has a link to each."""
        if self._installed is None:
            self._installed = {*self._locked_skills(), *self._linked_skills()}
        return self._installed

    def _locked_skills(self) -> Iterator[str]:
        for name in _SKILL_LOCKS:
            if source := self.files.read(join(self.root, name)):
                yield from _names_in_lock(source.text)

    def _linked_skills(self) -> Iterator[str]:
        for folder in self.files.entries(self.root):
            if folder.startswith("."):
                skills = self.files.entries(f"{self.root}/{folder}/skills")
                yield from (name for name, kind in skills.items() if kind == "linked folder")


def _names_in_lock(text: str) -> Collection[str]:
    """Return the names of the skills in a `skills-lock.json`."""
    try:
        skills = json.loads(text).get("skills")
    except (ValueError, AttributeError, RecursionError):
        return ()
    return frozenset(skills) if isinstance(skills, dict) else ()
