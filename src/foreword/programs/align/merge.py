"""Merge agents' own instruction files into AGENTS.md, which then has every line once, in order. Pure."""

from __future__ import annotations

from posixpath import basename, dirname, relpath

from .edits import newline_of
from .model import Proposal
from .sources import is_skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .model import AlignedAgent


def merge_files(
    names: Iterable[str], text_of: Callable[[str], str | None], agents: Sequence[AlignedAgent], target: str
) -> list[Proposal]:
    """Return a new file named `target` for each folder with agents' own files that have text, and the removal of these files."""
    own = list(dict.fromkeys(name for agent in agents for name in agent.means.get("files", ()) if name != target))
    folders: dict[str, list[str]] = {}
    for path in sorted(names):
        file = max((name for name in own if f"/{path}".endswith(f"/{name}")), key=len, default="")
        folder = path[: len(path) - len(file)].rstrip("/")
        if file and not is_skipped(folder) and is_mergeable(text_of(path), file):
            folders.setdefault(folder, []).append(path)
    changes: list[Proposal] = []
    for folder, paths in folders.items():
        paths.sort(key=lambda path: next(index for index, name in enumerate(own) if path.endswith(name)))
        changes += _merge_folder(f"{folder}/{target}" if folder else target, paths, text_of)
    return changes


def is_mergeable(text: str | None, file: str) -> bool:
    """Whether a file's text means the same in another file: not if it has front matter, or imports that begin in another folder."""
    if text is None or text.startswith(("---", "\ufeff---")):
        return False
    return not dirname(file) or not any(line.lstrip().startswith("@") for line in text.split("\n"))


def _merge_folder(target: str, paths: Sequence[str], text_of: Callable[[str], str | None]) -> list[Proposal]:
    old = text_of(target)
    merged = old or ""
    for path in paths:
        merged = merge_text(merged, text_of(path) or "", path, import_line=f"@{basename(target)}")
    reason = f"every line of it is in {basename(target)}"
    removals = [Proposal(path, None, "remove", (), (), reason, is_new=False) for path in paths]
    if merged == old or not merged.strip():
        return removals if merged.strip() else []
    names = " and ".join(relpath(path, dirname(target) or ".") for path in paths)
    return [Proposal(target, merged, "merge", (), (), f"it has every line of {names} once", old is None), *removals]


def merge_text(merged: str, text: str, path: str, import_line: str) -> str:
    """Return the merged text with those lines of another text that it does not have yet, after a comment that says where they come from.

    A line in a code block stays with its block.
    """
    newline = newline_of(merged or text)
    known = {line.strip() for line in merged.split("\n")}
    kept: list[str] = []
    for block in blocks(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        if len(block) > 1:
            kept += [] if all(line.strip() in known for line in block) else block
        elif block[0].strip() != import_line and not (block[0].strip() in known and is_text(block[0])):
            kept += block
    lines = _without_repeated_blanks(kept)
    if not any(map(str.strip, lines)):
        return merged
    start = merged.rstrip() + newline * 2 if merged.strip() else ""
    added = newline.join([f"<!-- from {path} -->", *lines])
    return f"{start}{added}{newline}"


def blocks(text: str) -> list[list[str]]:
    """Return the lines of a text one by one, but those of a code block together."""
    found: list[list[str]] = []
    fence = ""
    for line in text.split("\n"):
        start = line.strip()[:3]
        if fence:
            found[-1].append(line)
            fence = "" if line.strip().strip(fence[0]) == "" and start == fence else fence
        else:
            found.append([line])
            fence = start if start in ("```", "~~~") else ""
    return found


def is_text(line: str) -> bool:
    return any(map(str.isalnum, line))


def _without_repeated_blanks(lines: list[str]) -> list[str]:
    """Return the lines without blank ones at either end and without a blank one after another."""
    kept: list[str] = []
    for line in lines:
        if line.strip() or (kept and kept[-1].strip()):
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept
