"""The state that a conversation keeps between turns, stored as JSON with the edition in use. Pure."""

from __future__ import annotations

import json

from ..encoding.edition import ParseCache
from ..vocabulary import Edition, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


@value
class State:
    """The state that a conversation keeps between turns. For most conversations, it is empty.

    Fields:
        skills: The skills that were sent to the model in a message.
        skills_again: The skills that must be sent again after a compaction.
        in_prompt: The skill that has been in the system prompt since a compaction.
        prompt: The `text` that a hook replaced the system prompt with. It may be empty.
        announced: What messages have announced: edits of each section, and a hash of each tool; see `announcing.py`.
        unsent: The notices that no turn has sent yet.
        notices: The notices that were sent; see `notices.py`.
        active: The agent's `tools`, if they differ from those that the edition defines.
        is_compacted: Whether the messages were summarised since the last turn.
        gathered: The time at which the inputs were read, if that was before the edition was created.
        earlier: A hash of each message in earlier prompts, which a caller may still pass.
        touched: A hash of each file that was sent because a path was touched.
        touched_again: The touched files that must be sent again after a compaction.
        plan: The plan that the model has written.
        resources: The folders of `skills` and `packs` that were added while the conversation ran.
        trigger: The event for which this edition was built. Empty for the first edition.
        retired: A hash of each announcement in earlier editions, which a caller may still pass.
        left: When a turn was first taken with another provider or model than the edition's, in seconds.
    """

    skills: Sequence[str] = ()
    skills_again: Sequence[str] = ()
    in_prompt: str = ""
    prompt: Mapping[str, str] | None = None
    announced: Mapping[str, Any] = {}
    unsent: Sequence[Mapping[str, Any]] = ()
    notices: Sequence[Mapping[str, Any]] = ()
    active: Mapping[str, Any] | None = None
    is_compacted: bool = False
    gathered: str = ""
    earlier: Sequence[str] = ()
    touched: Mapping[str, str] = {}
    touched_again: Sequence[str] = ()
    plan: str = ""
    resources: Mapping[str, Any] = {}
    trigger: str = ""
    retired: Sequence[str] = ()
    left: int = 0


_FIELDS = tuple(State.__annotations__)


def _parse(text: str) -> State:
    stored = json.loads(text)
    return State(**{name: stored[name] for name in _FIELDS if name in stored})


_states = ParseCache(_parse)


def state_of(edition: Edition) -> State:
    """Return the state that is stored with an edition."""
    state: State = _states[edition.state]
    return state


def trigger_of(edition: Edition) -> str | None:
    """Return the event for which an edition was built: `start` for the first one, and None if an older Foreword did not store it."""
    return "start" if edition.number == 1 else state_of(edition).trigger or None


def with_state(edition: Edition, state: State) -> Edition:
    """Return the edition with this state, or the same edition if its state is already equal."""
    stored = {name: content for name, content in state.__dict__.items() if content}
    text = json.dumps(stored, sort_keys=True)
    return edition if text == edition.state else replace(edition, state=text)


def update_state(edition: Edition, **changes: Any) -> Edition:
    """Return the edition with some fields of its state changed."""
    return with_state(edition, replace(state_of(edition), **changes))


def after_summary(state: State, drop_skills: bool = False) -> State:
    """Return the state after the messages were summarised: their content is forgotten, and what was in use must be sent again.

    With `drop_skills`, skills are forgotten too: the model gets one again when it uses it.
    """
    skills_again = () if drop_skills else tuple(dict.fromkeys((*state.skills_again, *state.skills)))
    touched_again = tuple(dict.fromkeys((*state.touched_again, *state.touched)))
    unsent = tuple(notice for notice in state.unsent if "added" in notice)  # no summary contains them
    return replace(
        state,
        skills=(),
        skills_again=skills_again,
        in_prompt="" if drop_skills else state.in_prompt,
        announced={},
        notices=(),
        unsent=unsent,
        touched={},
        touched_again=touched_again,
    )


def after_use(state: State, skill: str) -> State:
    """Return the state after a skill was sent to the model: it is in use and need not be sent again."""
    skills_again = [name for name in state.skills_again if name != skill]
    return replace(state, skills=tuple(dict.fromkeys((*state.skills, skill))), skills_again=skills_again)


def after_touch(state: State, sent: Mapping[str, str]) -> State:
    """Return the state after these files were sent."""
    if not sent:
        return state
    again = tuple(path for path in state.touched_again if path not in sent)
    return replace(state, touched={**state.touched, **sent}, touched_again=again)
