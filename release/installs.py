"""Installs what was built into empty environments, and runs the commands of the README there."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from release.tools import DIST, ROOT, UV, expect, interpreters, run, say, without_node

MAX_PACKAGES = 4


def check_installs(wheel: Path, sdist: Path) -> None:
    """Wheel and sdist can be installed with the oldest and newest Python, without Node, and bring few packages."""
    for python in interpreters():
        version = run([python, "-c", "import platform; print(platform.python_version())"]).strip()
        for built in (wheel, sdist):
            with tempfile.TemporaryDirectory() as folder:
                foreword, environment = install(built, python, Path(folder))
                names = installed(foreword)
                expect(len(names) <= MAX_PACKAGES, f"{built.name} installs {len(names)} packages: {names}")
                run([foreword, "show", ROOT, "--json"], cwd=Path(folder), env=environment)
                page = foreword.parent.parent.glob("lib/*/site-packages/foreword/service/static/index.html")
                expect(len(list(page)) == 1, f"{built.name} was installed without the web page")
            say(f"  Python {version}: {built.name} installs {', '.join(names)}")


def check_extras(wheel: Path) -> None:
    """What the image installs can be installed, and the service starts far enough to explain its options."""
    extras = re.findall(r"\[([a-z,]+)\]", (ROOT / "deploy/Dockerfile").read_text("utf-8"))[0]
    with tempfile.TemporaryDirectory() as folder:
        foreword, environment = install(f"{wheel}[{extras}]", interpreters()[-1], Path(folder))
        run([foreword, "serve", "--help"], env=environment)
        say(f"  foreword[{extras}] installs {len(installed(foreword))} packages")


def install(what: Path | str, python: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """Install this into a new environment without Node; return its command, and the environment variables to run it with."""
    environment = without_node(folder)
    run([UV, "venv", "-q", folder / "venv", "--python", python], env=environment)
    run([UV, "pip", "install", "-q", "--python", folder / "venv/bin/python", str(what)], cwd=folder, env=environment)
    return folder / "venv/bin/foreword", environment


def installed(foreword: Path) -> list[str]:
    """The names of the packages in the environment of a command."""
    lines = run([UV, "pip", "list", "-q", "--python", foreword.with_name("python"), "--format", "freeze"])
    return [line.partition("==")[0] for line in lines.splitlines()]


def check_readme(version: str) -> None:
    """The README's commands run as a stranger would run them: by name, from an index that has what was built."""
    text = (ROOT / "README.md").read_text("utf-8")
    commands = [line.strip() for line in re.findall(r"^    (?:uvx )?foreword .*$", text, re.MULTILINE)]
    commands += re.findall(r"(?<!`)`((?:uvx )?foreword [^`]+)`", text)
    expect(
        any(command.startswith("uvx foreword") for command in commands), "the README does not begin with uvx foreword"
    )
    program = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    with sample_home() as home:
        environment = {**without_node(home), "HOME": str(home), "PATH": os.environ["PATH"]}
        uvx = [str(UV), "tool", "run", "--isolated", "--find-links", str(DIST), "--python", str(interpreters()[0])]
        for command in dict.fromkeys(command.removeprefix("uvx ") for command in commands):
            words = shlex.split(command)
            if words[1] in ("serve", "effect"):  # a server and an experiment do not end by themselves
                words = [*words[:2], "--help"]
            if words[1] in ("lint", "align"):
                words += ["--json"]
            run([*uvx, "--from", f"foreword=={version}", *words], cwd=home / "monorepo", env=environment)
            say(f"  uvx {' '.join(words)}")
        script = home / "readme.py"
        script.write_text("".join(program), encoding="utf-8")
        python = [
            str(UV),
            "run",
            "-q",
            "--no-project",
            "--isolated",
            "--find-links",
            str(DIST),
            "--with",
            f"foreword=={version}",
        ]
        run([*python, "python", script], cwd=home / "shop", env=environment)
        say(f"  the README's Python program, {len(program)} blocks")


@contextmanager
def sample_home() -> Iterator[Path]:
    """The home with sample workspaces that the documentation uses."""
    spec = importlib.util.spec_from_file_location("sample", ROOT / "docs/sample.py")
    assert spec is not None and spec.loader is not None
    sample = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sample)
    with sample.home() as home:
        yield home
