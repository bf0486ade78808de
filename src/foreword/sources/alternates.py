"""Checks the object folders that a repository borrows from: `git clone --shared` and `--reference` list them in `objects/info/alternates`.

The list comes with the workspace, so it is untrusted. Git reads whatever is in those folders, but only as objects of this repository. A
folder is accepted if it is the object folder of a repository that belongs to the same user or to root, if no link in it leaves it,
and, in a service, if it is in one of the served folders.
"""

from __future__ import annotations

import os

from ..text.lines import printable
from .paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .reader import Reader

    # Returns why a folder and everything below it is not safe for git, or empty if it is.
    FolderCheck = Callable[[str], str]

_MAX_FOLDERS = 20
_ROOT = 0  # the user id
_ADVICE = "; to copy the objects into this repository, run git repack -a -d and delete that file"


def unsafe_alternate(objects: str, reader: Reader, inside: Sequence[str], check_folder: FolderCheck) -> str:
    """Return why git must not borrow objects for this object folder, or empty if it may. Folders that do not exist are not borrowed from."""
    pending, checked = [objects], {reader.real(objects)}
    while pending:
        folder = pending.pop()
        lists = os.path.join(folder, "info", "alternates")
        data = reader.read_data(lists)
        if not isinstance(data, bytes):
            if data.fate == "absent":
                continue
            return f"{printable(lists)}: {data.reason}"
        for path in _listed_folders(data, folder):
            real = reader.real(path)
            is_quoted = path.startswith('"')
            if not is_quoted and (real in checked or not reader.is_folder(path)):
                continue
            reason = _refusal(path, real, reader, inside) or check_folder(real)
            if reason or len(checked) > _MAX_FOLDERS:
                reason = reason or "it lists too many folders"
                return f"{printable(lists)} refers to objects elsewhere: {reason}{_ADVICE}"
            checked.add(real)
            pending.append(real)
    return ""


def _listed_folders(data: bytes, folder: str) -> list[str]:
    """Return the folders in a list. Lines in quotation marks are returned as they are: git would replace escapes in them."""
    lines = [line for line in os.fsdecode(data).split("\n") if line and not line.startswith("#")]
    return [line if line.startswith('"') else os.path.join(folder, line) for line in lines]


def _refusal(path: str, real: str, reader: Reader, inside: Sequence[str]) -> str:
    """Return why a folder may not be borrowed from, or empty if it may."""
    shown, parent = printable(path), os.path.dirname(real)
    if path.startswith('"'):
        return f"{shown} is in quotation marks"
    if os.path.basename(real) != "objects" or not reader.is_folder(os.path.join(parent, "refs")):
        return f"{shown} is not the object folder of a git repository"
    if inside and not any(is_inside(real, served) for served in inside):
        return f"{shown} is not in a folder that this service may read"
    return "" if _has_same_owner(real, reader) else f"{shown} belongs to another user"


def _has_same_owner(path: str, reader: Reader) -> bool:
    """Whether a folder belongs to this user or to root. Without user ids, as on Windows, that is not checked."""
    user = getattr(os, "geteuid", lambda: None)()
    try:
        return user is None or reader.disk.stat(path).st_uid in (user, _ROOT)
    except OSError:
        return False
