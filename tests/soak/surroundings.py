"""Start conversations on two services with one SQLite store while the disk fills up, the clock jumps, and name servers fail.

    python tests/soak/surroundings.py [--rounds 3] [--seconds 4] [--only disk|clock|names ...]

It needs Linux and root: the store is on a small file system of its own, the clock is libfaketime's (Debian's package of that name), and the
services run with their own `/etc/resolv.conf`, which names a name server of this process. Only a 503, a 504 or a broken connection may be the answer
meanwhile, and every service must work again afterwards. The store must contain each acknowledged edition and call of usage. Known turns
must be answered all the time; their slowest percent is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from writers import Load, is_ready, lost  # isort: skip - it finds the others
from machine import CONNECTION_ERRORS, Machine, wait_until

JUMPS = ("+0", "+1d", "-2d", "+370d", "-370d", "+0")
HOOK_SECONDS = 1.0
SECRET = "whsec_" + "c29ha3NvYWtzb2Frc29ha3NvYWtzb2Fr"
NAME_SERVER = "127.0.0.9"
HOST = "hooks.example.test"
OWN_NAMES = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


class KnownTurns(threading.Thread):
    """Times turns of a known conversation, and counts those that were refused and the codes of their findings."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(daemon=True)
        assert machine.turn("known").status == 200
        self._machine, self._is_over = machine, threading.Event()
        self._times: list[float] = []
        self._refused: list[str] = []
        self.codes: set[str] = set()

    def run(self) -> None:
        while not self._is_over.wait(0.01):
            start = time.perf_counter()
            try:
                response = self._machine.turn("known", message="go on")
            except CONNECTION_ERRORS:  # the service is being restarted
                continue
            self._times.append((time.perf_counter() - start) * 1e3)
            if response.status != 200:
                self._refused.append(f"a known turn: {response}")
            else:
                self.codes.update(response.codes)

    def describe(self) -> str:
        """Describe the turns since the last call."""
        times, self._times = sorted(self._times), []
        codes, self.codes = sorted(self.codes), set()
        if not times:
            return "no known turns"
        return f"known turns: {len(times):,}, p99 {times[len(times) * 99 // 100]:.0f} ms, most {times[-1]:.0f} ms, findings {codes}"

    def stop(self) -> list[str]:
        self._is_over.set()
        self.join()
        return self._refused


def run(machines: list[Machine], rounds: int, fault: Callable[[], Iterator[str]], store: str) -> list[str]:
    """Let a fault happen several times under load. It yields a name for each of its steps, when that has just begun or ended."""
    try:
        for machine in machines:
            machine.start()
        known = KnownTurns(machines[0])
        with Load(machines) as load:
            known.start()
            for _ in range(rounds):
                for step in fault():
                    print(
                        f"{step:34} {len(load.editions):7,} acknowledged, {dict(load.counts)}; {known.describe()}",
                        flush=True,
                    )
                before = len(load.editions)
                for machine in machines:
                    wait_until(lambda machine=machine: is_ready(machine), "a service")
                wait_until(lambda before=before: len(load.editions) > before, "a turn")
            refused = known.stop()
        return (
            refused + load.problems + lost(store, load) + [machine.stderr() for machine in machines if machine.stderr()]
        )
    finally:
        for machine in machines:
            machine.close()


