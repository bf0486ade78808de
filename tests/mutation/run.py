"""Put random faults into the source, one at a time, and print those that no test notices: `make mutants SEED=1 NUMBER=20`.

Works in a temporary copy of the checkout with its own environment, so the processes that tests start use the changed module too.
The tests of the fault's own module run first, then those of its package, until one fails or the time for a fault is over.
`--only conversation/assembling.py` limits the faults to files whose path below `src/foreword` begins like this; it can be repeated.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from equivalent import EQUIVALENT
from failures import TEST_SECONDS, failure
from faults import Fault, compiles, faults
from own_tests import own_tests

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/foreword")
# Generated from other files.
GENERATED = ("packs/std/", "packs/agents/", "inspection/compiled_prices.py")
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
        path = new / packages.relative_to(old) / "_editable_impl_foreword.pth"
        path.unlink()
        path.write_text(f"{self.root / 'src'}\n")
        return new / "bin" / "python"

    def write(self, fault: Fault, source: bytes) -> None:
        """Write the module of a fault; its bytecode may look current, so remove that."""
        path = self.root / fault.path
        path.write_bytes(source)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def first_failure(self, tests: list[str], broken: list[str], seconds: float | None = None) -> str:
        """Run tests until one fails, and return what failed; empty if all passed. `broken` are tests that are left out.

        Raises TimeoutExpired if none has failed after this many seconds.
        """
        options = ["-x", "-n0", "-pno:cacheprovider", "--tb=no", "-vvv", *(f"--deselect={name}" for name in broken)]
        limits = ["-o", f"faulthandler_timeout={TEST_SECONDS}", "-o", "faulthandler_exit_on_timeout=true"]
        unwanted = ("PYTEST_", "MAKE", "PYTHONDONTWRITEBYTECODE")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        # Not a pipe, because processes that a test leaves behind would keep it open.
        with (self.root.parent / "output").open("w+b") as file:
            process = subprocess.Popen(
                [self.python, "-m", "pytest", *options, *limits, *tests],
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
            return "" if status in (0, NO_TESTS_COLLECTED) else failure(file.read().decode(errors="replace"))

    def kill_by(self, fault: Fault, source: bytes, tests: list[str], broken: list[str], deadline: float) -> str:
        """Return the first test that fails with a fault and passes without it; empty if there is none. Adds to `broken`."""
        while True:
            self.write(fault, fault.apply(source))
            try:
                failed = self.first_failure(tests, broken, max(deadline - time.monotonic(), 1))
            finally:
                self.write(fault, source)
            if not failed or not failed.startswith("tests/") or "::" not in failed:
                return failed
            if not self.first_failure([failed], []):
                return failed
            print(f"left out, because it fails without a fault too: {failed}", flush=True)
            broken.append(failed)


def try_fault(fault: Fault, copy: Copy, broken: list[str], seconds: float) -> str:
    """Return what happened to a fault: which test killed it, that it survived, or that the time was over."""
    module = str(Path(fault.path).relative_to(PACKAGE))
    source = (copy.root / fault.path).read_bytes()  # not of the checkout, which may change while this runs
    deadline = time.monotonic() + seconds
    try:
        for tests in own_tests(module, copy.root / "tests"):
            if killer := copy.kill_by(fault, source, [f"tests/{name}" for name in tests], broken, deadline):
                return f"killed by {killer}"
    except subprocess.TimeoutExpired:
        return f"UNDECIDED: no test that ran in {seconds:.0f} s failed"
    return "SURVIVED all tests of its package"


def sample(seed: int, number: int, only: list[str]) -> list[Fault]:
    """Random faults from all modules, or from those whose path begins like one of `only`."""
    everything: list[Fault] = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        module = path.relative_to(ROOT / PACKAGE).as_posix()
        if not module.startswith(GENERATED) and (not only or module.startswith(tuple(only))):
            everything += faults(str(PACKAGE / module), path.read_bytes())
    everything = [fault for fault in everything if (fault.path, fault.before, fault.text) not in EQUIVALENT]
    random.Random(seed).shuffle(everything)
    compiling = (fault for fault in everything if compiles(fault.apply((ROOT / fault.path).read_bytes())))
    return list(islice(compiling, number))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--only", action="append", default=[], metavar="PATH")
    parser.add_argument("--seconds", type=float, default=300, help="how long to run tests for each fault")
    parser.add_argument("--list", action="store_true", help="print the faults instead of trying them")
    options = parser.parse_args()
    chosen = sample(options.seed, options.number, options.only)
    if options.list:
        print(*chosen, sep="\n")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the tests end too, and the copy is removed
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        os.chmod(folder, 0o755)  # PostgreSQL runs as another user if this one is root
        copy = Copy(Path(folder))
        left: list[str] = []
        broken: list[str] = []
        for number, fault in enumerate(chosen, 1):
            print(f"{number} of {len(chosen)}: {fault}", flush=True)
            start = time.monotonic()
            result = try_fault(fault, copy, broken, options.seconds)
            print(f"  {result} ({time.monotonic() - start:.0f} s)", flush=True)
            if not result.startswith("killed"):
                left.append(f"{result.split()[0]} {fault}")
    survivors = sum(line.startswith("SURVIVED") for line in left)
    undecided = f"{len(left) - survivors} could not be decided in {options.seconds:.0f} s"
    print(f"\n{survivors} of {len(chosen)} survived, and {undecided} (seed {options.seed})", *left, sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
