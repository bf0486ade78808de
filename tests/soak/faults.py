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
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "service" / "machines"))

from machine import CONNECTION_ERRORS, Machine, database, wait_until  # noqa: E402

from foreword.store import open_store  # noqa: E402

CLIENTS = 4
Fault = Callable[[Machine, Any, float], None]
USAGE = {"usage": {"input_tokens": 10, "output_tokens": 1}}


class Load:
    """Clients that start conversations and record usage, and what was acknowledged."""

    def __init__(self, machines: list[Machine]) -> None:
        self.machines = machines
        self.editions: dict[str, str] = {}
        self.recorded: list[str] = []
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.is_over = False
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(CLIENTS)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over = True
        for thread in self._threads:
            thread.join()

    def _run(self, client: int) -> None:
        number = 0
        while not self.is_over:
            number += 1
            id = f"client-{client}-{number}"
            machine = self.machines[(client + number) % len(self.machines)]
            turn = self._send(machine, f"/conversations/{id}/turn", {"cwd": "", "message": "go on"})
            if turn is None:
                continue
            self.editions[id] = turn["system"]
            recorded = self._send(machine, f"/conversations/{id}/usage", USAGE)
            if recorded is not None and not recorded["findings"]:
                self.recorded.append(id)

    def _send(self, machine: Machine, path: str, body: object) -> dict[str, str] | None:
        """Return the answer of a request that was acknowledged."""
        try:
            response = machine.request("POST", path, body)
        except CONNECTION_ERRORS:
            self.counts["broken"] += 1
            return None
        self.counts[str(response.status)] += 1
        if response.status == 200:
            form: dict[str, str] = response.form
            return form
        if response.status not in (503, 504):
            self.problems.append(f"{path}: {response}")
        return None


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


def is_ready(machine: Machine) -> bool:
    try:
        return bool(machine.request("GET", "/readyz").status == 200)
    except CONNECTION_ERRORS:
        return False


def lost(url: str, load: Load) -> list[str]:
    """Return what was acknowledged and is not in the store, and what is damaged."""
    store = open_store(url)
    problems = store.verify()
    for id, system in load.editions.items():
        edition = store.edition(id, 1)
        if edition is None or edition.system != system:
            problems.append(f"{id}: {'lost' if edition is None else 'different'}")
    for id in load.recorded:
        if store.usage(id, 1) is None:
            problems.append(f"{id}: its usage is lost")
    store.close()
    print(f"looked for {len(load.editions):,} editions and {len(load.recorded):,} calls: {len(problems)} problems")
    return problems


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
