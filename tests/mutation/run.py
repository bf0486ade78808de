"""Put random faults into the source, one at a time, and print those that no test notices: `make mutants SEED=1 NUMBER=20`.

Works in a temporary copy of the checkout with its own environment, so the processes that tests start use the changed module too.
`--only conversation/assembling.py` limits the faults to files whose path below `src/foreword` begins like this; it can be repeated.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from equivalent import EQUIVALENT
from faults import Fault, compiles, faults
from own_tests import own_tests

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/foreword")
# Generated from other files.
GENERATED = ("packs/std/", "packs/agents/", "inspection/compiled_prices.py")
# A fault may cause an endless loop or a wait that never ends, so each run may use this many times what it uses without a fault.
PATIENCE = 5
EXTRA_SECONDS = 120


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
        self.costs: dict[str, float] = {}

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

    def passes(self, tests: str) -> bool:
        """Whether these tests pass, within the limits for tests that have passed before."""
        cost = self.costs.get(tests)
        command = [self.python, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", f"tests/{tests}"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE"))}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=None if cost is None else PATIENCE * cost + EXTRA_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return False
        if process.returncode == 0:
            self.costs.setdefault(tests, time.monotonic() - started)
        elif cost is None:
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            raise SystemExit(
                f"tests/{tests} fails without a fault ({after.ru_utime - before.ru_utime:.0f} s):\n{output.decode()}"
            )
        return process.returncode == 0


def survives(fault: Fault, copy: Copy) -> bool:
    """Whether all tests of the fault's module pass with it. Prints the ones that fail."""
    module = str(Path(fault.path).relative_to(PACKAGE))
    source = (ROOT / fault.path).read_bytes()
    for tests in own_tests(module, ROOT / "tests"):
        if tests not in copy.costs:
            copy.write(fault, source)
            copy.passes(tests)
        copy.write(fault, fault.apply(source))
        try:
            if not copy.passes(tests):
                print(f"killed by {tests}: {fault}", flush=True)
                return False
        finally:
            copy.write(fault, source)
    return True


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
    parser.add_argument("--list", action="store_true", help="print the faults instead of trying them")
    options = parser.parse_args()
    chosen = sample(options.seed, options.number, options.only)
    if options.list:
        print(*chosen, sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        os.chmod(folder, 0o755)  # PostgreSQL runs as another user if this one is root
        copy = Copy(Path(folder))
        survivors = []
        for fault in chosen:
            if survives(fault, copy):
                print(f"SURVIVED: {fault}", flush=True)
                survivors.append(fault)
    print(f"\n{len(survivors)} of {len(chosen)} survived (seed {options.seed})", *survivors, sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
