"""Drive released agents through scripted sessions, and compare what `foreword sessions` reads from their logs with what they sent.

python -m peers.sessions                   run every program and compare
python -m peers.sessions --only claude     run one program
python -m peers.sessions --record          also rewrite the reduced logs in tests/golden/sessions
python -m peers.sessions --pause           with a pause that is longer than the cache lasts, which takes five minutes
python -m peers.sessions --seed 7          with a session of random events instead of the script; the same seed gives the same one

The provider keeps a real prompt cache and records every request (`metered.py`). Totals have to agree to the token, and the causes with
the script.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from foreword.programs.sessions import mapping_answer

from .__main__ import SCRATCH, _install, folder_of
from .install import Installed, RunError, find_installed
from .metered import Metered, MeteredProvider
from .programs import Program, _fill, _run, read_programs
from .session_golden import write_golden
from .session_scripts import PAUSE, READ, SCRIPTS, Turn, random_script

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
    parser.add_argument(
        "--pause", action="store_true", help="add a pause of five minutes to the session of Claude Code"
    )
    parser.add_argument("--seed", type=int, help="run a session of random events instead of the script")
    args = parser.parse_args()
    programs = read_programs()
    agrees = True
    for name in args.only or SCRIPTS:
        turns = SCRIPTS[name] if args.seed is None else random_script(name, args.seed)
        if args.pause and name == "claude":
            turns = [*turns[:2], PAUSE, *turns[2:]]
        try:
            _install(programs[name])
            agrees = run_script(programs[name], turns, args.record) and agrees
        except RunError as error:
            print(f"{programs[name].title:12} {programs[name].version:10} not run: {error}", flush=True)
    return int(not agrees)


def run_script(program: Program, turns: list[Turn], record: bool) -> bool:
    """Run one program's script, and compare its logs with the provider's record."""
    installed = find_installed(folder_of(program), program.program, program.node)
    base = os.path.join(BASE, program.name)
    _write_tree(base)
    firsts: list[int] = []
    with MeteredProvider() as provider:
        for turn in turns:
            time.sleep(turn.pause)
            if turn.edit:
                _edit_files(base, turn.edit)
            firsts.append(len(provider.meter.requests))
            output = _run_turn(program, installed, provider.url, base, turn)
            if len(provider.meter.requests) == firsts[-1]:
                raise RunError(f"{turn.message!r} sent no request: {output[-200:].strip()}")
        requests = list(provider.meter.requests)
    problems = compare(base, turns, firsts, logged_requests(program.name, requests))
    if record:
        write_golden(program.name, program.version, base, requests, expected_causes(turns))
    print(
        f"{program.title:12} {program.version:10} {len(requests)} requests: {'; '.join(problems) or 'same'}", flush=True
    )
    return not problems


def expected_causes(turns: list[Turn]) -> list[str]:
    return [turn.cause for turn in turns if turn.cause]


def _write_tree(base: str) -> None:
    shutil.rmtree(base, ignore_errors=True)
    for folder in ("repo/packages/api", "home", "tmp"):
        os.makedirs(os.path.join(base, folder))
    for name in NAMES:
        Path(base, "repo", name).write_text(f"# Rules of {name}\n\n{RULES}")
        Path(base, "repo/packages/api", name).write_text(f"# API rules of {name}\n\n{NESTED}")
    Path(base, "repo/packages/api/a.py").write_text("x = 1\n" * 200)
    git = "git init -q -b main . && git add -A && git -c user.email=peer@example.com -c user.name=Peer commit -qm Start"
    subprocess.run(git, shell=True, cwd=os.path.join(base, "repo"), check=True)


def _edit_files(base: str, number: int) -> None:
    rule = "never use tabs" if number == 1 else f"never use tabs (edited {number} times)"
    for name in NAMES:
        Path(base, "repo", name).write_text(f"# Rules of {name}\n\n{RULES}- New rule: {rule}.\n")


def _run_turn(program: Program, installed: Installed, url: str, base: str, turn: Turn) -> str:
    file = os.path.join(base, "repo/packages/api/a.py")
    message = (READ[program.name] if turn.message == "read" else turn.message).replace("{file}", file)
    server = str(Path(__file__).parent / "late_server.py")
    fields = {"{url}": url, "{prompt}": message, "{base}": base, "{python}": sys.executable, "{server}": server}
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
    for name, text in program.files.items():
        os.makedirs(os.path.dirname(os.path.join(base, name)), exist_ok=True)
        Path(base, name).write_text(_fill(text, fields))
    words = program.run if turn.new else program.resume
    arguments = [_fill(turn.swap.get(word, word), fields) for word in words] + [
        _fill(word, fields) for word in turn.extra
    ]
    return _run([installed.executable, *arguments], os.path.join(base, "repo"), environment)


# The comparison


def compare(base: str, turns: list[Turn], firsts: list[int], requests: list[Metered]) -> list[str]:
    """Return what differs between the logs and the provider's record: totals by model, and causes."""
    fields = {"cwd": os.path.join(base, "repo"), "home": os.path.join(base, "home"), "no_cache": True}
    answer = mapping_answer(fields)
    problems = [
        f"{row['code']}: {row['message']}" for row in answer["findings"] if row["code"] == "session-rebuild-differs"
    ]
    read = {kind: answer["total"]["tokens"][kind] for kind in ("fresh", "written", "read", "out")}
    sent = sum_requests(requests)
    if read != sent:
        problems.append(f"the log has {read}, the provider recorded {sent}")
    problems += compare_files(fields, answer["total"])
    causes: list[str] = []
    for session in sorted(answer["sessions"], key=lambda row: row["started"]):
        detail = mapping_answer({**fields, "id": session["id"]})
        problems += [row["message"] for row in detail["findings"] if row["code"] == "session-rebuild-differs"]
        causes += [row["collapse"]["cause"] for row in detail["requests"] if row["collapse"] and not row["thread"]]
    wanted = expected_causes(turns)
    optional = sum(turn.cause is None for turn in turns)
    missing = list(wanted)
    for cause in causes:
        if cause in missing:
            missing.remove(cause)
        elif optional:
            optional -= 1
        else:
            problems.append(f"a collapse that the script does not explain: {cause}")
    return problems + [f"not found: a collapse caused by {cause}" for cause in missing]


def compare_files(fields: dict[str, Any], total: dict[str, Any]) -> list[str]:
    """Return what differs between the sum of what each file cost and the total."""
    rows = mapping_answer({**fields, "by": "file"})["rows"]
    problems = []
    for kind in ("fresh", "written", "read", "out"):
        if (count := sum(row["tokens"][kind] for row in rows)) != total["tokens"][kind]:
            problems.append(f"the files have {count:,} tokens {kind}, the total {total['tokens'][kind]:,}")
    cost = sum(row["cost"] or 0 for row in rows)
    if abs(cost - (total["cost"] or 0)) > 1e-9:
        problems.append(f"the files cost {cost}, the total is {total['cost']}")
    return problems


def logged_requests(name: str, requests: list[Metered]) -> list[Metered]:
    """Return the requests that the program logs: OpenCode does not log the one for a title, which offers no tools."""
    return [request for request in requests if request.body.get("tools") or name != "opencode"]


def sum_requests(requests: list[Metered]) -> dict[str, int]:
    """Return the tokens that the provider charged, by kind."""
    kinds = ("fresh", "written", "read", "out")
    return {kind: sum(getattr(request.metering, kind) for request in requests) for kind in kinds}


def dump(value: Any) -> str:
    return json.dumps(value, indent=1)


__all__ = ["SCRATCH", "main"]

if __name__ == "__main__":
    sys.exit(main())
