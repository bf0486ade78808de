"""The same workspace, agent and clock give the same bytes, whatever the listing order, hash seed, time zone and locale."""

import itertools
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod"]


class ShuffledDisk:
    """The operating system with every listing shuffled."""

    open, read, close, fstat, stat, lstat = (
        staticmethod(getattr(os, name)) for name in "open read close fstat stat lstat".split()
    )

    def __init__(self, seed):
        self.random = random.Random(seed)

    @contextmanager
    def scandir(self, path):
        with os.scandir(path) as listing:
            entries = list(listing)
        self.random.shuffle(entries)
        yield iter(entries)


# The order of listings

words = st.sampled_from(["a", "b", "B", "Z", "10", "9", "é", "e\u0301", "ß", "ı", "z-1", "z", "日", "-", "a b", ".x"])
SKILL_FOLDERS = [f"{top}/skills" for top in "w/a/.agents w/a/.claude w/.agents w/a/.sf home/.agents w/a/.ion".split()]
TEXT_FOLDERS = ["home/.config/agents/rules", "w/.foreword/knowledge", "w/.foreword/workflow"]
heads = st.builds(
    "---\nname: {}\ndescription: {}\nmodel_invokation: true\nodd: 1\n---\n{}".format,
    words,
    st.sampled_from(["One.", "Two: x"]),
    words,
)
skills = st.dictionaries(
    st.builds("{}/{}{}/SKILL.md".format, st.sampled_from(SKILL_FOLDERS), st.sampled_from(["", "g/", "h/i/"]), words),
    heads,
    max_size=12,
)
texts = st.dictionaries(st.builds("{}/{}.md".format, st.sampled_from(TEXT_FOLDERS), words), heads, max_size=8)
cases = st.dictionaries(
    st.builds(
        "{}/{}".format,
        st.sampled_from(["w", "w/a", "home/.ion"]),
        st.sampled_from(["AGENTS.md", "agents.md", "Agents.md", "AGENTS.MD", "CLAUDE.md"]),
    ),
    words,
    max_size=10,
)
links = st.lists(st.tuples(st.sampled_from(SKILL_FOLDERS), words, st.sampled_from(SKILL_FOLDERS)), max_size=3)


@given(files=st.tuples(skills, texts, cases), links=links, seeds=st.lists(st.integers(), min_size=2, max_size=2))
@example(({}, {}, {"w/a/AGENTS.md": "x", "w/a/agents.md": "y", "w/a/Agents.md": "z", "w/a/AGENTS.MD": "u"}), [], [1, 2])
def test_listing_order_does_not_matter(module_tree, files, links, seeds):
    tree = module_tree
    shutil.rmtree(tree.path("current"), ignore_errors=True)
    tree({"current/w/.git": None, "current/w/a": None})
    tree({f"current/{name}": text for file in files for name, text in file.items()})
    for folder, name, target in links:
        if not os.path.lexists(tree.path(f"current/{folder}/{name}")):
            tree({f"current/{folder}/{name}": Path(tree.path(f"current/{target}"))})
    for layout in LAYOUTS:
        prompts = [
            tree.prompt(layout, "current/w/a", home="current/home", tools="read", disk=ShuffledDisk(seed))
            for seed in seeds
        ]
        assert prompts[0] == prompts[1]


# The environment of the process

ENVIRONMENTS = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE", "LANGUAGE": "tr"},
    {"PYTHONHASHSEED": "77", "TZ": "Nowhere/Nothing", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {
        "PYTHONHASHSEED": "random",
        "TZ": "",
        "LC_ALL": "",
        "LANG": "",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONDONTWRITEBYTECODE": "1",
    },
]


