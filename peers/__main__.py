"""Run the released agents against a fake provider, and compare what they send with the recordings and the layouts.

python -m peers                   run every program and compare
python -m peers --only claude     run one program
python -m peers --record          rewrite the recordings in tests/golden/agents
python -m peers --random 20       run on twenty random trees and compare with the layouts only
python -m peers --own             count only each program's own prompt and tools
python -m peers --newest          run the newest releases and print only what changed since the recordings
python -m peers --recorded        compare the layouts with the recordings, without running the programs
python -m peers --align FOLDER    align a copy of a repository, and ask the programs how often they read each source
python -m peers --rivals          compare align with rulesync and ruler, and let the programs judge
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .align import check_folders
from .compare import compact, difference_to_layout, first_difference, has_layout, random_difference, verdict
from .install import Installed, RunError, find_installed, install
from .newest import install_newest, with_versions, write_versions
from .own_part import Sizes, is_same_size, own_part
from .programs import Message, Program, ask, read_not_run, read_programs
from .random_trees import random_tree
from .recordings import Case, cases, read_golden, write_golden
from .reduce import added_messages, files, reduce
from .rivals import AGENTS as RIVALS_AGENTS
from .rivals import judge_rivals, write_rivals
from .tree import write_files
from .trees import TREES

SCRATCH = Path(os.environ.get("PEERS_SCRATCH") or Path.home() / ".cache/foreword-peers")
NEWEST = SCRATCH / "newest.json"


def main() -> int:
    """Install, run and compare the programs, and print the table. Returns 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PROGRAM", help="run only this program; may be repeated")
    parser.add_argument("--tree", action="append", metavar="TREE", help="run only this tree; may be repeated")
    parser.add_argument("--own", action="store_true", help="count only each program's own prompt and tools")
    parser.add_argument(
        "--newest",
        action="store_true",
        help="run the newest releases, and print only what changed since the recordings",
    )
    parser.add_argument("--record", action="store_true", help="rewrite the recordings instead of comparing with them")
    parser.add_argument(
        "--recorded", action="store_true", help="compare the layouts with the recordings, without running the programs"
    )
    parser.add_argument(
        "--random",
        type=int,
        default=0,
        metavar="N",
        help="run on N random trees instead, and compare with the layouts only",
    )
    parser.add_argument(
        "--align", action="append", metavar="FOLDER", help="align a copy of this repository; may be repeated"
    )
    parser.add_argument("--rivals", action="store_true", help="compare align with rulesync and ruler")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first random tree (default: 1)")
    parser.add_argument("--installed", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    programs = read_programs()
    if unknown := set(args.only or ()) - set(programs):
        parser.error(f"unknown program {', '.join(sorted(unknown))}; choose from {', '.join(programs)}")
    if unknown := set(args.tree or ()) - set(TREES):
        parser.error(f"unknown tree {', '.join(sorted(unknown))}; choose from {', '.join(TREES)}")
    chosen = [program for name, program in programs.items() if not args.only or name in args.only]
    if args.recorded:
        results = [_check_layout(program, args.tree or ()) for program in chosen]
        return int(not all(results))
    if args.rivals:
        chosen = [program for program in chosen if program.name in RIVALS_AGENTS]
    if args.rivals and not args.installed:
        write_rivals(SCRATCH / "rivals")
    if not args.installed:
        return _install_and_run(chosen, args.newest)
    _enable_loopback()
    if args.newest:
        chosen = with_versions(NEWEST, chosen)
    if args.align or args.rivals:
        found = [(program, _find_installed(program)) for program in chosen if has_layout(program.name)]
        ready = [(program, place) for program, place in found if place]
        is_fine = check_folders(args.align, ready, SCRATCH) if args.align else judge_rivals(ready, SCRATCH / "rivals")
        return int(not is_fine)
    if args.random:
        seeds = range(args.seed, args.seed + args.random)
        results = [_run_random(program, seeds) for program in chosen if has_layout(program.name)]
        return int(not all(results))
    if args.own:
        results = [_count_own_part(program, args.record) for program in chosen]
        return int(not all(results))
    results = [_run_program(program, args.tree or (), args.record, args.newest) for program in chosen]
    for title, reason in read_not_run().items() if not args.only else ():
        print(f"{title:12} not run: {reason}")
    return int(not all(results))


def _install_and_run(chosen: list[Program], newest: bool) -> int:
    """Install the programs, then run this module again without access to the network if the system allows that."""
    versions = {}
    for program in chosen:
        print(f"{program.title} {'newest' if newest else program.version}: installing", flush=True)
        try:
            if newest:
                versions[program.name] = install_newest(program, _install).version
            else:
                _install(program)
        except RunError as error:
            print(f"  {error}", flush=True)
    if newest:
        write_versions(NEWEST, versions)
    isolated = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*isolated, "true"], capture_output=True).returncode:
        print(
            "cannot create a network namespace; only a proxy setting keeps programs from reaching other hosts",
            flush=True,
        )
        isolated = []
    return subprocess.run([*isolated, sys.executable, "-m", "peers", "--installed", *sys.argv[1:]]).returncode


