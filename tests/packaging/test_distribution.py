"""Build wheel and sdist, and run the wheel from an otherwise empty environment."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from foreword import __version__ as VERSION

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")

# One worker runs all of these, so that the package is built only once.
pytestmark = pytest.mark.xdist_group("distribution")


def call(*command: str | Path, env: dict[str, str] | None = None) -> str:
    """Standard output of a command that must succeed; if it fails, the assertion shows its output."""
    result = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}"
    return result.stdout


def uv(*arguments: str | Path) -> None:
    call(UV, *arguments, "--python", sys.executable)


def wheel_in(folder: Path) -> Path:
    return folder / f"foreword-{VERSION}-py3-none-any.whl"


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """A folder with the wheel and the sdist built from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--wheel", "--sdist", "--out-dir", folder)
    return folder


@pytest.fixture(scope="session")
def run_installed(dist, tmp_path_factory):
    """Run `foreword` from an environment that contains only the wheel and its requirements, with an empty home."""
    command, environment = install(wheel_in(dist), tmp_path_factory)
    return lambda *arguments: call(command, *arguments, env=environment)


def install(what: Path | str, tmp_path_factory):
    """Install this into a fresh environment; return its `foreword` command, and environment variables with an empty home."""
    venv, home = tmp_path_factory.mktemp("installed") / "venv", tmp_path_factory.mktemp("home")
    uv("venv", venv)
    call(UV, "pip", "install", "--python", venv / "bin" / "python", what)
    return venv / "bin" / "foreword", {"HOME": str(home), "PATH": os.defpath}


def test_the_wheel_contains_the_entire_package(dist):
    own_files = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/foreword").rglob("*") if path.is_file()
    }
    own_files = {name for name in own_files if "__pycache__" not in name}
    assert any(name.startswith("foreword/packs/std/") and name.endswith(".toml") for name in own_files)
    assert own_files - names_in(wheel_in(dist)) == set()


def test_the_wheel_contains_nothing_else(dist):
    assert {name.split("/")[0] for name in names_in(wheel_in(dist))} == {"foreword", f"foreword-{VERSION}.dist-info"}


def test_the_sdist_builds_the_same_wheel_without_node(dist, tmp_path):
    build = [UV, "build", "--wheel", "--out-dir", tmp_path, "--python", sys.executable]
    call(*build, dist / f"foreword-{VERSION}.tar.gz", env=without_node(tmp_path))
    assert names_in(wheel_in(tmp_path)) == names_in(wheel_in(dist))


def without_node(folder: Path) -> dict[str, str]:
    """The environment variables with an empty PATH."""
    (folder / "empty").mkdir()
    return {**os.environ, "PATH": str(folder / "empty")}


def test_the_page_is_in_wheel_and_sdist(dist):
    page = {"index.html", "app.js", "style.css", "icon.svg", "licences.txt"}
    assert {f"foreword/service/static/{name}" for name in page} - names_in(wheel_in(dist)) == set()
    with tarfile.open(dist / f"foreword-{VERSION}.tar.gz") as archive:
        names = set(archive.getnames())
    assert {f"foreword-{VERSION}/src/foreword/service/static/{name}" for name in page} - names == set()
    assert not [name for name in names if "node_modules" in name]


def test_the_sdist_contains_what_its_tests_need(dist):
    with tarfile.open(dist / f"foreword-{VERSION}.tar.gz") as archive:
        names = set(archive.getnames())
    required = {"LICENSE", "Makefile", "pyproject.toml", "uv.lock", "tests/packaging/test_distribution.py"}
    required |= {
        "README.md",
        "SECURITY.md",
        "mkdocs.yml",
        "docs/index.md",
        "docs/images/blame.svg",
        "examples/pretend.py",
    }
    assert {f"foreword-{VERSION}/{name}" for name in required} - names == set()


def test_the_wheel_has_its_metadata(dist):
    with zipfile.ZipFile(wheel_in(dist)) as archive:
        metadata = message_from_bytes(archive.read(f"foreword-{VERSION}.dist-info/METADATA"))
    assert metadata["License-Expression"] == "Apache-2.0" and metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in metadata.get_all("Classifier") and "foreword/py.typed" in names_in(wheel_in(dist))


def test_each_extra_adds_its_requirements(dist):
    """Each extra adds requirements, `all` adds all of them, and none are required without an extra."""
    with zipfile.ZipFile(wheel_in(dist)) as archive:
        metadata = message_from_bytes(archive.read(f"foreword-{VERSION}.dist-info/METADATA"))
    extras = set(metadata.get_all("Provides-Extra"))
    rows = [requirement.partition(";") for requirement in metadata.get_all("Requires-Dist")]
    requirements = {extra: {name for name, _, when in rows if f"extra == '{extra}'" in when} for extra in extras}
    assert extras == {"completion", "serve", "postgres", "mcp", "otel", "tokens", "all"} and all(requirements.values())
    assert requirements["all"] == set().union(*(requirements[extra] for extra in extras - {"all"}))
    assert requirements["all"].isdisjoint(name for name, _, when in rows if not when)


def test_the_page_on_installing_describes_each_extra():
    rows = re.findall(r"^\| `(\w+)` \| .+ \|$", (ROOT / "docs/installing.md").read_text(), re.MULTILINE)
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert rows == list(metadata)


def test_an_extra_is_installed_with_the_wheel(dist, tmp_path_factory, tmp_path):
    command, environment = install(f"{wheel_in(dist)}[serve]", tmp_path_factory)
    serve = [command, "serve", "--port", "0", "--root", tmp_path, "--store", ":memory:"]
    with subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as service:
        try:
            url = service.stdout.readline().split()[-1]
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/healthz") as response:
                assert response.status == 200
        finally:
            service.terminate()


def test_the_installed_package_is_typed(dist, tmp_path):
    """A type checker uses the types of the wheel: it knows return types, and rejects wrong arguments and unknown names."""
    with zipfile.ZipFile(wheel_in(dist)) as archive:
        archive.extractall(tmp_path / "installed")
    (tmp_path / "caller.py").write_text(
        "import foreword\n"
        "from foreword import Extension, Workspace, assemble\n"
        "def hear(event: str, what: dict[str, object]) -> None: ...\n"
        "Extension('ears', listen=hear)\n"
        "assemble(Workspace('.')).text + foreword.__version__ + 3\n"
        "assemble(3)\n"
        "foreword.asemble()\n"
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        tmp_path / "cache",
        "--config-file",
        "",
        "caller.py",
    ]
    environment = {**os.environ, "MYPYPATH": str(tmp_path / "installed")}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert re.findall(r"^caller.py:(\d+): error: (.*?)(?:;|  )", result.stdout, re.MULTILINE) == [
        ("5", 'Unsupported operand types for + ("str" and "int")'),
        ("6", 'Argument 1 to "assemble" has incompatible type "int"'),
        ("7", 'Module has no attribute "asemble"'),
    ]


def test_the_installed_command_prints_its_version(run_installed):
    assert run_installed("--version").split()[-1] == VERSION


def test_the_installed_command_lists_layouts(run_installed):
    assert json.loads(run_installed("layouts", "--json"))


def test_the_installed_command_shows_a_prompt(run_installed, tmp_path):
    (tmp_path / "AGENTS.md").write_text("Speak plainly.\n")
    assert "Speak plainly." in run_installed("show", tmp_path)
