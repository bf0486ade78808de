"""The example checks: a stand-in for each agent is on the PATH, and their results are what `foreword effect` reads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import ryaml

from foreword.programs.effect.runs import read_outcome

EXAMPLES = Path(__file__).parents[2] / "examples" / "effect"
ANSWERS = {
    "claude": """echo '{"result": "Done.", "total_cost_usd": 0.25}'""",
    "codex": "echo Done.",
    "gemini": "echo Done.",
}


def run_example(name, folder, agent, check):
    (folder / name).write_text(f"#!/bin/sh\n{agent}\n")
    (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    command = ["sh", str(EXAMPLES / f"{name}.sh"), "Fix it", check]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return read_outcome(done.returncode, done.stdout, 1.0)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_check_of_a_released_agent(name, tmp_path):
    cost = 0.25 if name == "claude" else None
    passed, failed = (run_example(name, tmp_path, ANSWERS[name], check) for check in ("true", "false"))
    assert [(each.score, each.cost) for each in (passed, failed)] == [(1.0, cost), (0.0, cost)]
    assert run_example(name, tmp_path, "echo no key >&2; exit 1", "true").score is None


def test_a_python_agent(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\n\n## Tests\n\nRun the tests.\n\n## Style\n\nBe brief.\n")
    command = [sys.executable, str(EXAMPLES / "agent.py"), str(tmp_path), "AGENTS.md#Style"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HOME": str(tmp_path)})
    assert done.stdout.splitlines()[0].startswith("with everything: ") and "without AGENTS.md#Style: " in done.stdout


def test_the_workflow_runs_an_experiment(tmp_path):
    workflow = ryaml.loads((EXAMPLES / "workflow.yml").read_text())
    [step] = [step for step in workflow["jobs"]["effect"]["steps"] if "effect" in step.get("run", "")]
    repository, programs, temporary = (tmp_path / name for name in ("w", "bin", "temp"))
    for folder in (repository / ".github/effect", programs, temporary):
        folder.mkdir(parents=True)
    (repository / "AGENTS.md").write_text("# Rules\n\n## Tests\n\nRun the tests.\n\n## Style\n\nBe brief.\n")
    (repository / "Makefile").write_text("test:\n\t@grep -q 'Run the tests' AGENTS.md\n")
    check = repository / ".github/effect/claude.sh"
    check.write_bytes((EXAMPLES / "claude.sh").read_bytes())
    (programs / "claude").write_text(f"#!/bin/sh\n{ANSWERS['claude']}\n")
    (programs / "foreword").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m foreword "$@"\n')
    for program in (check, programs / "claude", programs / "foreword"):
        program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
    }
    commit = ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "First"]
    for words in (["init", "-q"], ["add", "-A"], commit):
        subprocess.run(["git", *words], cwd=repository, check=True, env=environment)
    # A runner starts `run` with these options.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].replace("--runs 40", "--runs 10")]
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| without AGENTS.md#Tests |" in (temporary / "summary").read_text()
    kept = next(
        step["with"]["path"] for step in workflow["jobs"]["effect"]["steps"] if "upload" in step.get("uses", "")
    )
    assert sorted(kept.replace("${{ runner.temp }}/", "").split()) == ["effect.svg", "results.jsonl"]
    assert {"effect.svg", "results.jsonl"} <= set(os.listdir(temporary))
