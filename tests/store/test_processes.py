"""Several processes that use one store: concurrent ones agree, and a killed one leaves nothing incomplete."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "processes.py"


def run(*words):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, words)], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)


def test_many_processes_may_open_a_new_store_at_once(url):
    came = run("open", url)
    assert came["told"] == [True] * 16
    assert (came["wrong"], came["stats"]["conversations"]) == ([], 16)


def test_processes_that_publish_at_once_get_the_same_bytes(url):
    came = run("publish", url)
    for told in (came["first"], came["second"]):
        assert isinstance(told[0], list), told[0]
        assert len(set(told[0])) == 10, "ten conversations"
        assert told == [told[0]] * 16
    assert came["wrong"] == []
    counts = {"conversations": 10, "editions": 20, "texts": 0, "bytes": 0, "versions": 32}
    assert came["stats"] | {"bytes": 0, "texts": 0} == counts


def test_a_forked_process_can_use_the_store(url):
    came = run("fork", url)
    assert came["told"] == [True] * 17
    assert (came["wrong"], came["stats"]["conversations"]) == ([], 17)


def test_a_killed_process_leaves_every_conversation_complete(url):
    came = run("kill", url, "--many", 200)
    assert (came["broken"], came["wrong"]) == ([], [])
    assert came["killed"] > 100, "the point is to hit it in the middle"
    assert came["stats"]["editions"] > 200
