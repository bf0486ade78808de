"""Read, publish and update each conversation's edition in use, and continue while the store is down.

Processes agree on one edition by compare-and-set: a process that publishes too late starts over from the other's edition.
"""

from __future__ import annotations

from _thread import allocate_lock

from ..errors import CallError, ForgottenError, StoreBusyError, StoreError
from ..findings import finding
from ..store.rows import key_of
from ..store.texts import hash_of
from ..vocabulary import replace
from .state import state_of, update_state, with_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..store.contract import Store
    from ..vocabulary import Edition, Finding
    from .state import State

    Change = Callable[[State], State]

_MAX_POSTPONED = 10_000
_MAX_MODELS = 10_000


class Editions:
    """The editions in use. While the store is down, this process continues with the ones it has seen."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.postponed: dict[str, Mapping[str, Any]] = {}
        self.is_closed = False
        self._models: dict[str, str] = {}
        self._lock = allocate_lock()

    def exchange_model(self, id: str, model: str) -> str:
        """Return the model of the conversation's last call that this process recorded, or an empty string, and remember this one."""
        with self._lock:
            previous = self._models.pop(id, "")
            if len(self._models) >= _MAX_MODELS:
                del self._models[next(iter(self._models))]
            self._models[id] = model
            return previous

    def check_open(self) -> None:
        """Raise a CallError if the store was closed."""
        if self.is_closed:
            raise CallError("these conversations are closed; to continue, open the store again with Conversations(…)")

    def current(self, id: str, moment: object = None) -> tuple[Edition | None, list[Finding]]:
        """Return the edition in use. While the store is down, this is the one that this process saw last, with a finding.

        With `moment` (from `Store.moment`), an edition that was read at that moment is not read again.
        """
        self.check_open()
        try:
            return self.store.current(id, moment), []
        except StoreError as error:
            known = self.store.last_known(id)
            if known is None:
                raise
            known = update_state(known, **self.postponed.get(id, {}))
            return known, [store_failure(error, "this process continues with the edition it knows")]

    def catch_up(self, id: str) -> tuple[Edition | None, list[Finding]]:
        """Return the edition in use, after storing the state changes that were postponed while the store was down."""
        current, findings = self.current(id)
        if current is None or findings or id not in self.postponed:
            return current, findings
        changes = self.postponed[id]
        try:
            updated = self.update(id, current, lambda state: replace(state, **changes))
        except StoreError as error:
            return update_state(current, **changes), [store_failure(error, "the edition in use is kept")]
        self.postponed.pop(id, None)
        return updated, []

    def publish(self, id: str, current: Edition | None, edition: Edition) -> Edition | None:
        """Store an edition to replace the one in use. Return it, or None if another process was faster or has removed the conversation."""
        try:
            if current is None:
                published = self.store.publish(id, edition, 0)
                return published if published is edition else None
            if edition.number != current.number:
                published = self.store.publish(id, edition, current.number, current.state)
                return published if published is edition else None
            if edition.state != current.state:
                return edition if self.store.save_state(id, current.number, edition.state, current.state) else None
        except ForgottenError:
            return None
        return current

    def update(self, id: str, current: Edition, change: Change) -> Edition:
        """Apply a change to the conversation's latest state. Nothing is written if the state stays the same."""
        if with_state(current, change(state_of(current))) is current:
            return current
        while True:
            latest = self.store.current(id)
            if latest is None:  # the conversation was removed in the meantime
                return with_state(current, change(state_of(current)))
            updated = with_state(latest, change(state_of(latest)))
            try:
                if updated is latest or self.store.save_state(id, updated.number, updated.state, latest.state):
                    break
            except ForgottenError:
                continue
        return updated if updated.number == current.number else current

    def update_or_postpone(self, id: str, current: Edition, change: Change, findings: list[Finding]) -> Edition:
        """Apply a change to the conversation's state. While the store is down, only this process knows of it."""
        try:
            if not has_store_failure(findings):
                return self.update(id, current, change)
        except StoreError as error:
            findings.append(store_failure(error, "until it is back, only this process knows of this turn"))
        return self.postpone(id, current, change)

    def forget(self, hashes: frozenset[bytes]) -> None:
        """Drop postponed changes to conversations whose ids have these hashes, because they were removed from the store."""
        for id in [id for id in list(self.postponed) if hash_of(key_of(self.store.team, id)) in hashes]:
            self.postponed.pop(id, None)

    def postpone(self, id: str, current: Edition, change: Change) -> Edition:
        """Apply a change in this process, and in the store as soon as it is back."""
        before, after = state_of(current), change(state_of(current))
        changes = {name: content for name, content in after.__dict__.items() if content != getattr(before, name)}
        with self._lock:
            self.postponed[id] = {**self.postponed.get(id, {}), **changes}
            if len(self.postponed) > _MAX_POSTPONED:
                self.postponed.pop(next(iter(self.postponed)))
        return with_state(current, after)


def store_failure(error: StoreError, consequence: str = "") -> Finding:
    """Return the finding for a store that is down or busy, while this process can continue without it."""
    code = "store-busy" if isinstance(error, StoreBusyError) else "store-down"
    return finding(code, f"{error}; {consequence}" if consequence else str(error))


def has_store_failure(findings: Iterable[Finding]) -> bool:
    """Whether a finding says that the store was down or busy."""
    return any(finding.code in ("store-down", "store-busy") for finding in findings)
