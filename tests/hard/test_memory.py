"""Reading a 100 MB file takes no more memory than reading one at the size limit."""

import subprocess
import sys

import pytest

from foreword.sources.reader import HEAD_LIMIT, LIMIT

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
HUGE = 100_000_000

# A forked process inherits the peak of its parent, so a small process starts the measured one.
MEASURE = """
import os, subprocess, sys
with open(os.devnull, "wb") as nowhere:
    process = subprocess.Popen([sys.executable, "-m", "foreword", "show", *sys.argv[1:]], stdout=nowhere, stderr=nowhere)
    _, status, usage = os.wait4(process.pid, 0)
print(status, usage.ru_maxrss)
"""


def create_sparse(size, start=b"word\n" * (LIMIT // 5 + 100)):
    """Return a function that creates a sparse file of this size, which starts with text."""

    def make(path):
        with open(path, "wb") as file:
            file.write(start[:size])
            file.truncate(size)

    return make


def peak_memory(tree, *options):
    """Return the peak memory of `foreword show` in kilobytes."""
    call = [sys.executable, "-c", MEASURE, tree.path("w"), "--home", tree.path("home"), "--tool", "read", *options]
    status, kilobytes = map(int, subprocess.run(call, capture_output=True, text=True, check=True).stdout.split())
    assert status == 0
    return kilobytes


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_is_flat_with_a_hundred_megabyte_file(tree, layout):
    tree({"w/.git": None, "w/AGENTS.md": "word"})
    baseline = peak_memory(tree, "--layout", layout)
    tree({"w/AGENTS.md": create_sparse(LIMIT + 100)})
    at_the_limit = peak_memory(tree, "--layout", layout)
    tree({"w/AGENTS.md": create_sparse(HUGE)})
    huge = peak_memory(tree, "--layout", layout)
    assert huge - at_the_limit < 2_000
    assert huge - baseline < 12_000


def test_memory_is_flat_with_a_hundred_megabyte_skill(tree, skill):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a")})
    baseline = peak_memory(tree)
    tree({"w/.agents/skills/a/SKILL.md": create_sparse(HUGE, skill("a").encode() + b"word\n" * LIMIT)})
    assert peak_memory(tree) - baseline < 2_000


# Reads stop at the limit

FILES = {
    "foreword": ["w/AGENTS.md", "w/AGENTS.local.md", "home/.agents/AGENTS.md"],
    "ion": ["w/AGENTS.md", "home/.ion/AGENTS.md", "home/.config/agents/rules/a.md"],
    "opal": ["w/OPAL.md", "w/.opal/AGENTS.md"],
    "pi": ["w/.sf/SYSTEM.md", "w/.sf/APPEND_SYSTEM.md", "w/AGENTS.md"],
}


@pytest.mark.parametrize("layout", FILES)
def test_no_text_is_read_beyond_the_limit(tree, disk, layout):
    tree({"w/.git": None, **{path: create_sparse(HUGE) for path in FILES[layout]}})
    prompt = tree.prompt(layout, disk=disk)
    assert disk.bytes_read <= len(FILES[layout]) * (LIMIT + 1)
    cut = sorted(path for code, path in tree.findings(prompt) if code == "file-cut")
    assert cut == sorted(f"/{path}" for path in FILES[layout])


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
@pytest.mark.parametrize(
    ("head", "limit"),
    [
        ("---\nname: a\ndescription: D.\n---\n", HEAD_LIMIT + 1),
        ("---\nname: a\ndescription: D.\n", HEAD_LIMIT + LIMIT + 2),
        ("word\n", HEAD_LIMIT + LIMIT + 2),
    ],
)
def test_only_the_front_matter_of_a_skill_is_read(tree, disk, layout, head, limit):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": create_sparse(HUGE, head.encode() + b"word\n" * LIMIT)})
    tree.prompt(layout, tools="read", disk=disk)
    assert disk.bytes_read <= limit


def test_a_file_included_many_times_is_stored_once(tree):
    """The include targets are spelt differently, so each one is resolved separately."""
    tree({"w/big.md": create_sparse(HUGE), "w/AGENTS.md": "small\n"})
    baseline = peak_memory(tree, "--layout", "ion")
    includes = "".join(f"<!-- include: {'./' * number}big.md -->\n" for number in range(1, 50))
    tree({"w/AGENTS.md": includes})
    assert peak_memory(tree, "--layout", "ion") - baseline < 30_000
