"""Start conversations on two services while PostgreSQL's primary server dies and its standby takes over, again and again.

    python tests/soak/failover.py [--rounds 4] [--seconds 4] [--asynchronous]

Both servers are named in the URL of the store, with `target_session_attrs=read-write`. The standby is a real one, made with `pg_basebackup`
and fed by streaming replication. When it has taken over, the other server's files are replaced by a copy of its own, and that becomes the
next standby. With synchronous replication, no acknowledged write may be lost; before every second takeover, the standby receives nothing
for ten seconds, so that commits wait in vain. With `--asynchronous`, it receives nothing for a while before each takeover, so that
acknowledged writes are lost: the run prints how many. The services must go on with the conversations that lost theirs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from writers import Load, is_ready, lost  # isort: skip - it finds the others
from machine import Machine, wait_until
from server import SETTINGS, Server

PRIMARY = {**SETTINGS, "wal_level": "replica", "max_wal_senders": "5"}
NAME = "standby"
CALL_TIMEOUT = 5.0
SYNCHRONOUS = ("synchronous_standby_names = 'standby'", "synchronous_commit = 'remote_apply'")


class Standby(Server):  # type: ignore[misc]
    """A server that follows another one until it is promoted."""

    def __init__(self, folder: Path, primary: Server) -> None:
        self.folder, self.settings, self.identity = folder, {**PRIMARY, "cluster_name": NAME}, primary.identity
        self.home, self.data, self.log = primary.home, folder / "data", folder / "log"
        shutil.rmtree(self.data, ignore_errors=True)
        self.run(
            "pg_basebackup", "-h", primary.folder, "-U", "foreword", "-D", self.data, "--write-recovery-conf",
            "--checkpoint=fast", "--no-sync",
        )  # fmt: skip
        # A standby of a synchronous server would copy its settings, and nobody follows it when it takes over.
        (self.data / "postgresql.auto.conf").write_text(f"primary_conninfo = 'host={primary.folder} user=foreword'\n")
        self.start()

    def promote(self) -> None:
        self.run("pg_ctl", "promote", "-D", self.data, "--wait")

    def disconnect(self) -> None:
        """Receive nothing any more, as if the network between the servers failed."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
            connection.execute("SELECT pg_reload_conf()")
            query = "SELECT count(*) FROM pg_stat_wal_receiver"
            wait_until(lambda: connection.execute(query).fetchone() == (0,), "the end of the stream")


def follow(folder: Path, primary: Server, is_synchronous: bool) -> Standby:
    """Start a standby, and wait until it has received everything."""
    standby = Standby(folder, primary)
    with psycopg.connect(primary.url, autocommit=True) as connection:
        for setting in SYNCHRONOUS if is_synchronous else ():
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
        state = "sync" if is_synchronous else "async"
        query = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = %s"
        wait_until(lambda: connection.execute(query, (state,)).fetchone() == (1,), "a standby that streams")
    return standby


def run(rounds: int, seconds: float, is_synchronous: bool, top: Path, folders: tuple[Path, Path]) -> list[str]:
    primary = Server(folders[0], PRIMARY)
    hosts = ",".join(map(str, folders))
    url = f"postgresql://foreword@/postgres?host={hosts}&target_session_attrs=read-write"
    machines = [Machine(top, url, name=f"machine-{number}") for number in range(2)]
    standby = None
    try:
        for machine in machines:
            machine.start()
        with Load(machines) as load:
            for number in range(rounds):
                standby = follow(folders[(number + 1) % 2], primary, is_synchronous)
                time.sleep(seconds)
                if number % 2 or not is_synchronous:
                    standby.disconnect()
                    # Longer than a call may take if commits wait for it: nobody may count them as done when they give up.
                    time.sleep(CALL_TIMEOUT * 2 if is_synchronous else seconds / 4)
                before = len(load.editions)
                primary.stop()
                start = time.monotonic()
                standby.promote()
                primary, standby = standby, None
                for machine in machines:
                    wait_until(lambda machine=machine: is_ready(machine), "a service after the takeover")
                wait_until(lambda before=before: len(load.editions) > before, "a turn after the takeover")
                gap = time.monotonic() - start
                print(
                    f"takeover {number + 1}: {len(load.editions):7,} acknowledged, {dict(load.counts)}, {gap:.1f} s until the next turn",
                    flush=True,
                )
        problems = lost(primary.url, load)
        if not is_synchronous:
            problems = go_on(machines, problems)
        return load.problems + problems
    finally:
        for machine in machines:
            machine.close()
        for server in (primary, standby):
            if server is not None:
                server.stop()


def go_on(machines: list[Machine], problems: list[str]) -> list[str]:
    """Print how much was lost, and send a turn to each conversation that is. Returns what is wrong besides."""
    ids = [problem.partition(":")[0] for problem in problems if problem.endswith(": lost")]
    print(f"asynchronous replication lost {len(ids):,} editions", flush=True)
    others = [problem for problem in problems if not problem.endswith("lost")]
    if not ids:
        others.append("nothing was lost, so this run proves nothing")
    for id in ids:
        for machine in machines:
            response = machine.turn(id, message="go on")
            if response.status != 200 or not response.form["system"]:
                others.append(f"{id}, which was lost: {response}")
    return others


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=4, metavar="N", help="how often a standby takes over")
    parser.add_argument("--seconds", type=float, default=4, metavar="N", help="how long the load runs in between")
    parser.add_argument("--asynchronous", action="store_true", help="let commits not wait for the standby")
    options = parser.parse_args()
    folders = Path(tempfile.mkdtemp(prefix="foreword-pg-")), Path(tempfile.mkdtemp(prefix="foreword-pg-"))
    try:
        if not os.getuid():
            for folder in folders:
                shutil.chown(folder, "nobody", "nogroup")
        with tempfile.TemporaryDirectory(prefix="foreword-failover-") as top:
            problems = run(options.rounds, options.seconds, not options.asynchronous, Path(top), folders)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(problems[:20]) or ("every service went on" if options.asynchronous else "nothing was lost"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
