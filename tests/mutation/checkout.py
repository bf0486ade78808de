"""A copy of the checkout with its own environment, in which tests are recorded and modules are changed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import NamedTuple

from faults import Fault
from records import RecordedTest, Records

ROOT = Path(__file__).parents[2]
SOME_TESTS_FAILED, NO_TESTS_COLLECTED = 1, 5


class Change(NamedTuple):
    """A module that contains a fault now, and its text without and with it."""

    path: str
    before: bytes
    after: bytes


class Outcome(NamedTuple):
    """What happened when some tests ran: each passed, one failed or took too long (`stuck`), or the time was over (`late`)."""

    kind: str
    test: str
    passed: int


class Copy:
    """A copy of the checkout, in which one module at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name, follow_symlinks=False)
        for name in ("web/node_modules", "src/foreword/service/static"):
            if (ROOT / name).exists():
                (self.root / name).symlink_to(ROOT / name)
        self.python = self._copy_environment()

    def _copy_environment(self) -> Path:
        """An environment with the packages of this one, in which `foreword` is the copy."""
        packages = Path(sysconfig.get_path("purelib"))
        old, new = Path(sys.prefix), self.root / ".venv"
        for source in (old / "bin", packages):
            target = new / source.relative_to(old)
            target.mkdir(parents=True)
            for entry in source.iterdir():
                (target / entry.name).symlink_to(entry.readlink() if entry.is_symlink() else entry)
        shutil.copy(old / "pyvenv.cfg", new)
        self.packages = new / packages.relative_to(old)
        path = self.packages / "_editable_impl_foreword.pth"
        path.unlink()
        path.write_text(f"{self.root / 'src'}\n")
        return new / "bin" / "python"

    @contextmanager
    def changed(self, fault: Fault) -> Iterator[Change]:
        """Put a fault into its module, for as long as the context lasts."""
        path = self.root / fault.path
        before = path.read_bytes()  # not of the checkout, which may change while this runs
        after = fault.apply(before)
        try:
            _write(path, after)
            yield Change(str(path), before, after)
        finally:
            _write(path, before)

    def record(self, path: str, records: Records) -> None:
        """Run one file of tests, and keep which lines each of its tests executes."""
        raw = self.root.parent / "raw"
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir()
        raw.chmod(0o777)  # some tests start processes of another user
        package = self.root / "src/foreword"
        start = f"import sys; sys.path.append({str(self.root / 'tests/mutation')!r}); import recorder; recorder.start({f'{package}/'!r}, {str(raw)!r})"
        hook = self.packages / "recorder.pth"  # Python executes its line whenever a process of this environment starts
        hook.write_text(f"{start}\n")
        process = self.start_pytest(["-p", "recording", f"tests/{path}"])
        try:
            status = process.wait(1800)
        finally:
            end(process)
            hook.unlink()
        if status not in (0, SOME_TESTS_FAILED, NO_TESTS_COLLECTED):
            sys.exit(f"cannot record tests/{path}: {self.output()}")
        records.add(path, raw, package)

    def start_pytest(self, arguments: list[str], pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        """Start pytest in the copy."""
        unwanted = ("PYTEST_", "MAKE", "PYTHONDONTWRITEBYTECODE")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        environment["PYTHONPATH"] = str(self.root / "tests/mutation")
        # Not a pipe, because processes that a test leaves behind would keep it open.
        with (self.root.parent / "output").open("wb") as file:
            return subprocess.Popen(
                [self.python, "-m", "pytest", "-pno:cacheprovider", "--tb=no", *arguments],
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                pass_fds=pass_fds,
                start_new_session=True,
            )

    def output(self) -> str:
        """The end of what the last pytest has printed."""
        return (self.root.parent / "output").read_text(errors="replace")[-1000:]


class Collected:
    """A process of pytest in a copy, which has collected some files of tests and runs those that `run` names: see `trying.py`."""

    def __init__(self, copy: Copy, files: list[str], seconds: float | None = None) -> None:
        """Raises EOFError if the files cannot be collected, and TimeoutError if it takes too long."""
        self._connection, other = Pipe()
        with other:
            package = ["-p", "trying", "--package", f"{copy.root}/src/foreword", "--connection", str(other.fileno())]
            names = [f"tests/{file}" for file in files]
            self._process = copy.start_pytest(["-x", *package, *names], pass_fds=(other.fileno(),))
        try:
            if not self._connection.poll(seconds):
                raise TimeoutError
            self._connection.recv()
        except BaseException:
            self.close()
            raise

    def run(self, batches: list[list[RecordedTest]], seconds: float, change: Change | None = None) -> Outcome | None:
        """Run tests until one fails, with the changed functions of a module. None if more than functions is changed."""
        # A fault may cause an endless loop or a wait that never ends; a busy machine may take several times as long as when recording.
        limits = [{test.name: 20 + 10 * test.seconds for test in batch} for batch in batches]
        self._connection.send((change, limits, seconds))
        outcome = self._connection.recv()
        return Outcome(*outcome) if outcome else None

    def close(self) -> None:
        self._connection.close()
        end(self._process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those of its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _write(path: Path, source: bytes) -> None:
    """Write a module; its bytecode may look current, so remove that."""
    path.write_bytes(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
