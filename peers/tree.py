"""A tree of files to run a program on. Every file contains its own marker, `qx-` and a name.

Paths start with `repo/` (the repository), `home/` or another folder next to them. `{slug}` in a path is replaced by `slug(base)`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

MARKER = re.compile(r"qx-[a-z0-9]+(?:-[a-z0-9]+)*")

DEFAULT_PROGRAMS = ("codex", "claude", "gemini", "copilot", "opencode")


@dataclass(frozen=True)
class Tree:
    """Files, the programs to run on them, and the working directories.

    `touch` is a file for a tool to read; `edit` contains files to replace before a second turn. `env` contains environment variables,
    in which `{base}` is the folder that contains `repo/` and `home/`. With `any_order`, files that a program reads in directory order are
    compared in the order of their paths on a touch too. `worktrees` are folders that are worktrees of the repository,
    and `links` are links with their targets. Of a compact tree, the recording has only the files and a hash of the lines, both sorted
    if it `is_sorted`.
    """

    files: dict[str, str]
    cwds: tuple[str, ...] = ("repo",)
    programs: tuple[str, ...] = DEFAULT_PROGRAMS
    is_git: bool = True
    touch: str = ""
    edit: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    any_order: bool = False
    worktrees: tuple[str, ...] = ()
    links: dict[str, str] = field(default_factory=dict)
    is_compact: bool = False
    is_sorted: bool = False

    def environment(self, base: str) -> dict[str, str]:
        """Return the environment variables for a tree in this folder."""
        return {name: text.replace("{base}", base) for name, text in self.env.items()}

    def paths_by_marker(self) -> dict[str, str]:
        """Return the file that each marker belongs to: the first one that contains it."""
        owners: dict[str, str] = {}
        for path, text in [*self.files.items(), *self.edit.items()]:
            for marker in MARKER.findall(text):
                owners.setdefault(marker, path)
        return owners

    def texts(self) -> list[str]:
        """Return the texts of all files, before and after the edit."""
        return [*self.files.values(), *self.edit.values()]

    def write(self, base: str) -> None:
        """Create the files in a folder that does not contain them yet."""
        os.makedirs(os.path.join(base, "home"), exist_ok=True)
        if self.is_git:
            _create_repository(os.path.join(base, "repo"))
        for number, path in enumerate(self.worktrees):
            _create_worktree(os.path.join(base, "repo/.git/worktrees", f"w{number}"), os.path.join(base, path))
        write_files(base, self.files)
        for path, target in self.links.items():
            os.makedirs(os.path.dirname(os.path.join(base, path)), exist_ok=True)
            os.symlink(target, os.path.join(base, path))
        for path in self.cwds:  # last, because one may be below a link
            os.makedirs(os.path.join(base, path), exist_ok=True)


def slug(base: str) -> str:
    """Return the repository's path with every character other than letters and digits replaced by `-`."""
    return re.sub("[^A-Za-z0-9]", "-", os.path.join(base, "repo"))


def write_files(base: str, files: dict[str, str]) -> None:
    """Write files below a folder, creating the directories."""
    for name, text in files.items():
        path = os.path.join(base, name.replace("{slug}", slug(base)))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.replace("{base}", base).encode(errors="surrogateescape"))


def _create_repository(path: str) -> None:
    """Create the smallest folder that git accepts as an empty repository."""
    for name in ("objects", "refs/heads"):
        os.makedirs(os.path.join(path, ".git", name), exist_ok=True)
    with open(os.path.join(path, ".git/HEAD"), "w") as file:
        file.write("ref: refs/heads/main\n")
    with open(os.path.join(path, ".git/config"), "w") as file:
        file.write("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")


def _create_worktree(folder: str, path: str) -> None:
    """Create the files that make a folder a worktree of a repository. `folder` is the worktree's in the repository's `.git`."""
    for name in (folder, path):
        os.makedirs(name, exist_ok=True)
    texts = {"HEAD": "ref: refs/heads/other\n", "commondir": "../..\n", "gitdir": f"{path}/.git\n"}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    with open(os.path.join(path, ".git"), "w") as file:
        file.write(f"gitdir: {folder}\n")
