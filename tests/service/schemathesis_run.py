"""Runs schemathesis over the whole description of the service, against a server of its own, with every check it has.

    python tests/service/schemathesis_run.py --examples 200 [--seed N] [--phases fuzzing,stateful]

Prints its report, and last a line of JSON: how many requests were made. Ends with 1 if anything was found, if the server
answered a single 500, or if it left a line in its log that is no line for a request.
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
}

# Only which statuses count as an answer to right or wrong data is set; no check is left out, and no route.
# - Data of the right form may still name a template, folder, layout or skill that is none (404, 422), a version that is not
#   the newest (412) or a path that is not served (403): no schema can say which there are.
# - A body or a query that is too large is refused as such, before anyone looks at its form (413, 431).
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "403", "404", "412", "422"]

[checks.negative_data_rejection]
expected-statuses = ["400", "403", "404", "405", "413", "431"]
"""


def serve(folder):
    """A server for a small workspace; gives the process and its URL."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "w" / "link-in").symlink_to(folder / "w" / "sub")
    (folder / "home").mkdir()
    command = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--root", str(folder / "w")]
    command += ["--store", f"sqlite:///{folder}/store.db", "--log", "json"]
    context = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=context)
    return process, process.stdout.readline().split()[-1]


def faults(log):
    """Lines of the log that tell of a fault of ours, or that are no line at all."""
    for line in log.read_text().splitlines():
        try:
            if json.loads(line).get("status", 500) == 500:
                yield line
        except ValueError:
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foreword-schemathesis-") as name:
        folder = Path(name)
        (folder / "schemathesis.toml").write_text(CONFIG)
        process, url = serve(folder)
        try:
            command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", "schemathesis.toml", "run"]
            command += [f"{url}/openapi.json", "--checks", "all", "--max-examples", str(args.examples)]
            command += ["--phases", args.phases, "--seed", str(args.seed), "--continue-on-failure", "--no-color"]
            hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE)}
            ended = subprocess.run(command, cwd=folder, env={**os.environ, **hooks}, stdout=subprocess.PIPE, text=True)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            process.stdout.close()
        wrong = list(faults(folder / "log"))
        cases = re.search(r"\b(\d{1,9}) generated", ended.stdout)
        print(ended.stdout, *wrong, sep="\n")
        print(json.dumps({"cases": int(cases[1]) if cases else 0, "faults": len(wrong), "status": ended.returncode}))
        return 1 if ended.returncode or wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
