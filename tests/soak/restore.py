"""Save and restore a store while eight clients start conversations, in every way that the documentation names.

    python tests/soak/restore.py [--rounds 2] [--seconds 4] [--only sqlite|dump|moment ...]

- `sqlite`: `foreword store backup` and `foreword store restore`, into the store that the services are using
- `dump`: `pg_dump`, and `pg_restore` into an empty database and into the one that the services are using
- `moment`: `pg_basebackup`, and the archived log up to a named moment, on another server

What was acknowledged before the backup (or the moment) must be in the restored store, whose every hash must match. After the services'
own store was restored, they must go on: with new conversations, and with those that are in no backup.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from writers import HERE, Acknowledged, Load, acknowledged, is_ready, lost  # isort: skip - it finds the others
from machine import Machine, wait_until
from server import SETTINGS, Server

CLIENTS = 8
# A restored store may lack the conversation whose usage a client is about to record.
REFUSALS = (404, 503, 504)
NOTHING: Acknowledged = ({}, [])
PAGE = HERE.parents[1] / "docs" / "operations.md"


class Recovery(Server):  # type: ignore[misc]
    """A server that starts from a base backup, and applies the archived log of another server up to a named moment."""

    def __init__(self, folder: Path, source: Server, moment: str) -> None:
        self.folder, self.identity, self.home = folder, source.identity, source.home
        self.data, self.log = folder / "base", folder / "log"
        (self.data / "recovery.signal").touch()
        own(self.data / "recovery.signal")
        self.settings = SETTINGS | {
            "restore_command": f"cp {source.folder}/archive/%f %p",
            "recovery_target_name": moment,
            "recovery_target_action": "promote",
        }
        self.start()


def own(path: Path) -> None:
    """Give a path to the user that runs PostgreSQL."""
    if not os.getuid():
        shutil.chown(path, "nobody", "nogroup")


def with_load(store: str, top: Path, work: Callable[[Load, list[Machine]], list[str]]) -> list[str]:
    machines = [Machine(top, store, name=f"machine-{number}") for number in range(2)]
    try:
        for machine in machines:
            machine.start()
        with Load(machines, CLIENTS, REFUSALS) as load:
            problems = work(load, machines)
        print(f"{len(load.editions):,} acknowledged, {dict(load.counts)}", flush=True)
        return load.problems + problems
    finally:
        for machine in machines:
            machine.close()


def together(one: Acknowledged, other: Acknowledged) -> Acknowledged:
    return one[0] | other[0], one[1] + other[1]


def check_restored(
    store: str, load: Load, machines: list[Machine], saved: Acknowledged, end: float, seconds: float
) -> list[str]:
    """Check a store that was restored while services use it: `saved` was acknowledged before the backup, and the restoration ended at `end`."""
    time.sleep(seconds)
    for machine in machines:
        wait_until(lambda machine=machine: is_ready(machine), "a service")
    new = acknowledged(load, end)
    problems = [] if new[0] else ["nothing was acknowledged after the restoration"]
    problems += lost(store, together(saved, new))
    gone = [id for id in dict(load.editions) if id not in saved[0] and load.started[id] < end]
    for id in gone[-40:]:
        for machine in machines:
            response = machine.turn(id, message="go on")
            if response.status != 200 or not response.form["system"]:
                problems.append(f"{id}, which is not in the backup: {response}")
    return problems


def command(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "foreword", "store", *words], check=True, stdout=sys.stdout)


def sqlite(top: Path, rounds: int, seconds: float) -> list[str]:
    store = f"{top}/store.db"

    def work(load: Load, machines: list[Machine]) -> list[str]:
        problems, saved, end = [], NOTHING, 0.0
        for number in range(rounds):
            time.sleep(seconds)
            saved = together(saved, acknowledged(load, end))
            backup = f"{top}/backup-{number}.db"
            command("backup", backup, "--store", store)
            problems += lost(backup, saved)
            time.sleep(seconds)
            command("restore", backup, "--store", store)
            end = time.monotonic()
            problems += check_restored(store, load, machines, saved, end, seconds)
        return problems

    return with_load(store, top, work)


def documented(server: Server, program: str, url: str) -> None:
    """Run the command for this program that the documentation shows."""
    (line,) = re.findall(rf"^    (.*\b{program} .*)$", PAGE.read_text(), re.MULTILINE)
    words = line.replace("backup.dump", str(server.folder / "backup.dump")).replace("URL", f"'{url}'")
    server.run(Path("/bin/sh"), "-c", f"PATH='{server.home}/bin':$PATH; {words}")


def start_server(folder: Path) -> Server:
    own(folder)
    (folder / "archive").mkdir()
    own(folder / "archive")
    command = f"cp %p {folder}/archive/%f"
    return Server(folder, SETTINGS | {"wal_level": "replica", "archive_mode": "on", "archive_command": command})


def dump(top: Path, rounds: int, seconds: float) -> list[str]:
    folder = Path(tempfile.mkdtemp(prefix="foreword-pg-"))
    server = start_server(folder)

    def work(load: Load, machines: list[Machine]) -> list[str]:
        problems, saved, end = [], NOTHING, 0.0
        for _ in range(rounds):
            time.sleep(seconds)
            saved = together(saved, acknowledged(load, end))
            documented(server, "pg_dump", server.url)
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute("DROP DATABASE IF EXISTS other")
                connection.execute("CREATE DATABASE other")
            other = server.url.replace("/postgres?", "/other?")
            documented(server, "pg_restore", other)
            problems += lost(other, saved)
            documented(server, "pg_restore", server.url)
            end = time.monotonic()
            problems += check_restored(server.url, load, machines, saved, end, seconds)
        return problems

    try:
        return with_load(server.url, top, work)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def moment(top: Path, rounds: int, seconds: float) -> list[str]:
    folder = Path(tempfile.mkdtemp(prefix="foreword-pg-"))
    server = start_server(folder)

    def work(load: Load, machines: list[Machine]) -> list[str]:
        problems = []
        for number in range(rounds):
            other = Path(tempfile.mkdtemp(prefix="foreword-pg-"))
            own(other)
            try:
                time.sleep(seconds)
                server.run("pg_basebackup", "-h", folder, "-U", "foreword", "-D", other / "base", "--checkpoint=fast")
                time.sleep(seconds)
                saved = acknowledged(load)
                with psycopg.connect(server.url, autocommit=True) as connection:
                    connection.execute("SELECT pg_create_restore_point(%s)", (f"moment {number}",))
                    at_the_moment = len(load.editions)
                    time.sleep(seconds)
                    archive_log(connection)
                recovery = Recovery(other, server, f"moment {number}")
                try:
                    later = len(load.editions) - at_the_moment
                    print(f"a base backup and the log up to a moment, after which {later:,} more were acknowledged")
                    problems += lost(recovery.url, saved)
                finally:
                    recovery.stop()
            finally:
                shutil.rmtree(other, ignore_errors=True)
        return problems

    try:
        return with_load(server.url, top, work)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def archive_log(connection: psycopg.Connection[Any]) -> None:
    """Archive what is in the log now."""
    ((last,),) = connection.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchall()
    connection.execute("SELECT pg_switch_wal()")
    archived = "SELECT coalesce(last_archived_wal, '') >= %s FROM pg_stat_archiver"
    wait_until(lambda: connection.execute(archived, (last,)).fetchone() == (True,), "the archive")


WAYS = {"sqlite": sqlite, "dump": dump, "moment": moment}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="how often each way is tried")
    parser.add_argument("--seconds", type=float, default=4, metavar="N", help="how long the load runs in between")
    parser.add_argument("--only", nargs="*", choices=WAYS, default=list(WAYS), metavar="WAY", help=", ".join(WAYS))
    options = parser.parse_args()
    problems: list[str] = []
    for name in options.only:
        print(f"{name}:", flush=True)
        with tempfile.TemporaryDirectory(prefix="foreword-restore-") as folder:
            problems += WAYS[name](Path(folder), options.rounds, options.seconds)
    print("\n".join(problems[:20]) or "nothing was lost")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
