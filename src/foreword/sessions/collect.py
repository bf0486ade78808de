"""Find the logs of all programs, and read those that belong to a question."""

from __future__ import annotations

from .folders import peek_cwd
from .index import stamp_of
from .readers.lines import UnreadableLog
from .readers.rows import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from .folders import SessionPlace
    from .index import Index
    from .values import LogPart, SessionLog


class LogCollector:
    """Reads logs one after the other. What cannot be read is noted in `problems`: the code of a finding, the path and the reason."""

    def __init__(
        self,
        readers: Sequence[ModuleType],
        home: str,
        environment: Mapping[str, str],
        index: Index,
        place: SessionPlace | None = None,
        since: float = 0,
    ) -> None:
        self.readers, self.home, self.environment = readers, home, environment
        self.index, self.place, self.since = index, place, since
        self.problems: list[tuple[str, str, str]] = []
        self.moved: dict[str, int] = {}

    def logs(self, wanted: Callable[[str], bool] = lambda path: True) -> Iterator[tuple[ModuleType, SessionLog]]:
        """Yield the logs that belong to the place, each with its reader. `wanted` may leave out paths."""
        for reader in self.readers:
            for path in reader.find_logs(self.home, self.environment):
                if wanted(path) and (log := self._read(reader, path)) is not None:
                    yield reader, log

    def _read(self, reader: ModuleType, path: str) -> SessionLog | None:
        try:
            stamp, modified = getattr(reader, "stamp_of", stamp_of)(path)
            if modified < self.since:
                return None
            log = self.index.find(path, stamp)
            if log is None:
                cwd = getattr(reader, "peek_cwd", peek_cwd)(path) if self.place is not None else ""
                if cwd and not self._belongs(cwd):
                    return None
                log = reader.read_log(path, Texts())
                self.index.keep(path, stamp, log)
        except UnreadableLog as error:
            self.problems.append(("session-log-unreadable", path, str(error)))
            return None
        return log if self.place is None or self._belongs(log.cwd) else None

    def _belongs(self, cwd: str) -> bool:
        if self.place is None or self.place.contains(cwd):
            return True
        if cwd and self.place.may_have_moved(cwd):
            self.moved[cwd] = self.moved.get(cwd, 0) + 1
        return False

    def with_texts(
        self, reader: ModuleType, path: str, wanted: Callable[[LogPart], bool]
    ) -> tuple[SessionLog, Mapping[str, str]]:
        """Read one log again, and keep the texts of the parts that are wanted."""
        texts = Texts(wanted)
        return reader.read_log(path, texts), texts.texts
