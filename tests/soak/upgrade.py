"""Upgrade two services one after the other while clients start conversations, go back, upgrade again, and contract the store.

    python tests/soak/upgrade.py [--postgres] [--old REVISION] [--seconds 4]

The older version is the last commit before the newest version of the schema, or REVISION; its source is taken from git. At first both
services are old. Then versions run side by side: the first new service expands the tables while the other one writes to them. Nothing
acknowledged may be lost, and every service must read what the others wrote. When the store is contracted, an old service must refuse it.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from writers import HERE, Load, is_ready, lost  # isort: skip - it finds the others
from machine import Machine, database, wait_until

from foreword.store import versions

CLIENTS = 8
ROOT = HERE.parents[1]
# For each step: the version of each service.
STEPS = (("old", "old"), ("new", "old"), ("new", "new"), ("old", "new"), ("new", "new"))


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def last_before_schema() -> str:
    """Return the last commit without the newest version of the schema."""
    path = f"src/foreword/store/schema/sqlite-{versions.LATEST}.sql"
    added = git("log", "-1", "--diff-filter=A", "--format=%h", "--", path).decode().strip()
    return git("rev-parse", "--short", f"{added}^").decode().strip()


def unpack_source(revision: str, folder: Path) -> Path:
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision, "src"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def run(machines: list[Machine], source: Path, seconds: float, url: str) -> list[str]:
    environments = {"old": {"PYTHONPATH": str(source)}, "new": {}}
    running = ["", ""]
    try:
        for machine in machines:
            machine.environment = environments["old"]
            machine.start()
        running = ["old", "old"]
        with Load(machines, CLIENTS) as load:
            for step in STEPS:
                for number, machine in enumerate(machines):
                    if running[number] != step[number]:
                        assert machine.stop() == 0
                        machine.environment, running[number] = environments[step[number]], step[number]
                        machine.start()
                time.sleep(seconds)
                check_all(machines, load)
                print(f"{' and '.join(step):12} {len(load.editions):7,} acknowledged, {dict(load.counts)}", flush=True)
            print(contract(url).strip(), flush=True)
            time.sleep(seconds)
            check_all(machines, load)
        machines[0].stop()
        return load.problems + lost(url, load) + refuses(machines[0], environments["old"])
    finally:
        for machine in machines:
            machine.close()


def check_all(machines: list[Machine], load: Load) -> None:
    """Wait until each service is ready and more was acknowledged, and read through each one what was acknowledged last."""
    before = len(load.editions)
    wait_until(lambda: len(load.editions) > before, "another turn")
    for machine in machines:
        wait_until(lambda machine=machine: is_ready(machine), "a service")
        for id, system in list(load.editions.items())[-20:]:
            response = machine.turn(id, message="go on")
            if response.status != 200 or response.form["system"] != system:
                load.problems.append(f"{id} on port {machine.port}: {response}")


def contract(url: str) -> str:
    command = [sys.executable, "-m", "foreword", "store", "migrate", "--contract", "--store", url]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def refuses(machine: Machine, environment: dict[str, str]) -> list[str]:
    """Return a problem unless an old service refuses the store: it does not start, or is never ready and says why."""
    machine.environment = environment
    try:
        machine.start()
        reason = repr(machine.turn("after-the-contraction"))
    except AssertionError as error:
        reason = str(error)
    print("an old service:", reason.strip().splitlines()[-1][:300], flush=True)
    return [] if "a newer version of Foreword wrote this store" in reason else [f"an old service accepts it: {reason}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--postgres", action="store_true", help="use a new PostgreSQL server instead of SQLite")
    parser.add_argument("--old", default="", metavar="REVISION", help="the older version")
    parser.add_argument("--seconds", type=float, default=4, metavar="N", help="how long each step takes")
    options = parser.parse_args()
    revision = options.old or last_before_schema()
    with tempfile.TemporaryDirectory(prefix="foreword-upgrade-") as folder:
        top = Path(folder)
        source = unpack_source(revision, top / "old")
        print(f"from {revision} to {git('rev-parse', '--short', 'HEAD').decode().strip()}", flush=True)
        server = database() if options.postgres else None
        try:
            url = server.url if server is not None else f"{top}/store.db"
            problems = run([Machine(top, url, name=f"machine-{n}") for n in range(2)], source, options.seconds, url)
        finally:
            if server is not None:
                server.close()
    print("\n".join(problems[:20]) or "nothing was lost")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
