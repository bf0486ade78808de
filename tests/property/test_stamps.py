"""A prompt from stamps equals a prompt from scratch, whatever happened on the disk in between."""

import os
import shutil
import stat
import tempfile
import time
from datetime import UTC, datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foreword import Agent, Assembler, ForewordError, Tool, Workspace
from foreword.sources import files

AHEAD = 10_000_000_000
NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)


class Clock:
    """The reader's clock, and the disk's.

    A clock that is late lets the reader trust nothing that was just written, one that goes ahead lets it trust everything. Then
    `tick` comes before the next change: a true clock trusts no stamp before the disk's clock has moved on.
    """

    def __init__(self, folder):
        self.ahead = -AHEAD
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

PLACES = {
    "foreword": (
        "w/AGENTS.md w/CLAUDE.md w/agents.md w/a/AGENTS.md w/a/AGENTS.override.md w/a/AGENTS.local.md w/a/CLAUDE.md w/a/Agents.md w/.git w/a/.git"
        " home/.agents/AGENTS.md home/.agents/agents.md home/.config/agents/AGENTS.md home/.config/foreword/AGENTS.md w/.agents/skills"
        " w/.agents/skills/x/SKILL.md w/a/.agents/skills/y/SKILL.md w/a/.agents/skills/g/x/SKILL.md w/a/.agents/skills/g/h/y/SKILL.md"
        " w/a/.claude/skills w/a/.claude/skills/x home/.foreword/skills/g home/.foreword/skills/g/x/SKILL.md w/.foreword/foreword.toml"
    ),
    "ion": (
        "w/a/AGENTS.md w/a/CLAUDE.md w/a/agents.md w/a/docs w/a/docs/part.md w/a/docs/in/part.md w/a/docs/in home/.ion/part.md w/.git"
        " home/.ion/AGENTS.md home/.ion/agents.md home/.ion/Agents.md home/.ion/AGENTS.MD home/.config/agents/AGENTS.md home/.config/agents"
        " home/.config/agents/rules home/.config/agents/rules/x.md home/.config/agents/rules/y.md w/a/.ion/skills/x/SKILL.md w/a/.ion/skills/x"
        " home/.agents/skills home/.agents/skills/x/SKILL.md home/.config/foreword/foreword.toml"
    ),
    "opal": (
        "AGENTS.md w/AGENTS.md w/OPAL.md w/.agents/AGENTS.md w/.agents w/a/AGENTS.md w/a/.opal/OPAL.md w/a/.opal w/a/.agents/AGENTS.md w/a/Agents.md"
        " w/a/.agents/skills w/a/.agents/skills/x/SKILL.md w/a/.agents/skills/x w/a/.github/skills/y/SKILL.md w/a/.github home/.opal/skills"
        " home/.opal/skills/x/SKILL.md w/.foreword/foreword.toml"
    ),
    "pi": (
        "w/a/.sf w/a/.sf/SYSTEM.md w/a/.sf/APPEND_SYSTEM.md home/.sf/agent home/.sf/agent/SYSTEM.md home/.sf/agent/AGENTS.md home/.sf/agent/part.md"
        " w/AGENTS.md w/CLAUDE.md w/a/AGENTS.md w/a/CLAUDE.md w/a/.sf/skills w/a/.sf/skills/x/SKILL.md w/a/.sf/skills/g/x/SKILL.md w/a/.sf/skills/g"
        " w/.agents/skills w/.agents/skills/y/SKILL.md w/.git w/.foreword/foreword.toml"
    ),
    "pod": (
        "w/AGENTS.md w/a/AGENTS.md w/a/agents.md w/.git w/.foreword w/.foreword/knowledge w/.foreword/knowledge/x.md w/.foreword/knowledge/y.md"
        " w/.foreword/workflow/x.md w/.foreword/prompts.toml home/.config/foreword/prompts.toml home/.config/foreword/foreword.toml"
    ),
    "builder": "w/a/AGENTS.md w/a/docs w/a/docs/part.md w/a/docs/in w/a/docs/in/part.md w/.git w/.git/HEAD w/a/.git w/a/.git/HEAD real real/HEAD",
    "": "w/.foreword w/.foreword/foreword.toml home/.config/foreword/foreword.toml home/.config/foreword w/.git w/a/AGENTS.md w/.foreword/prompts.toml",
}  # fmt: skip
ELSEWHERE = ["outside", "outside/part.md", "outside/x/SKILL.md", "hop", "w/hop"]
TEXTS = [
    *[
        "one\n",
        "two\n",
        "",
        " \n\n",
        "one",
        "AGENTS.md\n",
        "part.md\n",
        "{{ model }} {{ date }}\n",
        "\x00",
        "</skills>\n```\n",
    ],
    *["<!-- include: ./part.md -->\n", "<!-- include: ./docs/part.md -->\n", "<!-- include: ./docs/in/part.md -->\n"],
]
HEADS = [
    *(
        f"---\nname: {name}\ndescription: {words}\n---\n{body}\n"
        for name in "xy"
        for words in ("One.", "Two.")
        for body in ("A", "B")
    ),
    *[
        "---\ndescription: One.\n---\n",
        "---\nname: x\n---\n",
        "none",
        "---\ndescription: Three.\nmodel_invokation: true\n---\n",
    ],
]
SETTINGS = [
    *[
        'skills.validation = "strict"\n',
        'names = ["CLAUDE.md"]\n',
        "budget = 200\n",
        "x = \n",
        "",
        'layout = "pi"\n',
        'layout = "ion"\n',
    ],
    *['agents_md_section = "{}!"\n', 'agents_md_section = "{}?"\n', 'dir = "docs"\n', "skills.budget = 9\n"],
]
HEADINGS = ["ref: refs/heads/x\n", "ref: refs/heads/y\n", "gitdir: ../../real\n", "gitdir: ../real\n", ""]


