"""A dry run of a release. Prints what it did, and stops at the first thing that is wrong.

python -m release.check            builds and checks everything
python -m release.check --tag v1   also checks that the tag, the versions and the changelog agree, and that the owner is filled in
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from foreword import __version__
from release import files, installs, workflows
from release.notes import CHANGELOG, notes
from release.tools import DIST, ROOT, CheckError, expect, run, say


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m release.check")
    parser.add_argument("--tag", default="", help="the tag that is released")
    try:
        check(parser.parse_args(arguments).tag)
    except CheckError as error:
        sys.stderr.write(f"not ready for a release: {error}\n")
        return 1
    say(f"{__version__} is ready; the files are in dist/")
    return 0


def check(tag: str) -> None:
    say("Versions")
    check_versions(tag)
    run([sys.executable, "-m", "pytest", "tests/test_public.py"], env={**os.environ, "FOREWORD_RELEASE": "1"})
    say("  every public name is recorded in tests/golden/public, and none was removed")
    say("Workflows")
    workflows.lint()
    say("Files")
    wheel = files.build(__version__)
    files.write_sboms()
    files.check_metadata(wheel, is_release=bool(tag))
    files.check_licences(wheel)
    files.check_image(wheel)
    say("Installing without Node, into empty environments")
    installs.check_installs(wheel, DIST / f"foreword-{__version__}.tar.gz")
    installs.check_extras(wheel)
    say("The README's commands, from a local index")
    installs.check_readme(__version__)
    say("The workflows' commands, in a copy of the checkout")
    workflows.run_commands(tag or f"v{__version__}")


def check_versions(tag: str) -> None:
    """The Python package, the npm package, the tag and the changelog have the same version."""
    client = json.loads((ROOT / "clients/typescript/package.json").read_text("utf-8"))["version"]
    expect(client == __version__, f"clients/typescript/package.json says {client}, the Python package {__version__}")
    say(f"  {__version__} in src/foreword/__init__.py and clients/typescript/package.json")
    if tag:
        expect(tag == f"v{__version__}", f"the tag {tag} is not v{__version__}")
        expect(bool(notes(CHANGELOG.read_text("utf-8"), __version__)), f"CHANGELOG.md has no section [{__version__}]")
        say(f"  the tag {tag}, and a section in CHANGELOG.md")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
