"""A workspace with instructions and a skill, and the questions that a client asks over each transport."""

from __future__ import annotations

import asyncio
import os
import sys

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

SKILL = "---\nname: greet\ndescription: How to greet.\nmetadata:\n  version: 2\n---\nSay hello.\n"


@pytest.fixture(scope="package")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "home").mkdir()
    shop = folder / "shop"
    skill = shop / ".agents" / "skills" / "greet"
    (skill / "references").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "references" / "names.md").write_text("Use first names.\n")
    (skill / "logo.png").write_bytes(b"\x89PNG\xff")
    (skill / ".env").write_text("PASSWORD=planted\n")
    (skill / "credentials.json").write_text("planted\n")
    (skill / "out").symlink_to(folder / "secret.txt")
    (folder / "secret.txt").write_text("planted\n")
    (shop / "AGENTS.md").write_text("Handlers stay thin.\n")
    (shop / "api").mkdir()
    (shop / "api" / "AGENTS.md").write_text("Every route has a test.\n")
    return folder


@pytest.fixture(scope="package")
def variables(workspace):
    return {"PATH": os.environ["PATH"], "HOME": str(workspace / "home"), "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="package")
def command(workspace):
    """Return a function that returns the command line of a server for the workspace."""
    start = [sys.executable, "-m", "foreword", "mcp", str(workspace / "shop"), "--store", str(workspace / "store.db")]
    return lambda *options: [*start, *options]


class SkillsParams(types.RequestParams):
    uri: str | None = None


class SkillsResult(types.Result):
    skills: list[dict] | None = None
    skill: dict | None = None


async def skills_request(client, method, **params):
    request = types.Request(method=method, params=SkillsParams(**params))
    return await client.session.send_request(request, SkillsResult)


async def call(client, name, /, **arguments):
    result = await client.call_tool(name, arguments)
    return result.is_error, result.content[0].text


@pytest.fixture(scope="package")
def ask_everything():
    """Return a function that returns a client's answers to one question of each kind, over a new connection."""
    return _ask_everything


def _ask_everything(transport, mode):
    async def run():
        async with Client(transport, mode=mode) as client:
            try:
                await client.read_resource("skill://greet/.env")
                refused = ""
            except MCPError as error:
                refused = error.error.message
            return {
                "extensions": client.server_capabilities.extensions,
                "tools": [tool.name for tool in (await client.list_tools()).tools],
                "resources": [resource.uri for resource in (await client.list_resources()).resources],
                "templates": [
                    template.uri_template for template in (await client.list_resource_templates()).resource_templates
                ],
                "prompt": (await client.read_resource("foreword://prompt")).contents[0].text,
                "opal": (await client.read_resource("foreword://prompt/opal")).contents[0].text,
                "skill": (await client.read_resource("skill://greet/SKILL.md")).contents[0].text,
                "logo": (await client.read_resource("skill://greet/logo.png")).contents[0].blob,
                "kinds": [
                    (await client.read_resource(uri)).contents[0].mime_type
                    for uri in ("foreword://prompt/opal", "skill://greet/SKILL.md", "skill://greet/logo.png")
                ],
                "refused": refused,
                "skills": (await skills_request(client, "skills/list")).skills,
                "one": (await skills_request(client, "skills/get", uri="skill://greet/SKILL.md")).skill,
                "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
                "message": (await client.get_prompt("opal")).messages[0].content.text,
                "why": await call(client, "why", path="api/AGENTS.md"),
                "touch": await call(client, "touch", paths=["api/routes.py"]),
                "use_skill": await call(client, "use_skill", name="greet"),
                "write_plan": await call(client, "write_plan", plan="1. Read."),
                "read_plan": await call(client, "read_plan"),
                "wrong": await call(client, "touch", files=["a"]),
            }

    return asyncio.run(run())
