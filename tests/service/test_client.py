"""The TypeScript client: generated from the table of routes, and usable from Node without installing anything."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NODE = next(iter(sorted(ROOT.glob(".tools/nodejs*/bin/node"))), None) or shutil.which("node")


def generator():
    spec = importlib.util.spec_from_file_location("generate_client", ROOT / "clients/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_client_is_up_to_date():
    module = generator()
    for name, text in module.files().items():
        assert (module.FOLDER / name).read_text() == text, f"run python clients/generate.py ({name})"


@pytest.mark.skipif(not NODE, reason="needs Node")
def test_the_client_works_from_node(guarded_service):
    command = [str(NODE), str(ROOT / "tests/service/client.mjs"), guarded_service.url, guarded_service.token]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {
        "turn": ["node/ü 1", 1],
        "edition": [True, True],
        "drift": ["a", "b"],
        "why": True,
        "page": ["node/ü 1"],
        "metrics": True,
        "events": ["start", "opal"],
        "layout": [422, "invalid-layout", True, [1]],
        "missing": [404, "not-found", True, []],
        "token": [401, "invalid-token", True, []],
    }