def fill_disk(top: Path, rounds: int, seconds: float) -> list[str]:
    """The disk of the store is full."""
    disk = top / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=True)
    store, filler = f"{disk}/store.db", disk / "filler"

    def fault() -> Iterator[str]:
        time.sleep(seconds)
        yield "before the disk is full"
        end = time.monotonic() + seconds
        with open(filler, "wb", buffering=0) as file:
            while time.monotonic() < end:  # the services' own log shrinks and grows, so fill what it leaves
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(4096))
                time.sleep(0.01)
        yield "full"
        filler.unlink()
        time.sleep(seconds)
        yield "with space again"

    try:
        machines = [Machine(top, store, name=f"machine-{number}") for number in range(2)]
        return run(machines, rounds, fault, store)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def set_clock(top: Path, rounds: int, seconds: float) -> list[str]:
    """The clock of one service jumps, while the other one's is right."""
    (library,) = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    clock = top / "clock"
    clock.write_text("+0")
    clock_variables = {
        "LD_PRELOAD": library,
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",  # the file is read once per second
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # as when a system's clock is set
    }
    store = f"{top}/store.db"

    def fault() -> Iterator[str]:
        for jump in JUMPS:
            clock.write_text(jump)
            time.sleep(seconds)
            yield f"clock {jump}"

    machines = [
        Machine(top, store, name="machine-0", environment=clock_variables),
        Machine(top, store, name="machine-1"),
    ]
    return run(machines, rounds, fault, store)


class NameServer(threading.Thread):
    """A name server that knows one host, on this machine, and can forget it or fall silent."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.mode = "answer"
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((NAME_SERVER, 53))

    def run(self) -> None:
        while True:
            question, client = self._socket.recvfrom(512)
            if self.mode != "silent":
                self._socket.sendto(self._answer(question), client)

    def _answer(self, question: bytes) -> bytes:
        """Return a response in the format of RFC 1035: 127.0.0.1 for a question of type A, and otherwise nothing."""
        end = question.index(b"\0", 12) + 5
        is_known = self.mode == "answer"
        has_address = is_known and question[end - 4 : end - 2] == b"\0\1"
        flags = b"\x81\x80" if is_known else b"\x81\x83"
        record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if has_address else b""
        return question[:2] + flags + b"\0\1" + bytes([0, has_address]) + b"\0\0\0\0" + question[12:end] + record


class Hook(http.server.BaseHTTPRequestHandler):
    """Accepts every call and changes nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def fail_names(top: Path, rounds: int, seconds: float) -> list[str]:
    """The name of a hook stops resolving: first there is no such name, then the name server is silent. One service knew it, and one starts then."""
    names, hooks = NameServer(), http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    names.start()
    threading.Thread(target=hooks.serve_forever, daemon=True).start()
    resolver, store = top / "resolv.conf", f"{top}/store.db"
    resolver.write_text(f"nameserver {NAME_SERVER}\n")
    options = ["--hook", f"context=http://{HOST}:{hooks.server_port}/", "--allow-plain-hooks"]
    options += ["--hook-time-limit", str(HOOK_SECONDS)]
    machines = [
        Machine(
            top, store, *options, name=f"machine-{number}", environment={"FOREWORD_HOOK_SECRET": SECRET},
            prefix=("unshare", "--mount", "sh", "-c", OWN_NAMES, str(resolver)),
        )
        for number in range(2)
    ]  # fmt: skip

    def fault() -> Iterator[str]:
        for mode in ("answer", "unknown", "answer", "silent"):
            names.mode = mode
            time.sleep(seconds)
            yield f"name server: {mode}"
        machines[0].stop()
        machines[0].start()
        time.sleep(seconds)
        yield "name server: silent from the start"
        names.mode = "answer"
        time.sleep(10)  # how long the system waits for a name server
        yield "name server: answer after 10 s"

    try:
        return run(machines, rounds, fault, store)
    finally:
        hooks.shutdown()


FAULTS = {"disk": fill_disk, "clock": set_clock, "names": fail_names}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each fault happens")
    parser.add_argument("--seconds", type=float, default=4, metavar="N", help="how long each of its steps takes")
    parser.add_argument(
        "--only", nargs="*", choices=FAULTS, default=list(FAULTS), metavar="FAULT", help=", ".join(FAULTS)
    )
    options = parser.parse_args()
    if os.getuid():
        sys.exit("this needs root, to mount file systems")
    problems: list[str] = []
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="foreword-surroundings-") as folder:
            problems += FAULTS[name](Path(folder), options.rounds, options.seconds)
    print("\n".join(problems[:20]) or "nothing was lost")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
