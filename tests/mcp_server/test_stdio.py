"""`foreword mcp` over standard input and output, asked by the official client."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from foreword import Agent, Tool, Workspace, assemble


@pytest.fixture(scope="module")
def answers(command, variables, ask_everything):
    program, *arguments = command()
    return ask_everything(stdio_client(StdioServerParameters(command=program, args=arguments, env=variables)), "auto")


def test_the_prompt_is_for_an_agent_that_can_load_skills(answers, workspace):
    place = Workspace(str(workspace / "shop"), home=str(workspace / "home"))
    agent = Agent(tools=[Tool("use_skill")])
    assert answers["prompt"] == assemble(place, agent).text
    assert answers["opal"] == answers["message"] == assemble(place, agent, layout="opal").text
    assert "greet: How to greet." in answers["prompt"]


def test_skills_are_resources_with_hashes(answers, workspace):
    text = (workspace / "shop/.agents/skills/greet/SKILL.md").read_text()
    files = {"SKILL.md": text.encode(), "logo.png": b"\x89PNG\xff", "references/names.md": b"Use first names.\n"}
    entry = {
        "uri": "skill://greet/SKILL.md",
        "frontmatter": {"name": "greet", "description": "How to greet.", "metadata": {"version": 2}},
        "resources": [
            {"uri": f"skill://greet/{path}", "digest": f"sha256:{sha256(data).hexdigest()}", "size": len(data)}
            for path, data in files.items()
        ],
    }
    assert answers["skills"] == [entry]
    assert answers["one"] == entry
    assert answers["skill"] == text
    assert answers["logo"] == "iVBOR/8="
    assert answers["kinds"] == ["text/markdown", "text/markdown", "image/png"]
    assert answers["extensions"] == {"io.modelcontextprotocol/skills": {}}
    assert answers["resources"] == ["foreword://prompt", "skill://greet/SKILL.md"]


def test_a_file_that_is_not_listed_cannot_be_read(answers):
    assert answers["refused"] == (
        "no resource 'skill://greet/.env'; resources/list and skills/list list those that exist"
    )


def test_tools_answer_in_text(answers, workspace):
    rule = workspace / "shop" / "api" / "AGENTS.md"
    assert answers["tools"] == ["use_skill", "read_plan", "write_plan", "why", "touch"]
    is_error, why = answers["why"]
    assert (is_error, why.startswith(f"waiting: {rule} (it waits for a file in {rule.parent}")) == (False, True)
    assert "Every route has a test." in answers["touch"][1]
    assert "Say hello." in answers["use_skill"][1]
    assert answers["write_plan"] == (False, "The plan has been saved.")
    assert answers["read_plan"] == (False, "1. Read.")
    assert answers["wrong"] == (True, "touch needs the argument 'paths'")


def test_there_is_a_prompt_for_each_layout_except_mirrors(answers):
    assert {"opal", "builder", "foreword"} <= set(answers["prompts"])
    assert "claude" not in answers["prompts"]


def test_a_missing_package_is_named_with_the_command_that_installs_it(workspace):
    script = (
        "import sys; sys.modules['mcp'] = None; from foreword.cli import main; sys.exit(main(['mcp', sys.argv[1]]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, str(workspace / "shop")],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert "mcp needs packages that are not installed" in result.stderr
