"""Start conversations on two services with one PostgreSQL store while things fail, and look for every acknowledged one afterwards.

    python tests/soak/faults.py [--rounds 3] [--seconds 4] [--disk FOLDER]

The faults are: a service killed with SIGKILL, a service that is stopped with SIGTERM and started again, a database server that is killed and
started again, one that stops answering for a while, and one that refuses to write. With `--disk`, the database server's files are in that
folder, and another fault fills its file system, which should be a small one (`mount -t tmpfs -o size=200m tmpfs FOLDER`). Only a 503, a 504 or a broken connection may be the
answer meanwhile, and every service must work again after each fault. The store must contain each acknowledged edition and call of usage.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg

from writers import Load, is_ready, lost  # isort: skip - it finds the others
from machine import Machine, database, wait_until

Fault = Callable[[Machine, Any, float], None]


def kill(machine: Machine, server: Any, seconds: float) -> None:
    machine.kill()
    machine.start()


def stop(machine: Machine, server: Any, seconds: float) -> None:
    assert machine.stop() == 0
    machine.start()


def kill_server(machine: Machine, server: Any, seconds: float) -> None:
    server.command("stop")
    time.sleep(seconds / 2)
    server.command("start")


def freeze_server(machine: Machine, server: Any, seconds: float) -> None:
    server.command("freeze")
    time.sleep(seconds * 2)
    server.command("thaw")


def refuse_writes(machine: Machine, server: Any, seconds: float) -> None:
    for setting in ("on", "off"):
        with psycopg.connect(server.url, autocommit=True, options="-c default_transaction_read_only=off") as connection:
            connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
        time.sleep(seconds)


def fill_disk(machine: Machine, server: Any, seconds: float) -> None:
    """Fill the file system of `TMPDIR`. The server may stop because of that, and is then started again."""
    filler = Path(os.environ["TMPDIR"], "filler")
    with contextlib.suppress(OSError), open(filler, "wb") as file:  # until there is no space left
        while True:
            file.write(bytes(1 << 16))
    time.sleep(seconds * 2)
    filler.unlink()
    server.command("stop")
    server.command("start")


FAULTS = (kill, stop, kill_server, freeze_server, refuse_writes)


def run(rounds: int, seconds: float, top: Path, faults: Sequence[Fault]) -> list[str]:
    server = database()
    machines = [Machine(top, server.url, name=f"machine-{number}") for number in range(2)]
    try:
        for machine in machines:
            machine.start()
        with Load(machines) as load:
            for number in range(rounds):
                for fault in faults:
                    time.sleep(seconds)
                    before = len(load.editions)
                    fault(machines[number % 2], server, seconds)
                    for machine in machines:
                        wait_until(lambda machine=machine: is_ready(machine), f"a service after {fault.__name__}")
                    wait_until(lambda before=before: len(load.editions) > before, f"a turn after {fault.__name__}")
                    print(f"{fault.__name__:15} {len(load.editions):7,} acknowledged, {dict(load.counts)}", flush=True)
        return load.problems + lost(server.url, load)
    finally:
        for machine in machines:
            machine.close()
        server.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each fault happens")
    parser.add_argument("--seconds", type=float, default=4, metavar="N", help="how long the load runs between faults")
    parser.add_argument(
        "--disk", default="", metavar="FOLDER", help="a small file system for the database server, which is filled"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foreword-faults-") as folder:
        faults: tuple[Fault, ...] = FAULTS
        if options.disk:
            os.environ["TMPDIR"] = options.disk
            faults = (*FAULTS, fill_disk)
        problems = run(options.rounds, options.seconds, Path(folder), faults)
    print("\n".join(problems[:20]) or "nothing was lost")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
