"""Fixtures and settings for all tests."""

from __future__ import annotations

import gc
import itertools
import os
import re
import select
import signal
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from tests import workers
from tests.launcher import Launcher

from foreword import Agent, Tool, Workspace, assemble
from foreword.building.build import build
from foreword.gathering.gather import gather
from foreword.layout.parse import parse
from foreword.packs.packs import find_layout
from foreword.sources.environment import resolve_workspace
from foreword.sources.reader import Reader
from foreword.text import tokens

# No test has a deadline, so a slow machine never fails one. `make fuzz` sets FOREWORD_TEST_EXAMPLES to try many more examples.
settings.register_profile("foreword", deadline=None, max_examples=int(os.environ.get("FOREWORD_TEST_EXAMPLES", "20")))
settings.load_profile("foreword")

# Without bytecode, each run rewrites every assertion again, and each process that a test starts compiles the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A script's background jobs ignore Ctrl-C, and so would each process that a test starts: some tests stop one with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A tokenizer takes a third of a second to load, and nothing changes it, so each process loads each of them once.
tokens._load = cache(tokens._load)

NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=timezone(timedelta(hours=-6), "CST"))


def pytest_addoption(parser):
    try:
        parser.addoption(
            "--accept", action="store_true", help="rewrite the golden prompts; read the diff before you commit"
        )
    except ValueError:
        pass  # Foreword's own plugin has added it
    parser.addoption("--workers", type=int, default=0, help="run the tests in this many processes")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector away from what is collected: it would search all tests and imported modules again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val):
    """Shorten what is long in the name of a test: some texts are of 68 MB, and a name is copied often."""
    if isinstance(val, str | bytes) and len(val) > 200:
        return ascii(val[:40]).strip("b'\"") + "..."
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Run the tests in workers if there are any: see `workers.py`. Otherwise, pytest's own loop comes next."""
    options = session.config.option
    if not options.workers or options.collectonly or session.testsfailed:
        return None
    workers.run(session, options.workers)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


class Tree:
    """A temporary folder with a workspace `w` and a home directory `home`; nothing else on the machine is searched.

    `tree({"w/AGENTS.md": "X"})` writes files. A string or bytes becomes a file, None a directory, a Path a link to that path;
    a function creates the entry itself (`os.mkfifo`). In results of the methods, the temporary folder is the root directory.
    """

    def __init__(self, top):
        self.top = str(top)
        self({"w": None, "home": None})

    def __call__(self, files):
        for name, content in files.items():
            path = self.path(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if content is None:
                os.makedirs(path, exist_ok=True)
            elif isinstance(content, Path):
                os.symlink(content, path)
            elif callable(content):
                content(path)
            else:
                with open(path, "wb") as file:
                    file.write(content.encode() if isinstance(content, str) else content)
        return self

    def path(self, name):
        return os.path.join(self.top, name)

    def short(self, text):
        """Return the text with the temporary folder as the root directory."""
        return text.replace(self.top, "")

    def workspace(self, cwd="w", home="home", environment=(), platform="linux", variables=()):
        """Return a workspace. `environment` contains variables whose values are paths in this tree, `variables` others."""
        paths = {name: self.path(value) if value else "" for name, value in dict(environment).items()}
        return Workspace(
            self.path(cwd), home=home and self.path(home), platform=platform, environment={**paths, **dict(variables)}
        )

    def prompt(
        self,
        layout,
        cwd="w",
        *,
        tools="",
        set=(),
        now=NOW,
        rules=(),
        disk=None,
        home="home",
        environment=(),
        platform="linux",
        variables=(),
        **agent,
    ):
        """Build the prompt for an agent in `cwd`. `tools` is a string of names or a list of tools; `disk` replaces the real disk."""
        workspace = self.workspace(cwd, home, environment, platform, variables)
        tools = [Tool(name) for name in tools.split()] if isinstance(tools, str) else tools
        agent = Agent(tools=tools, **agent)
        if disk is None:
            return assemble(workspace, agent, layout, now=now, assignments=list(dict(set).items()), rules=rules)
        reader = Reader(disk=disk)
        workspace = resolve_workspace(workspace, reader)
        source = find_layout(layout, workspace, reader)
        parsed = parse(source.mapping, source.name, source.address)
        return build(parsed, gather(parsed, workspace, reader), agent, now, rules)

    def text(self, layout, cwd="w", **options):
        return self.short(self.prompt(layout, cwd, **options).text)

    def findings(self, prompt):
        """Return the code and path of each finding."""
        return [(finding.code, self.short(finding.path)) for finding in prompt.findings]

    def messages(self, prompt):
        """Return the code and message of each finding."""
        return [(finding.code, self.short(finding.message)) for finding in prompt.findings]

    def fates(self, prompt):
        """Return the path and fate of each existing candidate."""
        return [
            (self.short(candidate.path), candidate.fate)
            for candidate in prompt.candidates
            if candidate.fate != "absent"
        ]


_numbers = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory, request):
    """A new folder. pytest's own fixture lists all earlier ones for the next number, which took over 20 s for all tests."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{os.getpid()}-{next(_numbers)}", numbered=False)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.fixture(scope="module")
def module_tree(tmp_path_factory):
    """One tree for all tests of a module, which must not change its files."""
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="session")
def launcher():
    """Starts `foreword` at a fraction of the cost of a new interpreter; see `launcher.py`."""
    launcher = Launcher()
    yield launcher
    launcher.close()


@pytest.fixture(scope="session")
def site_build(tmp_path_factory):
    """The documentation site, built without a network: its folder, and the finished process.

    Tests that use it have the mark `xdist_group("site")`, so that it is built once.
    """
    folder = tmp_path_factory.mktemp("documentation")
    nowhere = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_MKDOCS_2_WARNING": "1"}
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    root = Path(__file__).parent.parent
    return folder, subprocess.run(mkdocs, cwd=root, env={**os.environ, **nowhere}, capture_output=True, text=True)


@pytest.fixture
def git(tree, monkeypatch):
    """`git("status")` runs in the workspace, with only the configuration of the repository."""
    for name in os.environ:
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_DEFAULT_REF_FORMAT", "files")
    options = ["user.email=a@example.org", "init.defaultBranch=main"]

    def run(*arguments, cwd="w", check=True, author="A"):
        command = [
            "git",
            "-c",
            f"user.name={author}",
            *(word for option in options for word in ("-c", option)),
            *arguments,
        ]
        return subprocess.run(command, cwd=tree.path(cwd), check=check, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def layout_text(tree, request):
    """`layout_text("[find.project]…")` adds tables to the module's layout `BASE` and returns the text of its prompt.

    `layout_text.prompt` is the prompt of the last call.
    """

    def layout_text(tables, cwd="w", sections="", base=request.module.BASE, **options):
        tree({"own.toml": base + tables + sections})
        layout_text.prompt = tree.prompt(tree.path("own.toml"), cwd, **options)
        return layout_text.prompt.text.strip()

    return layout_text


def skill_md(name, description="Does it.", *more, body="Body."):
    """Return the content of a SKILL.md."""
    return "\n".join(["---", f"name: {name}", f"description: {description}", *more, "---", body, ""])


@pytest.fixture(scope="session")
def has_ended():
    """`has_ended(pid)` waits until a process has ended, also one that this process has not started. Only on Linux."""

    def has_ended(pid, seconds=60):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(select.select([descriptor], [], [], seconds)[0])
        finally:
            os.close(descriptor)

    return has_ended


@pytest.fixture(scope="session")
def skill():
    return skill_md
