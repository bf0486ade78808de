"""The documentation is true: reference pages are what the code gives, and every example and command line runs.

A page is run from top to bottom in a small workspace of its own. A fenced block with a title is a file of that name, `sh` holds
command lines, `python` is a program; a `text` block right after one of the two is what it prints.
"""

import argparse
import ast
import importlib.util
import itertools
import json
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from foreword import cli, layout, settings, vocabulary
from foreword.findings import CODES
from foreword.packs.std import compiled
from foreword.template.catalog import CATALOG

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = load(DOCS / "generate.py")


def text_of(name):
    return (DOCS / name).read_text()


def page_id(page):
    return page.relative_to(ROOT).as_posix()


# The reference is made from the code


def test_reference_pages_are_current():
    assert generate.stale() == [], "run python docs/generate.py"


def test_a_stale_page_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generate, "FOLDER", tmp_path / "reference")
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "reference" / "keys.md").write_text("old")
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().out == "docs/reference/keys.md is stale: run python docs/generate.py\n"


def rows(name):
    """The tables of a reference page: the name in the first column, and what is said of it in the last."""
    lines = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in text_of(f"reference/{name}").splitlines() if line[:2] == "| "
    ]
    return {cells[0].strip().strip("`").replace("\\|", "|"): cells[-1].strip() for cells in lines}


KEYS = [key.name for key in layout.KEYS]
WORDS = [*layout.PLACES, *layout.LISTS, *layout.FOUND, *layout.FACTS, *layout.FILTERS, *layout.EVENTS, *layout.STEPS]


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("findings.md", list(CODES)),
        ("origins.md", list(vocabulary.ORIGINS)),
        ("variables.md", [f"{row.type}:{row.name}" for row in CATALOG]),
        ("keys.md", [*KEYS, *WORDS]),
    ],
)
def test_every_name_is_described(page, names):
    described = rows(page)
    assert [name for name in names if len(described.get(name, "")) < 3] == []


def test_every_table_of_a_layout_is_described():
    assert [about for about in layout.TABLES.values() if about not in text_of("reference/keys.md")] == []


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_and_option_is_described(command):
    text = text_of("reference/commands.md")
    assert f"\n## foreword {command}\n" in text
    actions = generate.parser_of(command)._actions
    named = [option for action in actions for option in action.option_strings] or [action.metavar for action in actions]
    assert [name for name in named if not re.search(rf"`{re.escape(name)}[` ]", text)] == []
    assert [action.dest for action in actions if not action.help or action.help == argparse.SUPPRESS] == []


# What people wrote keeps up with the code


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_the_readme_names_every_command(command):
    assert re.search(rf"`foreword {command}\b", (ROOT / "README.md").read_text())


@pytest.mark.parametrize("name", compiled.NAMES)
def test_every_layout_has_its_part_with_its_sections_in_order(name):
    part = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text_of("layouts.md"), re.MULTILINE | re.DOTALL)
    assert part, f"docs/layouts.md has no part on {name}"
    order = re.search(r"^Order: (.*)\.$", part[1], re.MULTILINE)
    assert order and re.findall(r"`([\w-]+)`", order[1]) == getattr(compiled, name)()["sections"]


@pytest.mark.parametrize("key", settings.OWN)
def test_every_setting_of_forewords_own_is_described(key):
    assert f"`{key}`" in text_of("settings.md")


def test_the_glossary_holds_every_noun():
    tree = ast.parse(Path(vocabulary.__file__).read_text())
    nouns = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    assert sorted(noun for noun in nouns if f"| **{noun}** |" not in text_of("glossary.md")) == []


def test_the_map_for_agents_is_short():
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 80


def test_the_changelog_says_what_is_unreleased():
    assert "\n## [Unreleased]\n" in (ROOT / "CHANGELOG.md").read_text()


# Links


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    for link in (each for each in links if "://" not in each):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_reached_from_the_index():
    linked = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", text_of("index.md"))}
    assert {page for page in PAGES if page.parent != ROOT} - linked == {DOCS / "index.md"}


# Examples

FENCE = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
HOME = "/home/someone"
WORKSPACE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "# Shop\n\nRun `make test` before you say that you are done.\n",
    "CLAUDE.md": "@AGENTS.md\n",
    "api/AGENTS.md": "Handlers stay thin; rules live in `domain/`.\n",
    ".agents/skills/release/SKILL.md": "---\nname: release\ndescription: Cuts a release of the shop.\n---\n"
    "Bump the version, write the changelog, tag.\n",
}


@pytest.fixture
def home(monkeypatch):
    """A home with the workspace `shop`, which is the working directory.

    Its path has as many characters as the one that the pages print, so that columns have the same width and texts the same
    number of tokens.
    """
    folder = Path(tempfile.mkdtemp(prefix="", dir="/tmp"))
    assert len(str(folder)) == len(HOME)
    for name, text in WORKSPACE.items():
        write(folder / "shop" / name, text)
    monkeypatch.chdir(folder / "shop")
    for name in ("XDG_CONFIG_HOME", "PWD", "PYTHONSTARTUP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    yield folder
    shutil.rmtree(folder)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def command(line):
    """Run one command line, or see that what it calls is there; the exit status."""
    words = shlex.split(line, comments=True)
    assert not {"|", ">", "<", "&&", ";", "&"} & set(words), f"too clever to be checked: {line}"
    if words[:1] == ["foreword"]:
        return cli.main(words[1:])
    if words[:1] == ["make"]:
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
    elif words[:1] == ["python"] and words[1] == "-m":
        assert importlib.util.find_spec(words[2]), line
    elif words[:1] == ["python"]:
        assert (ROOT / words[1]).exists(), line
    else:
        assert words == [], f"no way to check {line!r}"
    return 0


def run(language, text, names):
    """Do what a block says; the worst exit status of its commands."""
    if language == "sh":
        return max(command(line) for line in text.replace("\\\n", " ").splitlines())
    if language == "python":
        exec(compile(text, "<example>", "exec"), names)
    if language == "toml":
        tomllib.loads(text)
    if language == "json":
        json.loads(text)
    return 0


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_examples_do_what_the_page_says(page, home, capsys):
    names = {"__name__": "__main__"}
    blocks = [match.groups() for match in FENCE.finditer(page.read_text())]
    for (language, title, text), (following, following_title, expected) in itertools.pairwise([*blocks, ("", "", "")]):
        if title:
            write(Path(title.replace("~", str(home), 1) if title.startswith("~") else title), text)
        status = run(language, text, names)
        printed = capsys.readouterr()
        is_told = following == "text" and not following_title and language in ("sh", "python")
        is_refused = is_told and expected.startswith("foreword: ")
        assert status == (2 if is_refused else 0), f"{text}{printed.err}"
        if is_told and sys.platform == "linux":
            shown = printed.err if is_refused else printed.out
            assert shown.replace(str(home), HOME) == expected


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_block_is_of_a_kind_that_is_run(page):
    text = page.read_text()
    kinds = [match[1] for match in FENCE.finditer(text)]
    assert set(kinds) <= {"sh", "python", "toml", "json", "text", "markdown"}
    assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(kinds)
