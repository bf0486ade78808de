"""Resources that the conversations of one process share: the store, extensions, assemblers and running constructions."""

from __future__ import annotations

import os
from _thread import allocate_lock, get_ident

from ..encoding.edition import forget_texts
from ..engine.touches import TouchReader
from ..errors import path_text, to_tuple
from ..extensions import Extension
from ..sources.environment import absolute
from ..store import check_folder, open_store
from .decide import Outcome
from .editions import Editions
from .hooks import check_extensions
from .recent import RecentEditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence

    from ..engine.assembler import Assembler
    from ..store.contract import Store
    from ..vocabulary import Edition

_MAX_ASSEMBLERS = 64
_MAX_RECENT_EDITIONS = 16


class Shared:
    """The store, extensions and assemblers that the conversations of one team in one process share."""

    def __init__(self, store: str | Store, extensions: Sequence[Extension], team: str = "") -> None:
        if not hasattr(store, "publish"):
            store = path_text("the store", store)
        self.extensions: tuple[Extension, ...] = to_tuple("extensions", extensions, Extension)
        check_extensions(self.extensions)
        if isinstance(store, str):
            check_folder(store)
        opened: Store = open_store(store) if isinstance(store, str) else store
        self._first = self
        self._teams: MutableMapping[str, Shared] = {}
        self._start(opened.for_team(team) if team else opened)
        self.store.listen(self._forget)
        self.store.listen(forget_texts)

    def _start(self, store: Store) -> None:
        self.store = store
        self.editions = Editions(store)
        self.constructions = Constructions()
        self.recent = RecentEditions(_MAX_RECENT_EDITIONS)
        self._lock = allocate_lock()
        self._assemblers: dict[str, Assembler] = {}
        self._touch_readers: dict[int, TouchReader] = {}

    def for_team(self, team: str) -> Shared:
        """Return what the conversations of another team share: the same store and extensions. It exists as long as someone uses it."""
        from weakref import WeakValueDictionary

        first = self._first
        if team == first.store.team:
            return first
        with first._lock:
            if not first._teams:
                first._teams = WeakValueDictionary()
            known = first._teams.get(team)
            if known is None:
                known = object.__new__(Shared)
                known._first, known.extensions = first, first.extensions
                known._start(first.store.for_team(team))
                first._teams[team] = known
            return known

    def _forget(self, hashes: frozenset[bytes]) -> None:
        """Drop what these hashes belong to from the memory of all teams."""
        for shared in (self, *list(self._teams.values())):
            shared.editions.forget(hashes)
            shared.recent.forget(hashes)

    def prompt(self, id: str) -> str | None:
        """Return a conversation's prompt, or None if it was never constructed."""
        edition, _ = self.editions.current(id)
        return edition.system if edition else None

    def assembler(self, assembler: Assembler) -> Assembler:
        """Return the assembler that conversations with the same workspace, layout and settings share: an existing one, or else this one."""
        with self._lock:
            if assembler in self._assemblers.values():
                return assembler
        options = {name: option for name, option in vars(assembler).items() if not name.startswith("_")}
        key = repr((absolute(assembler.workspace.cwd, os.environ), options))
        with self._lock:
            assembler = self._assemblers.pop(key, assembler)
            self._assemblers[key] = assembler
            if len(self._assemblers) > _MAX_ASSEMBLERS:
                self._assemblers.pop(next(iter(self._assemblers)))
        return assembler

    def touch_reader(self, assembler: Assembler) -> TouchReader:
        """Return an assembler's touch reader, which its conversations share so that rules are read and compiled once."""
        with self._lock:
            known = self._touch_readers.pop(id(assembler), None)
            if known is None or known.assembler is not assembler:
                known = TouchReader(assembler)
            self._touch_readers[id(assembler)] = known
            if len(self._touch_readers) > _MAX_ASSEMBLERS:
                self._touch_readers.pop(next(iter(self._touch_readers)))
        return known


class _Construction:
    """A running construction. `edition` is its result, once it has one."""

    def __init__(self) -> None:
        self.edition: Edition | None = None
        self.thread = get_ident()
        self.lock = allocate_lock()
        self.lock.acquire()


class Constructions:
    """Running constructions, by conversation: a call that overlaps another one waits for it and uses its edition."""

    def __init__(self) -> None:
        self._running: dict[str, _Construction] = {}

    def run_once(self, id: str, construct: Callable[[], Outcome]) -> Outcome:
        """Construct an edition, or wait for another thread that is already doing so for this conversation."""
        construction = _Construction()
        while True:
            running = self._running.setdefault(id, construction)
            if running is construction or running.thread == construction.thread:
                break
            with running.lock:
                if running.edition is not None:
                    return Outcome(running.edition, is_reused=True)
        try:
            outcome = construct()
            construction.edition = outcome.edition
            return outcome
        finally:
            if running is construction:
                del self._running[id]
            construction.lock.release()
