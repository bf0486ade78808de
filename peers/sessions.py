"""Drive released agents through scripted sessions, and compare what `foreword sessions` reads from their logs with what they sent.

python -m peers.sessions                   run every program and compare
python -m peers.sessions --only claude     run one program
python -m peers.sessions --record          also rewrite the reduced logs in tests/golden/sessions
python -m peers.sessions --lifetime 300    with a provider whose cache lasts as long as a real one, and a pause that is longer
python -m peers.sessions --seed 7          with a session of random events instead of the script; the same seed gives the same one
python -m peers.sessions --newest          with the newest release of each program that can be installed

The provider keeps a real prompt cache and records every request (`metered.py`). Every request has to have the tokens that it recorded, and
every collapse a cause that the script explains (`session_compare.py`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .__main__ import SCRATCH, _install, folder_of
from .install import Installed, RunError, find_installed
from .metered import PROVIDERS, MeteredProvider
from .newest import install_newest
from .programs import Program, _fill, _run, read_programs
from .session_compare import compare, logged_requests
from .session_golden import write_golden
from .session_scripts import READ, SCRIPTS, Turn, random_script, with_pause

BASE = "/tmp/foreword-sessions"  # the same on every machine, because paths are part of what is recorded
RULES = "".join(f"- Rule {number}: keep functions short, and name them after what they do.\n" for number in range(60))
NESTED = "".join(f"- API rule {number}: validate every field of a request.\n" for number in range(30))
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")


def main() -> int:
    """Run the scripts and print what differs. Returns 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", choices=sorted(SCRIPTS), help="run only this program; may be repeated"
    )
    parser.add_argument("--record", action="store_true", help="rewrite the reduced logs in tests/golden/sessions")
    parser.add_argument("--lifetime", type=int, default=60, help="for how many seconds the provider keeps a prefix")
    parser.add_argument("--seed", type=int, help="run a session of random events instead of the script")
    parser.add_argument("--newest", action="store_true", help="run the newest releases")
    args = parser.parse_args()
    programs = read_programs()
    agrees = True
    for name in args.only or SCRIPTS:
        program = programs[name]
        turns = SCRIPTS[name] if args.seed is None else random_script(name, args.seed)
        if not args.record:  # the golden logs are read with the lifetimes of real providers
            turns = with_pause(turns, args.lifetime)
        try:
            if args.newest:
                program = install_newest(program, _install)
            else:
                _install(program)
            agrees = run_script(program, turns, args.lifetime, args.record) and agrees
        except RunError as error:
            print(f"{program.title:12} {program.version:10} not run: {error}", flush=True)
    return int(not agrees)


def run_script(program: Program, turns: list[Turn], lifetime: int, record: bool) -> bool:
    """Run one program's script, and compare its logs with the provider's record."""
    installed = find_installed(folder_of(program), program.program, program.node)
    base = os.path.join(BASE, program.name)
    _write_tree(base)
    settings, prices = _write_prices(base, lifetime)
    started: list[float] = []
    with MeteredProvider(prices) as provider:
        for turn in turns:
            time.sleep(turn.pause + 2 - time.time() % 1)  # logs and answers may have whole seconds
            if turn.edit:
                _edit_files(base, turn.edit)
            count = len(provider.meter.requests)
            started.append(time.time())
            output = _run_turn(program, installed, provider.url, base, turn)
            if len(provider.meter.requests) == count:
                raise RunError(f"{turn.message!r} sent no request: {output[-200:].strip()}")
        requests = list(provider.meter.requests)
    problems = compare(base, settings, list(zip(started, turns, strict=True)), logged_requests(program.name, requests))
    if record:
        causes = [turn.cause for turn in turns if turn.cause and "|" not in turn.cause]
        write_golden(program.name, program.version, base, requests, causes)
    print(
        f"{program.title:12} {program.version:10} {len(requests)} requests: {'; '.join(problems) or 'same'}", flush=True
    )
    return not problems


def _write_tree(base: str) -> None:
    shutil.rmtree(base, ignore_errors=True)
    for folder in ("repo/packages/api", "home", "tmp"):
        os.makedirs(os.path.join(base, folder))
    for name in NAMES:
        Path(base, "repo", name).write_text(f"# Rules of {name}\n\n{RULES}")
        Path(base, "repo/packages/api", name).write_text(f"# API rules of {name}\n\n{NESTED}")
    Path(base, "repo/packages/api/a.py").write_text("x = 1\n" * 600)
    git = "git init -q -b main . && git add -A && git -c user.email=peer@example.com -c user.name=Peer commit -qm Start"
    subprocess.run(git, shell=True, cwd=os.path.join(base, "repo"), check=True)


def _write_prices(base: str, lifetime: int) -> tuple[str, str]:
    """Write how long the provider's cache lasts, for the provider and for the reader, and return the paths of settings and prices."""
    settings, prices = Path(base, "settings.toml"), Path(base, "prices.toml")
    rules = "".join(f"[provider.{name}]\nlifetime = {lifetime}\n" for name in sorted(set(PROVIDERS.values())))
    prices.write_text(rules)
    settings.write_text('prices = "prices.toml"\n')
    return str(settings), str(prices)


def _edit_files(base: str, number: int) -> None:
    rule = "never use tabs" if number == 1 else f"never use tabs (edited {number} times)"
    for name in NAMES:
        Path(base, "repo", name).write_text(f"# Rules of {name}\n\n{RULES}- New rule: {rule}.\n")


def _run_turn(program: Program, installed: Installed, url: str, base: str, turn: Turn) -> str:
    file = os.path.join(base, "repo/packages/api/a.py")
    message = (READ[program.name] if turn.message == "read" else turn.message).replace("{file}", file)
    server = str(Path(__file__).parent / "late_server.py")
    fields = {"{url}": url, "{prompt}": message, "{base}": base, "{python}": sys.executable, "{server}": server}
    if any("{session}" in word for word in (*turn.swap.values(), *turn.extra)):
        fields["{session}"] = _last_session(base)
    environment = {
        "PATH": installed.path,
        "HOME": os.path.join(base, "home"),
        "TMPDIR": os.path.join(base, "tmp"),
        "TERM": "xterm-256color",
        "NO_COLOR": "1",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
        "GIT_CONFIG_NOSYSTEM": "1",
    } | {name: _fill(value, fields) for name, value in (program.env | turn.env).items()}
    for name, text in (program.files | turn.files).items():
        os.makedirs(os.path.dirname(os.path.join(base, name)), exist_ok=True)
        Path(base, name).write_text(_fill(text, fields))
    words = program.run if turn.new else program.resume
    arguments = [_fill(word, fields) for word in (*(turn.swap.get(word, word) for word in words), *turn.extra)]
    return _run([installed.executable, *filter(None, arguments)], os.path.join(base, "repo"), environment)


def _last_session(base: str) -> str:
    """Return the id of the session whose log was changed last, which ends the log's name."""
    logs = max(Path(base, "home").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    return logs.stem[-36:]


__all__ = ["SCRATCH", "main"]

if __name__ == "__main__":
    sys.exit(main())
