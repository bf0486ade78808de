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
        self._stale: dict[str, tuple[int, int]] = {}  # requests, and bytes of old versions in them
        self._lost: dict[str, None] = {}
        self._bare: set[str] = set()
        self._has_files = False

    def follow(self, step: Step) -> None:
        """Look at one request."""
        thread = step.request.thread
        if not step.request.made:
            return
        old = self._files.get(thread, [])
        files = [entry for entry in old if entry[0] < step.shared]
        files += [(step.shared + index, part) for index, part in enumerate(step.request.tail) if part.kind == "file"]
        self._files[thread] = files
        if step.request.kind != "turn" or len(files) > MOST_FILES:
            return
        self._has_files = self._has_files or bool(files)
        is_first = step.previous is None and step.request.made == "rebuilt"
        if thread and not files and is_first:
            self._bare.add(thread)
        if any(event.kind == "compaction" for event in step.events):
            self._note_lost(old, files)
        self._count_stale(files)

    def _note_lost(self, old: list[tuple[int, LogPart]], new: list[tuple[int, LogPart]]) -> None:
        paths = {part.path for _, part in new}
        self._lost |= dict.fromkeys(part.path for _, part in old if part.path not in paths)

    def _count_stale(self, files: list[tuple[int, LogPart]]) -> None:
        newest: dict[str, LogPart] = {}
        for _, part in files:
            newest[part.path] = part
        if len(newest) == len(files):
            return
        for _, part in files:
            if part.hash != newest[part.path].hash:
                requests, size = self._stale.get(part.path, (0, 0))
                self._stale[part.path] = requests + 1, size + part.size

    def problems(self, log: SessionLog) -> list[tuple[str, str]]:
        """Return the findings: a code, and what the message is about."""
        found = [
            ("session-old-text", f"{path}|{requests}|{size // 4}") for path, (requests, size) in self._stale.items()
        ]
        found += [("session-file-lost", f"{path}|a compaction") for path in self._lost]
        dropped = dict.fromkeys(event.detail for event in log.events if event.kind == "dropped")
        found += [("session-file-lost", f"{path}|a resume") for path in dropped]
        if self._bare and (self._has_files or log.thread):
            found.append(("session-bare-agent", f"{len(self._bare)}"))
        return found
