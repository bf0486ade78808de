"""Run a released agent with `foreword mcp` as its MCP server, and check that a tool's result reaches the model.

python -m peers.mcp
"""

from __future__ import annotations

import json
import shutil
import sys

from .__main__ import SCRATCH, folder_of
from .install import RunError, find_installed, install
from .programs import read_programs, run_program
from .provider import Provider
from .tree import write_files
from .wires import messages, tool_names, wire

AGENT = "copilot"
TOOL = "foreword-touch"
RULE = "Every route has a test."
CONFIG = "home/.copilot/mcp-config.json"


def main() -> int:
    """Run the agent and print what happened. Returns 1 if the instructions did not reach the model."""
    program = read_programs()[AGENT]
    try:
        install(folder_of(program), program.program, f"{program.npm}@{program.version}", "", program.node)
        installed = find_installed(folder_of(program), program.program, program.node)
        base = str(SCRATCH / "runs" / "mcp")
        shutil.rmtree(base, ignore_errors=True)
        server = {
            "type": "local",
            "command": sys.executable,
            "args": ["-m", "foreword", "mcp", "--store", f"{base}/store.db"],
            "tools": ["*"],
        }
        rules = {"repo/AGENTS.md": "Handlers stay thin.\n", "repo/api/AGENTS.md": f"{RULE}\n"}
        write_files(base, {**rules, CONFIG: json.dumps({"mcpServers": {"foreword": server}})})
        with Provider({TOOL: {"paths": ["api/routes.py"]}}) as provider:
            output = run_program(program, installed, provider.url, base, "repo")
            requests = [(path, body) for path, body in provider.recorder.requests if wire(path)]
    except RunError as error:
        print(f"{program.title} {program.version}: not run: {error}")
        return 1
    if not any(TOOL in tool_names(body) for _, body in requests):
        print(f"{program.title} {program.version}: no request offers {TOOL}: {output[-300:].strip()}")
        return 1
    last = [text for role, texts in messages(*requests[-1]) if role == "tool" for text in texts]
    is_sent = any(RULE in text for text in last)
    print(f"{program.title} {program.version}: {TOOL} {'sends' if is_sent else 'does not send'} the rule to the model")
    return int(not is_sent)


if __name__ == "__main__":
    sys.exit(main())
