"""Services killed under load; for hundreds of kills, run `python tests/service/machines/load.py`."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from foreword.vocabulary import Edition

pytestmark = pytest.mark.xdist_group("machines")


def test_no_acknowledged_edition_is_lost_when_services_are_killed():
    script = Path(__file__).parent / "load.py"
    result = subprocess.run([sys.executable, str(script), "--kills", "5"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert result.stdout.endswith("every response was correct, and nothing was lost\n")


def test_the_load_notices_a_lost_or_changed_edition(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    load = importlib.import_module("load")
    for editions in ([], [Edition(1, "another")], [Edition(1, "answered"), Edition(3, "answered")]):
        world = SimpleNamespace(failures=[])
        conversation = load.ConversationClient(world, "t", "builder", None)
        conversation.editions, conversation.newest = {1: ("answered", [])}, 1
        conversation.check(editions)
        assert world.failures