def folder_of(program: Program) -> Path:
    """Return the folder in which a program is installed."""
    return SCRATCH / "programs" / f"{program.name}-{program.version}"


def _install(program: Program) -> None:
    npm = program.npm and f"{program.npm}@{program.version}"
    python = program.python and f"{program.python}=={program.version}"
    install(folder_of(program), program.program, npm, python, program.node)


def _find_installed(program: Program) -> Installed | None:
    """Return the installed program. If it is not installed, print why and return None."""
    try:
        return find_installed(folder_of(program), program.program, program.node)
    except RunError as error:
        _row(program, None, str(error))
        return None


def _enable_loopback() -> None:
    """Bring up the loopback interface, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            flags = struct.unpack("16sh", fcntl.ioctl(sock, 0x8913, struct.pack("16sh", b"lo", 0)))[1]
            fcntl.ioctl(sock, 0x8914, struct.pack("16sh", b"lo", flags | 1))
        except OSError:
            pass  # it is already up, or this process may not bring it up


def _run_program(program: Program, only: Sequence[str], record: bool, only_changes: bool = False) -> bool:
    """Run all of a program's cases, print a row for each (or for each that changed), and return whether all agree."""
    golden = read_golden(program.name)
    if only_changes:
        _row(program, None, f"recorded: {golden.get('version', 'never')}")
    recorded: dict[str, Any] = dict(golden.get("cases", {})) if only else {}
    agrees = True
    installed = _find_installed(program)
    if installed is None:
        return True
    own = dict(golden.get("own", {}))
    if not only:
        is_same, own = _run_own_part(program, installed, own, record)
        agrees = agrees and is_same
    for case in cases(program.name, only):
        try:
            result = _run_case(program, installed, case)
        except RunError as error:
            _row(program, case, f"not run: {error}")
            agrees = False
            continue
        full, result = result, compact(result, case) if case.data.is_compact else result
        full = result if case.data.is_sorted else full
        recorded[case.name] = result
        if record:
            _write(program, recorded, own)
        problem = "" if record else first_difference(golden.get("cases", {}).get(case.name), result)
        is_as_expected, sentence = not problem, problem or ("recorded" if record else "same")
        if is_as_expected and has_layout(program.name):
            is_as_expected, sentence = verdict(program, case, full)
        agrees = agrees and is_as_expected
        if not (only_changes and is_as_expected):
            _row(program, case, sentence)
    return agrees


def _run_random(program: Program, seeds: Sequence[int]) -> bool:
    """Run a program on random trees and compare it with its layout. Each row shows the tree's seed."""
    agrees = True
    installed = _find_installed(program)
    if installed is None:
        return True
    trees = [(seed, random_tree(seed)) for seed in seeds]
    all_cases = [
        Case(f"--seed {seed}", tree.cwds[0], event, tree) for seed, tree in trees for event in ("start", "touch")
    ]
    for case in all_cases:
        if reason := random_difference(program.name, case):
            _row(program, case, f"left out: {reason}")
            continue
        try:
            problem = difference_to_layout(program, case, _run_case(program, installed, case))
        except RunError as error:
            problem = f"not run: {error}"
        agrees = agrees and not problem
        _row(program, case, problem or "same")
    return agrees


