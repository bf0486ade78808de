"""Find the logs of all programs, and read those that belong to a question."""

from __future__ import annotations

from .folders import peek_cwd
from .index import size_in, stamp_of
from .readers.lines import LogFile, UnreadableLog
from .readers.rows import Texts, prepare_parser
from .records import reduce_figures, reduce_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from .costs import RateCard
    from .folders import SessionPlace
    from .index import Index
    from .records import Entry, LogRecord
    from .values import LogPart, SessionLog

    Progress = Callable[[int, int], None]  # is called with how many logs are done, and how many there are

# If this many logs of a program in a row have to be read as a whole, that is done at once, except for one of as many.
_IN_A_ROW = 8


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
        progress: Progress | None = None,
    ) -> None:
        self.readers, self.home, self.environment = readers, home, environment
        self.index, self.place, self.since, self.progress = index, place, since, progress
        self.problems: list[tuple[str, str, str]] = []
        self.moved: dict[str, int] = {}
        self._whole: dict[str, int] = {}  # how many logs of each program in a row had to be read as a whole

    def logs(self) -> Iterator[tuple[ModuleType, SessionLog]]:
        """Yield the logs that belong to the place, each with its reader."""
        for reader, path, stamp in self._paths():
            log = self._read(reader, LogFile(path), stamp)
            if log is not None:
                yield reader, log

    def records(self, card: RateCard, rules: str) -> Iterator[LogRecord]:
        """Yield the figures of these logs. Those in the index are used if they were reduced by the same rules."""
        for reader, path, stamp in self._paths():
            record = self.index.find_record(path, f"{stamp} {rules}")
            if record is None and not self._is_elsewhere(reader, path):
                record = self._reduce(reader, path, stamp, card, rules)
            if record is not None and self._belongs(record.log.cwd):
                yield record

    def _reduce(self, reader: ModuleType, path: str, stamp: str, card: RateCard, rules: str) -> LogRecord | None:
        """Read a log and return its figures. If they do not depend on what the requests were made of, only they are read."""
        file = LogFile(path)
        prepare_parser(size_in(stamp))
        count = self._whole.get(reader.AGENT, 0)
        log: SessionLog | None = None
        record = None
        if count < _IN_A_ROW or count % _IN_A_ROW == 0:
            log, known = self._figures(reader, file, f"{stamp} {rules}")
            record = None if log is None else reduce_figures(log, card, reader.PROVIDER, known)
        self._whole[reader.AGENT] = count + 1 if record is None else 0
        if record is None:
            whole = self._read(reader, file, stamp)
            if whole is None:
                return None
            record = reduce_log(whole, card, reader.PROVIDER)
        if not self._is_broken(file):
            self.index.keep_record(path, f"{stamp} {rules}", record, may_grow=log is not None)
        return record

    def _is_broken(self, file: LogFile) -> bool:
        """Whether the rest of a log could not be read, which is noted once."""
        problem = "session-log-unreadable", file.path, f"the rest could not be read: {file.error}"
        if file.error and problem not in self.problems:
            self.problems.append(problem)
        return bool(file.error)

    def _figures(self, reader: ModuleType, file: LogFile, stamp: str) -> tuple[SessionLog | None, Sequence[Entry]]:
        """Return a log with its figures, and the entries that were known before. A log that has grown is read from where it ended.

        None if the reader cannot do that, or if something happened that matters to all later requests.
        """
        if not hasattr(reader, "read_figures"):
            return None, ()
        start, known = self.index.find_grown(file.path, stamp) or (0, None)
        try:
            return reader.read_figures(file, start, known), known.entries if known else ()
        except UnreadableLog:
            return None, ()

    def _paths(self) -> Iterator[tuple[ModuleType, str, str]]:
        """Yield the logs that were changed in the period, with what changes when they do, and report how many there are."""
        found = list(self._changed())
        for number, log in enumerate(found):
            if self.progress is not None:
                self.progress(number, len(found))
            yield log

    def _changed(self) -> Iterator[tuple[ModuleType, str, str]]:
        for reader in self.readers:
            for path in reader.find_logs(self.home, self.environment):
                try:
                    stamp, modified = getattr(reader, "stamp_of", stamp_of)(path)
                except UnreadableLog as error:
                    self.problems.append(("session-log-unreadable", path, str(error)))
                    continue
                if modified >= self.since:
                    yield reader, path, stamp

    def _read(self, reader: ModuleType, file: LogFile, stamp: str) -> SessionLog | None:
        log = self.index.find(file.path, stamp)
        if log is None:
            if self._is_elsewhere(reader, file.path):
                return None
            prepare_parser(size_in(stamp))
            try:
                log = reader.read_log(file, Texts())
            except UnreadableLog as error:
                self.problems.append(("session-log-unreadable", file.path, str(error)))
                return None
            if not self._is_broken(file):
                self.index.keep(file.path, stamp, log)
        return log if self._belongs(log.cwd) else None

    def _is_elsewhere(self, reader: ModuleType, path: str) -> bool:
        """Whether the beginning of a log says that it does not belong to the place."""
        cwd = getattr(reader, "peek_cwd", peek_cwd)(path) if self.place is not None else ""
        return bool(cwd) and not self._belongs(cwd)

    def _belongs(self, cwd: str) -> bool:
        if self.place is None or self.place.contains(cwd):
            return True
        if cwd and self.place.may_have_moved(cwd):
            self.moved[cwd] = self.moved.get(cwd, 0) + 1
        return False

    def with_texts(
        self, reader: ModuleType, path: str, wanted: Callable[[LogPart, str], bool]
    ) -> tuple[SessionLog, Mapping[str, str]]:
        """Read one log again, and keep the texts of the parts that are wanted."""
        texts = Texts(wanted)
        return reader.read_log(LogFile(path), texts), texts.texts
