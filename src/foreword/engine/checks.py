"""What a caller may pass to the engine."""

from __future__ import annotations

from ..errors import expect
from ..vocabulary import Agent

TYPE_CHECKING = False


def check_agent(agent: Agent) -> None:
    """Refuse what is not an agent; its fields were checked when it was made."""
    expect("the agent", agent, Agent)
