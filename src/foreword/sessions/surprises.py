"""Find what only a log shows: texts that stay though they were replaced, and instructions that are no longer sent. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .chains import Step
    from .values import LogPart, SessionLog


# Requests with more instruction files are not looked at.
MOST_FILES = 1000


class Surprises:
    """Follows the instruction files in the requests of one log."""

    def __init__(self) -> None:
        self._files: dict[str, list[tuple[int, LogPart]]] = {}
        self._old: dict[str, dict[str, int]] = {}  # bytes of old versions in the last request, by thread and path
        self._stale: dict[str, tuple[int, int]] = {}  # requests with old versions, and the bytes of these
        self._lost: dict[str, None] = {}
        self._bare: set[str] = set()
        self._has_files = False

    def follow(self, step: Step) -> None:
        """Look at one request."""
        thread = step.request.thread
        if not step.request.made:
            return
        old = self._files.get(thread, [])
        files = self._move(step, old)
        if step.request.kind != "turn" or len(files) > MOST_FILES:
            return
        self._has_files = self._has_files or bool(files)
        is_first = step.previous is None and step.request.made == "rebuilt"
        if thread and not files and is_first:
            self._bare.add(thread)
        if any(event.kind == "compaction" for event in step.events):
            self._note_lost(old, files)
        for path, size in self._old.get(thread, {}).items():
            requests, total = self._stale.get(path, (0, 0))
            self._stale[path] = requests + 1, total + size

    def _move(self, step: Step, old: list[tuple[int, LogPart]]) -> list[tuple[int, LogPart]]:
        """Return the files of a request, with their places. `old` are those of the one before, and are extended if none of them is removed."""
        files = old if not old or old[-1][0] < step.shared else [entry for entry in old if entry[0] < step.shared]
        added = [(step.shared + index, part) for index, part in enumerate(step.request.tail) if part.kind == "file"]
        if added or files is not old:
            files.extend(added)
            self._files[step.request.thread] = files
            self._old[step.request.thread] = _old_versions(files)
        return files

    def _note_lost(self, old: list[tuple[int, LogPart]], new: list[tuple[int, LogPart]]) -> None:
        paths = {part.path for _, part in new}
        self._lost |= dict.fromkeys(part.path for _, part in old if part.path not in paths)

    def problems(self, log: SessionLog) -> list[tuple[str, str]]:
        """Return the findings: a code, and what the message is about."""
        found = [
            ("session-old-text", f"{path}|{requests:,}|{size // 4:,}") for path, (requests, size) in self._stale.items()
        ]
        found += [("session-file-lost", f"{path}|a compaction") for path in self._lost]
        dropped = dict.fromkeys(event.detail for event in log.events if event.kind == "dropped")
        found += [("session-file-lost", f"{path}|a resume") for path in dropped]
        if self._bare and (self._has_files or log.thread):
            found.append(("session-bare-agent", f"{len(self._bare)}"))
        return found


def _old_versions(files: list[tuple[int, LogPart]]) -> dict[str, int]:
    """Return how many bytes of a request are versions of files that a later one replaces, by path."""
    sizes: dict[str, int] = {}
    if len(files) <= MOST_FILES:
        newest = {part.path: part.hash for _, part in files}
        for _, part in files if len(newest) < len(files) else ():
            if part.hash != newest[part.path]:
                sizes[part.path] = sizes.get(part.path, 0) + part.size
    return sizes
