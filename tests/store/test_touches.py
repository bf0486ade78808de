"""Touches by several processes on one store: each file is sent once."""

import subprocess
import sys

PROCESS = """
import json, sys
from foreword import Agent, Conversations, Workspace
url, cwd, home = sys.argv[1:]
conversation = Conversations(url).open("t", Workspace(cwd, home=home), Agent())
conversation.turn("hello")
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps([conversation.touch([f"d{number}/x.py"]).text for number in range(20)]))
"""


def test_three_processes_send_each_file_once(tree, url):
    files = {f"w/d{number}/AGENTS.md": f"only {number} here" for number in range(20)}
    tree({**files, "w/.git": None, "w/.claude/rules/all.md": "---\npaths: '*.py'\n---\nfor python\n"})
    command = [sys.executable, "-c", PROCESS, url, tree.path("w"), tree.path("home")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(3)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    sent = "".join(process.communicate()[0] for process in running)
    assert [sent.count(f"only {number} here") for number in range(20)] == [1] * 20
    assert sent.count("for python") == 1
