"""Carry out touches: read what applies, choose what is new to the conversation, record it in the store, and build the messages.

What is sent is recorded by compare-and-set before it is returned, so that two processes never send the same file. While the store is
down nothing is sent, and the paths are remembered for later.
"""

from __future__ import annotations

from _thread import allocate_lock

from ..engine.touched import TOUCH_KINDS, Touched, answer_touch, join_paths
from ..errors import StoreError
from ..findings import finding
from ..sources.stamps import Rechecks, Rotation
from ..store import waits
from ..text.lines import printable
from ..vocabulary import replace, value
from .accounts import file_texts
from .editions import store_failure
from .notices import with_unsent
from .state import after_touch, state_of, with_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..engine.touched import Choice, TouchAnswer
    from ..engine.touches import TouchReading
    from ..layout.model import Layout, Touch
    from ..vocabulary import Edition, Finding
    from .agents import ConversationAgent
    from .assembling import ConversationAssembler
    from .editions import Editions
    from .state import State
    from .transitions import Transitions

_MAX_KNOWN = 10_000
_MAX_WAITING = 10_000


@value
class _KnownPath:
    """A path whose instructions were all sent: their files with hashes, the edition in use at that time, and the files to check."""

    files: Mapping[str, str]
    edition: int
    applied: Rotation

    def is_sent(self, edition: Edition, state: State) -> bool:
        has_all = all(state.touched.get(path) == hash for path, hash in self.files.items())
        return has_all and edition.number == self.edition


class Touching:
    """Carries out the touches of one conversation."""

    def __init__(
        self,
        transitions: Transitions,
        editions: Editions,
        assembling: ConversationAssembler,
        agent: ConversationAgent,
    ) -> None:
        self._id, self._transitions, self._editions = agent.id, transitions, editions
        self._assembling, self._agent = assembling, agent
        self._lock = allocate_lock()
        self._known: dict[str, _KnownPath] = {}
        self._applied: set[str] = set()
        self._rechecks = Rechecks()
        self._waiting: dict[str, None] = {}

    def touch_waiting(self) -> None:
        """Touch the paths that were waiting until the store is available again. The next turn sends their instructions."""
        if self._waiting:
            self.touch((), TOUCH_KINDS[0])

    def touch(self, paths: Sequence[str], how: str) -> Touched:
        """Return the instructions for these paths that are new to the conversation."""
        waits.announce("build")
        waiting = self._take_waiting()
        try:
            current, down = self._transitions.current()
            if down:
                return self._postpone((*waiting, *paths), how, down)
            current = current or self._transitions.apply(["turn"], None).edition
            layout = self._assembling.layout
            if layout.touch is None or (how not in layout.touch.on and not waiting):
                return Touched()
            relevant = (*waiting, *paths) if how in layout.touch.on else waiting
            return self._touch(relevant, current, layout, layout.touch)
        except StoreError as error:
            return self._postpone((*waiting, *paths), how, [store_failure(error)])
        except BaseException:
            self._wait_for(waiting)
            raise

    def _touch(self, paths: Sequence[str], current: Edition, layout: Layout, touch: Touch) -> Touched:
        unknown = [path for path in dict.fromkeys(paths) if not self._is_known(path, current)]
        if not unknown:
            return Touched()
        reading = self._assembling.touch_reader.read(layout, touch, unknown)
        while True:
            answer = self._answer(reading, current, touch)
            texts = [message["content"] for message in answer.messages]
            state = with_unsent(state_of(current), texts, returned=True)
            updated = with_state(current, after_touch(state, answer.sent))
            published = self._editions.publish(self._id, current, updated)
            if published is not None:
                break
            current = self._transitions.current_or_new()
        if not answer.left_out:
            self._remember(unknown, reading, answer.choice, published)
        return answer.touched

    def _answer(self, reading: TouchReading, current: Edition, touch: Touch) -> TouchAnswer:
        return answer_touch(reading, touch, self._agent.resolved, file_texts(current), state_of(current).touched)

    def send_again(self, current: Edition) -> TouchAnswer | None:
        """Return what earlier touches sent before a compaction, in its current form, or None if there is nothing to send."""
        layout, again = self._assembling.layout, state_of(current).touched_again
        if layout.touch is None or not again:
            return None
        reading = self._assembling.touch_reader.read_again(layout, layout.touch, again)
        found = {
            name: tuple(entry for entry in entries if printable(entry.path) in again)
            for name, entries in reading.inputs.found.items()
        }
        reading = replace(reading, inputs=replace(reading.inputs, found=found))
        return self._answer(reading, current, layout.touch)

    # Known paths

    def check_files(self) -> None:
        """Forget the known paths if a file has changed since their instructions were sent, so that the next touch reads it.

        A touch checks only a few files. This checks all of them or, if there are many, those that were sent.
        """
        with self._lock:
            if self._known and not self._rechecks.are_all_unchanged(self._applied):
                self._forget()

    def _is_known(self, path: str, current: Edition) -> bool:
        with self._lock:
            known = self._known.get(path)
            if known is None or not known.is_sent(current, state_of(current)):
                return False
            if self._rechecks.is_unchanged(known.applied):
                return True
            self._forget()
            return False

    def _forget(self) -> None:
        self._known.clear()
        self._applied.clear()

    def _remember(self, paths: Iterable[str], reading: TouchReading, choice: Choice, current: Edition) -> None:
        state = state_of(current)
        files = {path: hash for path, hash in choice.hashes.items() if path in state.touched}
        sent = {entry.path for entries in reading.inputs.found.values() for entry in entries}
        applied = tuple(path for path, _ in reading.inputs.stamps if printable(path) in sent)
        known = _KnownPath(files, current.number, Rotation(applied))
        with self._lock:
            if self._rechecks.remember(reading.inputs.stamps):
                self._forget()
            self._applied.update(applied)
            for path in paths:
                self._known.pop(path, None)
                self._known[path] = known
            while len(self._known) > _MAX_KNOWN:
                self._known.pop(next(iter(self._known)))

    # While the store is down

    def _postpone(self, paths: Sequence[str], how: str, findings: Sequence[Finding]) -> Touched:
        layout = self._assembling.layout
        if layout.touch is None or how not in layout.touch.on:
            return Touched(findings=findings)
        self._wait_for(paths)
        message = f"the instructions for {join_paths(paths)} are sent when the store is back"
        return Touched(findings=(*findings, finding("touch-later", message)))

    def _wait_for(self, paths: Iterable[str]) -> None:
        with self._lock:
            self._waiting.update(dict.fromkeys(paths))
            while len(self._waiting) > _MAX_WAITING:
                self._waiting.pop(next(iter(self._waiting)))

    def _take_waiting(self) -> tuple[str, ...]:
        with self._lock:
            waiting, self._waiting = tuple(self._waiting), {}
        return waiting
