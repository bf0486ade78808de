"""An `Assembler` that has built other prompts gives the same prompt as a new one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import NOW

from foreword import Agent, Assembler, Tool

TEXT = st.sampled_from(["", " ", "x", "a\nb", "```", "<!-- open", "</tools>", "\u200b", "{{date}}"])
# Few names, so that many agents differ only in the texts of their tools.
TOOL = st.builds(
    Tool,
    st.sampled_from(["read", "other"]),
    snippet=TEXT,
    guidelines=st.lists(TEXT, max_size=2),
    loads_skills=st.sampled_from([None, True]),
)
TOOLS = st.none() | st.lists(TOOL, max_size=2, unique_by=lambda tool: tool.name)
AGENT = st.builds(Agent, tools=TOOLS, session=st.sampled_from(["", "s1"]), plan=TEXT)


@pytest.mark.parametrize("layout", ["foreword", "pi", "opal"])
@given(agents=st.lists(AGENT, min_size=2, max_size=4), sentences=st.none() | st.lists(TEXT, min_size=4, max_size=4))
def test_earlier_agents_do_not_change_a_prompt(module_tree, layout, agents, sentences):
    module_tree({"w/.git": None, "w/AGENTS.md": "Be brief.\n```\n"})
    workspace = module_tree.workspace()
    rules = [lambda _: sentences[number]] if sentences else []
    assembler = Assembler(workspace, layout, rules=rules)
    for number, agent in enumerate(agents):
        if number and agents[number - 1] == agent:
            continue  # the prompt is the same object, without asking the rules again
        expected = Assembler(workspace, layout, rules=rules).prompt(agent, NOW)
        found = assembler.prompt(agent, NOW)
        assert found == expected
        assert [passage.pieces for passage in found.passages] == [passage.pieces for passage in expected.passages]
