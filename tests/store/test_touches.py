"""Touches by several processes on one store: each file is sent once."""

import subprocess
import sys

PROCESS = """
import json, os, sys, time
from foreword import Agent, Conversations, Workspace
url, cwd, home, go = sys.argv[1:]
conversation = Conversations(url).open("t", Workspace(cwd, home=home), Agent())
conversation.turn("hello")
print("ready", flush=True)
while not os.path.exists(go):
    time.sleep(0.001)
print(json.dumps([conversation.touch([f"d{number}/x.py"]).text for number in range(20)]))
"""


def test_three_processes_send_each_file_once(tree, url):
    files = {f"w/d{number}/AGENTS.md": f"only {number} here" for number in range(20)}
    tree({**files, "w/.git": None, "w/.claude/rules/all.md": "---\npaths: '*.py'\n---\nfor python\n"})
    go = tree.path("go")
    command = [sys.executable, "-c", PROCESS, url, tree.path("w"), tree.path("home"), go]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    with open(go, "w"):
        pass
    sent = "".join(process.communicate()[0] for process in running)
    assert [sent.count(f"only {number} here") for number in range(20)] == [1] * 20
    assert sent.count("for python") == 1
