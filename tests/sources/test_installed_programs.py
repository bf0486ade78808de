"""Find the version of an installed program without running it."""

from __future__ import annotations

import json

import pytest

from foreword.sources.installed_programs import installed_version


def executable(path, text="#!/bin/sh\nexit 1\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_folder(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def npm_package(tmp_path, bin_folder, manifest):
    program = executable(tmp_path / "lib/node_modules/@maker/agent/dist/cli.js")
    (tmp_path / "lib/node_modules/@maker/agent/package.json").write_text(manifest)
    (bin_folder / "agent").symlink_to(program)


def test_a_program_that_is_not_installed(bin_folder):
    assert installed_version("agent", str(bin_folder)) == ""


def test_an_npm_package(tmp_path, bin_folder):
    npm_package(tmp_path, bin_folder, json.dumps({"version": "2.1.340"}))
    assert installed_version("agent", str(bin_folder)) == "2.1.340"


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"version": 3}', "\x00" * 10, "[" * 100_000])
def test_a_damaged_manifest_has_no_version(tmp_path, bin_folder, manifest):
    npm_package(tmp_path, bin_folder, manifest)
    assert installed_version("agent", str(bin_folder)) == ""


def test_a_program_that_is_named_after_its_version(tmp_path, bin_folder):
    (bin_folder / "agent").symlink_to(executable(tmp_path / "share/agent/versions/2.1.339"))
    assert installed_version("agent", str(bin_folder)) == "2.1.339"


def test_a_python_package_in_its_own_environment(tmp_path, bin_folder):
    (bin_folder / "agent").symlink_to(executable(tmp_path / "tools/agent/bin/agent"))
    packages = tmp_path / "tools/agent/lib/python3.12/site-packages"
    for name, script in (("other-9.9.dist-info", "another"), ("maker_agent-3.0.2.dist-info", "agent")):
        (packages / name).mkdir(parents=True)
        (packages / name / "entry_points.txt").write_text(f"[console_scripts]\n{script} = maker.cli:main\n")
    assert installed_version("agent", str(bin_folder)) == "3.0.2"