def _check_layout(program: Program, only: Sequence[str]) -> bool:
    """Compare the layout with each recording, print a row for each, and return whether all agree."""
    recorded = read_golden(program.name).get("cases", {})
    if not recorded or not has_layout(program.name):
        _row(program, None, "no layout" if recorded else "no recording")
        return True
    agrees = True
    for case in cases(program.name, only):
        if case.name in recorded:
            is_as_expected, sentence = verdict(program, case, recorded[case.name])
            agrees = agrees and is_as_expected
            _row(program, case, sentence)
    return agrees


def _count_own_part(program: Program, record: bool) -> bool:
    """Count a program's own part and, with `record`, replace it in the recording. Returns whether it is as recorded."""
    golden = read_golden(program.name)
    installed = _find_installed(program)
    if installed is None:
        return True
    is_same, own = _run_own_part(program, installed, golden.get("own", {}), record)
    if record and golden:
        _write(program, golden["cases"], own)
    return is_same


def _run_own_part(program: Program, installed: Installed, recorded: Sizes, record: bool) -> tuple[bool, Sizes]:
    """Count the program's own part, print a row, and return whether it is as recorded, and the sizes to record."""
    try:
        measured = own_part(program, installed, str(SCRATCH / "runs" / program.name))
    except RunError as error:
        _row(program, None, f"own part not run: {error}")
        return False, recorded
    is_same = record or is_same_size(recorded, measured)
    sizes = f"{measured['prompt']:,} tokens of prompt, {measured['tools']:,} of tools"
    _row(program, None, f"own part: {sizes}" + ("" if is_same else f", recorded {recorded}"))
    return is_same, measured


def _write(program: Program, recorded: dict[str, Any], own: Sizes) -> None:
    """Write the recording so far, in the order of the trees."""
    order = [case.name for case in cases(program.name)]
    kept = {name: recorded[name] for name in order if name in recorded}
    head = {"program": program.title, "version": program.version, "date": _today(), **({"own": own} if own else {})}
    write_golden(program.name, {**head, "cases": kept})


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _row(program: Program, case: Case | None, result: str) -> None:
    case_columns = f"{case.tree:16} {case.cwd:12} {case.event:6}" if case else f"{'':16} {'':12} {'':6}"
    print(f"{program.title:12} {program.version:10} {case_columns} {result}", flush=True)


def _run_case(program: Program, installed: Installed, case: Case) -> dict[str, Any]:
    """Build the tree in the scratch folder, run the program and reduce what it sent."""
    base = str(SCRATCH / "runs" / program.name)
    shutil.rmtree(base, ignore_errors=True)
    tree = case.data
    tree.write(base)
    requests = ask(program, installed, case, base)
    if case.event == "start":
        return _reduce_request(program, case, requests[0], base)
    if case.event == "touch":
        return _reduce_later_request(program, case, requests[0], requests[-1], base)
    write_files(base, tree.edit)
    return _reduce_later_request(program, case, requests[0], ask(program, installed, case, base, resume=True)[0], base)


def _reduce_later_request(
    program: Program, case: Case, first: list[Message], second: list[Message], base: str
) -> dict[str, Any]:
    """Reduce what a later request adds or changes, and record whether it repeats the first request unchanged."""
    is_kept, messages = added_messages(first, second)
    return {"prefix": "kept" if is_kept else "changed", **_reduce_request(program, case, messages, base)}


def _reduce_request(program: Program, case: Case, sent: list[Message], base: str) -> dict[str, Any]:
    """Reduce messages to what is recorded. They are also saved in the scratch folder as they were sent, for inspection."""
    path = SCRATCH / "sent" / program.name / f"{case.name.replace('/', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sent, indent=1, ensure_ascii=False))
    entries = reduce(sent, case.data, program.form, base)
    return {"files": files(entries, case.data), "messages": entries}


if __name__ == "__main__":
    sys.exit(main())