def texts(path):
    """What a file of that name may hold."""
    if path.endswith(".toml"):
        return st.sampled_from(SETTINGS)
    if path.endswith(("SKILL.md", "x.md", "y.md")):
        return st.sampled_from([*HEADS, "one\n"])
    return st.sampled_from(HEADINGS if "HEAD" in path or path.endswith(".git") else TEXTS)


TEMPLATE = "[if file:docs/part.md]1 [endif][file:docs/in/part.md] [file:AGENTS.md] [git:branch]"
AGENT = Agent(tools=[Tool("read"), Tool("bash")], provider="p", model="m", session="s")
AGENTS = {"builder": Agent(base=TEMPLATE, model="m"), "ion": Agent(skill="x", model="m")}


def clear(path):
    """Whatever stands there goes."""
    if os.path.isdir(path) and not os.path.islink(path):
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
    if not os.path.isfile(path):
        clear(path)
    with open(path, "wb") as file:
        file.write(text.encode())


def outcome(assembler, agent):
    """All of the prompt, or the error in its stead."""
    try:
        prompt = assembler.prompt(agent, NOW)
    except ForewordError as error:
        return type(error), str(error)
    return prompt.text, prompt.passages, prompt.candidates, prompt.findings


class Disturbances(RuleBasedStateMachine):
    """Everything that can happen to the files of a workspace between two prompts.

    Each run is about one layout and a few places, so that things happen to them again and again.
    """

    places = st.integers(0, 5)

    def __init__(self):
        super().__init__()
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="foreword-"))
        for folder in ("clock", "w/a", "w/.git", "home", "outside"):
            os.makedirs(self.path(folder))
        self.clock = files.time = Clock(self.path("clock"))

    def teardown(self):
        files.time = time
        shutil.rmtree(self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    def place(self, number):
        return self.path(self.names[number % len(self.names)])

    @initialize(
        layout=st.sampled_from(list(PLACES)),
        root=st.sampled_from([None, "w", "w/a"]),
        is_patient=st.booleans(),
        data=st.data(),
    )
    def begin(self, layout, root, is_patient, data):
        names = PLACES[layout].split()
        self.names = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=5, unique=True))
        self.names.append(data.draw(st.sampled_from([*ELSEWHERE, *names])))
        self.layout, self.agent = layout, AGENTS.get(layout, AGENT)
        home = self.path("home")
        self.workspace = Workspace(self.path("w/a"), root and self.path(root), home, "linux", {})
        self.assembler = Assembler(self.workspace, layout)
        self.clock.ahead = AHEAD if is_patient else -AHEAD
        for name in self.names:
            if data.draw(st.booleans()):
                write(self.path(name), data.draw(texts(name)))

    def change(self, do, *arguments):
        """One change; what the disk refuses does not happen."""
        if self.clock.ahead > 0:
            self.clock.tick()
        try:
            do(*arguments)
        except OSError:
            pass

    @rule(is_patient=st.booleans())
    def go_on(self, is_patient):
        """From here on stamps are trusted, or are not."""
        self.clock.tick()
        self.clock.ahead = AHEAD if is_patient else -AHEAD

    @rule(number=places, data=st.data())
    def edit(self, number, data):
        path = self.place(number)
        self.change(write, path, data.draw(texts(path)))

    @rule(number=places, data=st.data())
    def put_another_in_its_place(self, number, data):
        path = self.place(number)

        def replace(text):
            make_way(path)
            write(self.path("clock/new"), text)
            os.replace(self.path("clock/new"), path)

        self.change(replace, data.draw(texts(path)))

    @rule(number=places)
    def edit_in_secret(self, number):
        """Other letters, the same size, the same time of change."""

        def edit(path):
            before = os.stat(path)
            if stat.S_ISREG(before.st_mode):
                with open(path, "r+b") as file:
                    text = file.read()
                    file.seek(0)
                    file.write(text.swapcase())
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        self.change(edit, self.place(number))

    @rule(number=places)
    def delete(self, number):
        self.change(clear, self.place(number))

    @rule(number=places, make=st.sampled_from([os.mkdir, os.mkfifo]))
    def make_something_else(self, number, make):
        def instead(path):
            make_way(path)
            clear(path)
            make(path)

        self.change(instead, self.place(number))

    @rule(number=places, to=places)
    def rename(self, number, to):
        def move(path, other):
            if os.path.lexists(path) and not (other + "/").startswith(path + "/"):
                make_way(other)
                clear(other)
                os.rename(path, other)

        self.change(move, self.place(number), self.place(to))

    @rule(number=places, floors=st.integers(0, 2))
    def move_out_and_link_back(self, number, floors):
        def move(path):
            for _ in range(floors):
                path = os.path.dirname(path)
            if os.path.lexists(path) and len(path) > len(self.path("home")):
                clear(self.path("outside/moved"))
                os.rename(path, self.path("outside/moved"))
                os.symlink(self.path("outside/moved"), path)

        self.change(move, self.place(number))

    @rule(number=places, to=st.one_of(places, st.sampled_from(["nowhere", *ELSEWHERE])), is_relative=st.booleans())
    def link(self, number, to, is_relative):
        def link(path, target):
            make_way(path)
            clear(path)
            os.symlink(os.path.relpath(target, os.path.dirname(path)) if is_relative else target, path)

        self.change(link, self.place(number), self.place(to) if isinstance(to, int) else self.path(to))

    @rule(number=places, to=places)
    def link_hard(self, number, to):
        def link(path, target):
            if os.path.isfile(target) and path != target:
                make_way(path)
                clear(path)
                os.link(target, path)

        self.change(link, self.place(number), self.place(to))

    @rule(number=places, mode=st.sampled_from([0o000, 0o400, 0o644, 0o755]))
    def allow(self, number, mode):
        self.change(os.chmod, self.place(number), mode)

    @rule(number=places, moment=st.sampled_from([0, 1_000_000_000, 2_000_000_000_000_000_000]))
    def set_the_time(self, number, moment):
        self.change(lambda path: os.utime(path, ns=(moment, moment)), self.place(number))

    @precondition(lambda self: hasattr(self, "assembler"))
    @invariant()
    def a_prompt_from_stamps_is_one_from_scratch(self):
        from_stamps = outcome(self.assembler, self.agent)
        assert from_stamps == outcome(Assembler(self.workspace, self.layout), self.agent)


TestDisturbances = Disturbances.TestCase
TestDisturbances.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
