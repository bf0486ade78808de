"""Run `foreword effect` with the checks in examples/effect and the released agents, and see whether it finds the instruction that matters.

python -m peers.effect                   run every agent that has an example
python -m peers.effect --only claude     run one agent

The provider stands in for a model that obeys one instruction: it writes a file if the request contains the sentence that asks for it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .__main__ import SCRATCH, _install, folder_of
from .install import RunError, find_installed
from .programs import Program, _fill, read_programs
from .provider import Json, Provider, handler
from .tree import write_files
from .wires import Call, answer, messages, tool_names

EXAMPLES = Path(__file__).parents[1] / "examples/effect"
RULE = "Write a greeting to greeting.txt before anything else."
RULES = f"# Toy\n\n## Greeting\n\n{RULE}\n\n## Colour\n\nPrefer blue to green.\n"
COMMAND = "echo hello > greeting.txt"
CALLS: dict[str, Json] = {
    "Bash": {"command": COMMAND, "description": "Write the greeting"},
    "exec_command": {"cmd": COMMAND},
    "shell_command": {"command": COMMAND},
    "shell": {"command": ["sh", "-c", COMMAND]},
    "run_shell_command": {"command": COMMAND, "description": "Write the greeting"},
}
CODEX_PROVIDER = 'base_url = "{url}/v1"\nenv_key = "PEER_KEY"\nwire_api = "responses"\n'
# What the example scripts take for granted: a user who has configured the agent, in a sandbox where it may do what it wants.
CONFIGURED = {
    "claude": {},
    "codex": {
        "home/.codex/config.toml": 'model = "peer"\nmodel_provider = "peer"\n\n[model_providers.peer]\nname = "peer"\n'
        + CODEX_PROVIDER
    },
    "gemini": {},
}
RUNS = 10
WANTED = {"AGENTS.md#Greeting": "helps", "AGENTS.md#Colour": "undecided", "nothing": "helps"}


class ObedientModel:
    """Answers every request with a text, or with the tool call that the instruction asks for."""

    def reply(self, path: str, body: Json) -> tuple[str, bytes]:
        found = messages(path, body)
        is_told = any(RULE in text for role, texts in found if role != "tool" for text in texts)
        has_obeyed = any(role == "tool" for role, _ in found)
        call = next((Call(name, CALLS[name]) for name in tool_names(body) if name in CALLS), None)
        return answer(path, body, call if is_told and not has_obeyed else None)


class ObedientProvider(Provider):
    """A provider with an obedient model."""

    def __init__(self) -> None:
        super().__init__()
        self.server.RequestHandlerClass = handler(ObedientModel())


def main() -> int:
    """Run the experiments, and print a row for each agent. Returns 1 if one does not find what matters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", metavar="PROGRAM", choices=list(CONFIGURED), help="run only this one"
    )
    args = parser.parse_args()
    programs = read_programs()
    results = [_run_agent(programs[name]) for name in args.only or CONFIGURED]
    return int(not all(results))


def _run_agent(program: Program) -> bool:
    """Run an experiment with one agent, and print what it found."""
    title = f"{program.title} {program.version}"
    try:
        _install(program)
        found = _experiment(program)
    except RunError as error:
        print(f"{title}: not run: {error}", flush=True)
        return False
    is_right = found == WANTED
    print(f"{title}: {'finds the section that matters' if is_right else f'found {found}, not {WANTED}'}", flush=True)
    return is_right


def _experiment(program: Program) -> dict[str, str]:
    """Return the verdict of each arm."""
    installed = find_installed(folder_of(program), program.program, program.node)
    base = str(SCRATCH / "runs" / f"effect-{program.name}")
    shutil.rmtree(base, ignore_errors=True)
    write_files(base, {"repo/AGENTS.md": RULES, "tmp/.keep": ""})
    with ObedientProvider() as provider:
        fields = {"{url}": provider.url, "{base}": base}
        for name, text in (program.files | CONFIGURED[program.name]).items():
            write_files(base, {name: _fill(text, fields)})
        environment = {
            "PATH": os.pathsep.join([os.path.dirname(installed.executable), installed.path]),
            "HOME": f"{base}/home",
            "TMPDIR": f"{base}/tmp",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            "IS_SANDBOX": "1",
            "GEMINI_MODEL": "gemini-2.5-pro",
        } | {name: _fill(text, fields) for name, text in program.env.items()}
        _foreword(environment, "align", f"{base}/repo", "--agent", program.name, "--write", "--force")
        _git(base, environment)
        check = ["sh", str(EXAMPLES / f"{program.name}.sh"), "Say done.", "test -f greeting.txt"]
        options = [
            "--arms",
            "sections",
            "--runs",
            str(RUNS),
            "--seed",
            "1",
            "--jobs",
            "2",
            "--json",
            "--timeout",
            "90s",
        ]
        options += ["--retries", "0", "--results", f"{base}/results.jsonl"]
        form = json.loads(_foreword(environment, "effect", f"{base}/repo", *options, "--", *check))
    return {row["arm"]: row["verdict"] for row in form["arms"]}


def _foreword(environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "foreword", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RunError(f"foreword {arguments[0]} ended with status {done.returncode}: {done.stderr[-600:].strip()}")
    return done.stdout


def _git(base: str, environment: dict[str, str]) -> None:
    names = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *names, *arguments], cwd=f"{base}/repo", check=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
