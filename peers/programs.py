"""Read the released programs from `programs.toml`, and run one unattended."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .install import Installed, RunError
from .provider import Provider
from .recordings import Case
from .reduce import Format
from .wires import messages, tool_names, wire

HERE = Path(__file__).parent
ARCH = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), "x64")
NOT_RUN = "not-run"
PROMPT = "Say done."
TIMEOUT = 90

Message = tuple[str, list[str]]


@dataclass(frozen=True)
class Program:
    """One table of `programs.toml`."""

    name: str
    title: str
    version: str
    versions: tuple[str, ...]
    program: str
    run: list[str]
    resume: list[str]
    npm: str = ""
    python: str = ""
    node: str = ""
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    calls: dict[str, Any] = field(default_factory=dict)
    form: Format = field(default_factory=Format)


def read_programs() -> dict[str, Program]:
    """Return the programs by name."""
    programs = {}
    for name, table in _tables().items():
        if name == NOT_RUN:
            continue
        form = Format.parse(**{key: table.pop(key) for key in ("keep", "ours", "cut", "unordered") if key in table})
        pinned = table.pop("version")
        versions = tuple(pinned.values()) if isinstance(pinned, dict) else (pinned,)
        version = pinned[ARCH] if isinstance(pinned, dict) else pinned
        table = json.loads(json.dumps(table).replace("{arch}", ARCH))
        programs[name] = Program(name, version=version, versions=versions, form=form, **table)
    return programs


def read_not_run() -> dict[str, str]:
    """Return the programs that cannot be run unattended, each with the reason."""
    return {title: str(reason) for title, reason in _tables()[NOT_RUN].items()}


def _tables() -> dict[str, Any]:
    return tomllib.loads((HERE / "programs.toml").read_text())


def ask(program: Program, installed: Installed, case: Case, base: str, *, resume: bool = False) -> list[list[Message]]:
    """Run the program for one turn in the tree in `base`. Returns the messages of each request that offered tools."""
    return [messages(path, body) for path, body in send(program, installed, case, base, resume=resume)]


def send(
    program: Program, installed: Installed, case: Case, base: str, *, resume: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """Run the program for one turn in the tree in `base`. Returns the path and body of each request that offered tools."""
    touch = case.data.touch if case.event == "touch" else ""
    path = json.dumps(os.path.join(base, touch))[1:-1]
    calls = json.loads(json.dumps(program.calls).replace("{path}", path)) if touch else {}
    with Provider(calls) as provider:
        output = run_program(
            program,
            installed,
            provider.url,
            base,
            case.cwd,
            case.data.files,
            resume=resume,
            env=case.data.environment(base),
        )
        model_requests = [(path, body) for path, body in provider.recorder.requests if wire(path) and tool_names(body)]
        if touch and model_requests and not provider.recorder.called:
            raise RunError(f"none of its tools reads a file: {', '.join(tool_names(model_requests[0][1]))}")
    if not model_requests:
        raise RunError(f"sent no request to the provider: {output[-300:].strip() or 'no output'}")
    return model_requests


def run_program(
    program: Program,
    installed: Installed,
    url: str,
    base: str,
    cwd: str,
    files: Container[str] = (),
    *,
    resume: bool = False,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run the program against the provider at this URL, and return its output. `files` are those that its configuration must not replace."""
    fields = {"{url}": url, "{prompt}": PROMPT, "{base}": base}
    environment = (
        {
            "PATH": installed.path,
            "HOME": os.path.join(base, "home"),
            "TMPDIR": os.path.join(base, "tmp"),
            "TERM": "xterm-256color",
            "NO_COLOR": "1",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        | {name: _fill(value, fields) for name, value in program.env.items()}
        | dict(env or {})
    )
    os.makedirs(environment["TMPDIR"], exist_ok=True)
    for name, text in program.files.items():
        if name not in files:
            os.makedirs(os.path.dirname(os.path.join(base, name)), exist_ok=True)
            Path(base, name).write_text(_fill(text, fields))
    arguments = [_fill(argument, fields) for argument in (program.resume if resume else program.run)]
    return _run([installed.executable, *arguments], os.path.join(base, cwd), environment)


def _fill(text: str, fields: dict[str, str]) -> str:
    for name, value in fields.items():
        text = text.replace(name, value)
    return text


def _run(command: list[str], cwd: str, environment: dict[str, str]) -> str:
    """Run a command and return its output. It runs in its own process group, which is killed after a timeout."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise RunError(f"did not exit within {TIMEOUT} seconds: {output[-300:].strip()}") from None
    return output
