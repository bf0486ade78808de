"""A prompt from stamps equals a prompt from scratch, whatever happened on the disk in between."""

import os
import shutil
import stat
import tempfile
import threading
import time
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foreword import Agent, Assembler, ForewordError, Tool, Workspace
from foreword.sources import files

AHEAD = 10_000_000_000


class Clock:
    """The reader's clock, and that of the disk.

    A clock that goes ahead lets the reader trust what was written a moment ago. Then `tick` must come before the next change: a
    real reader would have waited until the disk's clock had moved on.
    """

    def __init__(self, folder):
        self.ahead = 0
        self.probe = os.path.join(folder, "probe")
        with open(self.probe, "wb"):
            pass

    def time_ns(self):
        return time.time_ns() + self.ahead

    def tick(self):
        before = os.stat(self.probe).st_ctime_ns
        while os.stat(self.probe).st_ctime_ns == before:
            os.utime(self.probe)


# What may stand where

SKILL_FOLDERS = ["w/a/.agents/skills", "w/.agents/skills", "home/.agents/skills", "w/a/.sf/skills", "w/.claude/skills", "w/a/.ion/skills"]
FILES = {
    "text": [
        *["w/AGENTS.md", "w/CLAUDE.md", "w/AGENTS.override.md", "w/AGENTS.local.md", "w/agents.md", "w/.agents/AGENTS.md"],
        *["w/a/AGENTS.md", "w/a/CLAUDE.md", "w/a/OPAL.md", "w/a/Agents.md", "w/a/.sf/SYSTEM.md", "w/a/.sf/APPEND_SYSTEM.md"],
        *["home/.ion/AGENTS.md", "home/.ion/agents.md", "home/.ion/Agents.md", "home/.ion/AGENTS.MD", "home/.ion/part.md"],
        *["home/.sf/agent/AGENTS.md", "home/.sf/agent/SYSTEM.md", "home/.agents/AGENTS.md", "home/.config/foreword/AGENTS.md"],
        *["home/.config/agents/AGENTS.md", "home/.config/agents/rules/x.md", "home/.config/agents/rules/y.md", "AGENTS.md"],
        *["w/a/docs/part.md", "w/a/docs/in/part.md", "outside/part.md", "w/.git", "w/.git/HEAD", "w/a/.git"],
    ],
    "skill": [
        *(f"{folder}/{name}/SKILL.md" for folder in SKILL_FOLDERS for name in ("x", "y", "g/x", "g/h/y")),
        *("outside/x/SKILL.md", "w/.foreword/knowledge/x.md", "w/.foreword/workflow/y.md"),
    ],
    "settings": ["w/.foreword/foreword.toml", "home/.config/foreword/foreword.toml", "w/.foreword/prompts.toml"],
}  # fmt: skip
TEXTS = {
    "text": [
        *["one\n", "two\n", "", " \n\n", "one", "AGENTS.md\n", "part.md\n", "{{ model }} {{ date }}\n", "\x00", "<!-- include: ./part.md -->\n"],
        *["<!-- include: ./docs/part.md -->\n", "<!-- include: ./docs/in/part.md -->\n", "</skills>\n```\n", "gitdir: ../real\n"],
        *["ref: refs/heads/x\n", "ref: refs/heads/y\n"],
    ],
    "skill": [
        *(f"---\nname: {name}\ndescription: {words}\n---\n{body}\n" for name in "xy" for words in ("One.", "Two.") for body in ("A", "B")),
        *("---\ndescription: One.\n---\n", "---\nname: x\n---\n", "none", "", "---\ndescription: Three.\nmodel_invokation: true\n---\n"),
    ],
    "settings": [
        *['skills.validation = "strict"\n', 'names = ["CLAUDE.md"]\n', "budget = 200\n", "x = \n", "", 'layout = "pi"\n', "skills.budget = 9\n"],
        *['agents_md_section = "{}!"\n', 'compaction = "X"\n', 'dir = "docs"\n'],
    ],
}  # fmt: skip
EVERY_FILE = [path for paths in FILES.values() for path in paths]
FOLDERS = sorted(
    {os.path.dirname(path) for path in EVERY_FILE}
    | {os.path.dirname(os.path.dirname(path)) for path in EVERY_FILE}
    | {*SKILL_FOLDERS, "w/a/real"}
)
FOLDERS = [folder for folder in FOLDERS if folder not in ("", "w", "home")]
EVERY_PATH = [*EVERY_FILE, *FOLDERS]
TARGETS = [*EVERY_PATH, "outside", "nowhere", "w/a/hop", "hop"]

paths = st.sampled_from(EVERY_PATH)
contents = st.sampled_from(list(FILES)).flatmap(lambda kind: st.tuples(st.sampled_from(FILES[kind]), st.sampled_from(TEXTS[kind])))
TEMPLATE = "[if file:docs/part.md]1 [endif][file:docs/in/part.md] [file:AGENTS.md] [git:branch]"
AGENT = Agent(tools=[Tool("read"), Tool("bash")], provider="p", model="m", session="s")
AGENTS = {"builder": Agent(base=TEMPLATE, model="m"), "ion": Agent(skill="x", model="m"), "ion-alone": AGENT}
LAYOUTS = ["foreword", "ion", "ion-alone", "opal", "pi", "pod", "builder", ""]


def clear(path):
    """Whatever stands there goes."""
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def make_way(path):
    """The folders above a path are there, whatever stood in their place."""
    above = os.path.dirname(path)
    if not os.path.isdir(above):
        make_way(above)
        clear(above)
        os.mkdir(above)


