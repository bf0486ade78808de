"""Clients that start conversations on some services, what was acknowledged, and whether the store contains all of it afterwards."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "service" / "machines"))
sys.path.insert(0, str(HERE.parent / "store"))

from machine import CONNECTION_ERRORS, Machine  # noqa: E402

from foreword.store import open_store  # noqa: E402

Acknowledged = tuple[dict[str, str], list[str]]
USAGE = {"usage": {"input_tokens": 10, "output_tokens": 1}}


class Load:
    """Clients that start conversations and record usage, and what was acknowledged."""

    def __init__(self, machines: list[Machine], clients: int = 4, refusals: tuple[int, ...] = (503, 504)) -> None:
        self.machines, self.refusals = machines, refusals
        self.editions: dict[str, str] = {}
        self.recorded: list[str] = []
        self.started: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.is_over = False
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(clients)]

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
            self.started[id] = time.monotonic()
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
        if response.status not in self.refusals:
            self.problems.append(f"{path}: {response}")
        return None


def is_ready(machine: Machine) -> bool:
    try:
        return bool(machine.request("GET", "/readyz").status == 200)
    except CONNECTION_ERRORS:
        return False


def acknowledged(load: Load, since: float = 0.0) -> Acknowledged:
    """Return what was acknowledged until now, of the conversations that were started after a moment of the monotonic clock."""
    recorded = [id for id in list(load.recorded) if load.started[id] > since]  # first, because a call follows its turn
    return {id: system for id, system in dict(load.editions).items() if load.started[id] > since}, recorded


def lost(url: str, load: Load | Acknowledged) -> list[str]:
    """Return what was acknowledged and is not in the store, and what is damaged."""
    editions, recorded = acknowledged(load) if isinstance(load, Load) else load
    store = open_store(url)
    problems = store.verify()
    for id, system in editions.items():
        edition = store.edition(id, 1)
        if edition is None or edition.system != system:
            problems.append(f"{id}: {'lost' if edition is None else 'different'}")
    for id in recorded:
        if store.usage(id, 1) is None:
            problems.append(f"{id}: its usage is lost")
    store.close()
    print(f"looked for {len(editions):,} editions and {len(recorded):,} calls: {len(problems)} problems")
    return problems
