"""The examples in docs/frameworks.md run, as far as their frameworks are installed."""

from __future__ import annotations

import asyncio
import gc
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/frameworks.md"
EXAMPLES = dict(re.findall(r'```py title="(\w+)_agent\.py"\n(.*?)```', PAGE.read_text(), flags=re.DOTALL))
MODULES = {"openai_agents": "agents", "google_adk": "google.adk"}


def is_installed(name):
    module = MODULES.get(name, name)
    return find_spec(module.partition(".")[0]) is not None and find_spec(module) is not None


RUNNABLE = [name for name in EXAMPLES if "FOREWORD_ALL_FRAMEWORKS" in os.environ or is_installed(name)]


# Frameworks warn about what they are built on, and do not close their connections.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNNABLE)
def test_an_example_sends_the_prompt(ten_turns, capsys, name):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # where frameworks run what is synchronous in the example
    try:
        exec(compile(EXAMPLES[name], f"{name}_agent.py", "exec"), {"__name__": "__main__"})
    finally:
        loop.close()
        asyncio.set_event_loop(None)
        gc.collect()  # the warnings about connections that the example leaves open belong to this test
    assert "make test" in ten_turns.requests[-1].prompt
    assert capsys.readouterr().out.strip()


def test_an_adapter_takes_at_most_five_lines():
    assert {name: len(lines_of(code)) for name, code in EXAMPLES.items() if len(lines_of(code)) > 5} == {}


def lines_of(code):
    """The lines that Foreword needs: those that mention it or its conversation."""
    return [line for line in code.splitlines() if re.search("foreword|Foreword|onversation", line)]