def write(path, text):
    make_way(path)
    if os.path.isdir(path) or (os.path.lexists(path) and not os.path.isfile(path)):
        clear(path)
    with open(path, "wb") as file:
        file.write(text.encode())


def outcome(assembler, layout):
    """All of the prompt, or the error in its stead."""
    try:
        prompt = assembler.prompt(AGENTS.get(layout, AGENT), NOW)
    except ForewordError as error:
        return type(error), str(error)
    return prompt.text, prompt.passages, prompt.candidates, prompt.findings


NOW = None


class Disturbances(RuleBasedStateMachine):
    """Everything that can happen to the files of a workspace between two prompts."""

    def __init__(self):
        super().__init__()
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="foreword-"))
        for folder in ("clock", "w/a", "w/.git", "home", "outside"):
            os.makedirs(self.path(folder))
        self.clock = Clock(self.path("clock"))
        files.time = self.clock
        self.log = []

    def teardown(self):
        files.time = time
        shutil.rmtree(self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    @initialize(
        layouts=st.lists(st.sampled_from(LAYOUTS), min_size=2, max_size=3, unique=True),
        root=st.sampled_from([None, None, "w", "w/a"]),
        start=st.lists(contents, max_size=8),
    )
    def begin(self, layouts, root, start):
        self.workspace = Workspace(
            self.path("w/a"), root=root and self.path(root), home=self.path("home"), platform="linux", environment={}
        )
        self.assemblers = {layout: self.fresh(layout) for layout in layouts}
        for path, text in start:
            write(self.path(path), text)

    def fresh(self, layout):
        return Assembler(self.workspace, layout.removesuffix("-alone"))

    def change(self, do, *arguments):
        """One change; what the disk refuses does not happen."""
        if self.clock.ahead:
            self.clock.tick()
        try:
            do(*arguments)
        except OSError:
            pass

    @rule(is_patient=st.booleans())
    def turn(self, is_patient):
        """From here on stamps are trusted at once, or only when they have aged."""
        self.clock.tick()
        self.clock.ahead = AHEAD if is_patient else 0

    @rule(content=contents)
    def edit(self, content):
        path, text = content
        self.change(write, self.path(path), text)

    @rule(content=contents)
    def put_in_its_place(self, content):
        path, text = content

        def replace(path):
            make_way(path)
            write(self.path("outside/new"), text)
            os.replace(self.path("outside/new"), path)

        self.change(replace, self.path(path))

    @rule(path=st.sampled_from(EVERY_FILE))
    def edit_in_secret(self, path):
        """Other letters, the same size, the same time of change."""

        def edit(path):
            before = os.stat(path)
            if stat.S_ISREG(before.st_mode):
                with open(path, "r+b") as file:
                    text = file.read()
                    file.seek(0)
                    file.write(text.replace(b"one", b"ONE").replace(b"One", b"oNE"))
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        self.change(edit, self.path(path))

    @rule(path=paths)
    def delete(self, path):
        self.change(clear, self.path(path))

    @rule(path=paths)
    def make_a_folder(self, path):
        def make(path):
            make_way(path)
            clear(path)
            os.mkdir(path)

        self.change(make, self.path(path))

    @rule(path=st.sampled_from(EVERY_FILE))
    def make_a_pipe(self, path):
        def make(path):
            make_way(path)
            clear(path)
            os.mkfifo(path)

        self.change(make, self.path(path))

    @rule(path=paths, other=paths)
    def rename(self, path, other):
        def move(path, other):
            if os.path.lexists(path) and not other.startswith(path):
                make_way(other)
                clear(other)
                os.rename(path, other)

        self.change(move, self.path(path), self.path(other))

    @rule(path=paths)
    def move_out_and_link_back(self, path):
        def move(path):
            if os.path.lexists(path):
                clear(self.path("outside/moved"))
                os.rename(path, self.path("outside/moved"))
                os.symlink(self.path("outside/moved"), path)

        self.change(move, self.path(path))

    @rule(path=st.sampled_from([*EVERY_PATH, "w/a/hop", "hop"]), target=st.sampled_from(TARGETS), is_relative=st.booleans())
    def link(self, path, target, is_relative):
        def link(path, target):
            make_way(path)
            clear(path)
            os.symlink(os.path.relpath(target, os.path.dirname(path)) if is_relative else target, path)

        self.change(link, self.path(path), self.path(target))

    @rule(path=st.sampled_from(EVERY_FILE), target=st.sampled_from(EVERY_FILE))
    def link_hard(self, path, target):
        def link(path, target):
            if os.path.isfile(target) and path != target:
                make_way(path)
                clear(path)
                os.link(target, path)

        self.change(link, self.path(path), self.path(target))

    @rule(path=paths, mode=st.sampled_from([0o000, 0o400, 0o644, 0o755]))
    def allow(self, path, mode):
        self.change(os.chmod, self.path(path), mode)

    @rule(path=paths, moment=st.sampled_from([0, 1_000_000_000, 2_000_000_000_000_000_000]))
    def set_the_time(self, path, moment):
        def touch(path):
            os.utime(path, ns=(moment, moment))

        self.change(touch, self.path(path))

    @precondition(lambda self: hasattr(self, "assemblers"))
    @invariant()
    def a_prompt_from_stamps_is_one_from_scratch(self):
        for layout, assembler in self.assemblers.items():
            assert outcome(assembler, layout) == outcome(self.fresh(layout), layout)


TestDisturbances = Disturbances.TestCase
TestDisturbances.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
