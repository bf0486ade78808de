"""A copy of the checkout with its own environment, in which tests are recorded and modules are changed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from failures import failure
from faults import Fault
from records import RecordedTest, Records

ROOT = Path(__file__).parents[2]
NO_TESTS_COLLECTED = 5


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

    def write(self, fault: Fault, source: bytes) -> None:
        """Write the module of a fault; its bytecode may look current, so remove that."""
        path = self.root / fault.path
        path.write_bytes(source)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def record(self, path: str, records: Records) -> None:
        """Run one file of tests, and keep which functions each of its tests executes."""
        raw = self.root.parent / "raw"
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir()
        raw.chmod(0o777)  # some tests start processes of another user
        package = f"{self.root}/src/foreword/"
        start = f"import sys; sys.path.append({str(self.root / 'tests/mutation')!r}); import recorder; recorder.start({package!r}, {str(raw)!r})"
        hook = self.packages / "recorder.pth"  # Python executes its line whenever a process of this environment starts
        hook.write_text(f"{start}\n")
        try:
            self._run_pytest(["-p", "recording", f"tests/{path}"], seconds=1800, test_seconds=600)
        finally:
            hook.unlink()
        records.add(path, raw)

    def first_failure(self, tests: list[RecordedTest], seconds: float | None = None) -> str:
        """Run tests until one fails, and return what failed; empty if all passed.

        Raises TimeoutExpired if none has failed after this many seconds.
        """
        names = self.root.parent / "chosen"
        names.write_text("\n".join(test.name for test in tests))
        files = dict.fromkeys(f"tests/{test.file}" for test in tests)
        # A fault may cause an endless loop or a wait that never ends; a busy machine may take several times as long as when recording.
        test_seconds = 20 + 10 * max(test.seconds for test in tests)
        status, output = self._run_pytest(["-x", "-p", "chosen", "--chosen", str(names), *files], seconds, test_seconds)
        return "" if status in (0, NO_TESTS_COLLECTED) else failure(output)

    def _run_pytest(self, arguments: list[str], seconds: float | None, test_seconds: float) -> tuple[int, str]:
        """Run pytest in the copy; return its status and output. It ends itself if one test takes more than `test_seconds`."""
        options = ["-n0", "-pno:cacheprovider", "--tb=no", "-vvv"]
        limits = ["-o", f"faulthandler_timeout={test_seconds:.0f}", "-o", "faulthandler_exit_on_timeout=true"]
        unwanted = ("PYTEST_", "MAKE", "PYTHONDONTWRITEBYTECODE")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        environment["PYTHONPATH"] = str(self.root / "tests/mutation")
        # Not a pipe, because processes that a test leaves behind would keep it open.
        with (self.root.parent / "output").open("w+b") as file:
            process = subprocess.Popen(
                [self.python, "-m", "pytest", *options, *limits, *arguments],
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
            try:
                status = process.wait(seconds)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            file.seek(0)
            return status, file.read().decode(errors="replace")