@pytest.fixture(scope="module")
def busy_tree(module_tree, skill):
    """A workspace with content and findings for every layout."""
    tree = module_tree
    names = ["b", "a", "Z", "10", "9", "é", "ß", "z-1"]
    tree({
        "busy/w/.git/HEAD": "ref: refs/heads/main\n",
        "busy/w/AGENTS.md": "Root é.\n</skills> </instructions>\n```\nopen",
        "busy/w/ü/AGENTS.md": "<!-- include: ./größe.md -->\n{{ date }} {{ cwd }}\n",
        "busy/w/ü/agents.md": "1",
        "busy/w/ü/AGENTS.MD": "2",
        "busy/w/ü/Agents.md": "3",
        "busy/w/ü/größe.md": "Included: \u202ex.",
        "busy/w/ü/CLAUDE.md": b"\xff",
        "busy/w/ü/OPAL.md": "word " * 3_000,
        "busy/w/ü/AGENTS.local.md": Path("nowhere"),
        "busy/w/.foreword/foreword.toml": 'budget = 1500\nsettings.file_secrets = true\nnonsense = 1\nskills.validation = "lenient"\n',
        "busy/w/.foreword/prompts.toml": 'nonsense = "x"\nother = "y"\n',
        "busy/plan.md": "The plan: ä.",
    })  # fmt: skip
    for name in names:
        tree({
            f"busy/home/.config/agents/rules/{name}.md": f"Rule {name}.",
            f"busy/w/.foreword/knowledge/{name}.md": f"---\ndescription: About {name}.\nmodel_invokation: true\n---\n",
        })  # fmt: skip
        for top in ("w/ü/.agents/skills", "w/.claude/skills", "home/.agents/skills"):
            tree({f"busy/{top}/{name}/SKILL.md": skill(name, f"Does {name}: {top}.", "odd: 1", "other: 2")})
    return tree


# Runs several commands in one process, because most of the time is the start. Their arguments are separated by a comma, and the outputs
# by marks.
SCRIPT = """
import itertools, sys
from foreword.cli import main
for is_comma, call in itertools.groupby(sys.argv[1:], ",".__eq__):
    if is_comma:
        continue
    status = main(list(call))
    sys.stdout.flush(), sys.stderr.flush()
    sys.stdout.buffer.write(b"\\x1e%d\\x1f" % status)
    sys.stderr.buffer.write(b"\\x1e")
    sys.stdout.flush(), sys.stderr.flush()
"""


def show(tree, environment, options_by_layout):
    """The status, standard output and standard error of `foreword show` for each layout, in a process with this environment."""
    words = ["show", tree.path("busy/w/ü"), "--home", tree.path("busy/home")]
    words += "--now 2026-03-07T08:55:05-06:00 --tool read --tool bash --session s --model m".split()
    calls = [[*words, "--layout", layout, *options, ","] for layout, options in options_by_layout.items()]
    inherited = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH") if name in os.environ}
    command = [sys.executable, "-c", SCRIPT, *itertools.chain(*calls)]
    result = subprocess.run(command, env={**inherited, **environment}, capture_output=True)
    assert result.returncode == 0, result.stderr
    *outputs, _ = result.stdout.split(b"\x1f")
    *errors, _ = result.stderr.split(b"\x1e")
    texts, statuses = zip(*(output.split(b"\x1e") for output in outputs), strict=True)
    return dict(zip(options_by_layout, zip(map(int, statuses), texts, errors, strict=True), strict=True))


SHOWN_LAYOUTS = [*LAYOUTS, "builder"]


@pytest.fixture(scope="module")
def shown(busy_tree):
    """What each environment shows for every layout."""
    plan = ["--plan", busy_tree.path("busy/plan.md")]
    options = {layout: ["--json", *(plan if layout in ("foreword", "ion") else [])] for layout in SHOWN_LAYOUTS}
    return [show(busy_tree, environment, options) for environment in ENVIRONMENTS]


@pytest.mark.xdist_group("shown")  # in one worker, so that the commands run once
@pytest.mark.parametrize("layout", SHOWN_LAYOUTS)
def test_hash_seed_time_zone_and_locale_do_not_matter(shown, layout):
    first, *others = [outputs[layout] for outputs in shown]
    assert first[0] == 0 and len(first[1]) > 1_000 and first[2] == b""
    assert others == [first] * 4


def test_human_readable_output_is_the_same(busy_tree):
    """Non-ASCII text goes to standard error only where the terminal can print it."""
    first, *others = [show(busy_tree, environment, {"foreword": []})["foreword"] for environment in ENVIRONMENTS]
    assert first[0] == 0 and len(first[1]) > 1_000 and len(first[2]) > 1_000
    assert others[:2] == [first] * 2
    assert [output[:2] for output in others[2:]] == [first[:2]] * 2
