"""The GitHub Action and the pre-commit hooks, run as their runners would run them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import ryaml

from foreword.inspection.lint.table import KEY

ROOT = Path(__file__).parents[2]
ACTION = ryaml.loads((ROOT / "action.yml").read_text())
HOOKS = {hook["id"]: hook for hook in ryaml.loads((ROOT / ".pre-commit-hooks.yaml").read_text())}
# The comment is written with GitHub's API. This stand-in records the calls and prints the id of an earlier comment, if any.
FAKE_GH = '#!/bin/sh\nprintf "%s " "$@" >> "$RUNNER_TEMP/calls"; echo >> "$RUNNER_TEMP/calls"\ncase "$*" in *--jq*) printf "%s" "$EARLIER";; esac\n'


def expand(text, values):
    """Replace `${{ … }}` expressions as a runner does."""
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: values[match[1]], str(text))


@pytest.fixture
def action(tree, git):
    """`action(range="…")` runs the steps that follow the installation, and returns their statuses, output and calls of gh."""
    git("init")
    tree({"w/AGENTS.md": "Use pnpm.\n", "bin/gh": FAKE_GH, "temp": None})
    os.chmod(tree.path("bin/gh"), 0o755)
    git("add", "-A")
    git("commit", "-m", "one")

    def action(earlier="", **inputs):
        inputs = {
            **{name: str(row["default"]) for name, row in ACTION["inputs"].items()},
            "python": sys.executable,
            **inputs,
        }
        values = {f"inputs.{name}": text for name, text in inputs.items()}
        values |= {"github.token": "t", "github.event.pull_request.number": "7"}
        environment = {
            **os.environ,
            "PATH": f"{tree.path('bin')}:{os.environ['PATH']}",
            "HOME": tree.path("home"),
            "RUNNER_TEMP": tree.path("temp"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": tree.path("temp/output"),
            "GITHUB_STEP_SUMMARY": tree.path("temp/summary"),
            "GITHUB_REPOSITORY": "o/r",
            "EARLIER": earlier,
        }
        tree({"temp/output": "", "temp/summary": "", "temp/calls": ""})
        results = []
        for step in ACTION["runs"]["steps"][1:]:
            for line in Path(tree.path("temp/output")).read_text().splitlines():
                values[f"steps.review.outputs.{line.partition('=')[0]}"] = line.partition("=")[2]
            if "steps.review.outputs.report" in step.get("if", "") and "steps.review.outputs.report" not in values:
                continue
            if "inputs.align" in step.get("if", "") and inputs["align"] == "false":
                continue
            assert "${{" not in step["run"], "an input must not become part of the script"
            variables = {name: expand(text, values) for name, text in step.get("env", {}).items()}
            # A runner starts `shell: bash` with these options.
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            options = {"cwd": tree.path("w"), "env": {**environment, **variables}, "capture_output": True, "text": True}
            results.append(subprocess.run(command, **options))
        texts = [Path(tree.path(f"temp/{name}")).read_text() for name in ("summary", "calls")]
        return (
            [result.returncode for result in results],
            "".join(result.stdout + result.stderr for result in results),
            *texts,
        )

    return action


def change(tree, git, text):
    tree({"w/AGENTS.md": text})
    git("commit", "-am", "two")


def test_a_pull_request_gets_a_summary_annotations_and_a_comment(action, tree, git):
    change(tree, git, "Use npm.\n\nRead `docs/new.md`.\n")
    statuses, output, summary, calls = action()
    assert statuses == [0, 0], output
    assert summary.startswith("<!-- foreword review -->\n### 1 instruction file changed")
    assert "::warning file=AGENTS.md,line=3,title=foreword missing-file::" in output
    assert f"api --silent --method POST repos/o/r/issues/7/comments --field body=@{tree.path('temp')}" in calls


def test_an_earlier_comment_is_edited(action, tree, git):
    change(tree, git, "Use npm.\n")
    assert "--method PATCH repos/o/r/issues/comments/42 " in action(earlier="42")[3]


def test_a_change_that_does_not_matter_gets_no_comment(action, tree, git):
    git("commit", "--allow-empty", "-m", "two")
    statuses, output, summary, calls = action()
    assert statuses == [0, 0], output
    assert "No agent's prompt changes" in summary and "--method" not in calls


def test_it_fails_for_new_findings_of_the_chosen_severity(action, tree, git):
    change(tree, git, "Read `docs/new.md`.\n")
    assert action(fail="warning")[0] == [1, 0]


def test_an_input_cannot_become_a_command(action, tree, git):
    change(tree, git, "Use npm.\n")
    statuses, output, *_ = action(range=f"$(touch {tree.path('mark')})", directory="--output=x")
    assert statuses == [2] and "does not exist" in output
    assert not os.path.exists(tree.path("mark"))


def test_the_alignment_is_checked_on_request(action, tree, git):
    tree({"w/GEMINI.md": "Be brief.\n"})
    git("add", "-A")
    git("commit", "-m", "two")
    assert action()[0][-1] == 0
    statuses, output, *_ = action(align="true")
    assert statuses[-1] == 1 and "create .gemini/settings.json" in output
    assert "qwen" not in output
    statuses, output, *_ = action(align="qwen, codex")
    assert statuses[-1] == 1 and "qwen" in output
    statuses, output, *_ = action(align="$(touch mark) --write")
    assert statuses[-1] == 2 and "known: claude, codex" in output
    assert not os.path.exists(tree.path("w/mark"))


def test_the_installation_is_a_valid_script_that_does_not_build_the_page():
    script = ACTION["runs"]["steps"][0]["run"]
    assert subprocess.run(["bash", "-n", "-c", script]).returncode == 0
    assert '--editable "$GITHUB_ACTION_PATH"' in script


@pytest.mark.parametrize("id", HOOKS)
def test_hooks_run_when_instructions_change(tree, git, id):
    hook = HOOKS[id]
    assert hook["language"] == "python" and hook["pass_filenames"] is False
    for path in (
        "AGENTS.md",
        "a/CLAUDE.local.md",
        ".cursor/rules/x.mdc",
        ".github/copilot-instructions.md",
        "s/SKILL.md",
    ):
        assert re.search(hook["files"], path), path
    assert not re.search(hook["files"], "src/main.py")
    git("init")
    tree({"w/AGENTS.md": "Use pnpm.\n"})

    def status():
        program, *arguments = shlex.split(hook["entry"])
        assert program == "foreword"
        command = [sys.executable, "-m", "foreword", *arguments]
        environment = {**os.environ, "HOME": tree.path("home")}
        return subprocess.run(command, cwd=tree.path("w"), env=environment, capture_output=True).returncode

    subprocess.run([sys.executable, "-m", "foreword", "lock"], cwd=tree.path("w"), check=True, capture_output=True)
    assert status() == 0
    tree({"w/AGENTS.md": f"Use npm.\n\nKey: {KEY}\n", "w/GEMINI.md": "Be brief.\n"})
    assert status() == 1


def test_warnings_are_shown_although_the_hook_passes():
    assert HOOKS["foreword-lint"]["verbose"] is True
