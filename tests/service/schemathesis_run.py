"""Run schemathesis with all its checks over the entire OpenAPI document, against a new server.

    python tests/service/schemathesis_run.py --examples 200 [--seed N] [--phases fuzzing,stateful]

Prints the report, then a line of JSON with the number of requests. Exits with 1 if anything was found, if the server
answered with a 500, or if its log has a line that does not belong to a request.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\nSweep.\n"
FILES = {
    "w/AGENTS.md": "Be kind.\n",
    "w/sub/.git/HEAD": "ref: refs/heads/main\n",
    "w/.agents/skills/tidy/SKILL.md": SKILL,
    "w/repo/AGENTS.md": "Use tabs.\n",
}
_IDENTITY = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]

# Only the statuses accepted for valid and invalid data are set; no check and no route is left out.
# - Valid data may still name a missing template, folder, layout or skill (404, 422), a version that is not
#   the newest (412), the default template, which cannot be deleted (409), or a path that is not served (403), which no schema can express.
# - A body or query that is too large is refused before it is parsed (413, 431).
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "403", "404", "409", "412", "422"]

[checks.negative_data_rejection]
expected-statuses = ["400", "403", "404", "405", "413", "431"]
"""


def serve(folder):
    """Start a server for a small workspace, and return the process and its URL."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "change"]):
        subprocess.run(["git", *_IDENTITY, *arguments], cwd=folder / "w" / "repo", check=True)
    (folder / "w" / "link-in").symlink_to(folder / "w" / "sub")
    (folder / "home").mkdir()
    command = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--root", str(folder / "w")]
    command += ["--store", f"sqlite:///{folder}/store.db", "--log", "json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    return process, process.stdout.readline().split()[-1]


def faults(log):
    """Yield log lines that report an internal error or that are malformed."""
    for line in log.read_text().splitlines():
        try:
            fields = json.loads(line)
            if fields.get("status", 500) == 500 and fields.get("from") not in ("audit", "service"):
                yield line
        except ValueError:
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--path", default="", help="a regular expression for the paths to test, by default all")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foreword-schemathesis-") as name:
        folder = Path(name)
        (folder / "schemathesis.toml").write_text(CONFIG)
        process, url = serve(folder)
        report = []
        try:
            command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", "schemathesis.toml", "run"]
            command += [f"{url}/openapi.json", "--checks", "all", "--max-examples", str(args.examples)]
            command += ["--phases", args.phases, "--seed", str(args.seed), "--continue-on-failure", "--no-color"]
            command += ["--include-path-regex", args.path] if args.path else []
            hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE)}
            environment = {**os.environ, **hooks, "PYTHONUNBUFFERED": "1"}
            with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as run:
                for line in run.stdout:
                    report.append(line)
                    print(line, end="", flush=True)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            process.stdout.close()
        wrong = list(faults(folder / "log"))
        cases = re.search(r"\b(\d{1,9}) generated", "".join(report))
        print(*wrong, sep="\n")
        print(json.dumps({"cases": int(cases[1]) if cases else 0, "faults": len(wrong), "status": run.returncode}))
        return 1 if run.returncode or wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
