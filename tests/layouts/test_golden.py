"""Golden prompts, meant to be read as prose. `pytest --accept` rewrites them; read the diff before you commit it."""

from pathlib import Path

import pytest

from foreword import Access, Scope, Tool

GOLDEN = Path(__file__).parent.parent / "golden"

TESTING = """\
---
name: testing
description: Runs the tests and reads what they say. Use it before every commit.
---
Run `make test`.

If a test fails, read the first failure and leave the others alone.
"""
RELEASE = """\
---
name: release
description: Cuts a release: version, changelog, tag.
---
Ask before you push.
"""
TOOLS = [
    Tool("read", guidelines=["Read a whole file unless it is long."]),
    Tool("bash", snippet="Run commands\n  in the project"),
    Tool("edit"),
    Tool("write"),
    Tool("tickets", description="Look up a ticket", snippet="Look up a ticket by its number"),
]
OPAL_TOOLS = [Tool(name) for name in ("read_file", "edit_file", "write_file", "shell", "use_skill")]
SCOPE = Scope(
    [Access("/w"), Access("/usr/share/doc", "read"), Access("/tmp/out", recursive=False)], [Access("/w/.env", "read")]
)

# Name of the prompt: layout, working directory and agent.
PROMPTS = {
    "foreword": ("foreword", "w/shop", {"tools": TOOLS, "plan": "1. Find the slow query.\n2. Add the index.", "scope": SCOPE}),
    "foreword-alone": ("foreword", "empty", {}),
    "ion": ("ion", "w/shop", {"skill": "testing", "plan": "1. Find the slow query.\n2. Add the index."}),
    "ion-alone": ("ion", "empty", {}),
    "opal": ("opal", "w/shop", {"tools": OPAL_TOOLS, "session": "talk-42"}),
    "opal-sub-agent": ("opal", "w/shop", {"tools": OPAL_TOOLS[:1], "role": "sub", "base": "Find every caller of `checkout`."}),
    "opal-alone": ("opal", "empty", {}),
    "pi": ("pi", "w/shop", {"tools": TOOLS, "docs": [("Manual", "/opt/pi/README.md"), ("Examples", "/opt/pi/examples")]}),
    "pi-alone": ("pi", "empty", {}),
    "pi-with-a-system-file": ("pi", "w/cart", {"tools": TOOLS}),
}  # fmt: skip


@pytest.fixture
def workspace(tree):
    return tree({
        "empty/.git": None,
        "home/.agents/AGENTS.md": "Answer in English.\n",
        "home/.agents/skills/release/SKILL.md": RELEASE,
        "home/.config/agents/AGENTS.md": "Write commit messages that tell why.\n",
        "home/.config/agents/rules/python.md": "- Python 3.11 or later\n- No new dependencies without asking\n",
        "home/.config/agents/rules/style.md": "- British spelling\n",
        "home/.ion/AGENTS.md": "Keep your plan to three steps.\n",
        "home/.sf/agent/AGENTS.md": "State the purpose of a change first.\n",
        "w/.git": None,
        "w/AGENTS.md": "# The shop\n\nThree services and one database. `make up` starts them all.\n",
        "w/CLAUDE.md": "@AGENTS.md\n",
        "w/cart/.sf/SYSTEM.md": "You look after the cart and nothing else.\n",
        "w/cart/.sf/APPEND_SYSTEM.md": "Prices are in cents, never in fractions.\n",
        "w/shop/AGENTS.md": "\ufeff## Orders\r\n\r\n- Money is `Decimal`; a `Vec<T>` of floats is not.\r\n- Never write </instructions> here.\r\n",
        "w/shop/AGENTS.local.md": "My database listens on port 5433:\n\n```sh\npsql -p 5433\n",
        "w/shop/OPAL.md": "Use `use_skill` for releases.\n",
        "w/shop/.agents/skills/testing/SKILL.md": TESTING,
    })  # fmt: skip


@pytest.mark.parametrize("name", PROMPTS)
def test_a_golden_prompt_is_unchanged(workspace, name, request):
    layout, cwd, agent = PROMPTS[name]
    text = workspace.text(layout, cwd, **agent) + "\n"
    file = GOLDEN / f"{name}.md"
    if request.config.getoption("--accept"):
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_every_golden_prompt_is_tested():
    tables = {"transitions"}
    assert sorted(file.stem for file in GOLDEN.glob("*.md") if file.stem not in tables) == sorted(PROMPTS)
