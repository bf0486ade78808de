"""An evaluation of your own agent with and without an instruction, without clones: `assemble(without=…)` leaves it out of the prompt.

    python examples/effect/agent.py . AGENTS.md#Tests

Replace `succeeds` by a call of your agent with this system prompt, on a task that you can check.
"""

import sys

from foreword import Agent, Tool, Workspace, assemble


def succeeds(system: str, seed: int) -> bool:
    """Run the agent on a task, and check the result. This stand-in only looks whether it was told to run the tests."""
    return "test" in system.lower() or seed % 3 == 0


def success_rate(folder: str, without: list[str], runs: int = 20) -> float:
    """Return how often the agent succeeds with a prompt that lacks these instructions."""
    prompt = assemble(Workspace(folder), Agent(tools=[Tool("read_file"), Tool("shell")]), without=without)
    return sum(succeeds(prompt.text, seed) for seed in range(runs)) / runs


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    print(f"with everything: {success_rate(folder, []):.0%}")
    for name in names:
        print(f"without {name}: {success_rate(folder, [name]):.0%}")
