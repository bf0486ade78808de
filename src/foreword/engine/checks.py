"""Check the engine's arguments."""

from __future__ import annotations

from ..errors import expect
from ..vocabulary import Agent

TYPE_CHECKING = False


def check_agent(agent: Agent) -> None:
    """Raise a CallError unless this is an agent. Its fields were checked when it was created."""
    expect("the agent", agent, Agent)
