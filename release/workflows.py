"""Lints the workflows, and runs every command in them that needs neither a registry nor a whole run of the tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import ryaml

from release.tools import DIST, ROOT, TOOLS, UV, interpreters, run, say

FOLDER = ROOT / ".github" / "workflows"
SCHEMAS = {"github-workflows": "workflows/*.yml", "dependabot": "dependabot.yml", "github-actions": "../action.yml"}

PUBLISHES = ("docker login", "docker buildx", "image=", "gh release create")
"""Commands that need a registry, a repository or Docker: only their syntax is checked."""


def scripts() -> list[tuple[str, str]]:
    """Every command of every workflow, with the workflow and job it belongs to."""
    found = []
    for path in sorted(FOLDER.glob("*.yml")):
        workflow: dict[str, Any] = ryaml.loads(path.read_text("utf-8"))  # type: ignore[attr-defined]
        for name, job in workflow["jobs"].items():
            found += [(f"{path.stem}/{name}", step["run"]) for step in job.get("steps", ()) if "run" in step]
    return found


def lint() -> None:
    github = ROOT / ".github"
    run([TOOLS / "zizmor", "--offline", "--no-progress", "-q", FOLDER, github / "dependabot.yml", ROOT / "action.yml"])
    for schema, pattern in SCHEMAS.items():
        paths = sorted((github / pattern).parent.resolve().glob(Path(pattern).name))
        run([TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths])
    say(f"  zizmor and {len(SCHEMAS)} schemas: {len(list(FOLDER.glob('*.yml')))} workflows, dependabot.yml, action.yml")


def run_commands(tag: str) -> None:
    """Run the commands in a copy of the checkout, with the variables that a runner sets."""
    with tempfile.TemporaryDirectory() as folder:
        copy, environment = copy_checkout(Path(folder), tag)
        places = {script: place for place, script in scripts()}
        for script, place in places.items():
            say(f"  {place}: {check_command(script, copy, environment)}")


def check_command(script: str, copy: Path, environment: dict[str, str]) -> str:
    """Check one command, and return what was done with it."""
    first = script.strip().splitlines()[0]
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
    if first.startswith("make "):
        run([*bash, "-c", script.replace("make ", "make --dry-run ", 1)], cwd=copy, env=environment)
        return f"{first} (dry run)"
    if first.startswith(PUBLISHES):
        run([*bash, "-n", "-c", script], cwd=copy, env=environment)
        return f"{first} (syntax only)"
    options = {}
    if first.startswith("npm publish"):
        options = {"npm_config_dry_run": "true", "npm_config_provenance": "false"}
        script = script.replace("--provenance ", "")
    if " pytest " in first:
        options = {"PYTEST_ADDOPTS": "--collect-only", "CHROMIUM": "/bin/true"}
    run([*bash, "-c", script], cwd=copy, env={**environment, **options})
    return first + (" (dry run)" if options else "")


def copy_checkout(folder: Path, tag: str) -> tuple[Path, dict[str, str]]:
    """Copy the files that git knows and dist/, and make an environment whose `python` is the oldest supported one."""
    copy = folder / "foreword"
    for name in run(["git", "ls-files", "--cached", "--others", "--exclude-standard"]).splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    shutil.copytree(DIST, copy / "dist")
    run([UV, "venv", "-q", "--seed", folder / "venv", "--python", interpreters()[0]])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "UV_"))}
    environment |= {"PATH": f"{folder / 'venv/bin'}{os.pathsep}{os.environ['PATH']}", "GITHUB_REF_NAME": tag}
    return copy, environment
