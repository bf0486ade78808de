"""Ctrl-C is how a server is stopped, so each of them then exits with status 0."""

import json
import os
import signal
import subprocess
import sys

import pytest

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
REQUEST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}) + "\n"


@pytest.mark.parametrize(
    "command",
    [
        ["serve", "--port", "0", "--store", ":memory:"],
        ["mcp"],
        ["mcp", "--http", "127.0.0.1:0"],
        ["proxy", "--port", "0", "--upstream", "http://127.0.0.1:9"],
        ["watch", "--json"],
    ],
    ids=" ".join,
)
def test_a_server_exits_with_status_0_on_ctrl_c(tree, command):
    tree({"w/AGENTS.md": "Be brief.", "home": None})
    variables = {"PATH": os.environ["PATH"], "HOME": tree.path("home"), "LC_ALL": "C.UTF-8"}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    arguments = [sys.executable, "-m", "foreword", *command]
    with subprocess.Popen(arguments, text=True, cwd=tree.path("w"), env=variables, **pipes) as process:
        if command == ["mcp"]:
            process.stdin.write(REQUEST)
            process.stdin.flush()
        assert process.stdout.readline()  # it is listening, or has answered
        process.send_signal(signal.SIGINT)
        # This also closes standard input: until then, a thread of `mcp` waits for the client's next line.
        _, error = process.communicate(timeout=60)
        logged = [line for line in error.splitlines() if " info service  st" not in line]  # its start and its stop
        assert (process.returncode, logged) == (0, [])
