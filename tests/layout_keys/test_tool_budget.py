"""The key `tool_budget`: tools are counted and reported, by tool and by MCP server, but never cut."""

import pytest

from foreword import Agent, Tool, assemble

TOOLS = [
    Tool("shell", "Runs a command in a shell and returns its output."),
    Tool("mcp__gh__issue", "Opens an issue. " * 20),
    Tool("mcp__gh__pull", "Opens a pull request. " * 20),
    Tool("ask", "Asks.", server="desk"),
    Tool("later", "Is found by a search. " * 500, defer=True),
]


@pytest.fixture
def prompt_with(tree):
    tree({"w/.git/HEAD": ""})

    def prompt_with(budget, tools=TOOLS):
        return assemble(tree.workspace("w"), Agent(tools=tools), "foreword", assignments=[("tool_budget", budget)])

    return prompt_with


def test_tools_over_the_budget_are_reported_with_the_most_expensive_first(prompt_with):
    [finding] = prompt_with(100).findings
    assert (finding.code, finding.severity) == ("budget-tools", "warning")
    before, after = finding.message.split("; ")
    assert before.startswith("the definitions of 5 tools have ") and before.endswith(" tokens")
    assert after.startswith("their budget is 100. The largest: the server 'gh' ")
    assert ", the tool 'shell' " in after and ", the server 'desk' " in after and "later" not in after


def test_tools_within_the_budget_are_not_reported(prompt_with):
    assert prompt_with(1_000).findings == ()
    assert prompt_with(1, ()).findings == ()


def test_the_budget_changes_only_the_findings(prompt_with):
    assert prompt_with(1).text == prompt_with(10_000).text
