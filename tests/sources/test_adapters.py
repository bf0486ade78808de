"""The private parts of other packages that the adapters rely on exist, and only the adapters use them."""

import importlib
import re
import threading
from importlib.metadata import requires
from pathlib import Path

import pytest

import foreword
from foreword.sources.ryaml_adapter import yaml_parser
from foreword.sources.watchfiles_adapter import Watcher

PRIVATE_NAMES = [
    ("ryaml._ryaml", "loads", "ryaml_adapter.py"),
    ("watchfiles._rust_notify", "RustNotify", "watchfiles_adapter.py"),
    ("watchfiles._rust_notify", "WatchfilesRustInternalError", "watchfiles_adapter.py"),
]


@pytest.mark.parametrize(("module", "name", "adapter"), PRIVATE_NAMES)
def test_each_private_name_exists_and_is_used_in_one_file(module, name, adapter):
    assert callable(getattr(importlib.import_module(module), name))
    sources = Path(foreword.__file__).parent.rglob("*.py")
    assert {path.name for path in sources if module in path.read_text()} == {adapter}


@pytest.mark.parametrize("package", ["ryaml", "watchfiles"])
def test_the_version_is_bounded_above(package):
    requirements = [requirement for requirement in requires("foreword") if re.match(rf"{package}\b", requirement)]
    assert requirements and all("<" in requirement for requirement in requirements)


def test_yaml_is_parsed_and_invalid_yaml_is_a_value_error():
    assert yaml_parser()("a: [1, x]") == {"a": [1, "x"]}
    with pytest.raises(ValueError, match="line 1 column"):
        yaml_parser()("a: b: c")


def test_the_watcher_reports_events_timeouts_and_stops(tmp_path):
    watcher = Watcher([str(tmp_path)])
    assert watcher.events(1, None) == set()
    (tmp_path / "new").write_text("")
    assert str(tmp_path / "new") in {path for _, path in watcher.events(0, None)}
    stop = threading.Event()
    stop.set()
    assert watcher.events(0, stop) is None
    watcher.close()
