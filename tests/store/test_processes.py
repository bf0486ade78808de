"""Several processes that use one store: concurrent ones agree, and a killed one leaves nothing incomplete."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "processes.py"


def run(*words):
    result = subprocess.run([sys.executable, str(SCRIPT), *map(str, words)], capture_output=True, text=True)
    assert not result.stderr, result.stderr
    return json.loads(result.stdout)


def test_many_processes_can_open_a_new_store_at_once(url):
    result = run("open", url)
    assert result["answers"] == [True] * 16
    assert (result["wrong"], result["stats"]["conversations"]) == ([], 16)


def test_processes_that_publish_at_once_get_the_same_bytes(url):
    result = run("publish", url)
    for answers in (result["first"], result["second"]):
        assert isinstance(answers[0], list), answers[0]
        assert len(set(answers[0])) == 10, "ten conversations"
        assert answers == [answers[0]] * 16
    assert result["wrong"] == []
    counts = {"conversations": 10, "editions": 20, "texts": 0, "bytes": 0, "versions": 32}
    assert result["stats"] | {"bytes": 0, "texts": 0} == counts


def test_a_forked_process_can_use_the_store(url):
    result = run("fork", url)
    assert result["answers"] == [True] * 17
    assert (result["wrong"], result["stats"]["conversations"]) == ([], 17)


def test_a_killed_process_leaves_every_conversation_complete(url):
    result = run("kill", url, "--kills", 60)
    assert (result["broken"], result["wrong"]) == ([], [])
    assert result["killed"] > 30, "the point is to hit it in the middle"
    assert result["stats"]["editions"] > 60
